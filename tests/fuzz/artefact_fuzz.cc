// The artefact detector's own parsers over hostile bytes: what they find lies inside the input. Effort is
// none, so that nothing is handed to a child: this target is about our code.
#include <cstdint>

#include "artefact/parts.h"
#include "artefact/streams.h"

namespace {

using namespace vacant::scan;

void check(const std::optional<Artefact>& artefact, vacant::ByteSpan bytes) {
  VACANT_ASSERT(!artefact || (artefact->length_bytes <= bytes.size() && !artefact->rule.empty()));
}

void check_binary(vacant::ByteSpan bytes) {
  static ArtefactChild child;
  Effort none{0};
  const Candidate candidate{bytes, 0, nullptr, &none};
  std::string skipped;
  // A database's size comes from its header, and is only looked at where it lies in what is here.
  for (const Artefact& artefact : examine_sqlite(candidate, child, skipped))
    VACANT_ASSERT(artefact.rule == "sqlite-header");
  check(examine_sqlite_pages(bytes, bytes.size()), bytes);
  Effort some;
  check(examine_sqlite_wal({bytes, 0, nullptr, &some}), bytes);
  check(examine_leveldb_log(bytes), bytes);
  check(examine_archive(candidate, child), bytes);
  static_cast<void>(examine_git(candidate, child));
  static_cast<void>(examine_container({bytes, 0, nullptr, &some}));
  for (const std::size_t at : {std::size_t{0}, bytes.size() / 2, bytes.size()})
    if (const auto footer = examine_table_footer(bytes, at, 4096))
      VACANT_ASSERT(footer->table_bytes <= 4096 + at + kTableFooterBytes);
}

void check_pack(vacant::ByteSpan bytes) {
  const PackWalk walked = walk_pack(bytes);
  VACANT_ASSERT(walked.end_bytes <= bytes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const vacant::ByteSpan bytes = std::as_bytes(std::span(data, size));
  check_binary(bytes);
  check_pack(bytes);
  check(examine_credential_file(bytes), bytes);
  check(examine_key(bytes), bytes);
  check(examine_env_file(vacant::as_text(bytes)), bytes);
  static_cast<void>(decode_base64_lines(vacant::as_text(bytes), 4096));
  return 0;
}

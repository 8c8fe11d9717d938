#include "rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>

#include "patterns.h"
#include "run.h"
#include "vacant/props/gen.h"
#include "vacant/scan/engine.h"

namespace vacant::bench {

namespace {

constexpr std::size_t kSecretCount = 20;
constexpr std::size_t kReadBytes = kMiB, kPageBytes = 4096;

using DeviceResult = Result<std::unique_ptr<BlockDevice>>;
// Holes are not trusted: the rows are about reading.
DeviceResult open_corpus(const std::string& path) {
  OpenOptions options;
  options.trust_holes = false;
  return open_device(path, options);
}

MutableByteSpan aligned(ByteVector& storage, std::size_t alignment) {
  void* begin = storage.data();
  std::size_t space = storage.size();
  return {static_cast<std::byte*>(std::align(alignment, kReadBytes, begin, space)), kReadBytes};
}

template <class Each>
Result<void> read_through(const std::string& path, Each each) {
  const auto device = VACANT_TRY(open_corpus(path));
  // Aligned to a page, as it is at its fastest: 16 bytes behind one it takes more than twice as long.
  ByteVector storage(kReadBytes + kPageBytes);
  const MutableByteSpan buffer = aligned(storage, kPageBytes);
  for (std::uint64_t at = 0; at < device->size_bytes(); at += kReadBytes) {
    const MutableByteSpan part = buffer.first(std::min<std::uint64_t>(kReadBytes, device->size_bytes() - at));
    VACANT_TRY(device->read(at, part));
    each(part);
  }
  return {};
}

Result<void> zero_test(const std::string& path) {
  std::uint64_t zeros = 0;
  VACANT_TRY(read_through(path, [&zeros](ByteSpan part) {
    for (; part.size() >= 4096; part = part.subspan(4096)) zeros += is_zero(part.first(4096)) ? 1 : 0;
  }));
  // The count is used, so that the test is not optimised away.
  return zeros <= UINT64_MAX / 4096 ? Result<void>{} : fail(Code::kInternal, "too many zeros");
}

Row scan_row(std::string id, std::string title, scan::Profile profile, unsigned threads,
             const Needles& needles) {
  const auto run = [profile, threads, &needles](const std::string& path) -> Result<void> {
    const auto device = VACANT_TRY(open_corpus(path));
    scan::ScanOptions options;
    options.profile = profile;
    options.threads = threads;
    if (profile != scan::Profile::kInventory) options.fingerprints = &needles.fingerprints;
    const auto report = scan::scan(*device, options);
    return report ? Result<void>{} : fail(report.error());
  };
  return {std::move(id), std::move(title), false, run};
}

Row rg_row(std::string id, std::string title, std::vector<std::string> words) {
  const auto run = [words](const std::string& path) -> Result<void> {
    std::vector<std::string> command = words;
    command.push_back(path);
    // The time-out is generous: rg needs minutes for large corpora. Its matches are read and dropped.
    const auto outcome = testing::run(command, {.timeout = std::chrono::minutes(30)});
    const bool ran = outcome.exit_code == 0 || outcome.exit_code == 1;  // found, or not
    return ran ? Result<void>{} : fail(Code::kIo, "rg: " + outcome.describe());
  };
  return {std::move(id), std::move(title), true, run};
}

bool printable(ByteSpan bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b >= std::byte{0x20} && b < std::byte{0x7F}; });
}

}  // namespace

Result<Needles> make_needles(const std::string& folder) {
  Needles needles;
  std::vector<secrets::NamedSecret> named;
  std::string literals;
  for (std::size_t i = 0; i < kSecretCount; ++i) {
    const std::string value = "made-up-" + to_hex(props::seeded_bytes(1000 + i, 24));
    for (const secrets::EncodedForm& form : secrets::encoded_forms(as_bytes(value))) {
      if (!printable(form.bytes.expose())) continue;  // ripgrep's pattern files are text
      literals += std::string(as_text(form.bytes.expose())) + '\n';
      ++needles.literal_count;
    }
    named.push_back({fmt::format("secret-{}", i), SecretBytes::copy_of(as_bytes(value))});
  }
  needles.fingerprints = VACANT_TRY(secrets::make_fingerprints(named));
  needles.literal_file = folder + "/literals";
  testing::write_text(needles.literal_file, literals);
  std::string patterns;
  const auto expressions = token_patterns();
  for (const std::string& pattern : expressions) patterns += pattern + '\n';
  needles.pattern_file = folder + "/patterns";
  needles.pattern_count = expressions.size();
  testing::write_text(needles.pattern_file, patterns);
  return needles;
}

std::vector<Row> make_rows(const Needles& needles) {
  using scan::Profile;
  std::vector<Row> rows;
  rows.push_back({"read", "plain read, 1 MiB calls", false,
                  [](const std::string& path) { return read_through(path, [](ByteSpan) {}); }});
  rows.push_back({"zero", "+ zero test by 4 KiB", false, zero_test});
  rows.push_back(scan_row("inventory", "scan, inventory profile", Profile::kInventory, 1, needles));
  rows.push_back(scan_row("known", fmt::format("scan, known-answer, {} secrets", kSecretCount),
                          Profile::kKnownAnswer, 1, needles));
  rows.push_back(scan_row("full", "scan, full profile", Profile::kFull, 1, needles));
  rows.push_back(scan_row("full2", "scan, full profile, 2 threads (CPU)", Profile::kFull, 2, needles));
  if (!testing::find_program("rg")) return rows;
  rows.push_back(rg_row("rg-literals", fmt::format("rg -a -F, {} literals", needles.literal_count),
                        {"rg", "-a", "-F", "-c", "-f", needles.literal_file}));
  // Without Unicode, which is how rg is at its best: with it, it needs minutes for 100 MiB of binary data.
  rows.push_back(rg_row("rg-patterns", fmt::format("rg -a --no-unicode, {} patterns", needles.pattern_count),
                        {"rg", "-a", "--no-unicode", "-c", "-f", needles.pattern_file}));
  return rows;
}

}  // namespace vacant::bench

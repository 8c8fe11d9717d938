// SQLite databases and pages. Source of the format: https://www.sqlite.org/fileformat2.html.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "artefact/parts.h"

namespace vacant::scan {

namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::uint64_t kMaxDatabaseBytes = 64 * kMiB;
constexpr std::size_t kHeaderBytes = 100;

struct Header {
  std::uint64_t page_bytes = 0;
  std::uint64_t page_count = 0;
};

// Field by field: a magic alone proves nothing.
std::optional<Header> parse_header(ByteSpan bytes) {
  if (bytes.size() < kHeaderBytes || as_text(bytes.first(16)) != kMagic) return std::nullopt;
  const std::uint32_t raw_page = load_be<std::uint16_t>(bytes, 16);
  const std::uint64_t page = raw_page == 1 ? 65536 : raw_page;
  const bool page_ok = page >= 512 && page <= 65536 && (page & (page - 1)) == 0;
  const auto versions_ok = [&](std::size_t at) {
    return load_le<std::uint8_t>(bytes, at) == 1 || load_le<std::uint8_t>(bytes, at) == 2;
  };
  const bool fractions = load_le<std::uint8_t>(bytes, 21) == 64 && load_le<std::uint8_t>(bytes, 22) == 32 &&
                         load_le<std::uint8_t>(bytes, 23) == 32;
  const auto encoding = load_be<std::uint32_t>(bytes, 56);
  if (!page_ok || !versions_ok(18) || !versions_ok(19) || !fractions ||
      load_be<std::uint32_t>(bytes, 44) > 4 || encoding > 3)
    return std::nullopt;
  if (!is_zero(bytes.subspan(72, 20))) return std::nullopt;
  return Header{page, load_be<std::uint32_t>(bytes, 28)};
}

// Which application's database it is, by its tables.
std::optional<std::string> profile_rule(const std::vector<std::string>& tables) {
  const std::set<std::string> names(tables.begin(), tables.end());
  const auto has = [&](std::initializer_list<const char*> wanted) {
    return std::ranges::all_of(wanted, [&](const char* name) { return names.contains(name); });
  };
  if (has({"moz_cookies"})) return "firefox-cookies";
  if (has({"moz_places"})) return "firefox-history";
  if (has({"logins", "stats"}) || has({"logins", "meta"})) return "chromium-logins";
  if (has({"cookies", "meta"})) return "chromium-cookies";
  if (has({"urls", "visits"}) && has({"meta"})) return "chromium-history";
  if (has({"autofill", "meta"})) return "chromium-web-data";
  return std::nullopt;
}

Result<ByteVector> read_database(const Candidate& candidate, std::uint64_t size_bytes) {
  ByteVector out(static_cast<std::size_t>(size_bytes));
  const std::size_t have = std::min(out.size(), candidate.bytes.size());
  std::copy_n(candidate.bytes.begin(), have, out.begin());
  if (have < out.size())
    VACANT_TRY(
        candidate.device->read(candidate.device_offset_bytes + have, MutableByteSpan(out).subspan(have)));
  return out;
}

Artefact header_only(const Header& header, std::string why) {
  return {FindingKind::kArtefact, "sqlite-header", Confidence::kLikely, header.page_bytes,
          fmt::format("page size {}, {} pages: {}", header.page_bytes, header.page_count, why)};
}

bool whole_cells(ByteSpan page, std::size_t page_bytes, std::size_t cells, std::size_t content) {
  for (std::size_t i = 0; i < cells; ++i) {
    const std::size_t at = load_be<std::uint16_t>(page, 8 + i * 2);
    if (at < content || at + 4 > page_bytes) return false;
  }
  return true;
}

}  // namespace

std::vector<Artefact> examine_sqlite(const Candidate& candidate, ArtefactChild& child, std::string& skipped) {
  const auto header = parse_header(candidate.bytes);
  if (!header) return {};
  const std::uint64_t size = header->page_bytes * header->page_count;
  if (header->page_count == 0) return {header_only(*header, "made by an old version, size unknown")};
  const std::uint64_t left = candidate.device == nullptr
                                 ? candidate.bytes.size()
                                 : candidate.device->size_bytes() - candidate.device_offset_bytes;
  if (size > left) return {header_only(*header, "runs past the end of what is here")};
  if (size > kMaxDatabaseBytes) {
    // Nothing is claimed of it and nothing is lost: its bytes are classed like all others.
    return {header_only(*header, "larger than is checked as a whole")};
  }
  const auto bytes = read_database(candidate, size);
  if (!bytes) return {header_only(*header, "its pages cannot be read")};
  const auto database = child.check_database(*bytes);
  if (!database) {
    if (database.error().code == Code::kLimit)
      skipped = fmt::format("checking a database: {}", database.error().message);
    return {header_only(*header, database.error().message)};
  }
  if (!database->complete) return {header_only(*header, database->problem)};
  std::vector<Artefact> out;
  const std::string detail = fmt::format("page size {}, {} pages, {} tables, quick_check ok",
                                         header->page_bytes, header->page_count, database->tables.size());
  out.push_back({FindingKind::kArtefact, "sqlite-database", Confidence::kProven, size, detail});
  if (const auto rule = profile_rule(database->tables))
    out.push_back(
        {FindingKind::kCredentialFile, *rule, Confidence::kProven, size, "a browser's profile database"});
  return out;
}

// A leaf page of a table or index b-tree at the start of a block, of the page sizes in use.
std::optional<Artefact> examine_sqlite_page(ByteSpan bytes) {
  constexpr std::size_t kLeastCells = 3;
  if (bytes.size() < 4096) return std::nullopt;
  const auto type = load_le<std::uint8_t>(bytes, 0);
  if (type != 0x0D && type != 0x0A) return std::nullopt;
  const std::size_t cells = load_be<std::uint16_t>(bytes, 3);
  const std::size_t content = load_be<std::uint16_t>(bytes, 5);
  const std::size_t pointers = 8 + cells * 2;
  if (load_be<std::uint16_t>(bytes, 1) != 0 || load_le<std::uint8_t>(bytes, 7) > 60 || cells < kLeastCells)
    return std::nullopt;
  if (content < pointers || content >= 4096 || !is_zero(bytes.subspan(pointers, content - pointers)))
    return std::nullopt;
  if (!whole_cells(bytes, 4096, cells, content)) return std::nullopt;
  return Artefact{FindingKind::kArtefact, "sqlite-page", Confidence::kPossible, 4096,
                  fmt::format("b-tree leaf of type {:#04x}, {} cells", type, cells)};
}

}  // namespace vacant::scan

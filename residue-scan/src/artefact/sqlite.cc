// SQLite databases by their header. Source of the format: https://www.sqlite.org/fileformat2.html.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "artefact/parts.h"

namespace vacant::scan {

namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kHeaderBytes = 100;

struct Header {
  std::uint64_t page_bytes = 0;
  std::uint64_t page_count = 0;
  bool size_is_current = false;  // the writer knew the size field
};

std::uint32_t field(ByteSpan bytes, std::size_t at) { return load_be<std::uint32_t>(bytes, at); }
unsigned octet(ByteSpan bytes, std::size_t at) { return load_le<std::uint8_t>(bytes, at); }

bool format_fields_hold(ByteSpan bytes, std::uint64_t page) {
  const auto version_ok = [&](std::size_t at) { return octet(bytes, at) == 1 || octet(bytes, at) == 2; };
  const bool page_ok = page >= 512 && page <= 65536 && (page & (page - 1)) == 0;
  const bool fractions = octet(bytes, 21) == 64 && octet(bytes, 22) == 32 && octet(bytes, 23) == 32;
  return page_ok && version_ok(18) && version_ok(19) && page - octet(bytes, 20) >= 480 && fractions;
}

// Schema format and encoding are 0 in a database that was never written to; vacuum fields go together.
bool schema_fields_hold(ByteSpan bytes) {
  return field(bytes, 44) <= 4 && field(bytes, 56) <= 3 && (field(bytes, 64) == 0 || field(bytes, 52) != 0) &&
         is_zero(bytes.subspan(72, 20));
}

// The root of the schema's b-tree: a table page.
bool root_page_holds(ByteSpan bytes) {
  if (bytes.size() < kHeaderBytes + 8) return false;
  return (octet(bytes, 100) == 0x0D || octet(bytes, 100) == 0x05) && octet(bytes, 107) <= 60;
}

// Field by field: a magic alone proves nothing.
std::optional<Header> parse_header(ByteSpan bytes) {
  if (bytes.size() < kHeaderBytes || as_text(bytes.first(16)) != kMagic) return std::nullopt;
  const std::uint32_t raw_page = load_be<std::uint16_t>(bytes, 16);
  const std::uint64_t page = raw_page == 1 ? 65536 : raw_page;
  if (!format_fields_hold(bytes, page) || !schema_fields_hold(bytes) || !root_page_holds(bytes))
    return std::nullopt;
  const std::uint64_t count = field(bytes, 28);
  const bool current = count != 0 && field(bytes, 24) == field(bytes, 92);
  // Free pages are pages.
  if (current && (field(bytes, 32) > count || field(bytes, 36) >= count)) return std::nullopt;
  return Header{page, count, current};
}

// Which application's database it is, by its tables.
std::optional<std::string> profile_rule(const std::vector<std::string>& tables) {
  const std::set<std::string> names(tables.begin(), tables.end());
  const auto has = [&](std::initializer_list<const char*> wanted) {
    return std::ranges::all_of(wanted, [&](const char* name) { return names.contains(name); });
  };
  if (has({"moz_cookies"})) return "firefox-cookies";
  if (has({"moz_places"})) return "firefox-history";
  if (has({"moz_formhistory"})) return "firefox-forms";
  if (has({"logins", "meta"})) return "chromium-logins";
  if (has({"cookies", "meta"})) return "chromium-cookies";
  if (has({"urls", "visits", "meta"})) return "chromium-history";
  if (has({"autofill", "meta"})) return "chromium-web-data";
  return std::nullopt;
}

Artefact header_only(const Header& header, std::string_view why) {
  return {FindingKind::kArtefact, "sqlite-header", Confidence::kLikely, header.page_bytes,
          fmt::format("page size {}, {} pages: {}", header.page_bytes, header.page_count, why)};
}

std::vector<Artefact> complete(const Header& header, const ArtefactChild::Database& database) {
  const std::uint64_t size = header.page_bytes * header.page_count;
  std::vector<Artefact> out;
  out.push_back({FindingKind::kArtefact, "sqlite-database", Confidence::kProven, size,
                 fmt::format("page size {}, {} pages, {} tables, quick_check ok", header.page_bytes,
                             header.page_count, database.tables.size())});
  if (const auto rule = profile_rule(database.tables))
    out.push_back(
        {FindingKind::kCredentialFile, *rule, Confidence::kProven, size, "a browser's profile database"});
  return out;
}

}  // namespace

std::vector<Artefact> examine_sqlite(const Candidate& candidate, ArtefactChild& child, std::string& skipped) {
  const auto header = parse_header(candidate.bytes);
  if (!header) return {};
  const std::uint64_t size = header->page_bytes * header->page_count;
  if (!header->size_is_current) return {header_only(*header, "its size field is not current")};
  if (size > candidate.left_bytes()) return {header_only(*header, "runs past the end of what is here")};
  // Nothing is claimed of a longer one and nothing is lost: its bytes are classed like all others.
  if (size > kMaxWholeBytes) return {header_only(*header, "larger than is checked as a whole")};
  auto bytes = candidate.read(size);
  if (!bytes)
    return {header_only(*header, bytes.error().code == Code::kLimit ? "not checked: too many of them here"
                                                                    : "its pages cannot be read")};
  const auto database = child.check_database(std::move(*bytes));
  if (!database) {
    if (database.error().code == Code::kLimit)
      skipped = fmt::format("checking a database: {}", database.error().message);
    return {header_only(*header, database.error().message)};
  }
  if (!database->complete) return {header_only(*header, database->problem)};
  return complete(*header, *database);
}

}  // namespace vacant::scan

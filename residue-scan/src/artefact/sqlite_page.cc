// Pages of SQLite b-trees without their database. A page carries no checksum; but its cells, free blocks and
// fragments must fill it to the byte, and the records of a table must be as long as their types say.
// Source of the format: https://www.sqlite.org/fileformat2.html, section 1.6 and 2.1.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "artefact/parts.h"

namespace vacant::scan {

namespace {

constexpr unsigned kTableLeaf = 0x0D, kIndexLeaf = 0x0A;
constexpr std::size_t kLeafHeader = 8, kSmallestCell = 4, kSmallestPage = 512, kLargestPage = 65536;
constexpr std::size_t kMaxPayload = 1U << 30U;

// A big-endian number of 1 to 9 bytes, 7 bits a byte (8 in the ninth).
struct Varint {
  std::uint64_t value = 0;
  std::size_t bytes = 0;  // 0: none here
};
Varint varint(ByteSpan bytes, std::size_t at) {
  Varint out;
  for (std::size_t i = 0; i < 9 && at + i < bytes.size(); ++i) {
    const auto octet = std::to_integer<std::uint64_t>(bytes[at + i]);
    out.value = i == 8 ? (out.value << 8U) | octet : (out.value << 7U) | (octet & 0x7FU);
    if (i == 8 || octet < 0x80) {
      out.bytes = i + 1;
      return out;
    }
  }
  return {};
}

std::uint64_t type_bytes(std::uint64_t type) {
  constexpr std::array<std::uint64_t, 12> kFixed = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type < kFixed.size() ? kFixed[type] : (type - 12) / 2;
}

// Whether the types in a record's header add up to its length. Nullopt: the header is not all here.
std::optional<bool> record_adds_up(ByteSpan local, std::uint64_t payload) {
  const Varint header = varint(local, 0);
  if (header.bytes == 0 || header.value < header.bytes || header.value > payload) return false;
  if (header.value > local.size()) return std::nullopt;
  std::uint64_t sum = header.value;
  std::size_t at = header.bytes;
  while (at < header.value) {
    const Varint type = varint(local.first(static_cast<std::size_t>(header.value)), at);
    if (type.bytes == 0 || type.value == 10 || type.value == 11 || type.value > 2ULL * kMaxPayload)
      return false;
    sum += type_bytes(type.value);
    at += type.bytes;
  }
  return sum == payload;
}

struct Cell {
  std::size_t bytes = 0;
  bool record_told = false;  // its record was checked too
};

// How much of a payload a page of this size keeps.
std::size_t local_bytes(std::uint64_t payload, std::size_t page, bool table) {
  const std::size_t most = table ? page - 35 : (page - 12) * 64 / 255 - 23;
  if (payload <= most) return static_cast<std::size_t>(payload);
  const std::size_t least = (page - 12) * 32 / 255 - 23;
  const std::size_t fitting = least + static_cast<std::size_t>((payload - least) % (page - 4));
  return fitting <= most ? fitting : least;
}

std::optional<Cell> parse_cell(ByteSpan page, std::size_t at, bool table) {
  const Varint payload = varint(page, at);
  if (payload.bytes == 0 || payload.value > kMaxPayload) return std::nullopt;
  std::size_t begin = at + payload.bytes;
  if (table) {
    const Varint row = varint(page, begin);
    if (row.bytes == 0) return std::nullopt;
    begin += row.bytes;
  }
  const std::size_t local = local_bytes(payload.value, page.size(), table);
  const std::size_t end = begin + local + (local < payload.value ? 4 : 0);
  if (end > page.size()) return std::nullopt;
  const auto adds_up = record_adds_up(page.subspan(begin, local), payload.value);
  if (adds_up.has_value() && !*adds_up) return std::nullopt;
  return Cell{std::max(end - at, kSmallestCell), adds_up.has_value()};
}

// The chain of free blocks: rising, inside the content area. Their total, or nullopt.
std::optional<std::size_t> free_bytes(ByteSpan page, std::size_t content) {
  std::size_t total = 0;
  std::size_t at = load_be<std::uint16_t>(page, 1);
  for (std::size_t last = 0; at != 0; at = load_be<std::uint16_t>(page, at)) {
    if (at < content || at <= last || at + 4 > page.size()) return std::nullopt;
    const std::size_t size = load_be<std::uint16_t>(page, at + 2);
    if (size < 4 || at + size > page.size()) return std::nullopt;
    total += size;
    last = at + size - 1;
  }
  return total;
}

struct Page {
  std::size_t bytes = 0;
  std::size_t cells = 0;
  bool records_told = false;
};

struct LeafHeader {
  unsigned type = 0;
  std::size_t cells = 0, content = 0;
};

// Cheap, and refuses nearly all that is no page.
std::optional<LeafHeader> parse_leaf_header(ByteSpan bytes) {
  if (bytes.size() < kSmallestPage) return std::nullopt;
  LeafHeader header;
  header.type = load_le<std::uint8_t>(bytes, 0);
  if (header.type != kTableLeaf && header.type != kIndexLeaf) return std::nullopt;
  header.cells = load_be<std::uint16_t>(bytes, 3);
  header.content = load_be<std::uint16_t>(bytes, 5);
  if (header.content == 0) header.content = kLargestPage;
  if (header.cells == 0 || load_le<std::uint8_t>(bytes, 7) > 60) return std::nullopt;
  if (header.content < kLeafHeader + header.cells * 2 || header.content >= kLargestPage) return std::nullopt;
  return header;
}

std::optional<Page> leaf_of_size(ByteSpan page, const LeafHeader& header) {
  std::size_t used = load_le<std::uint8_t>(page, 7);
  bool told = true;
  for (std::size_t i = 0; i < header.cells; ++i) {
    const std::size_t at = load_be<std::uint16_t>(page, kLeafHeader + i * 2);
    if (at < header.content || at + kSmallestCell > page.size()) return std::nullopt;
    const auto cell = parse_cell(page, at, header.type == kTableLeaf);
    if (!cell) return std::nullopt;
    used += cell->bytes;
    told &= cell->record_told;
    if (used > page.size()) return std::nullopt;
  }
  const auto free = free_bytes(page, header.content);
  if (!free || used + *free != page.size() - header.content) return std::nullopt;
  return Page{page.size(), header.cells, told};
}

// A leaf of exactly this size, or (0) of any.
std::optional<Page> parse_leaf(ByteSpan bytes, std::size_t wanted_bytes) {
  const auto header = parse_leaf_header(bytes);
  if (!header) return std::nullopt;
  for (std::size_t size = kSmallestPage; size <= kLargestPage && size <= bytes.size(); size *= 2) {
    if (size <= header->content || (wanted_bytes != 0 && size != wanted_bytes)) continue;
    if (auto page = leaf_of_size(bytes.first(size), *header)) return page;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Artefact> examine_sqlite_pages(ByteSpan bytes, std::size_t limit) {
  const auto first = parse_leaf(bytes, 0);
  if (!first) return std::nullopt;
  std::size_t pages = 1, cells = first->cells, end = first->bytes;
  bool told = first->records_told;
  while (end < limit && end < bytes.size()) {
    const auto next = parse_leaf(bytes.subspan(end), first->bytes);
    if (!next) break;
    ++pages;
    cells += next->cells;
    told &= next->records_told;
    end += next->bytes;
  }
  // One cell of a few bytes is soon made up by chance or by another format.
  const bool weak = cells < 2 || !told;
  return Artefact{FindingKind::kArtefact, "sqlite-page", weak ? Confidence::kPossible : Confidence::kLikely,
                  end, fmt::format("{} b-tree leaf pages of {} bytes, {} cells", pages, first->bytes, cells)};
}

}  // namespace vacant::scan

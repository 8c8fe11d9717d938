// CRC-32 (IEEE) and CRC-32C with its inverse. CRC-32C uses the processor's instruction where it has one.
#include <nmmintrin.h>

#include <array>

#include "vacant/base/bytes.h"

namespace vacant {

namespace {

constexpr std::uint32_t kIeee = 0xEDB88320U;
constexpr std::uint32_t kCastagnoli = 0x82F63B78U;

using Table = std::array<std::uint32_t, 256>;

constexpr Table make_table(std::uint32_t polynomial) {
  Table table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1U) != 0 ? (value >> 1U) ^ polynomial : value >> 1U;
    table[i] = value;
  }
  return table;
}

// The top bytes of the table's entries are all different: from the top byte of a state the index that made it
// follows.
constexpr Table make_inverse(const Table& table) {
  Table inverse{};
  for (std::uint32_t i = 0; i < 256; ++i) inverse[table[i] >> 24U] = i;
  return inverse;
}

constexpr Table kIeeeTable = make_table(kIeee);
constexpr Table kCastagnoliTable = make_table(kCastagnoli);
constexpr Table kCastagnoliInverse = make_inverse(kCastagnoliTable);

std::uint32_t step(const Table& table, std::uint32_t state, std::byte b) {
  return (state >> 8U) ^ table[(state ^ std::to_integer<std::uint32_t>(b)) & 0xFFU];
}

std::uint32_t crc32c_portable(std::uint32_t state, ByteSpan bytes) {
  for (const std::byte b : bytes) state = step(kCastagnoliTable, state, b);
  return state;
}

__attribute__((target("sse4.2"))) std::uint32_t crc32c_sse42(std::uint32_t state, ByteSpan bytes) {
  std::uint64_t wide = state;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) wide = _mm_crc32_u64(wide, load_le<std::uint64_t>(bytes, at));
  auto narrow = static_cast<std::uint32_t>(wide);
  for (; at < bytes.size(); ++at) narrow = _mm_crc32_u8(narrow, std::to_integer<std::uint8_t>(bytes[at]));
  return narrow;
}

bool has_sse42() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse4.2") != 0;
}

}  // namespace

std::uint32_t crc32_ieee(ByteSpan bytes, std::uint32_t crc) {
  crc = ~crc;
  for (const std::byte b : bytes) crc = step(kIeeeTable, crc, b);
  return ~crc;
}

std::uint32_t crc32c_raw(std::uint32_t state, ByteSpan bytes) {
  static const auto chosen = has_sse42() ? &crc32c_sse42 : &crc32c_portable;
  return chosen(state, bytes);
}

std::uint32_t crc32c_reverse(std::uint32_t state, ByteSpan bytes) {
  for (std::size_t i = bytes.size(); i > 0; --i) {
    // Forward: next = (state >> 8) ^ table[(state ^ byte) & 255]. The top byte of next is that of the table
    // entry alone.
    const std::uint32_t index = kCastagnoliInverse[state >> 24U];
    const std::uint32_t low = index ^ std::to_integer<std::uint32_t>(bytes[i - 1]);
    state = ((state ^ kCastagnoliTable[index]) << 8U) | (low & 0xFFU);
  }
  return state;
}

}  // namespace vacant

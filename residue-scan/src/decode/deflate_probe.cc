#include "decode/deflate_probe.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace vacant::scan::decode {
namespace {

constexpr unsigned kMaxBits = 15;
constexpr std::size_t kMaxSymbols = 200;  // of a block
constexpr int kMaxBlocks = 4;
constexpr std::size_t kLiteralCodes = 286, kDistanceCodes = 30;

enum class Step { kGo, kBad, kBlockEnd, kEnd /* of the bytes: no objection */ };

class Bits {
 public:
  explicit Bits(ByteSpan bytes) : bytes_(bytes) {}
  // `count` <= 16 bits, lowest first; nullopt at the end of the bytes.
  std::optional<unsigned> take(unsigned count) {
    unsigned value = 0;
    for (unsigned i = 0; i < count; ++i, ++at_) {
      if (at_ / 8 >= bytes_.size()) return std::nullopt;
      value |= (std::to_integer<unsigned>(bytes_[at_ / 8]) >> (at_ % 8) & 1U) << i;
    }
    return value;
  }
  void align() { at_ = (at_ + 7) / 8 * 8; }

 private:
  ByteSpan bytes_;
  std::size_t at_ = 0;
};

// A canonical Huffman code, decoded bit by bit.
struct Code {
  std::array<std::uint16_t, kMaxBits + 1> count{};  // codes of each length
  std::array<std::uint16_t, 288> symbol{};          // in the order of their codes

  // The unused share of the code space: 0 complete, negative over-subscribed.
  int build(std::span<const std::uint8_t> lengths) {
    count.fill(0);
    for (const std::uint8_t length : lengths) ++count[length];
    int left = 1;
    for (unsigned bits = 1; bits <= kMaxBits; ++bits) {
      left = left * 2 - count[bits];
      if (left < 0) return left;
    }
    std::array<std::uint16_t, kMaxBits + 2> offset{};
    for (unsigned bits = 1; bits <= kMaxBits; ++bits)
      offset[bits + 1] = static_cast<std::uint16_t>(offset[bits] + count[bits]);
    for (std::size_t i = 0; i < lengths.size(); ++i)
      if (lengths[i] != 0) symbol[offset[lengths[i]]++] = static_cast<std::uint16_t>(i);
    return left;
  }

  Step decode(Bits& bits, unsigned& out) const {
    int code = 0, first = 0, index = 0;
    for (unsigned length = 1; length <= kMaxBits; ++length) {
      const auto bit = bits.take(1);
      if (!bit) return Step::kEnd;
      code |= static_cast<int>(*bit);
      const int here = count[length];
      if (code - first < here) {
        out = symbol[static_cast<std::size_t>(index + code - first)];
        return Step::kGo;
      }
      index += here;
      first = (first + here) * 2;
      code *= 2;
    }
    return Step::kBad;
  }
};

std::size_t match_length(unsigned code, unsigned extra_bits) {
  if (code == 28) return 258;
  return code < 8 ? code + 3U : ((4U + code % 4U) << extra_bits) + 3U;
}

// Follows literals and matches; a match that reaches before the start of the output gives random data away.
Step follow(Bits& bits, const Code& literals, const Code& distances, std::size_t& produced) {
  for (std::size_t i = 0; i < kMaxSymbols; ++i) {
    unsigned symbol = 0;
    if (const Step step = literals.decode(bits, symbol); step != Step::kGo) return step;
    if (symbol == 256) return Step::kBlockEnd;
    if (symbol < 256) {
      ++produced;
      continue;
    }
    if (symbol >= kLiteralCodes) return Step::kBad;
    const unsigned length_code = symbol - 257;
    const unsigned length_bits = length_code < 8 || length_code == 28 ? 0 : (length_code - 4) / 4;
    const auto length_rest = bits.take(length_bits);
    if (!length_rest) return Step::kEnd;
    unsigned distance = 0;
    if (const Step step = distances.decode(bits, distance); step != Step::kGo) return step;
    if (distance >= kDistanceCodes) return Step::kBad;
    const unsigned distance_bits = distance < 4 ? 0 : distance / 2 - 1;
    const auto distance_rest = bits.take(distance_bits);
    if (!distance_rest) return Step::kEnd;
    const std::size_t base = distance < 4 ? distance + 1 : ((2U + distance % 2) << distance_bits) + 1;
    if (base + *distance_rest > produced) return Step::kBad;
    produced += match_length(length_code, length_bits) + *length_rest;
  }
  return Step::kGo;
}

Step fixed_block(Bits& bits, std::size_t& produced) {
  std::array<std::uint8_t, 288> lengths;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    lengths[i] = static_cast<std::uint8_t>(i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
  std::array<std::uint8_t, 30> distance_lengths;
  distance_lengths.fill(5);
  Code literals, distances;
  literals.build(lengths);
  distances.build(distance_lengths);
  return follow(bits, literals, distances, produced);
}

// The run-length coded code lengths of a dynamic block.
Step read_lengths(Bits& bits, const Code& code, std::span<std::uint8_t> lengths) {
  for (std::size_t at = 0; at < lengths.size();) {
    unsigned symbol = 0;
    if (const Step step = code.decode(bits, symbol); step != Step::kGo) return step;
    if (symbol < 16) {
      lengths[at++] = static_cast<std::uint8_t>(symbol);
      continue;
    }
    if (symbol == 16 && at == 0) return Step::kBad;
    const std::uint8_t value = symbol == 16 ? lengths[at - 1] : std::uint8_t{0};
    const auto more = bits.take(symbol == 16 ? 2 : symbol == 17 ? 3 : 7);
    if (!more) return Step::kEnd;
    const std::size_t repeat = *more + (symbol == 18 ? 11U : 3U);
    if (repeat > lengths.size() - at) return Step::kBad;
    for (std::size_t i = 0; i < repeat; ++i) lengths[at++] = value;
  }
  return Step::kGo;
}

Step dynamic_block(Bits& bits, std::size_t& produced) {
  constexpr std::array<std::uint8_t, 19> kOrder = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                   11, 4,  12, 3, 13, 2, 14, 1, 15};
  const auto head = bits.take(14);
  if (!head) return Step::kEnd;
  const std::size_t literal_count = (*head & 31U) + 257, distance_count = (*head >> 5U & 31U) + 1;
  if (literal_count > kLiteralCodes || distance_count > kDistanceCodes) return Step::kBad;
  std::array<std::uint8_t, 19> code_lengths{};
  for (std::size_t i = 0; i < (*head >> 10U) + 4U; ++i) {
    const auto length = bits.take(3);
    if (!length) return Step::kEnd;
    code_lengths[kOrder[i]] = static_cast<std::uint8_t>(*length);
  }
  Code code;
  if (code.build(code_lengths) != 0) return Step::kBad;
  std::array<std::uint8_t, kLiteralCodes + kDistanceCodes> lengths{};
  const auto used = std::span(lengths).first(literal_count + distance_count);
  if (const Step step = read_lengths(bits, code, used); step != Step::kGo) return step;
  if (lengths[256] == 0) return Step::kBad;
  Code literals, distances;
  if (literals.build(used.first(literal_count)) != 0) return Step::kBad;
  const int left = distances.build(used.subspan(literal_count));
  const bool one_code = distances.count[0] + distances.count[1] == static_cast<int>(distance_count);
  if (left < 0 || (left > 0 && !one_code)) return Step::kBad;
  return follow(bits, literals, distances, produced);
}

Step stored_block(Bits& bits) {
  bits.align();
  const auto length = bits.take(16), inverse = bits.take(16);
  if (!length || !inverse) return Step::kEnd;
  return *length != 0 && (*length ^ *inverse) == 0xFFFF ? Step::kGo : Step::kBad;
}

}  // namespace

bool plausible_deflate(ByteSpan bytes) {
  Bits bits(bytes);
  std::size_t produced = 0;
  for (int block = 0; block < kMaxBlocks; ++block) {
    const auto head = bits.take(3);
    if (!head) return true;
    const unsigned type = *head >> 1U;
    if (type == 3) return false;
    if (type == 0) return stored_block(bits) != Step::kBad;
    const Step step = type == 1 ? fixed_block(bits, produced) : dynamic_block(bits, produced);
    if (step != Step::kBlockEnd) return step != Step::kBad;
    if ((*head & 1U) != 0) return true;
  }
  return true;
}

}  // namespace vacant::scan::decode

#include "decode/sweep.h"

#include <algorithm>
#include <array>
#include <bit>

#include "decode/masks.h"

namespace vacant::scan::decode {
namespace {

constexpr std::size_t kWordBytes = 64;
constexpr std::size_t kBlockWords = 64;
constexpr std::size_t kBlockBytes = kWordBytes * kBlockWords;

// Bits where at least 24 set bits begin.
std::uint64_t starts_of_24(std::uint64_t mask) {
  mask &= mask >> 1U;
  mask &= mask >> 2U;
  mask &= mask >> 4U;                      // 8
  return mask & mask >> 8U & mask >> 16U;  // 24
}
static_assert(kMinBase64Chars == 24);

class Sweep {
 public:
  explicit Sweep(Visitor& visitor) : visitor_(visitor) {}

  // Nearly every word has nothing to tell: three tests, no other branch.
  void word(std::size_t at, const Masks& masks) {
    const auto head = static_cast<std::size_t>(std::countr_one(masks.base64));
    if (open_bytes_ + head >= kMinBase64Chars || starts_of_24(masks.base64) != 0) [[unlikely]]
      runs(at, masks.base64);
    else
      open_bytes_ = static_cast<std::size_t>(std::countl_one(masks.base64));
    // A run of 8 pairs has at least 4 on one side of a word's edge.
    std::uint64_t pairs = masks.zero & (masks.printable << 1U | last_printable_);
    last_printable_ = masks.printable >> 63U;
    pairs &= pairs >> 2U;
    for (pairs &= pairs >> 4U; pairs != 0; pairs &= pairs - 1)
      visitor_.wide(at + static_cast<std::size_t>(std::countr_zero(pairs)));
    for (std::uint64_t left = masks.special; left != 0; left &= left - 1)
      visitor_.special(at + static_cast<std::size_t>(std::countr_zero(left)));
  }
  void finish(std::size_t end) { close(end); }
  [[nodiscard]] bool open() const { return open_bytes_ > 0; }

 private:
  void close(std::size_t end) {
    if (open_bytes_ >= kMinBase64Chars) visitor_.run(end - open_bytes_, end);
    open_bytes_ = 0;
  }
  void runs(std::size_t at, std::uint64_t mask) {
    if (mask == ~std::uint64_t{0}) {
      open_bytes_ += kWordBytes;
      return;
    }
    const auto head = static_cast<unsigned>(std::countr_one(mask));
    open_bytes_ += head;
    close(at + head);
    const auto tail = static_cast<unsigned>(std::countl_one(mask));
    // What is left has a clear bit on both sides, so each run inside is whole.
    std::uint64_t inner = starts_of_24(mask & ~std::uint64_t{0} >> tail) & ~std::uint64_t{0} << head;
    while (inner != 0) {
      const auto begin = static_cast<unsigned>(std::countr_zero(inner));
      const auto length = static_cast<unsigned>(std::countr_one(mask >> begin));
      visitor_.run(at + begin, at + begin + length);
      inner &= ~std::uint64_t{0} << (begin + length);
    }
    open_bytes_ = tail;
  }

  Visitor& visitor_;
  std::size_t open_bytes_ = 0;  // of the run that reaches the end of the last word
  std::uint64_t last_printable_ = 0;
};

}  // namespace

void sweep(ByteSpan bytes, std::size_t end, Visitor& visitor) {
  const MaskFunction masks_of = mask_function();
  std::array<Masks, kBlockWords> masks;
  Sweep pass(visitor);
  std::size_t at = 0;
  for (; bytes.size() - at > kBlockBytes && (at < end || pass.open()); at += kBlockBytes) {
    masks_of(bytes.data() + at, kBlockWords, masks.data());
    for (std::size_t i = 0; i < kBlockWords; ++i) pass.word(at + i * kWordBytes, masks[i]);
  }
  if (at < end || pass.open()) {
    // The rest, with a margin that belongs to no class but NUL; a NUL alone begins nothing.
    std::array<std::byte, kBlockBytes + kWordBytes + 1> rest;
    rest.fill(std::byte{0xFF});
    const std::size_t left = bytes.size() - at;
    std::ranges::copy(bytes.subspan(at), rest.begin());
    const std::size_t words = (left + kWordBytes - 1) / kWordBytes;
    masks_of(rest.data(), words, masks.data());
    for (std::size_t i = 0; i < words; ++i) pass.word(at + i * kWordBytes, masks[i]);
  }
  if (at < bytes.size()) pass.finish(bytes.size());
}

}  // namespace vacant::scan::decode

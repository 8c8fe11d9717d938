#include "core/landmarks.h"

#include <algorithm>
#include <array>

#include "core/masks.h"

namespace vacant::scan {
namespace {

constexpr std::size_t kWordBytes = kMaskWordBytes;
constexpr std::size_t kTextGapBytes = 128;  // texts that are closer are one: a search has its fixed costs too

std::uint64_t starts_of_8(std::uint64_t mask) {
  mask &= mask >> 1U;
  mask &= mask >> 2U;
  return mask & mask >> 4U;
}
// Bits where at least 16, or 24, set bits begin.
std::uint64_t starts_of_16(std::uint64_t mask) {
  mask = starts_of_8(mask);
  return mask & mask >> 8U;
}
std::uint64_t starts_of_24(std::uint64_t mask) {
  mask = starts_of_8(mask);
  return mask & mask >> 8U & mask >> 16U;
}
static_assert(kMinBase64Chars == 24 && kMinTextBytes == 16);

std::size_t head_of(std::uint64_t mask) { return static_cast<std::size_t>(std::countr_one(mask)); }
std::size_t tail_of(std::uint64_t mask) { return static_cast<std::size_t>(std::countl_one(mask)); }

class Survey {
 public:
  Survey(const MaskFunctions& functions, Landmarks& out) : functions_(functions), out_(out) {}

  void block(std::size_t at, const MaskBlock& masks, std::size_t words) {
    // Nearly every block of binary data has nothing to tell, nearly every one of text has.
    if (open_text_ >= kMinTextBytes || functions_.has_runs(masks)) {
      for (std::size_t i = 1; i <= words; ++i) word(at + (i - 1) * kWordBytes, masks, i);
    } else {
      open_run_ = tail_of(masks.base64[words]);
      open_text_ = tail_of(masks.printable[words]);
    }
    for (std::size_t i = 1; i <= words; ++i)
      if (masks.special[i] != 0) out_.special.set_word(at / kWordBytes + i - 1, masks.special[i]);
  }
  void finish(std::size_t end) {
    close(end);
    if (!out_.text.empty()) out_.text.back().end = std::min(out_.text.back().end, end);
  }
  [[nodiscard]] bool open() const { return open_run_ > 0; }

 private:
  void word(std::size_t at, const MaskBlock& masks, std::size_t i) {
    const std::uint64_t printable = masks.printable[i], base64 = masks.base64[i];
    const std::size_t text_head = head_of(printable);
    if (open_text_ + text_head >= kMinTextBytes || starts_of_16(printable) != 0) text(at);
    open_text_ = text_head == kWordBytes ? open_text_ + kWordBytes : tail_of(printable);

    if (open_run_ + head_of(base64) >= kMinBase64Chars || starts_of_24(base64) != 0) [[unlikely]]
      runs(at, base64);
    else
      open_run_ = tail_of(base64);

    // A run of 8 pairs has at least 4 on one side of a word's edge.
    const std::uint64_t wide = wide_pairs(masks.zero[i], printable << 1U | masks.printable[i - 1] >> 63U);
    if (wide != 0) [[unlikely]]
      out_.wide.set_word(at / kWordBytes, wide);
  }
  void text(std::size_t at) {
    const std::size_t begin = at - open_text_;
    auto& list = out_.text;
    if (!list.empty() && begin <= list.back().end + kTextGapBytes)
      list.back().end = at + kWordBytes;
    else
      list.push_back({begin, at + kWordBytes});
  }
  void close(std::size_t end) {
    if (open_run_ >= kMinBase64Chars) out_.runs.push_back({end - open_run_, end});
    open_run_ = 0;
  }
  void runs(std::size_t at, std::uint64_t mask) {
    if (mask == ~std::uint64_t{0}) {
      open_run_ += kWordBytes;
      return;
    }
    const std::size_t head = head_of(mask);
    open_run_ += head;
    close(at + head);
    const std::size_t tail = tail_of(mask);
    // What is left has a clear bit on both sides, so each run inside is whole.
    std::uint64_t inner = starts_of_24(mask & ~std::uint64_t{0} >> tail) & ~std::uint64_t{0} << head;
    while (inner != 0) {
      const auto begin = static_cast<std::size_t>(std::countr_zero(inner));
      const std::size_t length = head_of(mask >> begin);
      out_.runs.push_back({at + begin, at + begin + length});
      inner &= ~std::uint64_t{0} << (begin + length);
    }
    open_run_ = tail;
  }

  const MaskFunctions& functions_;
  Landmarks& out_;
  std::size_t open_run_ = 0;   // of the run that reaches the end of the last word
  std::size_t open_text_ = 0;  // and of the text
};

void prepare(Landmarks& out, std::size_t words) {
  out.text.clear();
  out.runs.clear();
  out.wide.clear(words);
  out.special.clear(words);
}

}  // namespace

void find_landmarks(ByteSpan bytes, std::size_t end, Landmarks& out) {
  prepare(out, (bytes.size() + kWordBytes - 1) / kWordBytes);
  const MaskFunctions& functions = mask_functions();
  MaskBlock masks;
  Survey survey(functions, out);
  std::size_t at = 0;
  for (; bytes.size() - at > kMaskBlockBytes && (at < end || survey.open()); at += kMaskBlockBytes) {
    functions.fill(bytes.data() + at, masks);
    survey.block(at, masks, kMaskWords);
  }
  if (at < end || survey.open()) {
    // The rest, with a margin that belongs to no class.
    std::array<std::byte, kMaskBlockBytes + 1> rest;
    rest.fill(std::byte{0xFF});
    const std::size_t left = bytes.size() - at;
    std::ranges::copy(bytes.subspan(at), rest.begin());
    functions.fill(rest.data(), masks);
    survey.block(at, masks, (left + kWordBytes - 1) / kWordBytes);
    at = bytes.size();
  }
  survey.finish(at);
}

const Landmarks& landmarks_of(const Buffer& buffer, Landmarks& spare) {
  if (buffer.landmarks != nullptr) return *buffer.landmarks;
  find_landmarks(buffer.bytes, std::min(buffer.bytes.size(), buffer.owned_end + kLeadBytes), spare);
  return spare;
}

}  // namespace vacant::scan

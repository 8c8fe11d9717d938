#include "vacant/base/bytes.h"

#include <fmt/format.h>

namespace vacant {

namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string to_hex(ByteSpan bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const std::byte b : bytes) {
    out.push_back(kDigits[std::to_integer<unsigned>(b) >> 4]);
    out.push_back(kDigits[std::to_integer<unsigned>(b) & 15U]);
  }
  return out;
}

std::optional<ByteVector> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  ByteVector out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_value(text[i]);
    const int low = hex_value(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return out;
}

Result<ByteSpan> Reader::take(std::size_t count) {
  if (count > remaining())
    return fail(Code::kCorrupt,
                fmt::format("ends early: {} bytes wanted at {}, {} left", count, position_, remaining()));
  const ByteSpan part = bytes_.subspan(position_, count);
  position_ += count;
  return part;
}

}  // namespace vacant

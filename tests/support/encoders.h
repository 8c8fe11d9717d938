// Encodings as other programs write them: the counterpart of what the scanner decodes. Header-only.
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace vacant::testing {

inline std::string base64(std::string_view text, bool url = false) {
  const std::string_view alphabet = url ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
                                        : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8U | (i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U);
    const std::size_t digits = i + 3 <= text.size() ? 4 : text.size() - i + 1;
    for (std::size_t k = 0; k < digits; ++k) out += alphabet[(bits >> (18 - 6 * k)) & 63U];
    if (!url) out.append(4 - digits, '=');
  }
  return out;
}

inline std::string hex(std::string_view text, bool upper = false) {
  const std::string_view digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    out += digits[static_cast<unsigned char>(c) >> 4U];
    out += digits[static_cast<unsigned char>(c) & 15U];
  }
  return out;
}

// Every byte, as strict encoders do it.
inline std::string percent(std::string_view text) {
  std::string out;
  for (const char c : text) out += "%" + hex(std::string_view(&c, 1), true);
  return out;
}

inline std::string utf16(std::string_view text, bool big_endian) {
  std::string out;
  for (const char c : text) out += big_endian ? std::string{'\0', c} : std::string{c, '\0'};
  return out;
}

inline std::string json_unicode(std::string_view text) {
  std::string out;
  for (const char c : text) out += "\\u00" + hex(std::string_view(&c, 1));
  return out;
}

// window_bits: 15 zlib, 31 gzip, -15 raw deflate.
inline std::string deflate_with(std::string_view text, int window_bits) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

inline std::string gzip(std::string_view text) { return deflate_with(text, 31); }

inline std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

// A zip file of one deflated member, with its central directory.
inline std::string zip(std::string_view text) {
  const std::string packed = deflate_with(text, -15);
  const auto le = [](std::uint64_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(i < 8 ? value >> (8 * i) : 0);
    return out;
  };
  const std::string name = "member.txt";
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
  const std::string common = le(20, 2) + le(0, 2) + le(8, 2) + le(0, 4) + le(crc, 4) + le(packed.size(), 4) +
                             le(text.size(), 4) + le(name.size(), 2) + le(0, 2);
  const std::string local = "PK\x03\x04" + common + name + packed;
  const std::string central =
      std::string("PK\x01\x02") + le(20, 2) + common + le(0, 2 + 2 + 2 + 4) + le(0, 4) + name;
  return local + central + std::string("PK\x05\x06") + le(0, 4) + le(1, 2) + le(1, 2) +
         le(central.size(), 4) + le(local.size(), 4) + le(0, 2);
}

}  // namespace vacant::testing

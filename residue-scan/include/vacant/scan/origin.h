// Origin: where a buffer's bytes come from, through every decoding layer: "1048576-GZIP-300-BASE64-30".
// The form is that of forensic paths: device offset, then codec and offset in the decoded bytes, repeated.
// Value type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vacant::scan {

enum class Codec : std::uint8_t {
  kBase64,
  kBase64Url,
  kHex,
  kPercent,
  kUtf16Le,
  kUtf16Be,
  kGzip,
  kZstd,
  kZip,
  kZlib,
  kJson
};
std::string_view name(Codec codec);  // "GZIP"

struct Layer {
  Codec codec;
  std::uint64_t offset_bytes;  // inside the decoded bytes
  friend auto operator<=>(const Layer&, const Layer&) = default;
};

struct Origin {
  std::uint64_t device_offset_bytes =
      0;                      // of the match itself, or of the outermost encoded run that holds it
  std::vector<Layer> layers;  // outermost first; empty for a match in plain bytes
  friend auto operator<=>(const Origin&, const Origin&) = default;
};
std::string to_string(const Origin& origin);

}  // namespace vacant::scan

#include "vacant/scan/origin.h"

#include <fmt/format.h>

namespace vacant::scan {

std::string_view name(Codec codec) {
  switch (codec) {
    case Codec::kBase64:
      return "BASE64";
    case Codec::kBase64Url:
      return "BASE64URL";
    case Codec::kHex:
      return "HEX";
    case Codec::kPercent:
      return "PERCENT";
    case Codec::kUtf16Le:
      return "UTF16LE";
    case Codec::kUtf16Be:
      return "UTF16BE";
    case Codec::kGzip:
      return "GZIP";
    case Codec::kZstd:
      return "ZSTD";
    case Codec::kZip:
      return "ZIP";
    case Codec::kZlib:
      return "ZLIB";
    case Codec::kJson:
      return "JSON";
  }
  return "?";
}

std::string to_string(const Origin& origin) {
  std::string out = fmt::format("{}", origin.device_offset_bytes);
  for (const Layer& layer : origin.layers)
    out += fmt::format("-{}-{}", name(layer.codec), layer.offset_bytes);
  return out;
}

}  // namespace vacant::scan

// Fingerprints: what a scan needs to find a secret without holding it (docs/formats/fingerprints.md).
//
// For each secret and each of its encoded forms the file keeps the form's length, a keyed BLAKE2b digest of all of it,
// and a coarse filter over a short window of it, so that a scan need not digest every offset. The filter can give away
// at most the window's bytes; the window never covers more than half of the value. The file is itself sensitive: mode 0600.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vacant/base/bytes.h"
#include "vacant/base/result.h"
#include "vacant/base/secret.h"

namespace vacant::secrets {

inline constexpr std::size_t kMinSecretBytes = 8;
inline constexpr std::size_t kMaxSecretBytes = 16 * 1024;
inline constexpr std::size_t kMaxSecrets = 100'000;

// One encoded form of a secret, as it may stand on a disk.
struct EncodedForm {
  std::string name;  // "raw", "base64+1", "base64url+0", "hex-upper", "utf16le", "json", "percent", ...
  SecretBytes bytes;
};
// Every form of DESIGN: raw, base64 at 3 alignments (standard and URL alphabet), base64 of base64, hex in both cases,
// percent, JSON-escaped, HTML entities, UTF-16 LE and BE, reversed. Forms equal to another one are left out.
std::vector<EncodedForm> encoded_forms(ByteSpan secret);

struct FormFingerprint {
  std::uint16_t form = 0;           // index into kFormNames
  std::uint8_t stride = 1;          // 1, 2, 4, 8 or 16: one gram per offset 0..stride-1 is in the filter
  std::uint32_t length_bytes = 0;
  std::vector<std::uint32_t> grams;  // keyed hashes of the 4-byte grams at offsets 0..stride-1
  std::array<std::byte, 16> digest{};  // BLAKE2b-128 keyed, over the whole form
};

struct SecretFingerprint {
  std::string label;  // chosen by the user, printable ASCII, <= 128 bytes; shown in reports
  std::vector<FormFingerprint> forms;
};

struct FingerprintFile {
  std::array<std::byte, 32> key{};  // random per file
  std::vector<SecretFingerprint> secrets;
};

// The names of forms, by index.
std::string_view form_name(std::uint16_t form);
// The filter's gram hash: a keyed function of 4 bytes, the same in writer and scanner.
std::uint32_t gram_hash(const std::array<std::byte, 32>& key, std::uint32_t gram_le);
std::array<std::byte, 16> form_digest(const std::array<std::byte, 32>& key, ByteSpan form);

struct NamedSecret {
  std::string label;
  SecretBytes value;
};
// kInvalidArgument for a value shorter than kMinSecretBytes or with too little variety to search for.
Result<FingerprintFile> make_fingerprints(const std::vector<NamedSecret>& secrets);
std::string serialise(const FingerprintFile& file);
Result<FingerprintFile> parse_fingerprints(ByteSpan bytes);  // strict, bounded

// Reads "label=value" lines (value to the end of the line, raw), or NUL-separated records, from bytes.
Result<std::vector<NamedSecret>> parse_secret_list(ByteSpan bytes);

}  // namespace vacant::secrets

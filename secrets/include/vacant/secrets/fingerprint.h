// Fingerprints: what a scan needs to find a secret without holding it (docs/formats/fingerprints.md).
//
// For each secret and each of its encoded forms the file keeps the form's length, a keyed BLAKE2b digest of
// all of it, and a coarse filter over a short window of it, so that a scan need not digest every offset. The
// filter can give away at most the window's bytes; the window never covers more than half of the value. The
// file is itself sensitive: mode 0600.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
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

// Longer forms are searched by their first bytes only: a match must fit into a scanner's margin.
inline constexpr std::size_t kMaxFormBytes = 32 * 1024;
inline constexpr std::size_t kGramBytes = 4;
inline constexpr std::uint8_t kMaxStride = 16;

// One encoded form of a secret, as it may stand on a disk.
struct EncodedForm {
  std::string name;  // "raw", "base64+1", "base64url+0", "hex-upper", "utf16", "json", "percent", ...
  SecretBytes bytes;
};
// Every form: raw, base64 at 3 alignments (standard and URL alphabet), base64 of base64, hex in both cases,
// percent, JSON-escaped, HTML entities, UTF-16 LE and BE, reversed. Forms equal to another one are left out.
// A base64 form is the core that does not depend on the value's neighbours. ASCII in UTF-16 has one form,
// without the outer NUL, that stands in either byte order.
std::vector<EncodedForm> encoded_forms(ByteSpan secret);

using FingerprintKey = std::array<std::byte, 32>;
using FormDigest = std::array<std::byte, 16>;

struct FormFingerprint {
  std::uint16_t form = 0;           // see form_name()
  std::uint8_t stride = 1;          // 1, 2, 4, 8 or 16: one gram per offset 0..stride-1 of the window is kept
  std::uint32_t length_bytes = 0;   // of the whole form
  std::uint32_t window_offset = 0;  // where in the form the window of stride + 3 bytes begins
  std::vector<std::uint32_t> grams;  // gram_hash of the 4-byte grams at offsets 0..stride-1 of the window
  FormDigest digest{};               // BLAKE2b-128 keyed, over the whole form
};

struct SecretFingerprint {
  std::string label;  // chosen by the user, printable ASCII, <= 128 bytes; shown in reports
  std::vector<FormFingerprint> forms;
};

struct FingerprintFile {
  FingerprintKey key{};  // random per file
  std::vector<SecretFingerprint> secrets;
};

// The names of forms, by index: 0..kFormCount-1.
inline constexpr std::uint16_t kFormCount = 39;
std::string_view form_name(std::uint16_t form);

// The filter's gram hash: a keyed bijection of 4 bytes, the same in writer and scanner. It spreads grams over
// a table and cannot be foreseen without the file; it hides nothing from somebody who holds the file.
class GramHasher {
 public:
  explicit GramHasher(const FingerprintKey& key);
  [[nodiscard]] std::uint32_t hash(std::uint32_t gram_le) const { return (gram_le ^ mask_) * factor_; }
  [[nodiscard]] std::uint32_t gram(std::uint32_t hash) const { return (hash * inverse_) ^ mask_; }
  [[nodiscard]] std::uint32_t mask() const { return mask_; }
  [[nodiscard]] std::uint32_t factor() const { return factor_; }

 private:
  std::uint32_t mask_, factor_, inverse_;
};
std::uint32_t gram_hash(const FingerprintKey& key, std::uint32_t gram_le);
// The bytes of the window that the grams stand for; nullopt if neighbouring grams contradict each other.
std::optional<ByteVector> window_bytes(const GramHasher& hasher, const FormFingerprint& form);
FormDigest form_digest(const FingerprintKey& key, ByteSpan form);

// Printable ASCII without '=', 1..128 bytes, no space at either end.
bool valid_label(std::string_view label);

struct NamedSecret {
  std::string label;
  SecretBytes value;
};
// kInvalidArgument for a bad or repeated label and for a value that cannot be searched for: shorter than
// kMinSecretBytes, with fewer than 5 different bytes, or below 14 bytes and beginning with characters so wide
// that the smallest window over its UTF-16 form would show more than half of it.
Result<FingerprintFile> make_fingerprints(const std::vector<NamedSecret>& secrets);
std::string serialise(const FingerprintFile& file);
Result<FingerprintFile> parse_fingerprints(ByteSpan bytes);  // strict, bounded

// Reads "label=value" lines (value to the end of the line; a CR before the line end is dropped), or, if there
// is a NUL anywhere, NUL-separated records whose values may hold line ends. Empty lines and records are
// passed over. No error message holds a value.
Result<std::vector<NamedSecret>> parse_secret_list(ByteSpan bytes);

}  // namespace vacant::secrets

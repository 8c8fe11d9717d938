// Placeholders: credential-shaped strings that stand in for real ones inside a guest, and that prove to be
// ours (docs/formats/placeholders.md). The body holds a keyed BLAKE2b MAC under the installation's
// verification key, in the alphabet of the format; it is not derived from the real value, and a format's own
// checksum is wrong on purpose.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "vacant/base/bytes.h"
#include "vacant/base/result.h"
#include "vacant/base/secret.h"

namespace vacant::secrets {

enum class TokenKind : std::uint8_t {
  kAwsAccessKeyId,
  kAwsSecretKey,
  kAnthropic,
  kOpenAi,
  kGithubClassic,
  kGithubFineGrained,
  kGitlab,
  kNpm,
  kPypi,
  kSlackBot,
  kStripe,
  kDigitalOcean,
  kLinear,
  kHuggingFace,
  kGoogleApi,
  kGroq,
  kXai,
  kOpenRouter,
  kGeneric
};
std::string_view name(TokenKind kind);
std::optional<TokenKind> token_kind_from_name(std::string_view text);

struct PlaceholderId {
  std::string workspace;   // printable ASCII without spaces, <= 64 bytes
  std::string credential;  // likewise
  std::uint32_t generation = 1;
};

// 32-byte key. `scan` may be given it: it can then verify placeholders (and, being symmetric, make them).
Result<SecretBytes> parse_placeholder_key(ByteSpan file);  // 64 hex digits and an optional line end
std::string serialise_placeholder_key(const SecretBytes& key);

// Deterministic in (key, kind, id).
Result<std::string> make_placeholder(const SecretBytes& key, TokenKind kind, const PlaceholderId& id);

// Whether the text is exactly a placeholder of ours. Constant-time in the MAC. Its MAC has at least 64 bits
// where the format has room (AWS key ids: 64 of 80).
bool verify_placeholder(const SecretBytes& key, std::string_view text);

}  // namespace vacant::secrets

// Signed reports: the JSON document, then one line with the signature (docs/formats/signed-report.md).
#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>

#include "vacant/scan/report.h"
#include "vacant/scan/report_key.h"

namespace vacant::scan {

namespace {

constexpr std::string_view kContext =
    "vacant-report/1\n";  // in front of the signed bytes: no other document begins so
constexpr std::string_view kSigPrefix = "sig ";
constexpr std::size_t kSigLineBytes = 4 + 64 + 1 + 128;  // "sig <public key> <signature>"

// SAFETY: libsodium takes unsigned char; std::byte and char may be viewed as such.
const unsigned char* raw(ByteSpan bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }
unsigned char* raw(MutableByteSpan bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

ByteVector message_of(std::string_view json) {
  ByteVector out(kContext.size() + json.size());
  std::ranges::copy(as_bytes(kContext), out.begin());
  std::ranges::copy(as_bytes(json), out.begin() + static_cast<std::ptrdiff_t>(kContext.size()));
  return out;
}

std::string_view strip_line_end(std::string_view text) {
  return text.ends_with('\n') ? text.substr(0, text.size() - 1) : text;
}

Result<ByteVector> parse_hex32(ByteSpan file) {
  const std::string_view text = strip_line_end(as_text(file));
  if (text.size() != 64) return fail(Code::kCorrupt, "a key must be 64 hex digits");
  auto bytes = from_hex(text);
  if (!bytes) return fail(Code::kCorrupt, "a key must be 64 hex digits");
  return std::move(*bytes);
}

struct Expanded {
  SecretBytes secret{crypto_sign_SECRETKEYBYTES};
  ByteVector public_key = ByteVector(crypto_sign_PUBLICKEYBYTES);
};

Expanded expand(const SecretBytes& seed) {
  Expanded out;
  crypto_sign_seed_keypair(raw(MutableByteSpan(out.public_key)), raw(out.secret.expose_mutable()),
                           raw(seed.expose()));
  return out;
}

}  // namespace

Result<ReportKeyPair> make_report_key() {
  VACANT_TRY(init_crypto());
  ReportKeyPair pair{SecretBytes::random(crypto_sign_SEEDBYTES), {}};
  pair.public_key = expand(pair.secret_key).public_key;
  return pair;
}

std::string serialise_sign_key(const SecretBytes& secret_key) { return to_hex(secret_key.expose()) + "\n"; }
std::string serialise_public_key(const ByteVector& public_key) { return to_hex(public_key) + "\n"; }

Result<SecretBytes> parse_sign_key(ByteSpan file) {
  ByteVector bytes = VACANT_TRY(parse_hex32(file));
  SecretBytes out = SecretBytes::copy_of(bytes);
  wipe(bytes);
  return out;
}

Result<ByteVector> parse_public_key(ByteSpan file) {
  VACANT_TRY(init_crypto());
  ByteVector bytes = VACANT_TRY(parse_hex32(file));
  if (crypto_core_ed25519_is_valid_point(raw(ByteSpan(bytes))) != 1)
    return fail(Code::kCorrupt, "not an Ed25519 public key");
  return bytes;
}

Result<std::string> sign_report(std::string_view json, const SecretBytes& secret_key) {
  VACANT_TRY(init_crypto());
  if (secret_key.size() != crypto_sign_SEEDBYTES)
    return fail(Code::kInvalidArgument, "the signing key has the wrong size");
  if (!json.ends_with('\n')) return fail(Code::kInvalidArgument, "a report must end with a line end");
  const Expanded key = expand(secret_key);
  const ByteVector message = message_of(json);
  ByteVector signature(crypto_sign_BYTES);
  crypto_sign_detached(raw(MutableByteSpan(signature)), nullptr, raw(ByteSpan(message)), message.size(),
                       raw(key.secret.expose()));
  return fmt::format("{}{}{} {}\n", json, kSigPrefix, to_hex(key.public_key), to_hex(signature));
}

Result<SignedReport> open_signed_report(std::string_view file,
                                        const std::optional<ByteVector>& expected_key) {
  VACANT_TRY(init_crypto());
  const std::string_view body = strip_line_end(file);
  const std::size_t line_begin = body.rfind('\n') == std::string_view::npos ? 0 : body.rfind('\n') + 1;
  const std::string_view line = body.substr(line_begin);
  if (!line.starts_with(kSigPrefix)) {
    if (expected_key) return fail(Code::kMismatch, "the report is not signed");
    return SignedReport{std::string(file), std::nullopt};
  }
  if (line.size() != kSigLineBytes || line[68] != ' ' || !file.ends_with('\n'))
    return fail(Code::kMismatch, "the signature line is malformed");
  // One spelling only: upper-case digits would be a second file with the same signature.
  if (std::ranges::any_of(line.substr(4), [](char c) { return c >= 'A' && c <= 'F'; }))
    return fail(Code::kMismatch, "the signature line is malformed");
  const auto signature = from_hex(line.substr(69));
  const auto key_on_line = parse_public_key(as_bytes(line.substr(4, 64)));
  if (!key_on_line) return fail(Code::kMismatch, "the signature line names no valid key");
  const ByteVector& key = *key_on_line;
  if (!signature) return fail(Code::kMismatch, "the signature line is malformed");
  if (expected_key && key != *expected_key)
    return fail(Code::kMismatch, "the report is signed by another key");
  const std::string_view json = file.substr(0, line_begin);
  const ByteVector message = message_of(json);
  if (crypto_sign_verify_detached(raw(ByteSpan(*signature)), raw(ByteSpan(message)), message.size(),
                                  raw(ByteSpan(key))) != 0)
    return fail(Code::kMismatch, "the signature does not verify: the report was changed");
  return SignedReport{std::string(json), key};
}

}  // namespace vacant::scan

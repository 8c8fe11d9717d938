#include "vacant/secrets/fingerprint.h"

#include <fmt/core.h>
#include <sodium.h>

#include <bitset>
#include <set>

#include "forms.h"

namespace vacant::secrets {
namespace {

// SAFETY: libsodium wants unsigned char, which may alias anything.
const unsigned char* raw(ByteSpan bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

constexpr std::size_t kMinDistinctBytes = 5;
constexpr std::size_t kMaxLabelBytes = 128;
// A unit of 3 bytes and the first half of a pair of 4 bytes: 7 bytes shown by the smallest window.
constexpr std::size_t kEnoughBytes = 14;

std::size_t distinct_bytes(ByteSpan value) {
  std::bitset<256> seen;
  for (const std::byte byte : value) seen.set(std::to_integer<std::size_t>(byte));
  return seen.count();
}

Result<void> check_secret(const NamedSecret& secret) {
  const std::string& label = secret.label;
  if (!valid_label(label))
    return fail(Code::kInvalidArgument,
                "a secret's label must be 1 to 128 printable ASCII characters without '='");
  if (secret.value.size() < kMinSecretBytes)
    return fail(Code::kInvalidArgument,
                fmt::format("secret {}: too short to search for, at least {} bytes are needed", label,
                            kMinSecretBytes));
  if (secret.value.size() > kMaxSecretBytes)
    return fail(Code::kInvalidArgument,
                fmt::format("secret {}: longer than {} bytes", label, kMaxSecretBytes));
  if (distinct_bytes(secret.value.expose()) < kMinDistinctBytes)
    return fail(Code::kInvalidArgument,
                fmt::format("secret {}: too little variety, it would be found everywhere", label));
  return {};
}

FormFingerprint fingerprint_form(const FingerprintKey& key, const Form& form, const Window& window) {
  FormFingerprint out;
  out.form = form.form;
  out.stride = window.stride;
  out.length_bytes = static_cast<std::uint32_t>(form.encoded.bytes.size());
  out.window_offset = window.offset;
  const GramHasher hasher(key);
  for (std::uint32_t i = 0; i < window.stride; ++i)
    out.grams.push_back(hasher.hash(load_le<std::uint32_t>(form.encoded.bytes, window.offset + i)));
  out.digest = form_digest(key, form.encoded.bytes);
  return out;
}

Result<SecretFingerprint> fingerprint_secret(const FingerprintKey& key, const NamedSecret& secret) {
  SecretFingerprint out{secret.label, {}};
  for (const Form& form : make_forms(secret.value.expose())) {
    const Window window = choose_window(form, secret.value.size());
    // Two UTF-16 units can stand for 6 or 7 bytes of UTF-8, more than half of a short value; the 4 bytes of
    // any other form show 4 at most. To leave the form out would be to search for less than was asked.
    if (window.stride == 0)
      return fail(
          Code::kInvalidArgument,
          fmt::format("secret {}: its form {} has too few characters to search for; {} bytes are enough "
                      "for any text",
                      secret.label, form_name(form.form), kEnoughBytes));
    out.forms.push_back(fingerprint_form(key, form, window));
  }
  return out;
}

}  // namespace

bool valid_label(std::string_view label) {
  if (label.empty() || label.size() > kMaxLabelBytes || label.front() == ' ' || label.back() == ' ')
    return false;
  for (const char c : label)
    if (c < 0x20 || c > 0x7E || c == '=') return false;
  return true;
}

GramHasher::GramHasher(const FingerprintKey& key)
    : mask_(load_le<std::uint32_t>(key, 0)), factor_(load_le<std::uint32_t>(key, 4) | 1U), inverse_(factor_) {
  // Newton's iteration for the inverse of an odd number modulo 2^32: each round doubles the right bits.
  for (int round = 0; round < 5; ++round) inverse_ *= 2U - factor_ * inverse_;
}

std::uint32_t gram_hash(const FingerprintKey& key, std::uint32_t gram_le) {
  return GramHasher(key).hash(gram_le);
}

std::optional<ByteVector> window_bytes(const GramHasher& hasher, const FormFingerprint& form) {
  ByteVector out(form.grams.size() + kGramBytes - 1);
  for (std::size_t i = 0; i < form.grams.size(); ++i) {
    const std::uint32_t gram = hasher.gram(form.grams[i]);
    if (i > 0 && load_le<std::uint32_t>(out, i) << 8U != gram << 8U) return std::nullopt;
    store_le(MutableByteSpan(out), i, gram);
  }
  return out;
}

FormDigest form_digest(const FingerprintKey& key, ByteSpan form) {
  FormDigest out;
  auto* target = reinterpret_cast<unsigned char*>(out.data());  // SAFETY: as raw()
  crypto_generichash(target, out.size(), raw(form), form.size(), raw(key), key.size());
  return out;
}

Result<FingerprintFile> make_fingerprints(const std::vector<NamedSecret>& secrets) {
  VACANT_TRY(init_crypto());
  if (secrets.size() > kMaxSecrets)
    return fail(Code::kLimit, fmt::format("more than {} secrets in one file", kMaxSecrets));
  std::set<std::string_view> labels;
  FingerprintFile file;
  randombytes_buf(file.key.data(), file.key.size());
  for (const NamedSecret& secret : secrets) {
    VACANT_TRY(check_secret(secret));
    if (!labels.insert(secret.label).second)
      return fail(Code::kInvalidArgument, fmt::format("two secrets are labelled {}", secret.label));
    file.secrets.push_back(VACANT_TRY(fingerprint_secret(file.key, secret)));
  }
  return file;
}

}  // namespace vacant::secrets

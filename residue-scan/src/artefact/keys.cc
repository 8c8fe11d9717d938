// Private keys in text: PEM and OpenSSH, PGP, PuTTY, age. What is in the armour must be what the armour says.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "artefact/parts.h"
#include "artefact/text.h"

namespace vacant::scan {

namespace {

constexpr std::string_view kBegin = "-----BEGIN ", kDashes = "-----";
constexpr std::size_t kMaxArmourBytes = 32 * 1024, kMaxLabelBytes = 40;

Artefact key(std::string rule, Confidence confidence, std::size_t length, std::string detail) {
  return {FindingKind::kPrivateKey, std::move(rule), confidence, length, std::move(detail)};
}

// Whether the bytes are one DER SEQUENCE of exactly this length.
bool is_der_sequence(ByteSpan der) {
  if (der.size() < 8 || der[0] != std::byte{0x30}) return false;
  const std::size_t first = std::to_integer<std::size_t>(der[1]);
  if (first < 0x80) return first + 2 == der.size();
  const std::size_t count = first & 0x7FU;
  if (count == 0 || count > 3) return false;
  std::size_t length = 0;
  for (std::size_t i = 0; i < count; ++i) length = length * 256 + std::to_integer<std::size_t>(der[2 + i]);
  return length + 2 + count == der.size();
}

std::optional<std::string_view> read_string(ByteSpan bytes, std::size_t& at) {
  if (bytes.size() - at < 4) return std::nullopt;
  const std::size_t size = load_be<std::uint32_t>(bytes, at);
  if (size > bytes.size() - at - 4) return std::nullopt;
  const std::string_view out = as_text(bytes.subspan(at + 4, size));
  at += 4 + size;
  return out;
}

// OpenSSH's PROTOCOL.key: two equal check numbers begin the private part if it is not encrypted.
std::optional<Artefact> openssh(ByteSpan body, std::size_t length) {
  constexpr std::string_view kMagic{"openssh-key-v1\0", 15};
  if (body.size() < 60 || as_text(body.first(kMagic.size())) != kMagic) return std::nullopt;
  std::size_t at = kMagic.size();
  const auto cipher = read_string(body, at);
  const auto kdf = cipher ? read_string(body, at) : std::nullopt;
  const auto options = kdf ? read_string(body, at) : std::nullopt;
  if (!options || body.size() - at < 4 || load_be<std::uint32_t>(body, at) != 1) return std::nullopt;
  at += 4;
  if (!read_string(body, at)) return std::nullopt;
  const auto secret = read_string(body, at);
  if (!secret || secret->size() < 8) return std::nullopt;
  if (*cipher != "none") return key("openssh-private-key", Confidence::kLikely, length, "encrypted");
  const bool equal = secret->substr(0, 4) == secret->substr(4, 4);
  return key("openssh-private-key", equal ? Confidence::kProven : Confidence::kPossible, length,
             equal ? "not encrypted, check numbers agree" : "check numbers differ");
}

// CRC-24 of RFC 4880 section 6.1.
std::uint32_t crc24(ByteSpan bytes) {
  std::uint32_t crc = 0xB704CEU;
  for (const std::byte b : bytes) {
    crc ^= std::to_integer<std::uint32_t>(b) << 16U;
    for (int i = 0; i < 8; ++i) crc = (crc & 0x800000U) != 0 ? (crc << 1U) ^ 0x1864CFBU : crc << 1U;
  }
  return crc & 0xFFFFFFU;
}

std::optional<Artefact> pgp(std::string_view body, std::size_t length) {
  const std::size_t blank = std::min(body.find("\n\n"), body.find("\r\n\r\n"));
  const std::size_t sum = body.rfind("\n=");
  const auto data = decode_base64_lines(
      body.substr(blank == std::string_view::npos ? 0 : blank,
                  sum == std::string_view::npos ? sum : sum - (blank == std::string_view::npos ? 0 : blank)),
      kMaxArmourBytes);
  if (!data || data->size() < 16) return std::nullopt;
  // The first packet of a secret key block: tag 5, old or new form.
  const unsigned first = std::to_integer<unsigned>((*data)[0]);
  const unsigned tag = (first & 0x40U) != 0 ? first & 0x3FU : (first >> 2U) & 0xFU;
  if ((first & 0x80U) == 0 || tag != 5) return std::nullopt;
  const auto stored =
      sum == std::string_view::npos ? std::nullopt : decode_base64_lines(body.substr(sum + 2, 4), 3);
  const bool holds = stored && stored->size() == 3 &&
                     (load_be<std::uint16_t>(*stored, 0) << 8U |
                      std::to_integer<std::uint32_t>((*stored)[2])) == crc24(*data);
  return key("pgp-private-key", holds ? Confidence::kProven : Confidence::kLikely, length,
             holds ? "armour checksum holds" : "");
}

// Cut off by the end of the block: the key's beginning is a finding all the same.
std::optional<Artefact> cut_off(std::string_view text, std::size_t label_end) {
  const std::size_t begin = label_end + kDashes.size();
  const std::size_t stop =
      text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n", begin);
  const std::size_t body = std::min(stop, text.size()) - begin;
  if (body < 64 || variety(text.substr(begin, body)) < 16) return std::nullopt;
  return key("private-key-cut-off", Confidence::kPossible, begin + body,
             fmt::format("begins, but does not end in {} bytes", body));
}

// What the label says is what the DER holds.
bool fits_label(ByteSpan der, std::string_view label) {
  if (!is_der_sequence(der)) return false;
  const std::size_t first = std::to_integer<std::size_t>(der[1]);
  const std::size_t inner = first < 0x80 ? 2 : 2 + (first & 0x7FU);
  if (inner + 3 > der.size()) return false;
  // PKCS #8 encrypted begins with an algorithm (SEQUENCE); all others with a version of one byte (INTEGER).
  if (label.starts_with("ENCRYPTED")) return der[inner] == std::byte{0x30};
  return der[inner] == std::byte{0x02} && der[inner + 1] == std::byte{0x01} &&
         std::to_integer<unsigned>(der[inner + 2]) <= 1;
}

std::optional<Artefact> armoured(std::string_view text) {
  const std::size_t label_end = text.find(kDashes, kBegin.size());
  if (label_end == std::string_view::npos || label_end > kBegin.size() + kMaxLabelBytes) return std::nullopt;
  const std::string_view label = text.substr(kBegin.size(), label_end - kBegin.size());
  if (label.find("PRIVATE KEY") == std::string_view::npos) return std::nullopt;
  const std::string end_line = fmt::format("-----END {}-----", label);
  // The next dashes are the end's, or there is none: text full of beginnings costs no more than its length.
  const std::size_t end = text.find(kDashes, label_end + kDashes.size());
  if (end == std::string_view::npos || !text.substr(end).starts_with(end_line))
    return cut_off(text, label_end);
  const std::size_t length = end + end_line.size();
  const std::string_view body = text.substr(label_end + kDashes.size(), end - label_end - kDashes.size());
  if (label.starts_with("PGP")) return pgp(body, length);
  const bool headers = body.find("Proc-Type:") != std::string_view::npos;
  const std::size_t blank = headers ? std::min(body.find("\n\n"), body.find("\r\n\r\n")) : 0;
  const auto data = blank == std::string_view::npos
                        ? std::nullopt
                        : decode_base64_lines(body.substr(blank), kMaxArmourBytes);
  if (!data) return std::nullopt;
  if (label.starts_with("OPENSSH")) return openssh(*data, length);
  if (headers) return key("pem-private-key", Confidence::kLikely, length, "encrypted");
  if (!fits_label(*data, label)) return std::nullopt;
  return key("pem-private-key", Confidence::kProven, length,
             label.starts_with("ENCRYPTED") ? "encrypted, one DER sequence" : "one DER sequence");
}

// PuTTY's key files: named fields, and lines of base64 counted by two of them.
std::optional<Artefact> putty(std::string_view text) {
  bool encrypted = false, mac = false;
  std::size_t private_lines = 0, decoding = 0, counted = 0;
  const std::size_t used = for_lines(text, [&](std::string_view line) {
    if (mac) return false;
    if (decoding > 0) {
      --decoding;
      return decode_base64_lines(line, 256).has_value();
    }
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos || colon > 32) return false;
    const std::string_view name = line.substr(0, colon), value = line.substr(colon + 2);
    encrypted |= name == "Encryption" && value != "none";
    if (name == "Public-Lines" || name == "Private-Lines") {
      if (std::from_chars(value.begin(), value.end(), counted).ec != std::errc{} || counted > 1000)
        return false;
      decoding = counted;
      private_lines += name == "Private-Lines" ? counted : 0;
    }
    mac = name == "Private-MAC" && (value.size() == 40 || value.size() == 64) && from_hex(value).has_value();
    return true;
  });
  if (private_lines == 0) return std::nullopt;
  return key("putty-private-key", Confidence::kLikely, used,
             fmt::format("{}{}", encrypted ? "encrypted" : "not encrypted", mac ? ", whole" : ", cut off"));
}

}  // namespace

std::optional<ByteVector> decode_base64_lines(std::string_view text, std::size_t limit) {
  ByteVector out;
  std::uint32_t bits = 0;
  unsigned count = 0, padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    if (c == '=') {
      if (++padding > 2) return std::nullopt;
      continue;
    }
    const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                      : c == '/'             ? 63
                                             : -1;
    if (value < 0 || padding > 0) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    if (++count % 4 == 0) {
      for (const unsigned shift : {16U, 8U, 0U}) out.push_back(static_cast<std::byte>(bits >> shift));
      bits = 0;
    }
    if (out.size() > limit) return std::nullopt;
  }
  if (count % 4 == 1 || (count + padding) % 4 != 0) return std::nullopt;
  if (count % 4 == 2) out.push_back(static_cast<std::byte>(bits >> 4U));
  if (count % 4 == 3) {
    out.push_back(static_cast<std::byte>(bits >> 10U));
    out.push_back(static_cast<std::byte>(bits >> 2U));
  }
  return out;
}

std::optional<Artefact> examine_key(ByteSpan bytes) {
  const std::string_view text = as_text(bytes.first(std::min(bytes.size(), kMaxArmourBytes)));
  if (text.starts_with(kBegin)) return armoured(text);
  if (text.starts_with("PuTTY-User-Key-File-2: ") || text.starts_with("PuTTY-User-Key-File-3: "))
    return putty(text);
  return std::nullopt;
}

}  // namespace vacant::scan

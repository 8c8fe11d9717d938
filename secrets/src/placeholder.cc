#include "vacant/secrets/placeholder.h"

#include <fmt/core.h>
#include <sodium.h>

#include <algorithm>
#include <array>

namespace vacant::secrets {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::string_view kBase62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kUrl64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kStd64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kBase32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kDigits = "0123456789";

// The shape of a kind is a row of parts. The MAC covers every payload character, and the kind.
struct Part {
  char type;  // 'L' literal, 'D' digits, 'P' payload, 'M' MAC
  std::string_view literal;
  std::size_t count;
};
struct Shape {
  std::string_view kind_name;
  std::string_view alphabet;
  std::array<Part, 8> parts;
  bool github_checksum;  // the last 6 characters must not be the CRC-32 of the 30 before them
};

constexpr Part literal(std::string_view text) { return {'L', text, text.size()}; }
constexpr Part payload(std::size_t count) { return {'P', {}, count}; }
constexpr Part digits(std::size_t count) { return {'D', {}, count}; }
constexpr Part mac(std::size_t count) { return {'M', {}, count}; }

// By TokenKind. MAC lengths: at least 64 bits (11 of 62 or 64, 12 of 52, 13 of 32, 16 of 16), more where
// there is room. The AWS key id has 80 bits in all: 65 for the MAC leave 15 for the payload.
constexpr std::array<Shape, 19> kShapes = {{
    {"aws-access-key-id", kBase32, {literal("AKIA"), payload(3), mac(13)}, false},
    {"aws-secret-key", kStd64, {payload(18), mac(22)}, false},
    {"anthropic", kUrl64, {literal("sk-ant-api03-"), payload(71), mac(22), literal("AA")}, false},
    {"openai", kUrl64, {literal("sk-proj-"), payload(74), literal("T3BlbkFJ"), payload(52), mac(22)}, false},
    {"github-classic", kBase62, {literal("ghp_"), payload(14), mac(22)}, true},
    {"github-fine-grained",
     kBase62,
     {literal("github_pat_"), payload(22), literal("_"), payload(37), mac(22)},
     false},
    {"gitlab", kUrl64, {literal("glpat-"), payload(9), mac(11)}, false},
    {"npm", kBase62, {literal("npm_"), payload(14), mac(22)}, true},
    {"pypi", kUrl64, {literal("pypi-AgEIcHlwaS5vcmc"), payload(138), mac(22)}, false},
    {"slack-bot",
     kBase62,
     {literal("xoxb-"), digits(12), literal("-"), digits(13), literal("-"), payload(8), mac(16)},
     false},
    {"stripe", kBase62, {literal("sk_test_"), payload(77), mac(22)}, false},
    {"digitalocean", kHexDigits, {literal("dop_v1_"), payload(32), mac(32)}, false},
    {"linear", kBase62, {literal("lin_api_"), payload(18), mac(22)}, false},
    {"hugging-face", kLetters, {literal("hf_"), payload(12), mac(22)}, false},
    {"google-api", kUrl64, {literal("AIza"), payload(13), mac(22)}, false},
    {"groq", kBase62, {literal("gsk_"), payload(30), mac(22)}, false},
    {"xai", kBase62, {literal("xai-"), payload(58), mac(22)}, false},
    {"openrouter", kHexDigits, {literal("sk-or-v1-"), payload(32), mac(32)}, false},
    {"generic", kBase62, {literal("vph_"), payload(21), mac(22)}, false},
}};

const Shape& shape_of(TokenKind kind) { return kShapes[static_cast<std::size_t>(kind)]; }

std::size_t count_of(const Shape& shape, char type) {
  std::size_t count = 0;
  for (const Part& part : shape.parts)
    if (part.type == type) count += part.count;
  return count;
}

std::size_t total(const Shape& shape) {
  return count_of(shape, 'L') + count_of(shape, 'D') + count_of(shape, 'P') + count_of(shape, 'M');
}

// SAFETY: libsodium wants unsigned char, which may alias anything.
const unsigned char* raw(ByteSpan bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

// A stream of bytes from keyed BLAKE2b: block i is the hash of (domain, kind, i, the fields with their
// lengths).
class KeyedStream {
 public:
  KeyedStream(const SecretBytes& key, std::string_view domain, TokenKind kind,
              std::vector<std::string_view> fields)
      : key_(key), domain_(domain), kind_(kind), fields_(std::move(fields)) {}

  // Uniform: bytes at or above the largest multiple of the alphabet's size are thrown away.
  char pick(std::string_view alphabet) {
    const unsigned bound = 256U - 256U % static_cast<unsigned>(alphabet.size());
    unsigned value = next();
    while (value >= bound) value = next();
    return alphabet[value % alphabet.size()];
  }

 private:
  unsigned next() {
    if (used_ == block_.size()) refill();
    return block_[used_++];
  }
  void update(crypto_generichash_state& state, std::string_view part) const {
    std::array<std::byte, 8> length;
    store_le<std::uint64_t>(length, 0, part.size());
    crypto_generichash_update(&state, raw(length), length.size());
    crypto_generichash_update(&state, raw(as_bytes(part)), part.size());
  }
  void refill() {
    crypto_generichash_state state;
    crypto_generichash_init(&state, raw(key_.expose()), kKeyBytes, block_.size());
    update(state, domain_);
    update(state, shape_of(kind_).kind_name);
    update(state, std::to_string(block_number_++));
    for (const std::string_view field : fields_) update(state, field);
    crypto_generichash_final(&state, block_.data(), block_.size());
    used_ = 0;
  }

  const SecretBytes& key_;
  std::string_view domain_;
  TokenKind kind_;
  std::vector<std::string_view> fields_;
  std::array<unsigned char, 64> block_{};
  std::size_t used_ = 64;
  std::uint32_t block_number_ = 0;
};

// Walks text of the right length along the shape; nullopt if a literal or a character does not fit.
struct Split {
  std::string payload, mac;
};
std::optional<Split> split(const Shape& shape, std::string_view text) {
  if (text.size() != total(shape)) return std::nullopt;
  Split out;
  for (const Part& part : shape.parts) {
    const std::string_view piece = text.substr(0, part.count);
    text.remove_prefix(part.count);
    if (part.type == 'L' && piece != part.literal) return std::nullopt;
    const std::string_view alphabet = part.type == 'D' ? kDigits : shape.alphabet;
    if (part.type != 'L' && piece.find_first_not_of(alphabet) != std::string_view::npos) return std::nullopt;
    if (part.type == 'M') out.mac += piece;
    if (part.type == 'P' || part.type == 'D') out.payload += piece;
  }
  return out;
}

std::string join(const Shape& shape, std::string_view payload_text, std::string_view mac_text) {
  std::string out;
  for (const Part& part : shape.parts) {
    std::string_view& source = part.type == 'M' ? mac_text : payload_text;
    out += part.type == 'L' ? part.literal : source.substr(0, part.count);
    if (part.type != 'L') source.remove_prefix(part.count);
  }
  return out;
}

// Whether the 36 characters end in the checksum that GitHub and npm append: CRC-32 in base 62, 6 characters.
bool checksum_holds(std::string_view body) {
  std::uint32_t crc = crc32_ieee(as_bytes(body.substr(0, 30)));
  std::array<char, 6> expected;
  for (std::size_t i = expected.size(); i-- > 0; crc /= 62) expected[i] = kBase62[crc % 62];
  return body.substr(30) == std::string_view(expected.data(), expected.size());
}

// The MAC of a payload. If it happened to complete a valid checksum the next one is taken, by maker and
// verifier alike.
std::string mac_of(const SecretBytes& key, TokenKind kind, std::string_view payload_text) {
  const Shape& shape = shape_of(kind);
  KeyedStream stream(key, "vacant placeholder mac 1", kind, {payload_text});
  std::string out;
  do {
    out.clear();
    for (std::size_t i = count_of(shape, 'M'); i > 0; --i) out += stream.pick(shape.alphabet);
  } while (shape.github_checksum && checksum_holds(std::string(payload_text) + out));
  return out;
}

std::string payload_of(const SecretBytes& key, TokenKind kind, const PlaceholderId& id) {
  const std::string generation = std::to_string(id.generation);
  KeyedStream stream(key, "vacant placeholder payload 1", kind, {id.workspace, id.credential, generation});
  std::string out;
  for (const Part& part : shape_of(kind).parts) {
    if (part.type != 'P' && part.type != 'D') continue;
    for (std::size_t i = 0; i < part.count; ++i)
      out += stream.pick(part.type == 'D' ? kDigits : shape_of(kind).alphabet);
  }
  return out;
}

bool valid_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7F; });
}

}  // namespace

std::string_view name(TokenKind kind) { return shape_of(kind).kind_name; }

std::optional<TokenKind> token_kind_from_name(std::string_view text) {
  for (std::size_t i = 0; i < kShapes.size(); ++i)
    if (kShapes[i].kind_name == text) return static_cast<TokenKind>(i);
  return std::nullopt;
}

Result<SecretBytes> parse_placeholder_key(ByteSpan file) {
  std::string_view text = as_text(file);
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  auto bytes = text.size() == kKeyBytes * 2 ? from_hex(text) : std::nullopt;
  if (!bytes) return fail(Code::kCorrupt, "a placeholder key is 64 hexadecimal digits on one line");
  SecretBytes key = SecretBytes::copy_of(*bytes);
  wipe(*bytes);
  return key;
}

std::string serialise_placeholder_key(const SecretBytes& key) { return to_hex(key.expose()) + "\n"; }

Result<std::string> make_placeholder(const SecretBytes& key, TokenKind kind, const PlaceholderId& id) {
  VACANT_TRY(init_crypto());
  if (key.size() != kKeyBytes) return fail(Code::kInvalidArgument, "a placeholder key has 32 bytes");
  if (!valid_name(id.workspace) || !valid_name(id.credential))
    return fail(Code::kInvalidArgument,
                "workspace and credential must be 1 to 64 printable ASCII characters without spaces");
  const std::string payload_text = payload_of(key, kind, id);
  return join(shape_of(kind), payload_text, mac_of(key, kind, payload_text));
}

bool verify_placeholder(const SecretBytes& key, std::string_view text) {
  if (key.size() != kKeyBytes || !init_crypto()) return false;
  for (std::size_t i = 0; i < kShapes.size(); ++i) {
    const auto parts = split(kShapes[i], text);
    if (!parts) continue;
    const std::string expected = mac_of(key, static_cast<TokenKind>(i), parts->payload);
    if (sodium_memcmp(expected.data(), parts->mac.data(), expected.size()) == 0) return true;
  }
  return false;
}

}  // namespace vacant::secrets

// The fingerprint file (docs/formats/fingerprints.md): lines of text, strict on reading.
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>

#include "vacant/secrets/fingerprint.h"

namespace vacant::secrets {
namespace {

constexpr std::string_view kMagic = "vacant-fingerprints 1";

// A digest over all lines above the last one: a file that was cut or edited by accident is refused.
std::string seal(const FingerprintKey& key, std::string_view body) {
  return to_hex(form_digest(key, as_bytes(body)));
}

void append_form(std::string& out, const FormFingerprint& form) {
  fmt::format_to(std::back_inserter(out), "form {} {} {} {} ", form_name(form.form), form.length_bytes,
                 form.stride, form.window_offset);
  for (const std::uint32_t gram : form.grams) fmt::format_to(std::back_inserter(out), "{:08x}", gram);
  out += ' ';
  out += to_hex(form.digest);
  out += '\n';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), left_(text) {}
  Result<FingerprintFile> run();

 private:
  [[nodiscard]] std::unexpected<Error> bad(std::string_view what) const {
    return fail(Code::kCorrupt, fmt::format("fingerprint file, line {}: {}", line_number_, what));
  }
  Result<std::string_view> line();
  Result<std::string_view> word(std::string_view& line) const;
  Result<std::uint32_t> number(std::string_view& line) const;
  Result<void> header();
  Result<void> secret(std::string_view label);
  Result<void> form(std::string_view rest);
  Result<void> fields(std::string_view rest, FormFingerprint& out) const;
  Result<void> grams(std::string_view hex, FormFingerprint& out) const;
  Result<void> end(std::string_view rest, std::size_t body_bytes);

  std::string_view text_, left_;
  std::size_t line_number_ = 0;
  FingerprintFile file_;
  std::set<std::string, std::less<>> labels_;
};

Result<std::string_view> Parser::line() {
  ++line_number_;
  const std::size_t end = left_.find('\n');
  if (end == std::string_view::npos) return bad("the file ends before its last record");
  const std::string_view out = left_.substr(0, end);
  left_.remove_prefix(end + 1);
  return out;
}

Result<std::string_view> Parser::word(std::string_view& line) const {
  const std::size_t end = std::min(line.find(' '), line.size());
  if (end == 0) return bad("a field is missing");
  const std::string_view out = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return out;
}

Result<std::uint32_t> Parser::number(std::string_view& line) const {
  const std::string_view digits = VACANT_TRY(word(line));
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || (digits[0] == '0' && digits.size() > 1))
    return bad("not a number");
  return value;
}

// Lower case only: a file has one spelling.
std::optional<ByteVector> strict_hex(std::string_view text) {
  const bool lower = text.find_first_of("ABCDEF") == std::string_view::npos;
  return lower ? from_hex(text) : std::nullopt;
}

template <std::size_t size>
bool read_hex(std::string_view hex, std::array<std::byte, size>& out) {
  const auto bytes = strict_hex(hex);
  if (!bytes || bytes->size() != size) return false;
  std::ranges::copy(*bytes, out.begin());
  return true;
}

Result<void> Parser::header() {
  if (VACANT_TRY(line()) != kMagic) return bad("not a fingerprint file of version 1");
  std::string_view rest = VACANT_TRY(line());
  if (!rest.starts_with("key ") || !read_hex(rest.substr(4), file_.key)) return bad("the key is missing");
  return {};
}

Result<void> Parser::secret(std::string_view label) {
  if (!valid_label(label)) return bad("bad label");
  if (file_.secrets.size() >= kMaxSecrets) return fail(Code::kLimit, "fingerprint file: too many secrets");
  if (!labels_.emplace(label).second) return bad("a label occurs twice");
  file_.secrets.push_back({std::string(label), {}});
  return {};
}

Result<void> Parser::form(std::string_view rest) {
  if (file_.secrets.empty()) return bad("a form before any secret");
  FormFingerprint out;
  const std::string_view form_word = VACANT_TRY(word(rest));
  while (out.form < kFormCount && form_name(out.form) != form_word) ++out.form;
  if (out.form == kFormCount) return bad("unknown form");
  auto& forms = file_.secrets.back().forms;
  if (!forms.empty() && forms.back().form >= out.form) return bad("forms out of order");
  VACANT_TRY(fields(rest, out));
  forms.push_back(std::move(out));
  return {};
}

Result<void> Parser::fields(std::string_view rest, FormFingerprint& out) const {
  out.length_bytes = VACANT_TRY(number(rest));
  const std::uint32_t stride = VACANT_TRY(number(rest));
  out.window_offset = VACANT_TRY(number(rest));
  if (stride == 0 || stride > kMaxStride || (stride & (stride - 1)) != 0) return bad("bad stride");
  out.stride = static_cast<std::uint8_t>(stride);
  const std::size_t width = stride + kGramBytes - 1;
  if (out.length_bytes < kMinSecretBytes || out.length_bytes > kMaxFormBytes || width > out.length_bytes ||
      out.window_offset > out.length_bytes - width)
    return bad("the window does not lie in the form");
  const std::string_view gram_digits = VACANT_TRY(word(rest));
  VACANT_TRY(grams(gram_digits, out));
  if (!read_hex(VACANT_TRY(word(rest)), out.digest) || !rest.empty()) return bad("bad digest");
  return {};
}

Result<void> Parser::grams(std::string_view hex, FormFingerprint& out) const {
  const auto bytes = strict_hex(hex);
  if (!bytes || bytes->size() != out.stride * sizeof(std::uint32_t)) return bad("bad grams");
  for (std::size_t i = 0; i < out.stride; ++i) out.grams.push_back(load_be<std::uint32_t>(*bytes, i * 4));
  if (!window_bytes(GramHasher(file_.key), out)) return bad("grams that contradict each other");
  return {};
}

Result<void> Parser::end(std::string_view rest, std::size_t body_bytes) {
  const std::uint32_t count = VACANT_TRY(number(rest));
  if (count != file_.secrets.size()) return bad("the count of secrets is off");
  if (rest != seal(file_.key, text_.substr(0, body_bytes)))
    return bad("the digest over the file does not hold");
  if (!left_.empty()) return bad("something follows the last record");
  return {};
}

Result<FingerprintFile> Parser::run() {
  VACANT_TRY(header());
  for (;;) {
    const std::size_t body_bytes = text_.size() - left_.size();
    const std::string_view record = VACANT_TRY(line());
    if (record.starts_with("form ")) {
      VACANT_TRY(form(record.substr(5)));
    } else if (record.starts_with("secret ")) {
      VACANT_TRY(secret(record.substr(7)));
    } else if (record.starts_with("end ")) {
      VACANT_TRY(end(record.substr(4), body_bytes));
      return std::move(file_);
    } else {
      return bad("unknown record");
    }
  }
}

}  // namespace

std::string serialise(const FingerprintFile& file) {
  std::string out = fmt::format("{}\nkey {}\n", kMagic, to_hex(file.key));
  for (const SecretFingerprint& secret : file.secrets) {
    fmt::format_to(std::back_inserter(out), "secret {}\n", secret.label);
    for (const FormFingerprint& form : secret.forms) append_form(out, form);
  }
  const std::string digest = seal(file.key, out);
  fmt::format_to(std::back_inserter(out), "end {} {}\n", file.secrets.size(), digest);
  return out;
}

Result<FingerprintFile> parse_fingerprints(ByteSpan bytes) {
  VACANT_TRY(init_crypto());
  return Parser(as_text(bytes)).run();
}

}  // namespace vacant::secrets

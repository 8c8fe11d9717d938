#include "forms.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace vacant::secrets {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kBase64Url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kLower = "0123456789abcdef";
constexpr std::string_view kUpper = "0123456789ABCDEF";

constexpr std::array<std::string_view, kFormCount> kFormNames = {"raw",          "reversed",
                                                                 "utf16",        "utf16le",
                                                                 "utf16be",      "hex",
                                                                 "hex-upper",    "base64+0",
                                                                 "base64+1",     "base64+2",
                                                                 "base64url+0",  "base64url+1",
                                                                 "base64url+2",  "base64x2+0+0",
                                                                 "base64x2+0+1", "base64x2+0+2",
                                                                 "base64x2+1+0", "base64x2+1+1",
                                                                 "base64x2+1+2", "base64x2+2+0",
                                                                 "base64x2+2+1", "base64x2+2+2",
                                                                 "percent",      "percent-lower",
                                                                 "percent-all",  "percent-all-lower",
                                                                 "percent-plus", "json",
                                                                 "json-slash",   "json-html",
                                                                 "json-u",       "json-u-upper",
                                                                 "json-u-all",   "json-u-all-upper",
                                                                 "html",         "html-decimal",
                                                                 "html-hex",     "html-hex-upper",
                                                                 "html-all"};
enum Index : std::uint16_t {
  kRaw,
  kReversed,
  kUtf16,
  kUtf16Le,
  kUtf16Be,
  kHex,
  kHexUpper,
  kB64,
  kB64Url = kB64 + 3,
  kB64x2 = kB64Url + 3,
  kPercent = kB64x2 + 9,
  kPercentLower,
  kPercentAll,
  kPercentAllLower,
  kPercentPlus,
  kJson,
  kJsonSlash,
  kJsonHtml,
  kJsonU,
  kJsonUUpper,
  kJsonUAll,
  kJsonUAllUpper,
  kHtml,
  kHtmlDecimal,
  kHtmlHex,
  kHtmlHexUpper,
  kHtmlAll
};
static_assert(kHtmlAll + 1 == kFormCount);

std::uint32_t u32(std::size_t value) { return static_cast<std::uint32_t>(value); }

Encoded identity(ByteSpan value) {
  Encoded out;
  out.reserve(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) out.put(value[i], u32(i + 1));
  return out;
}

// The characters of base64 that depend on the value alone when `phase` unknown bytes (modulo 3) precede it.
Encoded base64_core(const Encoded& in, unsigned phase, std::string_view alphabet) {
  const std::size_t first_bit = phase * 8U;
  const std::size_t last_bit = first_bit + in.bytes.size() * 8;
  Encoded out;
  out.reserve(last_bit / 6 + 1);
  for (std::size_t c = (first_bit + 5) / 6; (c + 1) * 6 <= last_bit; ++c) {
    unsigned value = 0;
    std::size_t byte = 0;
    for (std::size_t bit = c * 6; bit < c * 6 + 6; ++bit) {
      byte = (bit - first_bit) / 8;
      value = value << 1U | (std::to_integer<unsigned>(in.bytes[byte]) >> (7 - (bit - first_bit) % 8) & 1U);
    }
    out.put(static_cast<std::byte>(alphabet[value]), in.known[byte]);
  }
  return out;
}

bool is_alnum(std::uint8_t c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// Builds a form byte by byte: `emit` puts the text of one byte of the value.
class Writer {
 public:
  explicit Writer(ByteSpan value) : value_(value) { out_.reserve(value.size() * 6); }
  template <class Emit>
  Encoded each(Emit emit) {
    for (at_ = 0; at_ < value_.size(); ++at_) emit(*this, std::to_integer<std::uint8_t>(value_[at_]));
    return std::move(out_);
  }
  void text(std::string_view part) {
    for (const char c : part) put(static_cast<std::uint8_t>(c));
  }
  void put(std::uint8_t byte) { out_.put(std::byte{byte}, u32(at_ + 1)); }
  void hex(std::string_view prefix, std::uint8_t byte, std::string_view digits) {
    text(prefix);
    put(static_cast<std::uint8_t>(digits[byte >> 4U]));
    put(static_cast<std::uint8_t>(digits[byte & 15U]));
  }

 private:
  ByteSpan value_;
  std::size_t at_ = 0;
  Encoded out_;
};

Encoded hex_form(ByteSpan value, std::string_view prefix, std::string_view digits) {
  return Writer(value).each([&](Writer& w, std::uint8_t c) { w.hex(prefix, c, digits); });
}

Encoded percent_form(ByteSpan value, std::string_view digits, bool plus) {
  return Writer(value).each([&](Writer& w, std::uint8_t c) {
    if (is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~')
      w.put(c);
    else if (plus && c == ' ')
      w.put('+');
    else
      w.hex("%", c, digits);
  });
}

enum class JsonStyle { kPlain, kSlash, kHtml };

Encoded json_form(ByteSpan value, JsonStyle style) {
  return Writer(value).each([&](Writer& w, std::uint8_t c) {
    constexpr std::string_view kFrom = "\"\\\b\f\n\r\t", kTo = "\"\\bfnrt";
    const std::size_t at = kFrom.find(static_cast<char>(c));
    const bool html = c == '<' || c == '>' || c == '&' || c == '\'';
    if (at != std::string_view::npos) {
      w.put('\\');
      w.put(static_cast<std::uint8_t>(kTo[at]));
    } else if (c == '/' && style == JsonStyle::kSlash) {
      w.text("\\/");
    } else if (c < 0x20 || (html && style == JsonStyle::kHtml)) {
      w.hex("\\u00", c, kLower);
    } else {
      w.put(c);
    }
  });
}

// Everything but letters and digits as \u00xx.
Encoded json_u_form(ByteSpan value, std::string_view digits) {
  return Writer(value).each([&](Writer& w, std::uint8_t c) {
    if (is_alnum(c))
      w.put(c);
    else
      w.hex("\\u00", c, digits);
  });
}

Encoded html_form(ByteSpan value) {
  return Writer(value).each([](Writer& w, std::uint8_t c) {
    switch (c) {
      case '&':
        return w.text("&amp;");
      case '<':
        return w.text("&lt;");
      case '>':
        return w.text("&gt;");
      case '"':
        return w.text("&quot;");
      case '\'':
        return w.text("&#39;");
      default:
        return w.put(c);
    }
  });
}

void put_decimal_entity(Writer& w, std::uint8_t c) {
  w.text("&#");
  if (c >= 100) w.put(static_cast<std::uint8_t>('0' + c / 100));
  if (c >= 10) w.put(static_cast<std::uint8_t>('0' + c / 10 % 10));
  w.put(static_cast<std::uint8_t>('0' + c % 10));
  w.put(';');
}

Encoded html_decimal_form(ByteSpan value, bool all) {
  return Writer(value).each([&](Writer& w, std::uint8_t c) {
    if (is_alnum(c) && !all)
      w.put(c);
    else
      put_decimal_entity(w, c);
  });
}

Encoded html_hex_form(ByteSpan value, std::string_view digits) {
  return Writer(value).each([&](Writer& w, std::uint8_t c) {
    if (is_alnum(c)) return w.put(c);
    w.hex("&#x", c, digits);
    w.put(';');
  });
}

// Length of the UTF-8 sequence at the front, 0 if it is none.
std::size_t utf8_length(ByteSpan rest) {
  const auto lead = std::to_integer<unsigned>(rest[0]);
  const std::size_t length = lead < 0x80        ? 1
                             : lead >> 5U == 6  ? 2
                             : lead >> 4U == 14 ? 3
                             : lead >> 3U == 30 ? 4
                                                : 0;
  if (length == 0 || length > rest.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (std::to_integer<unsigned>(rest[i]) >> 6U != 2) return 0;
  return length;
}

std::uint32_t utf8_value(ByteSpan sequence) {
  if (sequence.size() == 1) return std::to_integer<std::uint32_t>(sequence[0]);
  std::uint32_t code = std::to_integer<std::uint32_t>(sequence[0]) & (0xFFU >> (sequence.size() + 1));
  for (const std::byte byte : sequence.subspan(1))
    code = code << 6U | (std::to_integer<std::uint32_t>(byte) & 63U);
  return code;
}

void put_unit(Encoded& out, std::uint32_t unit, bool big_endian, std::size_t known) {
  const auto low = static_cast<std::byte>(unit & 255U), high = static_cast<std::byte>(unit >> 8U & 255U);
  out.put(big_endian ? high : low, u32(known));
  out.put(big_endian ? low : high, u32(known));
}

// UTF-8 text as UTF-16; bytes that are no UTF-8 stand for themselves (Latin-1).
Encoded utf16_form(ByteSpan value, bool big_endian) {
  Encoded out;
  out.reserve(value.size() * 2);
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(value.subspan(at)));
    const bool latin = utf8_length(value.subspan(at)) == 0;
    const std::uint32_t code =
        latin ? std::to_integer<std::uint32_t>(value[at]) : utf8_value(value.subspan(at, length));
    at += length;
    if (code >= 0x10000) put_unit(out, 0xD800U + ((code - 0x10000) >> 10U), big_endian, at);
    put_unit(out, code >= 0x10000 ? 0xDC00U + ((code - 0x10000) & 0x3FFU) : code, big_endian, at);
  }
  return out;
}

bool is_ascii(ByteSpan value) {
  return std::ranges::all_of(value, [](std::byte b) { return std::to_integer<unsigned>(b) < 0x80; });
}

class FormList {
 public:
  void add(std::uint16_t index, Encoded encoded, bool window_at_end = false) {
    if (encoded.bytes.size() > kMaxFormBytes) {
      VACANT_ASSERT(!window_at_end);  // the window must not be cut off; a reversed form is never that long
      encoded.bytes.resize(kMaxFormBytes);
      encoded.known.resize(kMaxFormBytes);
    }
    for (const Form& form : forms_)
      if (std::ranges::equal(form.encoded.bytes, encoded.bytes)) return;
    forms_.push_back({index, std::move(encoded), window_at_end});
  }
  std::vector<Form> take() { return std::move(forms_); }

 private:
  std::vector<Form> forms_;
};

void add_wide_forms(FormList& list, ByteSpan value) {
  if (!is_ascii(value)) {
    list.add(kUtf16Le, utf16_form(value, false));
    list.add(kUtf16Be, utf16_form(value, true));
    return;
  }
  // Without the NUL at its end a little-endian form is the big-endian one without the NUL at its front.
  Encoded both = utf16_form(value, false);
  both.bytes.pop_back();
  both.known.pop_back();
  list.add(kUtf16, std::move(both));
}

void add_base64_forms(FormList& list, const Encoded& raw) {
  for (unsigned phase = 0; phase < 3; ++phase)
    list.add(Index(kB64 + phase), base64_core(raw, phase, kBase64));
  for (unsigned phase = 0; phase < 3; ++phase)
    list.add(Index(kB64Url + phase), base64_core(raw, phase, kBase64Url));
  for (unsigned inner = 0; inner < 3; ++inner) {
    const Encoded core = base64_core(raw, inner, kBase64);
    for (unsigned outer = 0; outer < 3; ++outer)
      list.add(Index(kB64x2 + inner * 3 + outer), base64_core(core, outer, kBase64));
  }
}

void add_text_forms(FormList& list, ByteSpan value) {
  list.add(kPercent, percent_form(value, kUpper, false));
  list.add(kPercentLower, percent_form(value, kLower, false));
  list.add(kPercentAll, hex_form(value, "%", kUpper));
  list.add(kPercentAllLower, hex_form(value, "%", kLower));
  list.add(kPercentPlus, percent_form(value, kUpper, true));
  list.add(kJson, json_form(value, JsonStyle::kPlain));
  list.add(kJsonSlash, json_form(value, JsonStyle::kSlash));
  list.add(kJsonHtml, json_form(value, JsonStyle::kHtml));
  list.add(kJsonU, json_u_form(value, kLower));
  list.add(kJsonUUpper, json_u_form(value, kUpper));
  list.add(kJsonUAll, hex_form(value, "\\u00", kLower));
  list.add(kJsonUAllUpper, hex_form(value, "\\u00", kUpper));
  list.add(kHtml, html_form(value));
  list.add(kHtmlDecimal, html_decimal_form(value, false));
  list.add(kHtmlHex, html_hex_form(value, kLower));
  list.add(kHtmlHexUpper, html_hex_form(value, kUpper));
  list.add(kHtmlAll, html_decimal_form(value, true));
}

}  // namespace

void Encoded::reserve(std::size_t count) {
  bytes.reserve(count);
  known.reserve(count);
}

std::string_view form_name(std::uint16_t form) {
  VACANT_ASSERT(form < kFormCount);
  return kFormNames[form];
}

std::vector<Form> make_forms(ByteSpan value) {
  FormList list;
  const Encoded raw = identity(value);
  list.add(kRaw, identity(value));
  Encoded reversed = identity(value);
  std::ranges::reverse(reversed.bytes);
  list.add(kReversed, std::move(reversed), true);
  add_wide_forms(list, value);
  list.add(kHex, hex_form(value, "", kLower));
  list.add(kHexUpper, hex_form(value, "", kUpper));
  add_base64_forms(list, raw);
  add_text_forms(list, value);
  return list.take();
}

std::size_t shown_bytes(const Form& form, const Window& window) {
  const std::size_t width = window.stride + kGramBytes - 1;
  // Backwards, the window's `width` bytes are the first ones of the value.
  return form.window_at_end ? width : form.encoded.known[window.offset + width - 1];
}

Window choose_window(const Form& form, std::size_t value_bytes) {
  const std::size_t size = form.encoded.bytes.size();
  for (std::uint8_t stride = kMaxStride; stride > 0; stride /= 2) {
    const std::size_t width = stride + kGramBytes - 1;
    if (width > size) continue;
    const Window window{stride, form.window_at_end ? u32(size - width) : 0};
    if (shown_bytes(form, window) * 2 <= value_bytes) return window;
  }
  return {};
}

std::vector<EncodedForm> encoded_forms(ByteSpan secret) {
  std::vector<EncodedForm> out;
  for (const Form& form : make_forms(secret))
    out.push_back({std::string(form_name(form.form)), SecretBytes::copy_of(form.encoded.bytes)});
  return out;
}

}  // namespace vacant::secrets

#include "vacant/secrets/fingerprint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "forms.h"

namespace vacant::secrets {
namespace {

std::string fake_secret(std::size_t size, std::uint64_t seed) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/&\"<%~ ";
  std::mt19937_64 random(seed);
  std::string out;
  while (out.size() < size) out += kAlphabet[random() % kAlphabet.size()];
  return out;
}

std::map<std::string, std::string> forms_of(std::string_view value) {
  std::map<std::string, std::string> out;
  for (const EncodedForm& form : encoded_forms(as_bytes(value)))
    out[form.name] = as_text(form.bytes.expose());
  return out;
}

FingerprintFile one(const std::string& label, const std::string& value) {
  std::vector<NamedSecret> list;
  list.push_back({label, SecretBytes::copy_of(as_bytes(value))});
  return make_fingerprints(list).value();
}

TEST(Forms, MatchKnownEncodings) {
  const auto forms = forms_of("pa/ss<w>&\"o'rd ~");
  EXPECT_EQ(forms.at("raw"), "pa/ss<w>&\"o'rd ~");
  EXPECT_EQ(forms.at("reversed"), "~ dr'o\"&>w<ss/ap");
  EXPECT_EQ(forms.at("hex").substr(0, 8), "70612f73");
  EXPECT_EQ(forms.at("hex-upper").substr(0, 8), "70612F73");
  EXPECT_EQ(forms.at("base64+0"), "cGEvc3M8dz4mIm8ncmQgf");
  EXPECT_EQ(forms.at("percent"), "pa%2Fss%3Cw%3E%26%22o%27rd%20~");
  EXPECT_EQ(forms.at("percent-lower"), "pa%2fss%3cw%3e%26%22o%27rd%20~");
  EXPECT_EQ(forms.at("percent-plus"), "pa%2Fss%3Cw%3E%26%22o%27rd+~");
  EXPECT_EQ(forms.at("percent-all").substr(0, 9), "%70%61%2F");
  EXPECT_EQ(forms.at("json"), "pa/ss<w>&\\\"o'rd ~");
  EXPECT_EQ(forms.at("json-slash"), "pa\\/ss<w>&\\\"o'rd ~");
  EXPECT_EQ(forms.at("json-html"), "pa/ss\\u003cw\\u003e\\u0026\\\"o\\u0027rd ~");
  EXPECT_EQ(forms.at("json-u").substr(0, 10), "pa\\u002fss");
  EXPECT_EQ(forms.at("json-u-all").substr(0, 12), "\\u0070\\u0061");
  EXPECT_EQ(forms.at("html"), "pa/ss&lt;w&gt;&amp;&quot;o&#39;rd ~");
  EXPECT_EQ(forms.at("html-decimal").substr(0, 8), "pa&#47;s");
  EXPECT_EQ(forms.at("html-hex").substr(0, 9), "pa&#x2f;s");
  EXPECT_EQ(forms.at("utf16").substr(0, 5), std::string("p\0a\0/", 5));
}

// What a decoder of base64 would see: the core stands in the encoding of any prefix + value + any suffix.
std::string base64(std::string_view text, std::string_view alphabet) {
  std::string out;
  for (std::size_t bit = 0; bit < text.size() * 8; bit += 6) {
    unsigned value = 0;
    for (std::size_t b = bit; b < bit + 6; ++b) {
      const unsigned byte = b / 8 < text.size() ? static_cast<std::uint8_t>(text[b / 8]) : 0;
      value = value << 1U | (byte >> (7 - b % 8) & 1U);
    }
    out += alphabet[value];
  }
  return out;
}

TEST(Forms, Base64CoresStandInEveryAlignment) {
  const std::string standard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string url = standard.substr(0, 62) + "-_";
  const std::string value = "\xfb\xff" + fake_secret(30, 5) + "\xfe\xfa";
  const auto forms = forms_of(value);
  for (std::size_t before = 0; before < 9; ++before) {
    for (std::size_t after = 0; after < 4; ++after) {
      const std::string text = std::string(before, 'x') + value + std::string(after, 'y');
      const std::string phase = std::to_string(before % 3);
      EXPECT_NE(base64(text, standard).find(forms.at("base64+" + phase)), std::string::npos);
      EXPECT_NE(base64(text, url).find(forms.at("base64url+" + phase)), std::string::npos);
      EXPECT_EQ(base64(text, standard).find(forms.at("base64+" + std::to_string((before + 1) % 3))),
                std::string::npos);
      const std::string twice = base64(base64(text, standard), standard);
      int found = 0;
      for (const auto& [name, bytes] : forms)
        if (name.starts_with("base64x2") && twice.find(bytes) != std::string::npos) ++found;
      EXPECT_EQ(found, 1);
    }
  }
}

TEST(Forms, Utf16OfOtherThanAsciiHasBothOrders) {
  const auto forms = forms_of("pass\xc3\xa9\xf0\x9f\x94\x91word");  // e acute, a character beyond the BMP
  EXPECT_EQ(forms.count("utf16"), 0U);
  EXPECT_EQ(forms.at("utf16le").substr(8, 6), std::string("\xe9\x00\x3d\xd8\x11\xdd", 6));
  EXPECT_EQ(forms.at("utf16be").substr(8, 6), std::string("\x00\xe9\xd8\x3d\xdd\x11", 6));
}

TEST(Forms, NoTwoAreEqual) {
  for (const std::size_t size : {8, 20, 40, 400}) {
    std::vector<std::string> all;
    for (const auto& [name, bytes] : forms_of(fake_secret(size, size))) all.push_back(bytes);
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
    EXPECT_GE(all.size(), 25U);
  }
}

// All windows together show a prefix of the value, and never more than half of it.
TEST(Forms, WindowsShowAtMostHalfOfTheValue) {
  for (std::size_t size = kMinSecretBytes; size < 80; ++size) {
    const std::string value = fake_secret(size, size);
    for (const Form& form : make_forms(as_bytes(value))) {
      const Window window = choose_window(form, size);
      ASSERT_GT(window.stride, 0) << size << form_name(form.form);
      EXPECT_LE(shown_bytes(form, window) * 2, size);
    }
    // Control: the next wider window of the raw form shows more than half, unless it is the widest.
    const Form raw = std::move(make_forms(as_bytes(value))[0]);
    const Window window = choose_window(raw, size);
    if (window.stride < kMaxStride) {
      EXPECT_GT((window.stride * 2U + 3) * 2, size);
    }
  }
}

// The claim behind `known`: the window of a form does not change when a byte behind the shown ones does.
TEST(Forms, WindowDoesNotDependOnTheOtherHalf) {
  for (const std::size_t size : {8, 11, 16, 23, 40, 64}) {
    const std::string value = fake_secret(size, size);
    std::string changed = value;
    for (std::size_t i = size / 2; i < size; ++i) changed[i] = static_cast<char>('a' + (changed[i] + 1) % 26);
    const FingerprintFile file = one("a", value);
    const GramHasher hasher(file.key);
    const auto forms = make_forms(as_bytes(changed));
    for (const FormFingerprint& print : file.secrets[0].forms) {
      const auto other = std::ranges::find(forms, print.form, &Form::form);
      if (other == forms.end()) continue;
      std::size_t offset = print.window_offset;
      if (other->window_at_end) offset = other->encoded.bytes.size() - print.stride - 3;
      const auto window = window_bytes(hasher, print);
      ASSERT_TRUE(window.has_value());
      EXPECT_TRUE(std::equal(window->begin(), window->end(),
                             other->encoded.bytes.begin() + static_cast<std::ptrdiff_t>(offset)))
          << form_name(print.form) << " " << size;
    }
  }
}

TEST(Forms, LongFormsAreCut) {
  const std::string value = fake_secret(kMaxSecretBytes, 3);
  for (const auto& [name, bytes] : forms_of(value)) EXPECT_LE(bytes.size(), kMaxFormBytes) << name;
  EXPECT_EQ(forms_of(value).at("json-u-all").size(), kMaxFormBytes);
}

TEST(GramHasher, IsABijection) {
  const FingerprintFile file = one("a", fake_secret(20, 1));
  const GramHasher hasher(file.key);
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const auto gram = static_cast<std::uint32_t>(random());
    EXPECT_EQ(hasher.gram(hasher.hash(gram)), gram);
    EXPECT_EQ(gram_hash(file.key, gram), hasher.hash(gram));
  }
}

TEST(FingerprintFile, RoundTrips) {
  std::vector<NamedSecret> list;
  for (std::size_t i = 0; i < 5; ++i)
    list.push_back({"label " + std::to_string(i), SecretBytes::copy_of(as_bytes(fake_secret(8 + i * 9, i)))});
  const FingerprintFile file = make_fingerprints(list).value();
  const std::string text = serialise(file);
  const auto parsed = parse_fingerprints(as_bytes(text));
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_EQ(serialise(*parsed), text);
  EXPECT_EQ(parsed->secrets[3].label, "label 3");
  EXPECT_EQ(parsed->secrets[3].forms.size(), file.secrets[3].forms.size());
}

TEST(FingerprintFile, HoldsNeitherValueNorSecondHalf) {
  const std::string value = fake_secret(40, 77);
  const std::string text = serialise(one("a", value));
  for (std::size_t i = 0; i + 6 <= value.size(); ++i)
    EXPECT_EQ(text.find(value.substr(i, 6)), std::string::npos);
  const std::string hex = to_hex(as_bytes(value));
  for (std::size_t i = 0; i + 12 <= hex.size(); i += 2)
    EXPECT_EQ(text.find(hex.substr(i, 12)), std::string::npos);
}

TEST(FingerprintFile, EveryCutAndEveryChangedByteIsRefused) {
  const std::string text = serialise(one("a", fake_secret(12, 1)));
  ASSERT_TRUE(parse_fingerprints(as_bytes(text)).has_value());
  for (std::size_t i = 0; i < text.size(); i += 3) {
    EXPECT_FALSE(parse_fingerprints(as_bytes(text.substr(0, i))).has_value()) << i;
    std::string changed = text;
    changed[i] = changed[i] == '1' ? '2' : '1';
    EXPECT_FALSE(parse_fingerprints(as_bytes(changed)).has_value()) << i;
  }
  EXPECT_FALSE(parse_fingerprints(as_bytes(text + "\n")).has_value());
  EXPECT_FALSE(parse_fingerprints(as_bytes(text + text)).has_value());
}

TEST(MakeFingerprints, RefusesWhatCannotBeSearched) {
  const auto attempt = [](const std::string& label, const std::string& value) {
    std::vector<NamedSecret> list;
    list.push_back({label, SecretBytes::copy_of(as_bytes(value))});
    return make_fingerprints(list).has_value();
  };
  EXPECT_TRUE(attempt("a", "pass5678"));
  EXPECT_FALSE(attempt("a", "pass567"));
  EXPECT_FALSE(attempt("a", "aaaaaaaaaaaaaaaa"));
  EXPECT_FALSE(attempt("a", "abcdabcdabcdabcd"));
  EXPECT_FALSE(attempt("", "pass5678"));
  EXPECT_FALSE(attempt("a=b", "pass5678"));
  EXPECT_FALSE(attempt(std::string(129, 'a'), "pass5678"));
  EXPECT_FALSE(attempt("a\n", "pass5678"));
  EXPECT_FALSE(attempt("a", fake_secret(kMaxSecretBytes + 1, 1)));
  // In UTF-16 the smallest window would show more than half of these.
  EXPECT_FALSE(attempt("a", "\u65e5\u672c\u8a9e"));
  EXPECT_FALSE(attempt("a", "b\xf3\x9d\x9d\x9d\xff\xffwo"));
  EXPECT_TRUE(attempt("a", "\u65e5\u672c\u8a9e\u6f22\u5b57"));
  EXPECT_TRUE(attempt("a", "\u65e5\U0001f511passwd!"));  // the widest start, 14 bytes in all
}

std::vector<std::pair<std::string, std::string>> listed(std::string_view text) {
  const auto list = parse_secret_list(as_bytes(text));
  std::vector<std::pair<std::string, std::string>> out;
  if (!list) return {{"error", list.error().message}};
  for (const NamedSecret& secret : *list) out.emplace_back(secret.label, as_text(secret.value.expose()));
  return out;
}

TEST(SecretList, ReadsLines) {
  using List = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(listed("a=one\nb = x\n"),
            (List{{"error",
                   "secret list, record 2: the label is not 1 to 128 printable ASCII "
                   "characters"}}));
  EXPECT_EQ(listed("a=one=two \n\nb=three\r\nc=last"),
            (List{{"a", "one=two "}, {"b", "three"}, {"c", "last"}}));
  EXPECT_EQ(listed(""), List{});
}

TEST(SecretList, ReadsNulRecords) {
  using List = std::vector<std::pair<std::string, std::string>>;
  const std::string text = std::string("a=line\nline\n") + '\0' + "b=x\r" + '\0';
  EXPECT_EQ(listed(text), (List{{"a", "line\nline\n"}, {"b", "x\r"}}));
}

TEST(SecretList, ErrorsDoNotRepeatTheValue) {
  for (const char* bad : {"hunter2hunter2", "=hunter2hunter2", "a=1\na=hunter2hunter2"}) {
    const auto result = parse_secret_list(as_bytes(bad));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().message.find("hunter2"), std::string::npos);
  }
}

}  // namespace
}  // namespace vacant::secrets

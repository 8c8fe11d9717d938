// Laws of the decoders together with the known-answer search: a listed secret inside any chain of codecs is
// found, for any cut of the device into segments; without the secret nothing is.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "vacant/scan/decode.h"
#include "vacant/scan/known.h"

namespace vacant::scan {
namespace {

std::string base64(std::string_view in, std::size_t columns) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < in.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8U | (i + j < in.size() ? static_cast<std::uint8_t>(in[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j)
      out += i + j > in.size() ? '=' : kAlphabet[group >> (18 - 6 * j) & 63U];
    if (columns != 0 && out.size() % (columns + 1) == columns) out += '\n';
  }
  return out;
}

std::string percent(std::string_view in) {
  std::string out;
  for (const char c : in) out += "%" + to_hex(as_bytes(std::string_view(&c, 1)));
  return out;
}

std::string noise(std::mt19937_64& random, std::size_t size) {
  std::string out;
  while (out.size() < size) out += static_cast<char>(random());
  return out;
}

std::string encode(std::mt19937_64& random, std::string in, std::size_t layers) {
  for (; layers > 0; --layers) {
    switch (random() % 4) {
      case 0:
        in = base64(in, 0);
        break;
      case 1:
        in = base64(in, 76);
        break;
      case 2:
        in = to_hex(as_bytes(in));
        break;
      default:
        in = percent(in);
        break;
    }
  }
  return in;
}

struct Sink final : FindingSink {
  std::vector<Detector*> detectors;
  std::size_t known = 0;
  void found(Finding finding, ByteSpan) override { known += finding.kind == FindingKind::kKnownSecret; }
  void skipped(const Extent&, std::string_view) override {}
  void nested(const Buffer& buffer) override {
    for (Detector* detector : detectors) detector->scan(buffer, *this);
  }
};

std::size_t count_known(const secrets::FingerprintFile& file, std::string_view device, std::size_t segment) {
  const auto known = make_known_answer_factory(file).value()->make().value();
  const auto decoder = make_decoder_factory().value()->make().value();
  Sink sink;
  sink.detectors = {known.get(), decoder.get()};
  for (std::size_t begin = 0; begin < device.size(); begin += segment) {
    const std::size_t end = std::min(device.size(), begin + segment);
    const std::size_t first = begin - std::min<std::size_t>(begin, kLookBehindBytes);
    Buffer buffer;
    buffer.bytes =
        as_bytes(device.substr(first, std::min<std::size_t>(device.size(), end + kMarginBytes) - first));
    buffer.owned_begin = begin - first;
    buffer.owned_end = end - first;
    buffer.origin.device_offset_bytes = first;
    sink.nested(buffer);
  }
  return sink.known;
}

secrets::FingerprintFile list_of(const std::string& value) {
  std::vector<secrets::NamedSecret> list;
  list.push_back({"mine", SecretBytes::copy_of(as_bytes(value))});
  return secrets::make_fingerprints(list).value();
}

RC_GTEST_PROP(Decode, AListedSecretInAnyChainOfCodecsIsFound, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  std::string value, other;
  for (int i = 0; i < 40; ++i) {
    value += static_cast<char>('a' + random() % 26);
    other += static_cast<char>('a' + random() % 26);
  }
  const std::size_t before = random() % 3000, behind = random() % 3000;
  const std::string plain = noise(random, before) + value + noise(random, behind);
  const std::string device = "\n" + encode(random, plain, 1 + random() % 3) + "\n" + noise(random, 50);
  const std::size_t segment = 512 + random() % 20'000;
  RC_ASSERT(count_known(list_of(value), device, segment) >= 1U);
  RC_ASSERT(count_known(list_of(other), device, segment) == 0U);
}

}  // namespace
}  // namespace vacant::scan

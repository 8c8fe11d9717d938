// Laws of the known-answer search.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "vacant/scan/known.h"

namespace vacant::scan {
namespace {

struct Collected final : FindingSink {
  std::vector<std::pair<std::uint64_t, std::string>> places;
  std::size_t skips = 0;
  void found(Finding finding, ByteSpan) override {
    places.emplace_back(finding.extent.offset_bytes, finding.detail);
  }
  void skipped(const Extent&, std::string_view) override { ++skips; }
  void nested(const Buffer&) override {}
};

struct Model {
  ByteVector bytes;
  std::vector<std::pair<std::uint64_t, std::string>> planted;
};

std::string make_value(std::mt19937_64& random) {
  std::string out;
  for (std::size_t i = 0, size = 8 + random() % 120; i < size; ++i)
    out += static_cast<char>(0x21 + random() % 94);
  return out;
}

// Noise with forms of the secrets at random places, none over another.
Model compose(std::mt19937_64& random, const std::vector<secrets::NamedSecret>& list) {
  Model model;
  const auto noise = [&](std::size_t count) {
    while (count-- > 0) model.bytes.push_back(static_cast<std::byte>(random()));
  };
  for (int i = 0; i < 12; ++i) {
    noise(1 + random() % 150);
    const auto& secret = list[random() % list.size()];
    const auto forms = secrets::encoded_forms(secret.value.expose());
    const auto& form = forms[random() % forms.size()];
    model.planted.emplace_back(model.bytes.size(), "secret " + secret.label + ", form " + form.name);
    model.bytes.insert(model.bytes.end(), form.bytes.expose().begin(), form.bytes.expose().end());
  }
  noise(random() % 100);
  return model;
}

// Cuts the device into owned segments of any sizes, with as much context as a margin allows.
Collected scan_segments(Detector& detector, const ByteVector& bytes, std::mt19937_64& random) {
  Collected out;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = std::min(bytes.size(), begin + 1 + random() % 700);
    const std::size_t context_begin = begin - std::min<std::size_t>(begin, 16 + random() % 64);
    const std::size_t context_end = std::min<std::size_t>(bytes.size(), end + kMarginBytes);
    Buffer buffer;
    buffer.bytes = ByteSpan(bytes).subspan(context_begin, context_end - context_begin);
    buffer.owned_begin = begin - context_begin;
    buffer.owned_end = end - context_begin;
    buffer.origin.device_offset_bytes = context_begin;
    detector.scan(buffer, out);
    begin = end;
  }
  return out;
}

RC_GTEST_PROP(Known, EveryPlantedFormIsFoundExactlyOnceForAnyCut, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  std::vector<secrets::NamedSecret> list, others;
  for (int i = 0; i < 4; ++i) {
    list.push_back({"s" + std::to_string(i), SecretBytes::copy_of(as_bytes(make_value(random)))});
    others.push_back({"o" + std::to_string(i), SecretBytes::copy_of(as_bytes(make_value(random)))});
  }
  const auto file = secrets::make_fingerprints(list);
  const auto other_file = secrets::make_fingerprints(others);
  RC_PRE(file.has_value() && other_file.has_value());  // a value of too little variety
  const auto detector = make_known_answer_factory(*file).value()->make().value();
  const Model model = compose(random, list);
  Collected found = scan_segments(*detector, model.bytes, random);
  RC_ASSERT(found.places == model.planted);
  RC_ASSERT(found.skips == 0U);
  const auto control = make_known_answer_factory(*other_file).value()->make().value();
  RC_ASSERT(scan_segments(*control, model.bytes, random).places.empty());
}

}  // namespace
}  // namespace vacant::scan

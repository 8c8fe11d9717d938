#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "vacant/props/devices.h"
#include "vacant/scan/baseline.h"

namespace vacant::scan {
namespace {

const std::vector<Extent> kExtents = {{512, 512}, {4096, 8192}};

props::MemDevice some_device() {
  ByteVector bytes(64 * kKiB);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31 % 251);
  return props::MemDevice(std::move(bytes));
}

TEST(Baseline, AcceptsTheSameBytesUntilTheDay) {
  props::MemDevice device(some_device().bytes());
  const auto baseline = make_baseline(device, kExtents, "factory stamp", "2027-02-28");
  ASSERT_TRUE(baseline);
  for (const auto& [today, applied] : {std::pair{"2027-02-28", true}, std::pair{"2027-03-01", false}}) {
    const auto judged = evaluate_baseline(device, *baseline, today);
    ASSERT_TRUE(judged);
    for (const AcceptedExtent& entry : *judged) {
      EXPECT_EQ(entry.applied, applied);
      EXPECT_EQ(entry.note.empty(), applied);
    }
  }
  device.bytes()[5000] ^= std::byte{1};
  const auto judged = evaluate_baseline(device, *baseline, "2027-01-01");
  ASSERT_TRUE(judged && judged->size() == 2);
  EXPECT_TRUE((*judged)[0].applied);
  EXPECT_FALSE((*judged)[1].applied);
}

TEST(Baseline, UnreadableAndOutOfReachAreNotApplied) {
  props::MemDevice device(some_device().bytes());
  auto baseline = make_baseline(device, kExtents, "factory stamp", "2027-02-28");
  ASSERT_TRUE(baseline);
  props::FaultDevice faulty(device);
  faulty.fail_reads({4096, 512});
  auto judged = evaluate_baseline(faulty, *baseline, "2027-01-01");
  ASSERT_TRUE(judged);
  EXPECT_TRUE((*judged)[0].applied);
  EXPECT_FALSE((*judged)[1].applied);
  baseline->entries[1].extent = {60 * kKiB, 8192};
  judged = evaluate_baseline(device, *baseline, "2027-01-01");
  ASSERT_TRUE(judged);
  EXPECT_FALSE((*judged)[1].applied);
}

TEST(Baseline, FileRoundTripsAndIsStrict) {
  props::MemDevice device(some_device().bytes());
  const auto baseline = make_baseline(device, kExtents, "factory stamp", "2027-02-28");
  ASSERT_TRUE(baseline);
  const std::string text = serialise_baseline(*baseline);
  const auto again = parse_baseline(text);
  ASSERT_TRUE(again);
  EXPECT_EQ(serialise_baseline(*again), text);
  const auto refused = [&](const char* key, const nlohmann::json& value) {
    auto document = nlohmann::json::parse(text);
    document["entries"][0][key] = value;
    return !parse_baseline(document.dump()).has_value();
  };
  EXPECT_FALSE(refused("reason", "another reason"));
  EXPECT_TRUE(refused("reason", ""));
  EXPECT_TRUE(refused("reason", "  "));
  EXPECT_TRUE(refused("length", 0));
  EXPECT_TRUE(refused("length", -1));
  EXPECT_TRUE(refused("offset", UINT64_MAX));
  EXPECT_TRUE(refused("digest", std::string(63, 'a')));
  EXPECT_TRUE(refused("extra", 1));
  EXPECT_FALSE(refused("expires", "2028-02-29"));
  for (const char* day :
       {"", "2027-1-01", "2027-13-01", "2027-00-10", "2027-02-31", "2027-02-29", "20270228xx"})
    EXPECT_TRUE(refused("expires", day)) << day;
  EXPECT_FALSE(parse_baseline(text.substr(0, text.size() / 2)));
}

TEST(Baseline, WhatIsMadeCanBeRead) {
  props::MemDevice device(some_device().bytes());
  ASSERT_TRUE(make_baseline(device, kExtents, "r", "2027-02-28"));
  EXPECT_FALSE(make_baseline(device, kExtents, "", "2027-02-28"));
  EXPECT_FALSE(make_baseline(device, kExtents, "r", "tomorrow"));
  EXPECT_FALSE(make_baseline(device, {{0, 0}}, "r", "2027-02-28")) << "an empty extent would not parse";
  EXPECT_FALSE(make_baseline(device, kExtents, std::string(2000, 'r'), "2027-02-28")) << "would not parse";
}

}  // namespace
}  // namespace vacant::scan

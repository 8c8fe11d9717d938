// A disk in memory with one artefact at a place, scanned in full.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "run.h"
#include "vacant/props/devices.h"
#include "vacant/scan/engine.h"

namespace vacant::scan {

inline constexpr std::uint64_t kPlace = 1 * kMiB;

inline Report scan_with(std::string_view bytes, std::uint64_t at = kPlace) {
  props::MemDevice device(8 * kMiB);
  EXPECT_TRUE(device.write(at, as_bytes(bytes)));
  ScanOptions options;
  options.threads = 1;
  auto report = scan(device, options);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  return report ? std::move(*report) : Report{};
}

inline const Finding* find_rule(const Report& report, std::string_view rule) {
  const auto found = std::ranges::find(report.findings, rule, &Finding::rule);
  return found == report.findings.end() ? nullptr : &*found;
}

// Found at kPlace with this confidence.
inline void expect_found(const Report& report, std::string_view rule, Confidence confidence) {
  const Finding* finding = find_rule(report, rule);
  ASSERT_NE(finding, nullptr) << rule << " was not found";
  EXPECT_EQ(finding->origin.device_offset_bytes, kPlace) << rule;
  EXPECT_EQ(finding->confidence, confidence) << rule << ": " << finding->detail;
}

inline void expect_missing(const Report& report, std::string_view rule) {
  EXPECT_EQ(find_rule(report, rule), nullptr) << rule << " was found where it is not";
}

inline std::string output_of(std::vector<std::string> words, const testing::RunOptions& options = {}) {
  const auto outcome = testing::run(std::move(words), options);
  EXPECT_TRUE(outcome.ok()) << outcome.describe();
  return outcome.out;
}

}  // namespace vacant::scan

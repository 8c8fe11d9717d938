// Runs the built executable. Every test makes its own disks.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "run.h"

namespace vacant::testing {

inline RunOutcome vacant(std::vector<std::string> words, const RunOptions& options = {}) {
  words.insert(words.begin(), VACANT_EXE);
  return run(std::move(words), options);
}

inline void write_at(const std::string& path, std::uint64_t offset, std::string_view bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string noise(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random());
  return out;
}

inline nlohmann::json scan_json(const std::string& device, std::vector<std::string> more, int expected_exit) {
  std::vector<std::string> words{"scan", device, "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const RunOutcome outcome = vacant(words);
  EXPECT_EQ(outcome.exit_code, expected_exit) << outcome.describe();
  auto report = nlohmann::json::parse(outcome.out, nullptr, false);
  EXPECT_FALSE(report.is_discarded()) << outcome.out.substr(0, 500);
  return report;
}

}  // namespace vacant::testing

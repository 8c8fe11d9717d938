// The rows of the benchmark: each is one way to go through a whole corpus.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "vacant/base/result.h"
#include "vacant/secrets/fingerprint.h"

namespace vacant::bench {

struct Row {
  std::string id;  // "read", "zero", "inventory", "known", "full", "full2", "rg-literals", "rg-patterns"
  std::string title;
  bool slow = false;  // other tools: one round
  std::function<Result<void>(const std::string& path)> run;
};

// What all rows search for. rg gets the same literals and patterns, in files.
struct Needles {
  secrets::FingerprintFile fingerprints;
  std::string literal_file;
  std::size_t literal_count = 0;
  std::string pattern_file;
  std::size_t pattern_count = 0;
};
Result<Needles> make_needles(const std::string& folder);

// Rows for ripgrep are left out where it is not installed.
std::vector<Row> make_rows(const Needles& needles);

}  // namespace vacant::bench

// The goals, judged from the medians. A goal is "met" only if it holds on every corpus that it speaks of.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "measure.h"

namespace vacant::bench {

using CorpusTimes = std::map<std::string, Sample>;                 // by row id
using Results = std::vector<std::pair<std::string, CorpusTimes>>;  // by corpus name

struct GoalLine {
  std::string title;
  std::string wanted;
  std::string measured;  // the worst of the corpora
  bool met = false;
};
std::vector<GoalLine> judge(const Results& results, std::uint64_t size_bytes, std::uint64_t rss_bytes);

}  // namespace vacant::bench

#include "goals.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

namespace vacant::bench {

namespace {

constexpr std::uint64_t kMaxRssBytes = 256ULL << 20;
const std::set<std::string> kDense = {"random", "text"};
const std::set<std::string> kAll = {"random", "text", "zeros", "ext4-15%"};

class Judge {
 public:
  Judge(const Results& results, std::uint64_t size_bytes) : results_(results), size_bytes_(size_bytes) {}

  // The smallest value of a measure over the corpora must reach `wanted`.
  void at_least(std::string title, double wanted, std::string_view unit, const std::set<std::string>& corpora,
                const std::function<double(const CorpusTimes&)>& measure) {
    double worst = std::numeric_limits<double>::infinity();
    std::string where;
    for (const auto& [corpus, times] : results_) {
      if (!corpora.contains(corpus)) continue;
      const double value = measure(times);
      if (value < worst) where = corpus;
      worst = std::min(worst, value);
    }
    if (where.empty()) return;
    lines_.push_back({fmt::format("{} [{}]", title, where), fmt::format(">= {:.2f}{}", wanted, unit),
                      fmt::format("{:.2f}{}", worst, unit), worst >= wanted});
  }
  void ratio(std::string title, double wanted, const std::string& faster, const std::string& slower,
             std::string_view unit, const std::set<std::string>& corpora) {
    // Time of the one over the time of the other; rows that were not run (no ripgrep) give no line.
    for (const auto& [corpus, times] : results_)
      if (!times.contains(faster) || !times.contains(slower)) return;
    at_least(std::move(title), wanted, unit, corpora, [&](const CorpusTimes& times) {
      return times.at(slower).cpu_seconds / times.at(faster).cpu_seconds;
    });
  }
  [[nodiscard]] double bytes() const { return static_cast<double>(size_bytes_); }
  std::vector<GoalLine>& lines() { return lines_; }

 private:
  const Results& results_;
  std::uint64_t size_bytes_;
  std::vector<GoalLine> lines_;
};

}  // namespace

std::vector<GoalLine> judge(const Results& results, std::uint64_t size_bytes, std::uint64_t rss_bytes) {
  Judge judge(results, size_bytes);
  judge.ratio("empty space, full profile / plain read", 0.80, "full", "read", "", {"zeros"});
  judge.ratio("inventory / plain read", 0.60, "inventory", "read", "", kAll);
  judge.ratio("known-answer on dense data / plain read", 0.50, "known", "read", "", kDense);
  judge.ratio("full profile on dense data / plain read", 0.15, "full", "read", "", kDense);
  judge.at_least("full profile on dense data, one core", 1.2, " GB/s", kDense, [&](const CorpusTimes& times) {
    return judge.bytes() / times.at("full").cpu_seconds / 1e9;
  });
  judge.ratio("known-answer / rg -a -F, same literals", 8, "known", "rg-literals", "x", kAll);
  judge.ratio("full profile / rg -a, same patterns", 8, "full", "rg-patterns", "x", kAll);
  judge.at_least("two threads / one, wall time, full profile", 1.8, "x", kDense,
                 [](const CorpusTimes& times) {
                   return times.at("full").wall_seconds / times.at("full2").wall_seconds;
                 });
  judge.lines().push_back({"peak memory of all of the above", "<= 256 MiB",
                           fmt::format("{} MiB", rss_bytes >> 20U), rss_bytes <= kMaxRssBytes});
  return std::move(judge.lines());
}

}  // namespace vacant::bench

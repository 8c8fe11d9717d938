// vacant_bench: the speed goals as ratios to a plain read of the same bytes, in one run.
//
//   vacant_bench [--size-mib N] [--rounds N] [--corpus NAME] [--micro [google-benchmark options]]
//
// Absolute numbers move with the machine; the ratios are what counts. The rows of one corpus are measured in
// turns, so that a slow minute of the machine hits all of them, and the median of the rounds is taken. Files
// lie in $TMPDIR and are read from the page cache. Exit code 1 if a goal is missed.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include "corpora.h"
#include "goals.h"
#include "measure.h"
#include "rows.h"
#include "run.h"
#include "vacant/base/extent.h"
#include "vacant/base/secret.h"

namespace vacant::bench {
namespace {

constexpr const char* kUsage =
    "usage: vacant_bench [--size-mib N] [--rounds N] [--corpus random|text|zeros|ext4-15%]\n"
    "       vacant_bench --micro [options of Google Benchmark]\n"
    "Measures the speed goals as ratios to a plain read of the same bytes. Exit code 1 if one is missed.\n";

struct Options {
  std::uint64_t size_bytes = 512 * kMiB;
  int rounds = 5;
  std::string corpus;  // only this one
};

void say(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

Result<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (i + 1 >= argc)
      return fail(Code::kInvalidArgument, fmt::format("{} is unknown or wants a value", word));
    const std::string_view value = argv[++i];
    std::uint64_t number = 0;
    const bool numeric =
        std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc{} && number > 0;
    if (word == "--corpus")
      options.corpus = value;
    else if (word == "--size-mib" && numeric)
      options.size_bytes = number * kMiB;
    else if (word == "--rounds" && numeric)
      options.rounds = static_cast<int>(std::min<std::uint64_t>(number, 1000));
    else
      return fail(Code::kInvalidArgument, fmt::format("{} {} is not understood", word, value));
  }
  return options;
}

// All rows over one corpus, in turns. The first turn warms the page cache and is not counted.
Result<CorpusTimes> measure(const std::vector<Row>& rows, const std::string& path, int rounds) {
  std::map<std::string, std::vector<double>> cpu;
  std::map<std::string, std::vector<double>> wall;
  VACANT_TRY(rows.front().run(path));
  for (int round = 0; round < rounds; ++round)
    for (const Row& row : rows) {
      if (row.slow && round >= 1) continue;
      Result<void> done;
      const Sample sample = timed([&] { done = row.run(path); });
      if (!done) return fail(done.error().in(row.title));
      cpu[row.id].push_back(sample.cpu_seconds);
      wall[row.id].push_back(sample.wall_seconds);
    }
  CorpusTimes times;
  for (const Row& row : rows) times[row.id] = {median(cpu[row.id]), median(wall[row.id])};
  return times;
}

void print_table(const std::vector<Row>& rows, const Results& results, std::uint64_t size_bytes) {
  std::string head = fmt::format("{:<44}", "GB/s of CPU time (ratio to plain read)");
  for (const auto& [corpus, times] : results) head += fmt::format("{:>17}", corpus);
  say(head + "\n");
  for (const Row& row : rows) {
    std::string line = fmt::format("{:<44}", row.title);
    for (const auto& [corpus, times] : results) {
      const double rate = static_cast<double>(size_bytes) / times.at(row.id).cpu_seconds / 1e9;
      line += fmt::format("{:>10.2f} ({:.2f})", rate,
                          times.at("read").cpu_seconds / times.at(row.id).cpu_seconds);
    }
    say(line + "\n");
  }
}

int print_goals(const std::vector<GoalLine>& lines) {
  int missed = 0;
  say(fmt::format("\n{:<52}{:>12}{:>12}  \n", "goal", "wanted", "measured"));
  for (const GoalLine& line : lines) {
    if (!line.met) ++missed;
    say(fmt::format("{:<52}{:>12}{:>12}  {}\n", line.title, line.wanted, line.measured,
                    line.met ? "met" : "NOT MET"));
  }
  say(fmt::format("{} of {} goals met\n", lines.size() - static_cast<std::size_t>(missed), lines.size()));
  return missed;
}

Result<int> run(const Options& options) {
  VACANT_TRY(init_crypto());
  const testing::TempDir folder;
  const Needles needles = VACANT_TRY(make_needles(folder.path().string()));
  const std::vector<Row> rows = make_rows(needles);
  say(
      fmt::format("{} MiB a corpus, {} rounds in turns, medians; load average {:.1f} (a busy machine blurs "
                  "wall time)\n\n",
                  options.size_bytes / kMiB, options.rounds, load_average()));
  Results results;
  for (const Corpus corpus : kCorpora) {
    if (!options.corpus.empty() && name(corpus) != options.corpus) continue;
    const std::string path = folder.file("corpus");
    VACANT_TRY(make_corpus(corpus, path, folder.path().string(), options.size_bytes));
    results.emplace_back(name(corpus), VACANT_TRY(measure(rows, path, options.rounds)));
    std::filesystem::remove(path);
  }
  print_table(rows, results, options.size_bytes);
  return print_goals(judge(results, options.size_bytes, peak_rss_bytes())) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace vacant::bench

int main(int argc, char** argv) {
  if (argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    vacant::bench::say(vacant::bench::kUsage);
    return 0;
  }
  if (argc > 1 && std::strcmp(argv[1], "--micro") == 0) {
    argv[1] = argv[0];
    int count = argc - 1;
    benchmark::Initialize(&count, argv + 1);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  }
  const auto options = vacant::bench::parse(argc, argv);
  if (!options) {
    std::fprintf(stderr, "vacant_bench: %s\n", options.error().message.c_str());
    return 2;
  }
  const auto result = vacant::bench::run(*options);
  if (!result) std::fprintf(stderr, "vacant_bench: %s\n", result.error().message.c_str());
  return result ? *result : 4;
}

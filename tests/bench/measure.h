// Measuring: CPU time of this process and its children, wall time, medians, peak memory.
#pragma once

#include <cstdint>
#include <vector>

namespace vacant::bench {

struct Sample {
  double cpu_seconds = 0;  // user and system, children that ended included
  double wall_seconds = 0;
};

// Times one call of `work`.
template <class Work>
Sample timed(Work work);

double cpu_seconds_now();
double wall_seconds_now();
double median(std::vector<double> values);
std::uint64_t peak_rss_bytes();  // of this process; children apart
double load_average();

template <class Work>
Sample timed(Work work) {
  const double cpu = cpu_seconds_now();
  const double wall = wall_seconds_now();
  work();
  return {cpu_seconds_now() - cpu, wall_seconds_now() - wall};
}

}  // namespace vacant::bench

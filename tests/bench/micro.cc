// Primitives under Google Benchmark: vacant_bench --micro.
#include <benchmark/benchmark.h>

#include "vacant/base/bytes.h"
#include "vacant/base/extent.h"
#include "vacant/props/gen.h"
#include "vacant/verify/hash_tree.h"

namespace vacant {
namespace {

void count_bytes(benchmark::State& state, std::size_t size) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(size));
}

template <bool Test(ByteSpan)>
void zero_test(benchmark::State& state) {
  const ByteVector bytes(static_cast<std::size_t>(state.range(0)));
  for (auto step : state) benchmark::DoNotOptimize(Test(bytes));
  count_bytes(state, bytes.size());
}
BENCHMARK(zero_test<is_zero>)->Arg(512)->Arg(4096)->Arg(1 << 20);
BENCHMARK(zero_test<is_zero_portable>)->Arg(4096);

void crc_forward(benchmark::State& state) {
  const ByteVector bytes = props::seeded_bytes(1, 4096);
  for (auto step : state) benchmark::DoNotOptimize(crc32c_raw(0, bytes));
  count_bytes(state, bytes.size());
}
BENCHMARK(crc_forward);

void crc_backward(benchmark::State& state) {
  const ByteVector bytes = props::seeded_bytes(1, 4096);
  for (auto step : state) benchmark::DoNotOptimize(crc32c_reverse(0, bytes));
  count_bytes(state, bytes.size());
}
BENCHMARK(crc_backward);

void tree_match(benchmark::State& state) {
  props::MemDevice device(props::seeded_bytes(1, 16 * kMiB));
  const auto tree = verify::HashTree::build(device, {}, CancelToken{});
  const ByteSpan bytes = device.bytes();
  std::uint64_t block = 0;
  for (auto step : state) {
    benchmark::DoNotOptimize(tree->matches(block, bytes.subspan(block * 4096, 4096)));
    block = (block + 1) % tree->leaf_count();
  }
  count_bytes(state, 4096);
}
BENCHMARK(tree_match);

}  // namespace
}  // namespace vacant

// Driver for fuzz targets in builds without libFuzzer: replays seed files and a fixed number of deterministic
// mutations of them (bit flips, cuts, insertions, splices). Usage: x_fuzz [--mutations N]
// SEED_FILE_OR_FOLDER...
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

void load(const std::filesystem::path& path, std::vector<Input>& seeds) {
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) load(entry.path(), seeds);
    return;
  }
  std::ifstream file(path, std::ios::binary);
  seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

Input mutate(const Input& seed, const Input& other, std::mt19937_64& random) {
  Input out = seed;
  const auto pick = [&](std::size_t bound) {
    return bound == 0 ? 0 : static_cast<std::size_t>(random() % bound);
  };
  for (std::size_t round = 0, rounds = 1 + pick(8); round < rounds; ++round) {
    switch (random() % 5) {
      case 0:
        if (!out.empty()) out[pick(out.size())] ^= static_cast<std::uint8_t>(1U << (random() % 8));
        break;
      case 1:
        if (!out.empty()) out[pick(out.size())] = static_cast<std::uint8_t>(random());
        break;
      case 2:
        out.resize(pick(out.size() + 1));
        break;
      case 3:
        out.insert(out.begin() + static_cast<std::ptrdiff_t>(pick(out.size() + 1)), 1 + pick(16),
                   static_cast<std::uint8_t>(random()));
        break;
      default:
        if (!other.empty()) {
          const std::size_t at = pick(other.size());
          const std::size_t count = pick(other.size() - at) + 1;
          out.insert(out.begin() + static_cast<std::ptrdiff_t>(pick(out.size() + 1)),
                     other.begin() + static_cast<std::ptrdiff_t>(at),
                     other.begin() + static_cast<std::ptrdiff_t>(at + count));
        }
    }
  }
  if (out.size() > (1U << 20)) out.resize(1U << 20);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t mutations = 0;
  std::vector<Input> seeds;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--mutations") == 0 && i + 1 < argc)
      mutations = std::strtoull(argv[++i], nullptr, 10);
    else
      load(argv[i], seeds);
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "no seeds: name at least one seed file\n");
    return 2;
  }
  for (const Input& seed : seeds) LLVMFuzzerTestOneInput(seed.data(), seed.size());
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < mutations; ++i) {
    const Input input = mutate(seeds[i % seeds.size()], seeds[random() % seeds.size()], random);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%zu seeds, %zu mutations\n", seeds.size(), mutations);
  return 0;
}

#include "vacant/verify/hash_tree.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "run.h"
#include "vacant/props/devices.h"

namespace vacant::verify {
namespace {

using props::MemDevice;

ByteVector random_bytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  ByteVector out(size);
  for (std::byte& byte : out) byte = static_cast<std::byte>(generator());
  return out;
}

HashTree build(BlockDevice& device, const TreeParameters& parameters) {
  auto tree = HashTree::build(device, parameters, CancelToken{});
  if (!tree) throw std::runtime_error(tree.error().message);
  return std::move(*tree);
}

Result<HashTree> load(ByteVector file, std::uint64_t data_bytes, const TreeParameters& parameters,
                      const Digest& root) {
  MemDevice device(std::move(file));
  return HashTree::load(device, data_bytes, parameters, root);
}

// The vectors' image (gen.txt): blocks 100 to 299 of zeros, every other one a chain of SHA-256 values. The
// hash comes from sha256sum's family and not from the code under test.
ByteVector vector_image(std::uint64_t blocks) {
  std::string script = "import hashlib,sys\nfor i in range(" + std::to_string(blocks) +
                       "):\n sys.stdout.buffer.write(bytes(4096) if 100<=i<300 else "
                       "b''.join(hashlib.sha256(b'vacant-test|%d|%d'%(i,c)).digest() for c in range(128)))\n";
  const auto outcome = testing::run({"python3", "-c", script});
  if (!outcome.ok()) throw std::runtime_error(outcome.describe());
  const ByteSpan bytes = as_bytes(outcome.out);
  return {bytes.begin(), bytes.end()};
}

TEST(HashTree, EqualsTheRootsOfVeritysetup) {
  const auto folder = testing::vectors_dir("catalog/dm-verity");
  if (!folder) GTEST_SKIP();
  const auto cases = nlohmann::json::parse(testing::read_text(*folder / "roots.json"));
  int checked = 0;
  for (const auto& wanted : cases) {
    if (wanted["data_block"] != wanted["hash_block"]) continue;  // we have one size for both
    TreeParameters parameters{wanted["data_block"], *from_hex(wanted["salt"].get<std::string>())};
    MemDevice device(vector_image(wanted["blocks4k"]));
    const HashTree tree = build(device, parameters);
    EXPECT_EQ(to_hex(tree.root()), wanted["root"]);
    EXPECT_EQ(tree.serialise()->size(), wanted["hashfile_size"]);
    parameters.salt.push_back(std::byte{1});  // negative control: another salt is another root
    EXPECT_NE(to_hex(build(device, parameters).root()), wanted["root"]);
    ++checked;
  }
  EXPECT_GE(checked, 9);
}

TEST(HashTree, EqualsTheZeroLeaves) {
  const auto folder = testing::vectors_dir("catalog/dm-verity");
  if (!folder) GTEST_SKIP();
  for (const auto& wanted : nlohmann::json::parse(testing::read_text(*folder / "zero-leaf.json"))) {
    const TreeParameters parameters{4096, *from_hex(wanted["salt"].get<std::string>())};
    MemDevice zeros(4096);
    EXPECT_EQ(to_hex(build(zeros, parameters).root()), wanted["zero_leaf_4096"]);
  }
}

TEST(HashTree, EqualsVeritysetupOnARandomImage) {
  if (testing::left_out("veritysetup")) GTEST_SKIP() << "no veritysetup (package cryptsetup-bin)";
  const testing::TempDir folder;
  for (const std::uint32_t block_bytes : {1024U, 4096U}) {
    ByteVector image = random_bytes(300 * 4096, block_bytes);
    std::fill(image.begin() + 40'960, image.begin() + 81'920, std::byte{0});
    testing::write_text(folder.file("image"), as_text(image));
    std::filesystem::remove(folder.file("tree"));
    const std::string size = std::to_string(block_bytes);
    const auto outcome = testing::run({"veritysetup", "format", "--no-superblock", "--salt=00ff10",
                                       "--data-block-size=" + size, "--hash-block-size=" + size,
                                       folder.file("image"), folder.file("tree")});
    ASSERT_TRUE(outcome.ok()) << outcome.describe();
    MemDevice device(std::move(image));
    const TreeParameters parameters{block_bytes, *from_hex("00ff10")};
    const HashTree tree = build(device, parameters);
    EXPECT_NE(outcome.out.find(to_hex(tree.root())), std::string::npos) << outcome.out;
    EXPECT_EQ(testing::read_text(folder.file("tree")), as_text(*tree.serialise()));
  }
}

TEST(HashTree, BuildAndLoadAgreeAtEverySizeAndBlock) {
  for (const std::uint32_t block_bytes : {512U, 4096U, 65536U})
    for (const std::uint64_t size : {1UL, 511UL, 512UL, 4097UL, 65'536UL, 1'048'576UL, 1'300'001UL}) {
      MemDevice device(random_bytes(size, size));
      const TreeParameters parameters{block_bytes, random_bytes(7, 1)};
      const HashTree built = build(device, parameters);
      const auto loaded = load(*built.serialise(), size, parameters, built.root());
      ASSERT_TRUE(loaded.has_value()) << size << ' ' << loaded.error().message;
      EXPECT_EQ(*loaded->serialise(), *built.serialise());
      EXPECT_EQ(loaded->leaf_count(), (size + block_bytes - 1) / block_bytes);
      EXPECT_EQ(loaded->leaf_count(), built.leaf_count());
    }
}

TEST(HashTree, MatchesItsOwnBlocksAndNoFlippedBit) {
  constexpr std::uint64_t kBlocks = 70;
  MemDevice device(random_bytes(kBlocks * 512, 3));
  ASSERT_TRUE(device.zero({10 * 512, 512}).has_value());
  const HashTree tree = build(device, {512, {}});
  std::mt19937 generator(5);
  for (std::uint64_t block = 0; block < kBlocks; ++block) {
    ByteVector bytes(512);
    ASSERT_TRUE(device.read(block * 512, bytes).has_value());
    EXPECT_TRUE(tree.matches(block, bytes));
    EXPECT_FALSE(tree.matches((block + 1) % kBlocks, bytes));
    EXPECT_FALSE(tree.matches(kBlocks, bytes));
    EXPECT_FALSE(tree.matches(block, ByteSpan(bytes).first(511)));
    EXPECT_EQ(tree.matches(block, ByteVector(512)), block == 10);
    for (int flip = 0; flip < 50; ++flip) {
      ByteVector bad = bytes;
      bad[generator() % 512] ^= static_cast<std::byte>(1U << (generator() % 8));
      EXPECT_FALSE(tree.matches(block, bad));
    }
  }
}

TEST(HashTree, RefusesATreeTamperedWithAtAnyBlock) {
  MemDevice device(random_bytes(512 * 600, 4));  // 38 + 3 + 1 hash blocks: three levels
  const TreeParameters parameters{512, random_bytes(32, 9)};
  const HashTree tree = build(device, parameters);
  const ByteVector good = *tree.serialise();
  ASSERT_EQ(good.size(), 42U * 512);
  ASSERT_TRUE(load(good, device.size_bytes(), parameters, tree.root()).has_value());
  for (std::size_t at = 5; at < good.size(); at += 512) {
    ByteVector bad = good;
    bad[at] ^= std::byte{0x10};
    const auto refused = load(bad, device.size_bytes(), parameters, tree.root());
    ASSERT_FALSE(refused.has_value()) << at;
    EXPECT_EQ(refused.error().code, Code::kMismatch);
  }
  ByteVector last = good;
  last.back() = std::byte{1};  // padding behind the last leaf
  EXPECT_FALSE(load(last, device.size_bytes(), parameters, tree.root()).has_value());
  Digest other_root = tree.root();
  other_root[31] ^= std::byte{1};
  EXPECT_FALSE(load(good, device.size_bytes(), parameters, other_root).has_value());
}

TEST(HashTree, RefusesATreeOfTheWrongSizeSaltOrBlock) {
  MemDevice device(random_bytes(4096 * 5, 4));
  const HashTree tree = build(device, {4096, {}});
  const ByteVector good = *tree.serialise();
  ByteVector longer = good;
  longer.resize(good.size() + 4096);
  EXPECT_FALSE(load(longer, device.size_bytes(), {4096, {}}, tree.root()).has_value());
  EXPECT_FALSE(
      load({good.begin(), good.end() - 1}, device.size_bytes(), {4096, {}}, tree.root()).has_value());
  EXPECT_FALSE(load({}, device.size_bytes(), {4096, {}}, tree.root()).has_value());
  EXPECT_FALSE(load(good, device.size_bytes(), {4096, random_bytes(1, 1)}, tree.root()).has_value());
  EXPECT_FALSE(load(good, device.size_bytes(), {2048, {}}, tree.root()).has_value());
  EXPECT_FALSE(load(good, 4096 * 4, {4096, {}}, tree.root()).has_value());  // the fifth leaf is padding then
  EXPECT_FALSE(load(good, std::uint64_t{1} << 61, {4096, {}}, tree.root()).has_value());
}

TEST(HashTree, RefusesParametersThatTheFormatHasNot) {
  MemDevice device(8192);
  for (const std::uint32_t block_bytes : {0U, 256U, 1000U, 131'072U})
    EXPECT_FALSE(HashTree::build(device, {block_bytes, {}}, CancelToken{}).has_value()) << block_bytes;
  EXPECT_FALSE(HashTree::build(device, {4096, ByteVector(257)}, CancelToken{}).has_value());
  EXPECT_TRUE(HashTree::build(device, {4096, ByteVector(256)}, CancelToken{}).has_value());
  MemDevice empty(0);
  EXPECT_FALSE(HashTree::build(empty, {}, CancelToken{}).has_value());
}

TEST(HashTree, HolesAreFreeAndEqualToZeros) {
  MemDevice sparse(64 * kMiB, true);
  MemDevice plain(64 * kMiB, false);
  for (MemDevice* device : {&sparse, &plain})
    ASSERT_TRUE(device->write(40 * kMiB, random_bytes(100, 1)).has_value());
  EXPECT_EQ(build(sparse, {}).root(), build(plain, {}).root());
  EXPECT_EQ(sparse.read_calls(), 1U);
  EXPECT_EQ(plain.read_calls(), 64U);
}

TEST(HashTree, StopsWhenCancelledAndWhenTheDeviceFails) {
  MemDevice device(4 * kMiB);
  CancelToken cancel;
  cancel.cancel();
  EXPECT_EQ(HashTree::build(device, {}, cancel).error().code, Code::kCancelled);
  props::FaultDevice faulty(device);
  faulty.fail_reads({3 * kMiB, 512});
  EXPECT_EQ(HashTree::build(faulty, {}, CancelToken{}).error().code, Code::kIo);
}

}  // namespace
}  // namespace vacant::verify

#include "vacant/verify/hash_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sha256.h"

namespace vacant::verify {

namespace {

constexpr std::uint64_t kChunkBytes = kMiB;  // one read; a multiple of every block size
constexpr std::size_t kMaxSaltBytes = 256;
constexpr std::size_t kDigestBytes = sizeof(Digest);

// SAFETY: Digest is an array of bytes without padding.
ByteSpan bytes_of(const std::vector<Digest>& digests) {
  return {reinterpret_cast<const std::byte*>(digests.data()), digests.size() * kDigestBytes};
}

Result<void> check(std::uint64_t data_bytes, const TreeParameters& parameters) {
  if (parameters.block_bytes < 512 || parameters.block_bytes > 65536 ||
      !std::has_single_bit(parameters.block_bytes))
    return fail(Code::kInvalidArgument, "a hash tree's block size is a power of two from 512 to 65536");
  if (parameters.salt.size() > kMaxSaltBytes)
    return fail(Code::kInvalidArgument, "a hash tree's salt has at most 256 bytes");
  if (data_bytes == 0) return fail(Code::kInvalidArgument, "there is no hash tree over no bytes");
  if (data_bytes > (std::uint64_t{1} << 60)) return fail(Code::kLimit, "a hash tree covers at most 1 EiB");
  return {};
}

// The number of hash blocks of each level, from the leaves' level up to the one block at the top. Empty for a
// single data block: its digest is the root.
std::vector<std::uint64_t> level_blocks(std::uint64_t leaf_count, std::uint32_t block_bytes) {
  const std::uint64_t fan_out = block_bytes / kDigestBytes;
  std::vector<std::uint64_t> levels;
  for (std::uint64_t count = leaf_count; count > 1;) {
    count = (count + fan_out - 1) / fan_out;
    levels.push_back(count);
  }
  return levels;
}

// Packs digests into hash blocks, one at a time, and hashes each: gives the digests of the next level.
class LevelBuilder {
 public:
  LevelBuilder(Sha256& hasher, const TreeParameters& parameters)
      : hasher_(hasher), parameters_(parameters), block_(parameters.block_bytes) {}

  // `digests`: as many whole blocks' worth as there are; only the last call may end inside a block.
  Result<void> add(ByteSpan digests) {
    while (!digests.empty()) {
      const std::size_t part = std::min(digests.size(), block_.size());
      std::ranges::copy(digests.first(part), block_.begin());
      std::fill(block_.begin() + static_cast<std::ptrdiff_t>(part), block_.end(), std::byte{0});
      above_.push_back(VACANT_TRY(hasher_.hash(parameters_.salt, block_)));
      digests = digests.subspan(part);
    }
    return {};
  }
  std::vector<Digest> take() { return std::move(above_); }

 private:
  Sha256& hasher_;
  const TreeParameters& parameters_;
  ByteVector block_;
  std::vector<Digest> above_;
};

// All levels above the leaves' own hash blocks, bottom up; the last one is the root alone.
Result<std::vector<std::vector<Digest>>> upper_levels(const Spool& leaves, const TreeParameters& parameters) {
  std::vector<std::vector<Digest>> levels;
  Sha256 hasher = VACANT_TRY(Sha256::create());
  ByteVector chunk;
  LevelBuilder first(hasher, parameters);
  for (std::uint64_t at = 0; at < leaves.size_bytes(); at += kChunkBytes) {
    chunk.resize(std::min(kChunkBytes, leaves.size_bytes() - at));
    VACANT_TRY(leaves.read(at, chunk));
    VACANT_TRY(first.add(chunk));
  }
  levels.push_back(first.take());
  while (levels.back().size() > 1) {
    LevelBuilder next(hasher, parameters);
    VACANT_TRY(next.add(bytes_of(levels.back())));
    levels.push_back(next.take());
  }
  return levels;
}

Result<Digest> root_of(const Spool& leaves, const TreeParameters& parameters) {
  if (leaves.size_bytes() == kDigestBytes) {
    Digest only;
    VACANT_TRY(leaves.read(0, only));
    return only;
  }
  const auto levels = VACANT_TRY(upper_levels(leaves, parameters));
  return levels.back().front();
}

// Hashes the blocks of one chunk of the device, in order, into the spool.
class LeafBuilder {
 public:
  LeafBuilder(BlockDevice& data, const TreeParameters& parameters, Sha256& hasher, const Digest& zero_leaf)
      : data_(data), parameters_(parameters), hasher_(hasher), zero_leaf_(zero_leaf), buffer_(kChunkBytes) {}

  Result<void> add_chunk(const Extent& chunk, Spool& leaves) {
    digests_.clear();
    const std::uint64_t padded = round_up(chunk.length_bytes, parameters_.block_bytes);
    if (VACANT_TRY(all_holes(chunk))) {
      digests_.resize(padded / parameters_.block_bytes, zero_leaf_);
      return leaves.append(bytes_of(digests_));
    }
    const MutableByteSpan bytes = MutableByteSpan(buffer_).first(padded);
    VACANT_TRY(data_.read(chunk.offset_bytes, bytes.first(chunk.length_bytes)));
    std::ranges::fill(bytes.subspan(chunk.length_bytes), std::byte{0});
    for (std::uint64_t at = 0; at < padded; at += parameters_.block_bytes) {
      const ByteSpan block = bytes.subspan(at, parameters_.block_bytes);
      digests_.push_back(is_zero(block) ? zero_leaf_ : VACANT_TRY(hasher_.hash(parameters_.salt, block)));
    }
    return leaves.append(bytes_of(digests_));
  }

 private:
  Result<bool> all_holes(const Extent& chunk) {
    const auto map = VACANT_TRY(data_.allocation(chunk));
    return std::ranges::all_of(map, [](const Allocation& part) { return part.hole; });
  }

  BlockDevice& data_;
  const TreeParameters& parameters_;
  Sha256& hasher_;
  const Digest& zero_leaf_;
  ByteVector buffer_;
  std::vector<Digest> digests_;
};

Result<Digest> zero_leaf_of(Sha256& hasher, const TreeParameters& parameters) {
  return hasher.hash(parameters.salt, ByteVector(parameters.block_bytes));
}

std::uint64_t leaf_total(std::uint64_t data_bytes, std::uint32_t block_bytes) {
  return (data_bytes + block_bytes - 1) / block_bytes;
}

// Reads one level of a tree file from the top down and checks each block against the level above.
class LevelReader {
 public:
  LevelReader(BlockDevice& file, const TreeParameters& parameters, Sha256& hasher)
      : file_(file), parameters_(parameters), hasher_(hasher), block_(parameters.block_bytes) {}

  // `expected` holds the digest of every block of this level. The level's `count` digests go to `sink`.
  template <class Sink>
  Result<void> read(const std::vector<Digest>& expected, std::uint64_t count, Sink sink) {
    for (const Digest& digest : expected) {
      VACANT_TRY(file_.read(at_, block_));
      if (VACANT_TRY(hasher_.hash(parameters_.salt, block_)) != digest)
        return fail(Code::kMismatch,
                    fmt::format("the hash tree's block at {} does not hash up to its root", at_));
      const std::size_t used = std::min<std::uint64_t>(count * kDigestBytes, block_.size());
      if (!is_zero(ByteSpan(block_).subspan(used)))
        return fail(Code::kMismatch,
                    fmt::format("the hash tree's block at {} has bytes behind its digests", at_));
      VACANT_TRY(sink(ByteSpan(block_).first(used)));
      count -= used / kDigestBytes;
      at_ += block_.size();
    }
    return {};
  }

 private:
  BlockDevice& file_;
  const TreeParameters& parameters_;
  Sha256& hasher_;
  ByteVector block_;
  std::uint64_t at_ = 0;
};

Result<Spool> load_leaves(BlockDevice& tree_file, std::uint64_t leaf_count, const TreeParameters& parameters,
                          const Digest& root) {
  Spool leaves;
  const auto levels = level_blocks(leaf_count, parameters.block_bytes);
  std::uint64_t blocks = 0;
  for (const std::uint64_t count : levels) blocks += count;
  if (tree_file.size_bytes() != blocks * parameters.block_bytes)
    return fail(Code::kMismatch,
                fmt::format("the hash tree has {} bytes, but this data and block size make {}",
                            tree_file.size_bytes(), blocks * parameters.block_bytes));
  std::vector<Digest> expected{root};
  if (levels.empty()) {
    VACANT_TRY(leaves.append(bytes_of(expected)));
    return leaves;
  }
  Sha256 hasher = VACANT_TRY(Sha256::create());
  LevelReader reader(tree_file, parameters, hasher);
  for (std::size_t level = levels.size() - 1; level > 0; --level) {
    std::vector<Digest> below;
    VACANT_TRY(reader.read(expected, levels[level - 1], [&below](ByteSpan digests) -> Result<void> {
      const std::size_t begin = below.size();
      below.resize(begin + digests.size() / kDigestBytes);
      std::memcpy(below.data() + begin, digests.data(), digests.size());
      return {};
    }));
    expected = std::move(below);
  }
  VACANT_TRY(
      reader.read(expected, leaf_count, [&leaves](ByteSpan digests) { return leaves.append(digests); }));
  return leaves;
}

}  // namespace

Result<HashTree> HashTree::build(BlockDevice& data, const TreeParameters& parameters,
                                 const CancelToken& cancel) {
  VACANT_TRY(check(data.size_bytes(), parameters));
  HashTree tree;
  tree.parameters_ = parameters;
  tree.data_bytes_ = data.size_bytes();
  Sha256 hasher = VACANT_TRY(Sha256::create());
  tree.zero_leaf_ = VACANT_TRY(zero_leaf_of(hasher, parameters));
  LeafBuilder builder(data, tree.parameters_, hasher, tree.zero_leaf_);
  for (std::uint64_t at = 0; at < tree.data_bytes_; at += kChunkBytes) {
    if (cancel.cancelled()) return fail(Code::kCancelled, "stopped while hashing");
    VACANT_TRY(builder.add_chunk({at, std::min(kChunkBytes, tree.data_bytes_ - at)}, tree.leaves_));
  }
  tree.root_ = VACANT_TRY(root_of(tree.leaves_, tree.parameters_));
  return tree;
}

Result<HashTree> HashTree::load(BlockDevice& tree_file, std::uint64_t data_bytes,
                                const TreeParameters& parameters, const Digest& root) {
  VACANT_TRY(check(data_bytes, parameters));
  HashTree tree;
  tree.parameters_ = parameters;
  tree.data_bytes_ = data_bytes;
  tree.root_ = root;
  Sha256 hasher = VACANT_TRY(Sha256::create());
  tree.zero_leaf_ = VACANT_TRY(zero_leaf_of(hasher, parameters));
  tree.leaves_ =
      VACANT_TRY(load_leaves(tree_file, leaf_total(data_bytes, parameters.block_bytes), parameters, root));
  return tree;
}

bool HashTree::matches(std::uint64_t block_index, ByteSpan block) const {
  if (block_index >= leaf_count() || block.size() != parameters_.block_bytes) return false;
  Digest leaf;
  if (!leaves_.read(block_index * kDigestBytes, leaf)) return false;
  // Checked as bytes and not by the digest alone: it costs a memory read, not a hash.
  if (is_zero(block)) return leaf == zero_leaf_;
  if (leaf == zero_leaf_) return false;
  static thread_local auto hasher = Sha256::create();
  if (!hasher) return false;
  const auto digest = hasher->hash(parameters_.salt, block);
  return digest.has_value() && *digest == leaf;
}

Result<ByteVector> HashTree::serialise() const {
  ByteVector out;
  if (leaf_count() == 1) return out;
  const auto uppers = VACANT_TRY(upper_levels(leaves_, parameters_));
  const auto pad = [&] { out.resize(round_up(out.size(), parameters_.block_bytes)); };
  // The last of `uppers` is the root alone, which is in no block.
  for (std::size_t level = uppers.size() - 1; level > 0; --level) {
    const ByteSpan bytes = bytes_of(uppers[level - 1]);
    out.insert(out.end(), bytes.begin(), bytes.end());
    pad();
  }
  const std::size_t leaves_at = out.size();
  out.resize(leaves_at + leaves_.size_bytes());
  VACANT_TRY(leaves_.read(0, MutableByteSpan(out).subspan(leaves_at)));
  pad();
  return out;
}

}  // namespace vacant::verify

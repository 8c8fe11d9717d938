// Hash tree over a disk image, equal to dm-verity format 1 without superblock (SHA-256, data and hash blocks
// of one size). Source of the format: the kernel's Documentation/admin-guide/device-mapper/verity.rst;
// checked against veritysetup's roots in the tests. Movable; immutable after construction; verification is
// const and thread-safe. Memory: the leaves stay in memory up to Spool::kDefaultMemoryBytes (a 2 GiB image of
// 4 KiB blocks) and go to an unlinked temporary file beyond it.
#pragma once

#include <array>
#include <cstdint>

#include "vacant/base/cancel.h"
#include "vacant/base/device.h"
#include "vacant/base/result.h"
#include "vacant/base/spool.h"

namespace vacant::verify {

using Digest = std::array<std::byte, 32>;

struct TreeParameters {
  std::uint32_t block_bytes = 4096;  // power of two, 512..65536; data size is padded up with zeros to it
  ByteVector salt;                   // at most 256 bytes; before the data (format 1)
};

class HashTree {
 public:
  // Hashes the whole device. Holes of trusted allocators and zero blocks cost no hashing.
  static Result<HashTree> build(BlockDevice& data, const TreeParameters& parameters,
                                const CancelToken& cancel);
  // Reads a tree file (levels from the top down, as veritysetup --no-superblock writes them) and checks every
  // level against `root`: afterwards each leaf is as trustworthy as the root. kMismatch if any block does not
  // hash up.
  static Result<HashTree> load(BlockDevice& tree_file, std::uint64_t data_bytes,
                               const TreeParameters& parameters, const Digest& root);

  [[nodiscard]] const Digest& root() const { return root_; }
  [[nodiscard]] std::uint64_t data_bytes() const { return data_bytes_; }
  [[nodiscard]] const TreeParameters& parameters() const { return parameters_; }
  [[nodiscard]] std::uint64_t leaf_count() const { return leaves_.size_bytes() / sizeof(Digest); }
  // Whether `block` (exactly block_bytes) is the data block with this index. False for an index past the end,
  // and when the leaf cannot be read back: without proof a block is never ours.
  [[nodiscard]] bool matches(std::uint64_t block_index, ByteSpan block) const;
  // The tree file's bytes: empty for a single data block, whose digest is the root. All in memory: 1/127 of
  // the data.
  [[nodiscard]] Result<ByteVector> serialise() const;

 private:
  HashTree() = default;
  TreeParameters parameters_;
  std::uint64_t data_bytes_ = 0;
  Spool leaves_;
  Digest zero_leaf_{};  // the digest of a block of zeros: most of a sparse image
  Digest root_{};
};

}  // namespace vacant::verify

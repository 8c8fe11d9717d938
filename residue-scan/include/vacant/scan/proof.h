// Foreign proof: whose metadata is this block? ext4 seeds the CRC-32C of its metadata blocks with the file
// system's checksum seed and, for directory, htree, extent and xattr blocks, the inode number and generation.
// Running the CRC backwards over a block gives the 32-bit state it started from; the states of all our own
// inodes are known, so the block is ours or proven foreign. XFS and btrfs headers carry the file system's
// UUID. Own is immutable after construction and may be shared by threads; examine() is const and thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "vacant/base/bytes.h"
#include "vacant/scan/fs_view.h"

namespace vacant::scan {

enum class ProofKind : std::uint8_t {
  kExtDirectoryLeaf,
  kExtHtreeNode,
  kExtExtentBlock,
  kExtInodeTable,
  kExtXattrBlock,
  kExtBitmap,
  kExtSuperblock,
  kExtGroupDescriptors,
  kJbd2Block,
  kXfs,
  kBtrfs
};
std::string_view rule_name(ProofKind kind);  // "ext4-directory-leaf"; stable ids used as Finding::rule

struct Attribution {
  ProofKind kind;
  bool foreign;               // false: proven ours
  std::uint32_t block_bytes;  // the block concerned begins at the examined offset and is this long
  // Counts distinct owners. "dir:<state>" for a directory (one state = one directory inode of one file
  // system), "fs:<seed or uuid>" where the block names its file system, otherwise "".
  std::string identity;
  std::string detail;  // facts for the report, no content: "inode 12, 4096-byte leaf"
};

class Prover {
 public:
  // Copies what it needs from the view. With no parsed volume everything that verifies is foreign.
  explicit Prover(const FsView& view);
  ~Prover();
  Prover(Prover&&) noexcept;

  // Examines the metadata block that may begin at window[0], device offset `offset_bytes` (sector aligned).
  // The window may be longer than the block (up to 64 KiB); the prover tries every block size that fits.
  // nullopt: no proof either way. The chance that random bytes pass is bounded by structure checks plus the
  // 32-bit checksum.
  [[nodiscard]] std::optional<Attribution> examine(ByteSpan window, std::uint64_t offset_bytes) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vacant::scan

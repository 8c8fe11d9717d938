// Writes the content of files: zero blocks become holes, the rest goes to the device in large pieces, or is
// shared with the source where its file system can. Private to imgtools.
#pragma once

#include <vector>

#include "ext4/allocator.h"
#include "ext4/write_back.h"
#include "vacant/img/ext4.h"

namespace vacant::img {

class ContentWriter {
 public:
  ContentWriter(WriteBack& device, Allocator& allocator, std::uint32_t block_bytes);
  // The runs that hold the content.
  Result<std::vector<Run>> write(std::uint64_t size_bytes, FileContent& content);
  // A file whose content is in memory, for example a symlink's target.
  Result<std::vector<Run>> write(ByteSpan bytes);
  // Zeroes and frees the blocks of a file that was replaced.
  Result<void> drop(const std::vector<Run>& runs);
  // Hands on what is collected.
  Result<void> flush();
  [[nodiscard]] std::uint64_t shared_bytes() const { return shared_bytes_; }

 private:
  Result<void> write_window(std::uint64_t first_block, MutableByteSpan bytes, FileContent& content);
  Result<void> write_blocks(std::uint64_t first_block, ByteSpan bytes, FileContent& content);
  Result<void> append(std::uint64_t offset_bytes, ByteSpan bytes);
  Result<bool> share(const Run& run, ByteSpan bytes, FileContent& content);

  WriteBack& device_;
  Allocator& allocator_;
  std::uint32_t block_bytes_;
  ByteVector window_;
  ByteVector pending_;  // content on its way to pending_at_
  std::uint64_t pending_at_ = 0;
  std::vector<Run> runs_;
  std::uint64_t size_bytes_ = 0;  // of the file at hand
  std::uint64_t shared_bytes_ = 0;
  int share_refusals_ = 0;
};

}  // namespace vacant::img

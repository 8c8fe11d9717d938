// What the isolated ext parser is asked and answers. Both sides of the channel; the parent trusts no answer.
// Private to scan.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "vacant/base/bytes.h"
#include "vacant/scan/fs_view.h"

namespace vacant::scan {

struct ExtRequest {
  bool paths = false;  // resolve paths instead of building the view
  std::uint64_t volume_bytes = 0;
  std::uint64_t max_extents = 0;
  std::uint64_t max_inodes = 0;
  std::vector<std::uint32_t> inodes;  // for paths
};

// Offsets are relative to the volume.
struct ExtAnswer {
  std::string status;
  bool parsed = false;
  Uuid uuid{};
  std::uint32_t block_bytes = 0;
  std::uint32_t checksum_seed = 0;
  bool has_checksums = false;
  std::uint64_t file_count = 0;
  std::vector<FsExtent> extents;  // unsorted; may overlap on damaged file systems
  std::vector<OwnInode> inodes;
  std::map<std::uint32_t, std::string> paths;
};

ByteVector encode(const ExtRequest& request);
Result<ExtRequest> decode_request(ByteSpan bytes);
ByteVector encode(const ExtAnswer& answer);
// Refuses counts over the request's limits, ranges that leave the volume, and unknown parts.
Result<ExtAnswer> decode_answer(ByteSpan bytes, const ExtRequest& request);

}  // namespace vacant::scan

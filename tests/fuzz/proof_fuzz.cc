// Foreign proof over hostile bytes: every block lies in the window, nobody's prover calls nothing ours, and
// what is ours to a file system does not depend on what else is on the device.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "vacant/scan/proof.h"

namespace {

using vacant::scan::Prover;

vacant::scan::FsView made_view() {
  vacant::scan::FsView view;
  vacant::scan::Volume volume;
  volume.type = "ext4";
  volume.parsed = true;
  volume.has_checksums = true;
  volume.block_bytes = 4096;
  volume.extent = {0, 64ULL << 20U};
  volume.uuid.fill(std::byte{0x11});
  volume.checksum_seed = vacant::crc32c_raw(~0U, volume.uuid);
  view.volumes.push_back(volume);
  for (std::uint32_t inode = 1; inode <= 64; ++inode) view.own_inodes.push_back({0, inode, inode * 77});
  return view;
}

void require(bool good) {
  if (!good) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Prover nobody{vacant::scan::FsView()};
  static const Prover somebody(made_view());
  if (size > 64U << 10U) return 0;
  vacant::ByteVector bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  // Padded too: most blocks are longer than a seed.
  for (const std::size_t length : {size, std::size_t{4096}, std::size_t{65536}}) {
    if (length < size) continue;
    bytes.resize(length);
    const auto foreign = nobody.examine(bytes, 0);
    const auto found = somebody.examine(bytes, 0);
    if (foreign) require(foreign->foreign && foreign->block_bytes > 0 && foreign->block_bytes <= length);
    if (found) require(found->block_bytes > 0 && found->block_bytes <= length);
    // Whose a block is may depend on the view, whether it proves anything only in the direction of silence.
    if (found && found->foreign) require(foreign.has_value());
  }
  return 0;
}

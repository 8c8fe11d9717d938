#include "fs/probe.h"

#include <algorithm>

namespace vacant::scan::fs {

namespace {

constexpr std::uint32_t kHasJournal = 0x4;        // compat
constexpr std::uint32_t kJournalDevice = 0x8;     // incompat
constexpr std::uint32_t kXfsMetaUuid = 0x4;       // incompat
constexpr std::uint64_t kBtrfsMetaUuid = 0x400;   // incompat
constexpr std::uint32_t kExt4Incompat = 0x3F7C0;  // extents and everything newer, but not filetype or recover

struct Source {
  BlockDevice& device;
  Extent extent;
  bool failed = false;

  // Bytes of the volume; empty if they lie outside or cannot be read.
  ByteVector read(std::uint64_t offset, std::uint64_t length) {
    if (offset > extent.length_bytes || length > extent.length_bytes - offset) return {};
    ByteVector bytes(static_cast<std::size_t>(length));
    if (device.read(extent.offset_bytes + offset, bytes)) return bytes;
    failed = true;
    return {};
  }
};

Uuid uuid_at(ByteSpan bytes, std::size_t offset) {
  Uuid uuid{};
  std::ranges::copy(bytes.subspan(offset, uuid.size()), uuid.begin());
  return uuid;
}

bool text_at(ByteSpan bytes, std::size_t offset, std::string_view text) {
  return bytes.size() >= offset + text.size() && as_text(bytes.subspan(offset, text.size())) == text;
}

bool is_ext_superblock(ByteSpan super) {
  return super.size() >= 1024 && load_le<std::uint16_t>(super, 56) == 0xEF53;
}

std::string ext_type(ByteSpan super) {
  const auto compat = load_le<std::uint32_t>(super, 92);
  const auto incompat = load_le<std::uint32_t>(super, 96);
  const auto ro_compat = load_le<std::uint32_t>(super, 100);
  if ((incompat & kJournalDevice) != 0) return "jbd2";
  if ((incompat & kExt4Incompat) != 0 || (ro_compat & ~0x7U) != 0) return "ext4";
  return (compat & kHasJournal) != 0 ? "ext3" : "ext2";
}

bool probe_ext(Source& source, Probe& probe) {
  const ByteVector super = source.read(1024, 1024);
  if (!is_ext_superblock(super)) return false;
  probe.type = ext_type(super);
  probe.uuid = uuid_at(super, 104);
  return true;
}

// The first backup lies in group 1 at 8 * block size blocks (behind the boot block for 1 KiB blocks).
bool probe_ext_backup(Source& source, Probe& probe) {
  for (std::uint32_t shift = 0; shift <= 6; ++shift) {
    const std::uint64_t block_bytes = 1024ULL << shift;
    const std::uint64_t block = 8 * block_bytes + (shift == 0 ? 1 : 0);
    const ByteVector super = source.read(block * block_bytes, 1024);
    if (!is_ext_superblock(super) || load_le<std::uint32_t>(super, 24) != shift) continue;
    if (load_le<std::uint16_t>(super, 90) != 1) continue;  // the group that it says it lies in
    probe.type = ext_type(super);
    probe.uuid = uuid_at(super, 104);
    probe.backup_block = block;
    probe.backup_block_bytes = static_cast<std::uint32_t>(block_bytes);
    return true;
  }
  return false;
}

bool probe_swap(Source& source, Probe& probe) {
  for (std::uint64_t page = 4096; page <= 65536; page *= 2) {
    if (!text_at(source.read(page - 10, 10), 0, "SWAPSPACE2")) continue;
    probe.type = "swap";
    if (const ByteVector head = source.read(1024, 64); head.size() == 64) probe.uuid = uuid_at(head, 12);
    return true;
  }
  return false;
}

bool probe_others(Source& source, Probe& probe) {
  const ByteVector head = source.read(0, 2048);
  if (text_at(head, 0, "XFSB")) {
    probe.type = "xfs";
    probe.uuid = uuid_at(head, 32);
    // Versions before 5 have no such field.
    const bool version_5 = (load_be<std::uint16_t>(head, 100) & 0xFU) == 5;
    if (version_5 && (load_be<std::uint32_t>(head, 216) & kXfsMetaUuid) != 0)
      probe.metadata_uuid = uuid_at(head, 248);
    return true;
  }
  if (text_at(head, 0, "LUKS\xBA\xBE")) {
    probe.type = "luks";
    return true;
  }
  if (text_at(head, 512, "LABELONE")) {
    probe.type = "lvm2";
    return true;
  }
  const ByteVector btrfs = source.read(65536, 1024);
  if (text_at(btrfs, 64, "_BHRfS_M")) {
    probe.type = "btrfs";
    probe.uuid = uuid_at(btrfs, 32);
    if ((load_le<std::uint64_t>(btrfs, 188) & kBtrfsMetaUuid) != 0) probe.metadata_uuid = uuid_at(btrfs, 571);
    return true;
  }
  return probe_swap(source, probe);
}

}  // namespace

Probe probe_volume(BlockDevice& device, const Extent& extent) {
  Source source{device, extent};
  Probe probe;
  if (!probe_ext(source, probe) && !probe_others(source, probe)) probe_ext_backup(source, probe);
  probe.unreadable = source.failed;
  return probe;
}

}  // namespace vacant::scan::fs

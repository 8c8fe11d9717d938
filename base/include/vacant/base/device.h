// BlockDevice: what every reader and writer of a disk in vacant goes through, so that simulators
// (props/) with faults, lies and dirty pools run against the same code as a real device.
//
// Thread-safety: every method of an implementation may be called from several threads at once.
// Ownership: the device is owned once; users hold references.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vacant/base/bytes.h"
#include "vacant/base/extent.h"
#include "vacant/base/result.h"

namespace vacant {

enum class SourceKind { kFile, kBlockDevice, kNbd, kMemory, kRam /* a file that holds a guest's memory */ };
std::string_view name(SourceKind kind);

// A part of the allocation map. `hole` is set only where the allocator is trusted to read holes as zeros.
struct Allocation {
  Extent extent;
  bool hole = false;
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

struct DeviceInfo {
  SourceKind kind = SourceKind::kMemory;
  std::string name;                  // path or URI as the user gave it
  std::uint64_t size_bytes = 0;      // at open; a later change is an I/O error of the reads concerned
  std::uint32_t sector_bytes = 512;  // smallest unit that the medium reads
  // Differs whenever the content may have changed since an earlier open of the same source. Empty: cannot be
  // told.
  std::string change_stamp;
};

class BlockDevice {
 public:
  virtual ~BlockDevice() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const = 0;
  [[nodiscard]] std::uint64_t size_bytes() const { return info().size_bytes; }

  // The size now: differs from info().size_bytes if a file grew or shrank since it was opened.
  [[nodiscard]] virtual Result<std::uint64_t> current_size_bytes() const { return info().size_bytes; }

  // Reads exactly out.size() bytes at offset, or fails as a whole (kIo, with errno). Reading past the end is
  // kIo.
  virtual Result<void> read(std::uint64_t offset_bytes, MutableByteSpan out) = 0;
  // Writers. A read-only source answers kUnsupported.
  virtual Result<void> write(std::uint64_t offset_bytes, ByteSpan bytes) = 0;
  virtual Result<void> zero(const Extent& extent) = 0;     // reads as zeros afterwards, or fails
  virtual Result<void> discard(const Extent& extent) = 0;  // a hint; proves nothing about later reads
  virtual Result<void> flush() = 0;

  // The descriptor of a local file or block device, for copies inside the kernel (copy.h); -1 where there is
  // none. Owned by the device. Decorators answer -1, so that everything passes through them.
  [[nodiscard]] virtual int file_descriptor() const { return -1; }

  // The allocation map of a range: sorted, gapless, covers exactly `range`. Holes appear only where this
  // source is trusted about them; every other source answers one data extent.
  virtual Result<std::vector<Allocation>> allocation(const Extent& range) = 0;
};

struct OpenOptions {
  bool writable = false;
  bool direct = false;              // O_DIRECT; read buffers are bounced through aligned memory
  bool trust_holes = true;          // regular files: take SEEK_HOLE's word
  bool trust_remote_holes = false;  // NBD: take base:allocation's word for holes that read as zeros
  bool ram = false;                 // the file is an image of guest memory, not of a disk
  std::string dirty_bitmap;         // NBD: also ask for this context, for example "qemu:dirty-bitmap:b0"
};

// Opens a regular file or block device, or nbd+unix:///EXPORT?socket=PATH through libnbd.
// Directories, FIFOs, sockets and character devices are refused with kUnsupported and a message that says so.
Result<std::unique_ptr<BlockDevice>> open_device(const std::string& path_or_uri, const OpenOptions& options);

// The extents that an NBD export's dirty bitmap (OpenOptions::dirty_bitmap) calls dirty: sorted, merged.
// kUnsupported for any other device, or if the server did not grant the context.
Result<std::vector<Extent>> dirty_extents(BlockDevice& device);

// A read-only window of another device, which must outlive it. Offsets are relative to the window.
Result<std::unique_ptr<BlockDevice>> make_window(BlockDevice& parent, const Extent& window);

}  // namespace vacant

#include "vacant/base/device.h"

#include <fmt/format.h>

#include "device_open.h"

namespace vacant {

namespace {

class WindowDevice final : public BlockDevice {
 public:
  WindowDevice(BlockDevice& parent, const Extent& window)
      : parent_(parent), window_(window), info_(parent.info()) {
    info_.size_bytes = window.length_bytes;
  }
  [[nodiscard]] const DeviceInfo& info() const override { return info_; }

  Result<void> read(std::uint64_t offset_bytes, MutableByteSpan out) override {
    if (offset_bytes > window_.length_bytes || out.size() > window_.length_bytes - offset_bytes)
      return fail(Code::kIo, fmt::format("reading past the end of the window at {}", offset_bytes));
    return parent_.read(window_.offset_bytes + offset_bytes, out);
  }
  Result<void> write(std::uint64_t /*offset_bytes*/, ByteSpan /*bytes*/) override { return read_only(); }
  Result<void> zero(const Extent& /*extent*/) override { return read_only(); }
  Result<void> discard(const Extent& /*extent*/) override { return read_only(); }
  Result<void> flush() override { return {}; }

  Result<std::vector<Allocation>> allocation(const Extent& range) override {
    auto map =
        VACANT_TRY(parent_.allocation({window_.offset_bytes + range.offset_bytes, range.length_bytes}));
    for (Allocation& part : map) part.extent.offset_bytes -= window_.offset_bytes;
    return map;
  }

 private:
  static Result<void> read_only() { return fail(Code::kUnsupported, "a window of a device is read-only"); }
  BlockDevice& parent_;
  Extent window_;
  DeviceInfo info_;
};

}  // namespace

std::string_view name(SourceKind kind) {
  switch (kind) {
    case SourceKind::kFile:
      return "file";
    case SourceKind::kBlockDevice:
      return "block-device";
    case SourceKind::kNbd:
      return "nbd";
    case SourceKind::kMemory:
      return "memory";
    case SourceKind::kRam:
      return "ram";
  }
  return "memory";
}

Result<std::unique_ptr<BlockDevice>> open_device(const std::string& path_or_uri, const OpenOptions& options) {
  if (path_or_uri.starts_with("nbd+unix:") || path_or_uri.starts_with("nbd:"))
    return open_nbd(path_or_uri, options);
  return open_local(path_or_uri, options);
}

Result<std::unique_ptr<BlockDevice>> make_window(BlockDevice& parent, const Extent& window) {
  if (window.offset_bytes > parent.size_bytes() ||
      window.length_bytes > parent.size_bytes() - window.offset_bytes)
    return fail(Code::kInvalidArgument, fmt::format("window {}+{} lies outside the device",
                                                    window.offset_bytes, window.length_bytes));
  return std::make_unique<WindowDevice>(parent, window);
}

}  // namespace vacant

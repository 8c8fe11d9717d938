// NBD exports over a unix socket, through libnbd. One connection a device: libnbd serialises calls on a
// handle, so several connections are opened and used in turn when the server allows it (multi-conn).
#include <fmt/format.h>
#include <libnbd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>

#include "device_open.h"

namespace vacant {

namespace {

constexpr std::size_t kMaxConnections = 4;
constexpr std::size_t kMaxRequestBytes = 2 * kMiB;
constexpr std::uint64_t kMaxStatusBytes = kGiB;
constexpr std::size_t kMaxDirtyExtents = 4'000'000;
constexpr std::uint32_t kAllocationHole = 1, kAllocationZero = 2, kDirtyFlag = 1;

struct CloseHandle {
  void operator()(nbd_handle* handle) const { nbd_close(handle); }
};
using Handle = std::unique_ptr<nbd_handle, CloseHandle>;

std::unexpected<Error> nbd_failure(std::string_view what) {
  const char* text = nbd_get_error();
  const int sys_errno = nbd_get_errno();
  return fail(
      Error{Code::kIo, sys_errno, fmt::format("{}: {}", what, text == nullptr ? "unknown NBD error" : text)});
}

struct Connection {
  Handle handle;
  std::mutex mutex;
};

// One status request's answer for one context.
struct StatusQuery {
  std::string context;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> parts;  // length, flags
};

int collect_status(void* user, const char* context, std::uint64_t /*offset*/, std::uint32_t* entries,
                   std::size_t count, int* /*error*/) {
  auto& query = *static_cast<StatusQuery*>(user);
  if (query.context != context) return 0;
  for (std::size_t i = 0; i + 1 < count; i += 2) query.parts.emplace_back(entries[i], entries[i + 1]);
  return 0;
}

class NbdDevice final : public BlockDevice {
 public:
  NbdDevice(DeviceInfo info, OpenOptions options) : info_(std::move(info)), options_(std::move(options)) {}
  Result<void> connect(const std::string& uri);
  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  Result<void> read(std::uint64_t offset_bytes, MutableByteSpan out) override;
  Result<void> write(std::uint64_t, ByteSpan) override { return read_only(); }
  Result<void> zero(const Extent&) override { return read_only(); }
  Result<void> discard(const Extent&) override { return read_only(); }
  Result<void> flush() override { return {}; }
  Result<std::vector<Allocation>> allocation(const Extent& range) override;
  Result<std::vector<Extent>> dirty();

 private:
  static Result<void> read_only() { return fail(Code::kUnsupported, "NBD sources are read-only here"); }
  Result<Handle> open_one(const std::string& uri);
  // Flags of a context over a range: sorted, gapless.
  Result<std::vector<std::pair<Extent, std::uint32_t>>> status(const std::string& context,
                                                               const Extent& range);
  Connection& next() { return *connections_[turn_.fetch_add(1) % connections_.size()]; }

  DeviceInfo info_;
  OpenOptions options_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::atomic<std::size_t> turn_{0};
};

Result<Handle> NbdDevice::open_one(const std::string& uri) {
  Handle handle(nbd_create());
  if (handle == nullptr) return nbd_failure("starting an NBD connection");
  // Only local servers: no TCP, no TLS files named by a hostile URI.
  nbd_set_uri_allow_transports(handle.get(), LIBNBD_ALLOW_TRANSPORT_UNIX);
  nbd_set_uri_allow_tls(handle.get(), LIBNBD_TLS_DISABLE);
  nbd_set_uri_allow_local_file(handle.get(), false);
  nbd_add_meta_context(handle.get(), LIBNBD_CONTEXT_BASE_ALLOCATION);
  if (!options_.dirty_bitmap.empty()) nbd_add_meta_context(handle.get(), options_.dirty_bitmap.c_str());
  if (nbd_connect_uri(handle.get(), uri.c_str()) != 0)
    return nbd_failure(fmt::format("connecting to {}", uri));
  return handle;
}

Result<void> NbdDevice::connect(const std::string& uri) {
  for (std::size_t i = 0; i < kMaxConnections; ++i) {
    auto connection = std::make_unique<Connection>();
    connection->handle = VACANT_TRY(open_one(uri));
    connections_.push_back(std::move(connection));
    if (nbd_can_multi_conn(connections_.front()->handle.get()) != 1) break;
  }
  nbd_handle* first = connections_.front()->handle.get();
  const std::int64_t size = nbd_get_size(first);
  if (size < 0) return nbd_failure("asking the NBD server for the size");
  info_.size_bytes = static_cast<std::uint64_t>(size);
  if (!options_.dirty_bitmap.empty() && nbd_can_meta_context(first, options_.dirty_bitmap.c_str()) != 1)
    return fail(
        Code::kUnsupported,
        fmt::format("the NBD server has no context {}: start it with that bitmap exported (qemu-nbd -B NAME)",
                    options_.dirty_bitmap));
  return {};
}

Result<void> NbdDevice::read(std::uint64_t offset_bytes, MutableByteSpan out) {
  if (offset_bytes > info_.size_bytes || out.size() > info_.size_bytes - offset_bytes)
    return fail(Code::kIo, fmt::format("reading past the end at {}", offset_bytes));
  Connection& connection = next();
  const std::lock_guard lock(connection.mutex);
  while (!out.empty()) {
    const std::size_t count = std::min(out.size(), kMaxRequestBytes);
    if (nbd_pread(connection.handle.get(), out.data(), count, offset_bytes, 0) != 0)
      return nbd_failure(fmt::format("reading {} bytes at {}", count, offset_bytes));
    out = out.subspan(count);
    offset_bytes += count;
  }
  return {};
}

Result<std::vector<std::pair<Extent, std::uint32_t>>> NbdDevice::status(const std::string& context,
                                                                        const Extent& range) {
  std::vector<std::pair<Extent, std::uint32_t>> out;
  Connection& connection = next();
  const std::lock_guard lock(connection.mutex);
  std::uint64_t at = range.offset_bytes;
  while (at < range.end_bytes()) {
    StatusQuery query{context, {}};
    const std::uint64_t count = std::min(range.end_bytes() - at, kMaxStatusBytes);
    if (nbd_block_status(connection.handle.get(), count, at,
                         {.callback = collect_status, .user_data = &query, .free = nullptr}, 0) != 0)
      return nbd_failure(fmt::format("asking for the block status at {}", at));
    const std::uint64_t before = at;
    for (const auto& [length, flags] : query.parts) {
      const std::uint64_t end = std::min(at + length, range.end_bytes());
      if (end > at) out.emplace_back(Extent{at, end - at}, flags);
      at = std::max(at, end);
    }
    if (at == before) return fail(Code::kIo, fmt::format("the NBD server gives no block status at {}", at));
  }
  return out;
}

Result<std::vector<Allocation>> NbdDevice::allocation(const Extent& range) {
  if (!options_.trust_remote_holes ||
      nbd_can_meta_context(connections_.front()->handle.get(), LIBNBD_CONTEXT_BASE_ALLOCATION) != 1)
    return std::vector{Allocation{range, false}};
  std::vector<Allocation> map;
  for (const auto& [extent, flags] : VACANT_TRY(status(LIBNBD_CONTEXT_BASE_ALLOCATION, range)))
    map.push_back({extent, (flags & kAllocationZero) != 0 && (flags & kAllocationHole) != 0});
  return map;
}

Result<std::vector<Extent>> NbdDevice::dirty() {
  std::vector<Extent> out;
  for (const auto& [extent, flags] : VACANT_TRY(status(options_.dirty_bitmap, {0, info_.size_bytes}))) {
    if ((flags & kDirtyFlag) == 0) continue;
    if (!out.empty() && out.back().end_bytes() == extent.offset_bytes)
      out.back().length_bytes += extent.length_bytes;
    else
      out.push_back(extent);
    if (out.size() > kMaxDirtyExtents) return fail(Code::kLimit, "the dirty bitmap has too many pieces");
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<BlockDevice>> open_nbd(const std::string& uri, const OpenOptions& options) {
  auto device = std::make_unique<NbdDevice>(DeviceInfo{SourceKind::kNbd, uri, 0, 512, ""}, options);
  VACANT_TRY(device->connect(uri));
  return device;
}

Result<std::vector<Extent>> dirty_extents(BlockDevice& device) {
  auto* nbd = dynamic_cast<NbdDevice*>(&device);
  if (nbd == nullptr) return fail(Code::kUnsupported, "only NBD exports carry a dirty bitmap");
  return nbd->dirty();
}

}  // namespace vacant

#include "engine/identity.h"

#include <sodium.h>

namespace vacant::scan {

namespace {

class Digester {
 public:
  Digester() { crypto_generichash_init(&state_, nullptr, 0, 32); }
  void bytes(ByteSpan value) {
    number(value.size());
    update(value);
  }
  void text(std::string_view value) { bytes(as_bytes(value)); }
  void number(std::uint64_t value) {
    std::array<std::byte, 8> raw{};
    store_le(raw, 0, value);
    update(raw);
  }
  void extent(const Extent& value) {
    number(value.offset_bytes);
    number(value.length_bytes);
  }
  std::array<std::byte, 32> finish() {
    std::array<std::byte, 32> out{};
    crypto_generichash_final(&state_, reinterpret_cast<unsigned char*>(out.data()), out.size());
    return out;
  }

 private:
  // SAFETY: libsodium takes unsigned char; std::byte may be viewed as such.
  void update(ByteSpan value) {
    crypto_generichash_update(&state_, reinterpret_cast<const unsigned char*>(value.data()), value.size());
  }
  crypto_generichash_state state_{};
};

void add_view(Digester& digest, const FsView& view) {
  digest.number(view.extents.size());
  for (const FsExtent& part : view.extents) {
    digest.extent(part.extent);
    digest.number(static_cast<std::uint64_t>(part.part));
    digest.number(part.inode);
  }
  digest.number(view.own_inodes.size());
  for (const OwnInode& inode : view.own_inodes)
    digest.number((std::uint64_t{inode.inode} << 32U) | inode.generation);
}

}  // namespace

std::array<std::byte, 32> scan_identity(const BlockDevice& device, const ScanOptions& options,
                                        const FsView& view, std::string_view base_root) {
  Digester digest;
  digest.text("vacant-scan/1");
  digest.text(device.info().name);
  digest.text(device.info().change_stamp);
  digest.number(device.size_bytes());
  digest.number(static_cast<std::uint64_t>(options.policy));
  digest.number(static_cast<std::uint64_t>(options.profile));
  digest.text(base_root);
  digest.number(options.base_image != nullptr);
  if (options.derived_tree != nullptr) digest.bytes(options.derived_tree->root());
  if (options.write_map) {
    digest.text(options.write_map->name());
    for (const Extent& extent : options.write_map->extents()) digest.extent(extent);
  }
  if (options.fingerprints != nullptr) {
    digest.bytes(options.fingerprints->key);
    digest.text(secrets::serialise(*options.fingerprints));
  }
  if (options.placeholder_key != nullptr) digest.bytes(options.placeholder_key->expose());
  if (options.hash_key != nullptr) digest.bytes(options.hash_key->expose());
  add_view(digest, view);
  return digest.finish();
}

}  // namespace vacant::scan

#include "evidence.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "output.h"
#include "vacant/base/file.h"
#include "vacant/secrets/placeholder.h"

namespace vacant::cli {

namespace {

constexpr std::uint64_t kMaxWriteMapBytes = 1 * kGiB;
constexpr std::uint64_t kMaxFingerprintBytes = 512 * kMiB;
constexpr std::uint64_t kMaxBaselineBytes = 64 * kMiB;
constexpr std::uint64_t kMaxKeyBytes = 4 * kKiB;
constexpr std::string_view kBitmapPrefix = "dirty-bitmap:";

Result<SecretBytes> load_key(const std::string& path) {
  ByteVector bytes = VACANT_TRY(read_file(path, kMaxKeyBytes));
  auto key = secrets::parse_placeholder_key(bytes);
  wipe(bytes);
  if (!key) return fail(key.error().in(path));
  return key;
}

Result<verify::HashTree> load_tree(const EvidenceArgs& args) {
  const auto root = from_hex(args.base_root);
  const auto salt = from_hex(args.base_salt);
  if (!root || root->size() != 32)
    return fail(Code::kInvalidArgument,
                "--base-root must be 64 hex digits: the root that the image's publisher signed");
  if (!salt || salt->size() > 256)
    return fail(Code::kInvalidArgument, "--base-salt must be hex digits, at most 256 bytes");
  if (args.base_bytes == 0)
    return fail(Code::kInvalidArgument, "--base-tree needs --base-size: the size of the image in bytes");
  auto file = VACANT_TRY(open_device(args.base_tree, {}));
  verify::Digest digest{};
  std::ranges::copy(*root, digest.begin());
  auto tree = verify::HashTree::load(*file, args.base_bytes, {args.base_block_bytes, *salt}, digest);
  if (!tree) return fail(tree.error().in(args.base_tree));
  return tree;
}

Result<scan::WriteMap> load_write_map(const EvidenceArgs& args, BlockDevice& device) {
  if (args.written.starts_with(kBitmapPrefix))
    return scan::WriteMap(VACANT_TRY(dirty_extents(device)), args.written);
  const ByteVector bytes = VACANT_TRY(read_file(args.written, kMaxWriteMapBytes));
  auto map = scan::parse_write_map(bytes, device.size_bytes());
  if (!map) return fail(map.error().in(args.written));
  return map;
}

Result<void> load_secrets(const EvidenceArgs& args, LoadedEvidence& out) {
  if (!args.fingerprints.empty()) {
    const ByteVector bytes = VACANT_TRY(read_file(args.fingerprints, kMaxFingerprintBytes));
    auto file = secrets::parse_fingerprints(bytes);
    if (!file) return fail(file.error().in(args.fingerprints));
    out.fingerprints = std::move(*file);
  }
  if (!args.placeholder_key.empty()) out.placeholder_key = VACANT_TRY(load_key(args.placeholder_key));
  if (!args.hash_key.empty()) out.hash_key = VACANT_TRY(load_key(args.hash_key));
  return {};
}

OpenOptions open_options(const EvidenceArgs& args) {
  OpenOptions options;
  options.direct = args.direct;
  options.ram = args.ram;
  options.trust_holes = args.holes != "never";
  options.trust_remote_holes = args.holes == "remote";
  if (args.written.starts_with(kBitmapPrefix)) options.dirty_bitmap = "qemu:" + args.written;
  return options;
}

}  // namespace

void LoadedEvidence::lend(scan::ScanOptions& options) const {
  options.base_image = base_image.get();
  options.base_tree = base_tree ? &*base_tree : nullptr;
  options.write_map = write_map;
  options.fingerprints = fingerprints ? &*fingerprints : nullptr;
  options.placeholder_key = placeholder_key ? &*placeholder_key : nullptr;
  options.hash_key = hash_key ? &*hash_key : nullptr;
  options.baseline = baseline ? &*baseline : nullptr;
}

Result<LoadedEvidence> load_evidence(const std::string& device, const EvidenceArgs& args) {
  VACANT_TRY(init_crypto());
  LoadedEvidence out;
  out.device = VACANT_TRY(open_device(device, open_options(args)));
  if (!args.base_image.empty() && !args.base_tree.empty())
    return fail(Code::kInvalidArgument, "--base and --base-tree exclude each other");
  if (!args.base_image.empty()) {
    auto base = open_device(args.base_image, {});
    if (!base) return fail(base.error().in("the base image"));
    out.base_image = std::move(*base);
  }
  if (!args.base_tree.empty()) out.base_tree = VACANT_TRY(load_tree(args));
  if (args.ram && args.written.empty()) {
    // All of a guest's memory is its own writing; what must not be in it is a secret.
    out.write_map = scan::WriteMap({{0, out.device->size_bytes()}}, "ram");
  } else if (!args.written.empty()) {
    out.write_map = VACANT_TRY(load_write_map(args, *out.device));
  }
  VACANT_TRY(load_secrets(args, out));
  if (!args.baseline.empty()) {
    const ByteVector bytes = VACANT_TRY(read_file(args.baseline, kMaxBaselineBytes));
    auto baseline = scan::parse_baseline(as_text(bytes));
    if (!baseline) return fail(baseline.error().in(args.baseline));
    out.baseline = std::move(*baseline);
  }
  return out;
}

std::string today() {
  const std::time_t now = source_date_epoch().value_or(std::time(nullptr));
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
}

}  // namespace vacant::cli

#include "known/index.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

namespace vacant::scan::known {
namespace {

// Bits a gram: a hit by chance costs more than the bitmap's share of the cache, up to 64 KiB of it.
constexpr std::size_t kBitsPerGram = 256;
constexpr std::size_t kMinBits = 1U << 15U;
constexpr std::size_t kCacheBits = 1U << 19U;
constexpr std::size_t kMinBitsPerGram = 8;  // with very many secrets

auto window_order(const Group& group) { return std::tie(group.width, group.window); }

bool same_window(const Group& a, const Group& b) { return window_order(a) == window_order(b); }

}  // namespace

KnownIndex::KnownIndex(const secrets::FingerprintFile& file) : key_(file.key), hasher_(file.key) {}

Result<KnownIndex> KnownIndex::build(const secrets::FingerprintFile& file) {
  KnownIndex index(file);
  VACANT_TRY(index.collect(file));
  index.build_windows();
  index.build_grams();
  return index;
}

Result<void> KnownIndex::collect(const secrets::FingerprintFile& file) {
  for (const secrets::SecretFingerprint& secret : file.secrets) {
    const auto number = static_cast<std::uint32_t>(labels_.size());
    labels_.push_back(secret.label);
    for (const secrets::FormFingerprint& form : secret.forms) {
      const auto window = window_bytes(hasher_, form);
      if (!window || window->size() > kMaxWindowBytes || form.grams.size() != form.stride || form.stride == 0)
        return fail(Code::kCorrupt, fmt::format("fingerprints of {}: the filter is damaged", secret.label));
      Group group;
      std::ranges::copy(*window, group.window.begin());
      group.width = static_cast<std::uint8_t>(window->size());
      group.window_offset = form.window_offset;
      group.length = form.length_bytes;
      group.entries.push_back({form.digest, number, form.form});
      groups_.push_back(std::move(group));
      stride_ = stride_ == 0 ? form.stride : std::min<unsigned>(stride_, form.stride);
      max_window_offset_ = std::max(max_window_offset_, form.window_offset);
    }
  }
  return {};
}

void KnownIndex::build_windows() {
  const auto order = [](const Group& g) { return std::tie(g.width, g.window, g.window_offset, g.length); };
  std::ranges::sort(groups_, {}, order);
  std::vector<Group> merged;
  for (Group& group : groups_) {
    if (merged.empty() || order(merged.back()) != order(group))
      merged.push_back(std::move(group));
    else
      merged.back().entries.push_back(group.entries[0]);
  }
  groups_ = std::move(merged);
  for (Group& group : groups_) std::ranges::sort(group.entries);

  window_slots_.resize(std::bit_ceil(groups_.size() * 2 + 1));
  for (std::size_t begin = 0, end = 0; begin < groups_.size(); begin = end) {
    while (end < groups_.size() && same_window(groups_[begin], groups_[end])) ++end;
    const std::uint64_t hash = window_hash(ByteSpan(groups_[begin].window).first(groups_[begin].width));
    std::size_t at = hash & (window_slots_.size() - 1);
    while (window_slots_[at].count != 0) at = (at + 1) & (window_slots_.size() - 1);
    window_slots_[at] = {hash, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)};
  }
}

void KnownIndex::build_grams() {
  std::vector<std::pair<std::uint32_t, Probe>> all;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (i > 0 && same_window(groups_[i - 1], groups_[i])) continue;
    for (std::uint8_t offset = 0; offset < stride_; ++offset)
      all.push_back(
          {hasher_.hash(load_le<std::uint32_t>(groups_[i].window, offset)), {offset, groups_[i].width}});
  }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  gram_slots_.resize(std::bit_ceil(all.size() * 2 + 1));
  build_bitmap(all.size());
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    const std::uint32_t hash = all[begin].first;
    const auto first = static_cast<std::uint32_t>(probes_.size());
    for (; end < all.size() && all[end].first == hash; ++end) probes_.push_back(all[end].second);
    gram_slots_[gram_slot(hash)] = {hash, first, static_cast<std::uint32_t>(end - begin)};
    const std::uint32_t bit = hash >> shift_;
    bits_[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
}

void KnownIndex::build_bitmap(std::size_t gram_count) {
  std::size_t bits = std::clamp(std::bit_ceil(gram_count * kBitsPerGram + 1), kMinBits, kCacheBits);
  bits = std::clamp(std::bit_ceil(gram_count * kMinBitsPerGram + 1), bits, std::size_t{1} << 31U);
  shift_ = 32U - static_cast<unsigned>(std::countr_zero(bits));
  bits_.assign(bits / 64, 0);
}

std::uint64_t KnownIndex::window_hash(ByteSpan window) const {
  // Seeded by the file's key, so that nobody without the file can aim at one slot of the table.
  return XXH3_64bits_withSeed(window.data(), window.size(), load_le<std::uint64_t>(key_, 8));
}

// The slot that holds this hash, or the free one where it belongs.
std::size_t KnownIndex::gram_slot(std::uint32_t hash) const {
  const std::size_t mask = gram_slots_.size() - 1;
  std::size_t at = (hash ^ hash >> 15U) & mask;
  while (gram_slots_[at].count != 0 && gram_slots_[at].hash != hash) at = (at + 1) & mask;
  return at;
}

std::span<const Probe> KnownIndex::probes(std::uint32_t gram_hash) const {
  const GramSlot& slot = gram_slots_[gram_slot(gram_hash)];
  return std::span(probes_).subspan(slot.begin, slot.count);
}

std::span<const Group> KnownIndex::groups(ByteSpan window) const {
  const std::uint64_t hash = window_hash(window);
  const std::size_t mask = window_slots_.size() - 1;
  for (std::size_t at = hash & mask; window_slots_[at].count != 0; at = (at + 1) & mask) {
    const WindowSlot& slot = window_slots_[at];
    if (slot.hash != hash) continue;
    const Group& first = groups_[slot.begin];
    if (first.width == window.size() && std::ranges::equal(window, ByteSpan(first.window).first(first.width)))
      return std::span(groups_).subspan(slot.begin, slot.count);
  }
  return {};
}

}  // namespace vacant::scan::known

// KnownIndex: the fingerprints, arranged for the scan. Immutable, shared by all threads. Private.
//
// Four steps, each rarer and dearer than the one before:
//   1. a bitmap says whether a sampled 4-byte gram may belong to any window (one load, one multiply, one
//   bit);
//   2. the gram table says at which offsets of which window widths it does;
//   3. the window table compares all bytes of the window (at most 19);
//   4. the keyed digest of the whole form decides.
//
// One sampling step serves all forms: the smallest stride s in the file. Of a form made for a larger stride
// only the grams at the first s offsets of its window are needed, since exactly one of any s neighbouring
// offsets is a multiple of s.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vacant/secrets/fingerprint.h"

namespace vacant::scan::known {

inline constexpr std::size_t kMaxWindowBytes = secrets::kMaxStride + secrets::kGramBytes - 1;

// Where a gram may stand: at `offset` in a window of `width` bytes.
struct Probe {
  std::uint8_t offset = 0;
  std::uint8_t width = 0;
  friend auto operator<=>(const Probe&, const Probe&) = default;
};

struct Entry {
  secrets::FormDigest digest{};
  std::uint32_t secret = 0;  // index into labels()
  std::uint16_t form = 0;
  friend auto operator<=>(const Entry&, const Entry&) = default;
};

// Forms that share their window and their length share one digest computation.
struct Group {
  std::array<std::byte, kMaxWindowBytes> window{};  // zero behind `width`
  std::uint8_t width = 0;
  std::uint32_t window_offset = 0;
  std::uint32_t length = 0;
  std::vector<Entry> entries;  // sorted
};

class KnownIndex {
 public:
  // kCorrupt if the grams of a form contradict each other.
  static Result<KnownIndex> build(const secrets::FingerprintFile& file);

  [[nodiscard]] const secrets::GramHasher& hasher() const { return hasher_; }
  [[nodiscard]] const secrets::FingerprintKey& key() const { return key_; }
  [[nodiscard]] unsigned stride() const { return stride_; }  // 0: nothing is listed
  [[nodiscard]] std::uint32_t max_window_offset() const { return max_window_offset_; }
  [[nodiscard]] const std::string& label(std::uint32_t secret) const { return labels_[secret]; }

  // Step 1, for the hot loop: bit (hash >> shift) of bits.
  [[nodiscard]] const std::uint64_t* bits() const { return bits_.data(); }
  [[nodiscard]] unsigned shift() const { return shift_; }
  // Step 2.
  [[nodiscard]] std::span<const Probe> probes(std::uint32_t gram_hash) const;
  // Step 3: the groups whose window equals these bytes.
  [[nodiscard]] std::span<const Group> groups(ByteSpan window) const;

 private:
  struct GramSlot {
    std::uint32_t hash = 0;
    std::uint32_t begin = 0;
    std::uint32_t count = 0;  // 0: free
  };
  struct WindowSlot {
    std::uint64_t hash = 0;
    std::uint32_t begin = 0;
    std::uint32_t count = 0;  // 0: free
  };
  explicit KnownIndex(const secrets::FingerprintFile& file);
  Result<void> collect(const secrets::FingerprintFile& file);
  void build_windows();
  void build_grams();
  void build_bitmap(std::size_t gram_count);
  [[nodiscard]] std::uint64_t window_hash(ByteSpan window) const;
  [[nodiscard]] std::size_t gram_slot(std::uint32_t hash) const;

  secrets::FingerprintKey key_;
  secrets::GramHasher hasher_;
  std::vector<std::string> labels_;
  unsigned stride_ = 0;
  std::uint32_t max_window_offset_ = 0;
  unsigned shift_ = 0;
  std::vector<std::uint64_t> bits_;
  std::vector<GramSlot> gram_slots_;  // open addressing, a power of two, at most half full
  std::vector<Probe> probes_;
  std::vector<WindowSlot> window_slots_;  // likewise
  std::vector<Group> groups_;             // sorted by width and window
};

}  // namespace vacant::scan::known

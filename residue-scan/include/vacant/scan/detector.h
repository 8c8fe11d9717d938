// Detector: the contract between the engine and everything that looks for something in bytes.
//
// The engine cuts the device into segments, leaves out what is hole or zero, and hands each run of other
// bytes as a Buffer to every detector. A Buffer carries context before and after its owned part: a detector
// may LOOK at all of bytes, but REPORTS only a match whose first byte lies in [owned_begin, owned_end). So
// each match is reported by one segment only, and none is lost at an edge as long as it is shorter than
// kMarginBytes. Longer things (a database, an archive) are validated with Buffer::device, which reads
// anywhere on the device.
//
// Threads: one Detector object per worker; scan() is never called on one object from two threads. Output must
// depend on the buffer and the device only, never on earlier calls: reports are byte-identical for any thread
// count. Limits: a detector that gives up on something (size, depth, time) calls sink.skipped() with the
// extent and a reason, which makes the verdict "not proven" at best.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "vacant/base/bytes.h"
#include "vacant/base/device.h"
#include "vacant/scan/finding.h"

namespace vacant::scan {

inline constexpr std::uint64_t kSegmentBytes = 4 * kMiB;
inline constexpr std::uint64_t kLookBehindBytes = 4 * kKiB;  // context before the owned part, where it exists
inline constexpr std::uint64_t kMarginBytes = 64 * kKiB;     // context behind it, where it exists
inline constexpr int kMaxDecodeDepth = 4;
inline constexpr std::uint64_t kMaxDecodedBytes = 16 * kMiB;  // of one decoded run

struct Landmarks;

struct Buffer {
  ByteSpan bytes;
  std::size_t owned_begin = 0;  // offsets into bytes
  std::size_t owned_end = 0;
  Origin origin;  // of bytes[0]: device offset, or the layers of a decoded buffer with last offset 0
  BlockDevice* device = nullptr;  // the whole device; null in decoded buffers
  // For decoded buffers: the device extent of the outermost encoded run. Empty in plain buffers.
  Extent outer;
  // What the engine found out about bytes for all detectors, or null. Borrowed for the time of the call.
  const Landmarks* landmarks = nullptr;

  [[nodiscard]] int depth() const { return static_cast<int>(origin.layers.size()); }
  [[nodiscard]] bool owns(std::size_t offset) const { return offset >= owned_begin && offset < owned_end; }
  // The origin of the byte at `offset` in bytes.
  [[nodiscard]] Origin origin_at(std::size_t offset) const;
  // The device bytes of a match at [offset, offset+length): itself in plain buffers, `outer` in decoded ones.
  [[nodiscard]] Extent extent_of(std::size_t offset, std::size_t length) const;
};

class FindingSink {
 public:
  virtual ~FindingSink() = default;
  // `matched` is the matched bytes, for the keyed digest and the placeholder check; it is not kept.
  virtual void found(Finding finding, ByteSpan matched) = 0;
  // These bytes could not be looked at in full (limit, parser crash). Never silent, never clean.
  virtual void skipped(const Extent& extent, std::string_view reason) = 0;
  // Bytes of a decoded run: the sink runs every nested-capable detector over it (depth and size limits
  // apply).
  virtual void nested(const Buffer& decoded) = 0;
};

class Detector {
 public:
  virtual ~Detector() = default;
  virtual void scan(const Buffer& buffer, FindingSink& sink) = 0;
  // Whether it also runs over decoded bytes (tokens, known answers, decoders: yes; file carving: no).
  [[nodiscard]] virtual bool runs_on_decoded() const = 0;
  // Whether it makes use of Buffer::landmarks.
  [[nodiscard]] virtual bool uses_landmarks() const { return false; }
};

// Builds a detector's per-worker object. The factory is shared by all threads and immutable.
class DetectorFactory {
 public:
  virtual ~DetectorFactory() = default;
  [[nodiscard]] virtual Result<std::unique_ptr<Detector>> make() const = 0;
};

}  // namespace vacant::scan

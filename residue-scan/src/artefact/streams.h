// What the isolated child does with zlib: streams that are run for their length only, and the objects of a
// git pack. Bounded in time by the limits on what comes out. Private to scan.
#pragma once

#include <memory>
#include <optional>

#include "vacant/base/bytes.h"
#include "vacant/base/extent.h"

namespace vacant::scan {

inline constexpr std::uint64_t kMaxInflatedBytes = 256 * kMiB;  // of one request; what comes out is not kept

// Inflates one stream after the other with one state.
class Inflater {
 public:
  static constexpr std::size_t kFirstBytes = 64;
  struct Stream {
    ByteVector first;  // at most kFirstBytes
    std::uint64_t out_bytes = 0, in_bytes = 0;
    bool ended = false;  // and its checksum held
  };

  explicit Inflater(int window_bits);
  // Up to the stream's end, the input's end, or somewhat behind the limit. nullopt: no such stream.
  std::optional<Stream> run(ByteSpan bytes, std::uint64_t limit_bytes);

 private:
  struct State;
  struct Free {
    void operator()(State* state) const;
  };
  std::unique_ptr<State, Free> state_;
};

struct PackWalk {
  std::uint64_t objects = 0;    // whole ones
  std::uint64_t end_bytes = 0;  // where the last of them ends
  bool cut_off = false;         // the next one needs more bytes (it does not contradict itself)
};
// From the pack's header on.
PackWalk walk_pack(ByteSpan bytes);

}  // namespace vacant::scan

// Isolate: runs code that drives a C library over hostile bytes in a child process of its own.
//
// The child has no descriptors but its channel and those named in `keep_fds`, a seccomp filter without open,
// socket, exec or fork, a Landlock domain without any path, limits of memory and CPU time, and no core dump.
// It speaks to the parent in frames over one socket. The parent never trusts a frame's content: callers parse
// the bytes with bounds. When the child crashes, hangs or goes over a limit the caller gets an Error (kLimit
// for time or memory, kCorrupt for a crash) and goes on: the data in question is then "not proven", never
// clean.
//
// Thread-safety: one Isolate may be used by one thread at a time; several may exist at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "vacant/base/bytes.h"
#include "vacant/base/cancel.h"
#include "vacant/base/result.h"

namespace vacant {

struct IsolateLimits {
  std::chrono::milliseconds wall{30'000};  // for one call()
  std::uint64_t cpu_seconds = 60;          // over the child's life (RLIMIT_CPU)
  std::uint64_t memory_bytes = 512ULL
                               << 20;  // RLIMIT_AS beyond what is mapped at fork; not set under sanitizers
  std::uint64_t response_bytes = 64ULL << 20;  // one frame
};

// The child's end of the channel, given to the body.
class IsolateChannel {
 public:
  virtual ~IsolateChannel() = default;
  virtual Result<ByteVector> receive() = 0;  // kCancelled when the parent has gone
  virtual Result<void> send(ByteSpan frame) = 0;
  // Asks the parent's upcall handler (see Isolate::call) and waits for its answer.
  virtual Result<ByteVector> upcall(ByteSpan request) = 0;
};

class Isolate {
 public:
  // Serves requests in the child until its channel closes. Runs after the filter is in place.
  using Body = std::function<Result<ByteVector>(ByteSpan request, IsolateChannel& channel)>;
  // Answers an upcall of the child while call() waits: for example a read of the device, done by the parent.
  using Upcall = std::function<Result<ByteVector>(ByteSpan request)>;

  // Forks the child. `body` is called once a request; its answer (or error message) is sent back as a frame.
  static Result<Isolate> start(Body body, const IsolateLimits& limits, std::vector<int> keep_fds = {});
  Isolate(Isolate&&) noexcept;
  Isolate& operator=(Isolate&&) noexcept;
  ~Isolate();  // kills and reaps the child

  // One request, one answer. After an Error other than the body's own the child is dead; alive() says so.
  Result<ByteVector> call(ByteSpan request, const Upcall& upcall = {}, const CancelToken* cancel = nullptr);
  [[nodiscard]] bool alive() const;

 private:
  struct State;
  explicit Isolate(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace vacant

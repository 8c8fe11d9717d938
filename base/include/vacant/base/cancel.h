// CancelToken: a stop request that signal handlers and threads may set and poll. Lock-free, thread-safe.
#pragma once

#include <atomic>

namespace vacant {

class CancelToken {
 public:
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
  static_assert(std::atomic<bool>::is_always_lock_free);
};

}  // namespace vacant

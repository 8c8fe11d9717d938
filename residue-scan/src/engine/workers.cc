#include "engine/workers.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace vacant::scan {

namespace {

constexpr std::uint64_t kMaxAheadPerThread =
    8;  // finished segments that may wait for a slow one: bounds memory

class Pool {
 public:
  Pool(const WorkPlan& plan, const std::function<Result<void>(SegmentResult)>& consume)
      : plan_(plan), consume_(consume), next_(plan.first_segment), merged_(plan.first_segment) {}

  Result<void> run() {
    {
      std::vector<std::jthread> threads;
      for (unsigned i = 0; i < plan_.threads; ++i) threads.emplace_back([this] { work(); });
    }
    if (error_) return fail(*error_);
    if (merged_ != plan_.segment_count) return fail(Code::kCancelled, "stopped before the end");
    return {};
  }

 private:
  [[nodiscard]] bool stopping() const {
    return error_.has_value() || (plan_.cancel != nullptr && plan_.cancel->cancelled());
  }

  // The next segment to scan; none at the end or at a stop. Waits while too many results are queued.
  std::optional<std::uint64_t> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] {
      return stopping() || next_ - merged_ < kMaxAheadPerThread * plan_.threads ||
             next_ >= plan_.segment_count;
    });
    if (stopping() || next_ >= plan_.segment_count) return std::nullopt;
    return next_++;
  }

  void deliver(std::uint64_t index, SegmentResult result) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(index, std::move(result));
    while (!error_ && !waiting_.empty() && waiting_.begin()->first == merged_) {
      auto done = consume_(std::move(waiting_.begin()->second));
      waiting_.erase(waiting_.begin());
      if (!done)
        error_ = done.error();
      else
        ++merged_;
    }
    changed_.notify_all();
  }

  void stop(Error error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    changed_.notify_all();
  }

  void work() try {
    std::vector<std::unique_ptr<Detector>> detectors;
    for (const auto& factory : plan_.factories) {
      auto detector = factory->make();
      if (!detector) return stop(detector.error());
      detectors.push_back(std::move(*detector));
    }
    WindowReader reader(plan_.context.device);
    while (const auto index = take())
      deliver(*index, scan_segment(plan_.context, *index, {reader, detectors}));
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  } catch (const std::exception& problem) {
    stop(Error{Code::kInternal, 0, problem.what()});
  }

  const WorkPlan& plan_;
  const std::function<Result<void>(SegmentResult)>& consume_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, SegmentResult> waiting_;
  std::uint64_t next_;
  std::uint64_t merged_;
  std::optional<Error> error_;
};

}  // namespace

Result<void> run_workers(const WorkPlan& plan, const std::function<Result<void>(SegmentResult)>& consume) {
  return Pool(plan, consume).run();
}

}  // namespace vacant::scan

#include "vacant/base/isolate.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "sys/sandbox.h"
#include "vacant/base/fd.h"

namespace vacant {

namespace {

using Clock = std::chrono::steady_clock;

// A frame: type (1 byte), code of an error (1 byte), 2 bytes zero, length (4 bytes, little-endian), payload.
enum class Frame : std::uint8_t { kRequest = 1, kResponse, kError, kUpcall, kUpcallAnswer, kUpcallError };
constexpr std::size_t kHeaderBytes = 8;
constexpr std::uint64_t kMaxRequestBytes = 512ULL << 20;
constexpr std::uint64_t kMaxErrorBytes = 4096;

struct Message {
  Frame type = Frame::kRequest;
  Code code = Code::kInternal;
  ByteVector payload;
};

ByteVector encode_header(Frame type, Code code, std::size_t size) {
  ByteVector header(kHeaderBytes);
  header[0] = static_cast<std::byte>(type);
  header[1] = static_cast<std::byte>(code);
  store_le<std::uint32_t>(header, 4, static_cast<std::uint32_t>(size));
  return header;
}

// Waits until the socket is ready, the deadline passes or the caller cancels.
Result<void> wait_ready(int fd, short events, const Clock::time_point& deadline, const CancelToken* cancel) {
  for (;;) {
    if (cancel != nullptr && cancel->cancelled()) return fail(Code::kCancelled, "stopped");
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return fail(Code::kLimit, "the isolated parser took too long");
    pollfd entry{fd, events, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::min<long long>(left, 100)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return fail_errno("waiting for the isolated parser", errno);
  }
}

struct Waiter {
  Clock::time_point deadline = Clock::time_point::max();
  const CancelToken* cancel = nullptr;
  bool bounded = false;  // the child's own side waits without end: the parent ends it
};

Result<void> send_bytes(int fd, ByteSpan bytes, const Waiter& waiter) {
  while (!bytes.empty()) {
    if (waiter.bounded) VACANT_TRY(wait_ready(fd, POLLOUT, waiter.deadline, waiter.cancel));
    const ssize_t put =
        ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | (waiter.bounded ? MSG_DONTWAIT : 0));
    if (put < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (put < 0) return fail(Code::kCorrupt, "the isolated parser crashed");
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

Result<void> receive_bytes(int fd, MutableByteSpan out, const Waiter& waiter) {
  while (!out.empty()) {
    if (waiter.bounded) VACANT_TRY(wait_ready(fd, POLLIN, waiter.deadline, waiter.cancel));
    const ssize_t got = ::recv(fd, out.data(), out.size(), waiter.bounded ? MSG_DONTWAIT : 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return fail(Code::kCorrupt, "the isolated parser crashed");
    out = out.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

Result<void> send_message(int fd, Frame type, Code code, ByteSpan payload, const Waiter& waiter) {
  if (payload.size() > UINT32_MAX) return fail(Code::kLimit, "a frame for the isolated parser is too long");
  VACANT_TRY(send_bytes(fd, encode_header(type, code, payload.size()), waiter));
  return send_bytes(fd, payload, waiter);
}

Result<Message> receive_message(int fd, std::uint64_t limit_bytes, const Waiter& waiter) {
  std::array<std::byte, kHeaderBytes> header{};
  VACANT_TRY(receive_bytes(fd, header, waiter));
  Message message;
  message.type = static_cast<Frame>(std::to_integer<std::uint8_t>(header[0]));
  const auto code = std::to_integer<std::uint8_t>(header[1]);
  message.code =
      code <= static_cast<std::uint8_t>(Code::kInternal) ? static_cast<Code>(code) : Code::kInternal;
  const std::uint64_t size = load_le<std::uint32_t>(header, 4);
  if (size > limit_bytes) return fail(Code::kLimit, "the isolated parser answers with too much");
  message.payload.resize(static_cast<std::size_t>(size));
  VACANT_TRY(receive_bytes(fd, message.payload, waiter));
  return message;
}

// ---- the child's side ----

class ChildChannel final : public IsolateChannel {
 public:
  explicit ChildChannel(int fd) : fd_(fd) {}
  Result<ByteVector> receive() override {
    auto message = receive_message(fd_, kMaxRequestBytes, {});
    if (!message) return fail(Code::kCancelled, "the parent has gone");
    return std::move(message->payload);
  }
  Result<void> send(ByteSpan frame) override {
    return send_message(fd_, Frame::kResponse, Code::kInternal, frame, {});
  }
  Result<ByteVector> upcall(ByteSpan request) override {
    VACANT_TRY(send_message(fd_, Frame::kUpcall, Code::kInternal, request, {}));
    Message answer = VACANT_TRY(receive_message(fd_, kMaxRequestBytes, {}));
    if (answer.type == Frame::kUpcallAnswer) return std::move(answer.payload);
    return fail(answer.code, std::string(as_text(answer.payload)));
  }

 private:
  int fd_;
};

[[noreturn]] void serve(const UniqueFd& fd, const Isolate::Body& body, const IsolateLimits& limits,
                        std::vector<int> keep_fds) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Ctrl-C in a terminal goes to the whole group; the parent decides what becomes of the child.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
  keep_fds.push_back(fd.get());
  if (!sys::enter_sandbox(keep_fds, {limits.cpu_seconds, limits.memory_bytes})) ::_exit(70);
  ChildChannel channel(fd.get());
  for (;;) {
    const auto request = channel.receive();
    if (!request) ::_exit(0);
    Result<ByteVector> answer = fail(Code::kLimit, "out of memory");
    try {
      answer = body(*request, channel);
    } catch (const std::exception&) {
      answer = fail(Code::kLimit, "the isolated parser ran out of memory");
    }
    const bool sent =
        answer
            ? send_message(fd.get(), Frame::kResponse, Code::kInternal, *answer, {}).has_value()
            : send_message(fd.get(), Frame::kError, answer.error().code, as_bytes(answer.error().message), {})
                  .has_value();
    if (!sent) ::_exit(0);
  }
}

}  // namespace

// ---- the parent's side ----

struct Isolate::State {
  pid_t child = -1;
  UniqueFd fd;
  IsolateLimits limits;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { end(); }

  // Kills and reaps. Answers the wait status, or 0 if there was no child.
  int end() {
    if (child < 0) return 0;
    ::kill(child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    child = -1;
    fd.reset();
    return status;
  }

  // The child broke the protocol, a limit or itself: end it and say which.
  Error broken(Error error) {
    if (child < 0) return error;
    int status = 0;
    // A child that has died already tells more by its status than the closed channel does.
    const bool died = ::waitpid(child, &status, WNOHANG) == child;
    if (died) {
      child = -1;
      fd.reset();
      if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
        return Error{Code::kLimit, 0, "the isolated parser went over its time limit"};
      if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
        return Error{Code::kCorrupt, 0, "the isolated parser tried a forbidden system call and was killed"};
      return error;
    }
    end();
    return error;
  }
};

Isolate::Isolate(std::unique_ptr<State> state) : state_(std::move(state)) {}
Isolate::Isolate(Isolate&&) noexcept = default;
Isolate& Isolate::operator=(Isolate&&) noexcept = default;
Isolate::~Isolate() = default;

bool Isolate::alive() const { return state_ != nullptr && state_->child >= 0; }

Result<Isolate> Isolate::start(Body body, const IsolateLimits& limits, std::vector<int> keep_fds) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("making a channel", errno);
  UniqueFd parent(ends[0]);
  UniqueFd inner(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail_errno("starting an isolated parser", errno);
  if (child == 0) {
    parent.release();  // closed with all others in the sandbox
    serve(inner, body, limits, std::move(keep_fds));
  }
  auto state = std::make_unique<State>();
  state->child = child;
  state->fd = std::move(parent);
  state->limits = limits;
  return Isolate(std::move(state));
}

Result<ByteVector> Isolate::call(ByteSpan request, const Upcall& upcall, const CancelToken* cancel) {
  if (!alive()) return fail(Code::kCorrupt, "the isolated parser is gone");
  const Waiter waiter{Clock::now() + state_->limits.wall, cancel, true};
  const int fd = state_->fd.get();
  if (auto sent = send_message(fd, Frame::kRequest, Code::kInternal, request, waiter); !sent)
    return fail(state_->broken(sent.error()));
  for (;;) {
    auto message = receive_message(fd, state_->limits.response_bytes, waiter);
    if (!message) return fail(state_->broken(message.error()));
    if (message->type == Frame::kResponse) return std::move(message->payload);
    if (message->type == Frame::kError) {
      if (message->payload.size() > kMaxErrorBytes) message->payload.resize(kMaxErrorBytes);
      return fail(message->code, std::string(as_text(message->payload)));
    }
    if (message->type != Frame::kUpcall || !upcall)
      return fail(state_->broken(Error{Code::kCorrupt, 0, "the isolated parser broke the protocol"}));
    const auto answer = upcall(message->payload);
    const auto sent = answer ? send_message(fd, Frame::kUpcallAnswer, Code::kInternal, *answer, waiter)
                             : send_message(fd, Frame::kUpcallError, answer.error().code,
                                            as_bytes(answer.error().message), waiter);
    if (!sent) return fail(state_->broken(sent.error()));
  }
}

}  // namespace vacant

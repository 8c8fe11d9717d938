#include "vacant/base/isolate.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace vacant {
namespace {

using std::chrono::milliseconds;

Result<ByteVector> echo(ByteSpan request, IsolateChannel& /*channel*/) {
  return ByteVector(request.begin(), request.end());
}

// Never ends, in a way that the compiler may not take for undefined.
Result<ByteVector> spin() {
  for (volatile bool on = true; on;) {
  }
  return ByteVector();
}

Isolate must_start(Isolate::Body body, IsolateLimits limits = {}) {
  auto isolate = Isolate::start(std::move(body), limits);
  EXPECT_TRUE(isolate);
  return std::move(*isolate);
}

TEST(IsolateTest, AnswersAndStaysForMore) {
  Isolate isolate = must_start(echo);
  for (const std::size_t size : {0UL, 1UL, 100'000UL, 5'000'000UL}) {
    const ByteVector request(size, std::byte{0x5a});
    const auto answer = isolate.call(request);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(*answer, request);
  }
}

TEST(IsolateTest, AnErrorOfTheBodyIsPassedOnAndTheChildLives) {
  Isolate isolate = must_start([](ByteSpan, IsolateChannel&) -> Result<ByteVector> {
    return fail(Code::kUnsupported, "not this one");
  });
  for (int i = 0; i < 2; ++i) {
    const auto answer = isolate.call({});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::kUnsupported);
    EXPECT_EQ(answer.error().message, "not this one");
  }
  EXPECT_TRUE(isolate.alive());
}

TEST(IsolateTest, ACrashIsAnErrorNotACrash) {
  Isolate isolate = must_start([](ByteSpan, IsolateChannel&) -> Result<ByteVector> { ::_exit(1); });
  const auto answer = isolate.call({});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kCorrupt);
  EXPECT_FALSE(isolate.alive());
  EXPECT_FALSE(isolate.call({}));
}

TEST(IsolateTest, AnEndlessLoopMeetsTheWallClock) {
  IsolateLimits limits;
  limits.wall = milliseconds(300);
  Isolate isolate =
      must_start([](ByteSpan, IsolateChannel&) -> Result<ByteVector> { return spin(); }, limits);
  const auto answer = isolate.call({});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kLimit);
}

TEST(IsolateTest, ACancelledCallEndsSoon) {
  CancelToken cancel;
  cancel.cancel();
  Isolate isolate = must_start([](ByteSpan, IsolateChannel&) -> Result<ByteVector> { return spin(); });
  const auto answer = isolate.call({}, {}, &cancel);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kCancelled);
}

#ifndef VACANT_SANITIZED
TEST(IsolateTest, AMemoryBombMeetsItsLimit) {
  IsolateLimits limits;
  limits.memory_bytes = 64ULL << 20;
  Isolate isolate = must_start(
      [](ByteSpan, IsolateChannel&) -> Result<ByteVector> { return ByteVector(1ULL << 30, std::byte{1}); },
      limits);
  const auto answer = isolate.call({});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kLimit);
}
#endif

TEST(IsolateTest, AnAnswerThatIsTooLongIsRefused) {
  IsolateLimits limits;
  limits.response_bytes = 1000;
  Isolate isolate = must_start(echo, limits);
  EXPECT_TRUE(isolate.call(ByteVector(1000)));
  const auto answer = isolate.call(ByteVector(1001));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kLimit);
  EXPECT_FALSE(isolate.alive());
}

TEST(IsolateTest, UpcallsAskTheParent) {
  Isolate isolate =
      must_start([](ByteSpan request, IsolateChannel& channel) { return channel.upcall(request); });
  const auto answer = isolate.call(as_bytes("which?"), [](ByteSpan question) -> Result<ByteVector> {
    EXPECT_EQ(as_text(question), "which?");
    return ByteVector{std::byte{42}};
  });
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, ByteVector{std::byte{42}});
  const auto refused =
      isolate.call({}, [](ByteSpan) -> Result<ByteVector> { return fail(Code::kIo, "bad sector"); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "bad sector");
}

// Each forbidden call either fails or kills the child; none may succeed. The control: an allowed one does.
TEST(IsolateTest, TheSandboxHolds) {
  using Attempt = long (*)();
  const std::vector<std::pair<const char*, Attempt>> forbidden = {
      {"open", [] { return static_cast<long>(::open("/etc/passwd", O_RDONLY)); }},
      {"socket", [] { return static_cast<long>(::socket(AF_INET, SOCK_STREAM, 0)); }},
      {"fork", [] { return static_cast<long>(::syscall(SYS_fork)); }},
      {"exec", [] { return static_cast<long>(::execl("/bin/true", "true", nullptr)); }},
      {"ptrace", [] { return ::syscall(SYS_ptrace, 0, 0, 0, 0); }},
      {"kill", [] { return static_cast<long>(::kill(::getppid(), 0)); }},
      {"standard error", [] { return static_cast<long>(::write(2, "x", 1)); }}};
  for (const auto& [what, attempt] : forbidden) {
    Isolate isolate = must_start([attempt = attempt](ByteSpan, IsolateChannel&) -> Result<ByteVector> {
      return ByteVector{attempt() < 0 ? std::byte{0} : std::byte{1}};
    });
    const auto answer = isolate.call({});
    EXPECT_FALSE(answer && answer->at(0) != std::byte{0}) << what << " went through";
  }
  Isolate control = must_start([](ByteSpan, IsolateChannel&) -> Result<ByteVector> {
    return ByteVector{::getpid() > 0 ? std::byte{1} : std::byte{0}};
  });
  const auto allowed = control.call({});
  ASSERT_TRUE(allowed);
  EXPECT_EQ(allowed->at(0), std::byte{1});
}

}  // namespace
}  // namespace vacant

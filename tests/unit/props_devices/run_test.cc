// The test helpers themselves: a helper that loses output or hides an exit code would blunt every test above
// it.
#include "run.h"

#include <gtest/gtest.h>

namespace vacant::testing {
namespace {

TEST(Run, GivesOutputErrorAndExitCodeApart) {
  const RunOutcome outcome = run({"sh", "-c", "cat; echo to-stderr >&2; exit 7"}, {.input = "to-stdout"});
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(outcome.out, "to-stdout");
  EXPECT_EQ(outcome.err, "to-stderr\n");
  EXPECT_FALSE(outcome.ok());
}

TEST(Run, MovesMoreThanAPipeHolds) {
  const std::string input(3'000'000, 'x');
  const RunOutcome outcome = run({"cat"}, {.input = input});
  EXPECT_TRUE(outcome.ok()) << outcome.describe();
  EXPECT_EQ(outcome.out.size(), input.size());
}

TEST(Run, PassesArgumentsUnchanged) {
  const RunOutcome outcome = run({"printf", "%s|", "a b", "$HOME", "*", ""});
  EXPECT_EQ(outcome.out, "a b|$HOME|*||");
}

TEST(Run, KillsAtTheTimeOut) {
  const RunOutcome outcome = run({"sleep", "100"}, {.timeout = std::chrono::milliseconds(100)});
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.signal, SIGKILL);
  EXPECT_FALSE(outcome.ok());
}

TEST(Run, SaysThatAProgramIsMissing) {
  const RunOutcome outcome = run({"no-such-program-anywhere"});
  EXPECT_FALSE(outcome.ok());
  EXPECT_NE(outcome.err.find("no such program"), std::string::npos);
}

TEST(Run, SurvivesAChildThatDoesNotReadItsInput) {
  EXPECT_TRUE(run({"true"}, {.input = std::string(1'000'000, 'x')}).ok());
}

TEST(TempDir, IsThereAndThenGone) {
  std::filesystem::path path;
  {
    const TempDir folder;
    path = folder.path();
    make_sparse(folder.file("sparse"), 1 << 20);
    EXPECT_EQ(std::filesystem::file_size(folder.file("sparse")), 1u << 20);
    write_text(folder.file("text"), "abc");
    EXPECT_EQ(read_text(folder.file("text")), "abc");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace vacant::testing

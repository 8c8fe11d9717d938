// The laws of the source tree. Beside each one stands a made offence that it must report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "checks.h"

namespace vacant::tidy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::vector<SourceFile>& tree() {
  static const std::vector<SourceFile> files = load_tree(VACANT_SOURCE_DIR);
  return files;
}

template <class Check>
Problems over_tree(Check check) {
  Problems all;
  for (const SourceFile& file : tree())
    for (std::string& problem : check(file)) all.push_back(std::move(problem));
  return all;
}

std::string repeat(std::string_view part, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += part;
  return out;
}

TEST(Tree, IsReadAtAll) {
  EXPECT_GT(tree().size(), 50U);
  const auto has = [](std::string_view path) {
    return std::ranges::any_of(tree(), [&](const SourceFile& file) { return file.path == path; });
  };
  EXPECT_TRUE(has("base/include/vacant/base/device.h"));
  EXPECT_TRUE(has("tests/tidy/layers/checks.cc"));
  EXPECT_TRUE(has("CMakeLists.txt"));
}

TEST(Layers, HoldInTheTree) { EXPECT_THAT(over_tree(check_includes), IsEmpty()); }

TEST(Layers, ABadIncludeIsReported) {
  const std::string scan = "#include \"vacant/scan/engine.h\"\n";
  EXPECT_THAT(check_includes({"vm/src/x.cc", "// top\n" + scan}),
              ElementsAre("vm/src/x.cc:2: vm may not include vacant/scan"));
  EXPECT_THAT(check_includes({"base/include/vacant/base/x.h", "#include <vacant/verify/hash_tree.h>\n"}),
              SizeIs(1));
  EXPECT_THAT(check_includes({"secrets/src/x.cc", "#  include \"vacant/verify/hash_tree.h\"\n"}), SizeIs(1));
  EXPECT_THAT(check_includes({"verify/src/x.cc", "#include \"vacant/secrets/placeholder.h\"\n"}), SizeIs(1));
  EXPECT_THAT(check_includes({"imgtools/src/x.cc", scan}), SizeIs(1));
  EXPECT_THAT(check_includes({"residue-scan/src/x.cc", "#include \"vacant/vm/x.h\"\n"}), SizeIs(1));
  EXPECT_THAT(check_includes({"cli/src/x.cc", "#include \"vacant/props/devices.h\"\n"}), SizeIs(1));
  EXPECT_THAT(check_includes({"new-folder/src/x.cc", "#include \"vacant/base/fd.h\"\n"}), SizeIs(1));
  EXPECT_THAT(check_includes({"cli/src/x.cc", "#include \"../../base/src/zero.h\"\n"}), SizeIs(1));
  EXPECT_THAT(check_includes({"cli/src/x.cc", scan}), IsEmpty());
  EXPECT_THAT(check_includes({"residue-scan/src/x.cc", scan}), IsEmpty());
}

TEST(Style, FilesAndLinesAreShort) { EXPECT_THAT(over_tree(check_sizes), IsEmpty()); }

TEST(Style, ALongFileOrLineIsReported) {
  EXPECT_THAT(check_sizes({"a.cc", repeat("x\n", kMaxFileLines)}), IsEmpty());
  EXPECT_THAT(check_sizes({"a.cc", repeat("x\n", kMaxFileLines + 1)}), SizeIs(1));
  EXPECT_THAT(check_sizes({"a.h", repeat("\xC3\xA4", kMaxLineColumns)}), IsEmpty());
  EXPECT_THAT(check_sizes({"a.h", "x\n" + repeat("x", kMaxLineColumns + 1)}),
              ElementsAre("a.h:2: 111 columns"));
  EXPECT_THAT(check_sizes({"a.md", repeat("x", 300)}), IsEmpty());
}

TEST(Style, FunctionsAreShort) { EXPECT_THAT(over_tree(check_functions), IsEmpty()); }

TEST(Style, ALongFunctionIsReported) {
  const auto with_body = [](std::size_t lines) {
    return "namespace a {\nclass B {\n  int f(int x) const {\n" + repeat("    call(\"}\");  // }\n", lines) +
           "  }\n};\n}\n";
  };
  EXPECT_THAT(check_functions({"a.cc", with_body(kMaxFunctionLines - 2)}), IsEmpty());
  EXPECT_THAT(check_functions({"a.cc", with_body(kMaxFunctionLines - 1)}),
              ElementsAre("a.cc:3: 71 lines in a function"));
  const std::string long_body = repeat("  x();\n", kMaxFunctionLines);
  EXPECT_THAT(check_functions({"a.cc", "TEST(A, B) {\n" + long_body + "}\n"}), SizeIs(1));
  EXPECT_THAT(check_functions({"a.cc", "A::A(int b) : b_(b) {\n" + long_body + "}\n"}), SizeIs(1));
  EXPECT_THAT(check_functions({"a.cc", "auto f(int a = 1) -> int {\n" + long_body + "}\n"}), SizeIs(1));
  EXPECT_THAT(
      check_functions({"a.cc", "struct T {\n" + repeat("  int x;\n", 100) + "};\nint g() { return 1; }\n"}),
      IsEmpty());
  EXPECT_THAT(check_functions({"a.cc", "const int kTable[] = {\n" + repeat("  1,\n", 100) + "};\n"}),
              IsEmpty());
}

TEST(Style, LiteralsAreBlankedOut) {
  EXPECT_EQ(strip_literals("a \"b{\\\"\" c // {\n"), "a " + repeat(" ", 6) + " c " + repeat(" ", 4) + "\n");
  EXPECT_EQ(strip_literals("'{' 1'000 /* {\n */ d"), "    1'000     \n    d");
  EXPECT_EQ(strip_literals("R\"x({)\"{)x\" d"), repeat(" ", 11) + " d");
}

TEST(Style, SystemCallsAreInBaseAndShellsNowhere) { EXPECT_THAT(over_tree(check_calls), IsEmpty()); }

TEST(Style, ASystemCallOrShellIsReported) {
  EXPECT_THAT(check_calls({"cli/src/x.cc", "int f() { return ::open(p, 0); }\n"}), SizeIs(1));
  EXPECT_THAT(check_calls({"vm/src/x.cc", "x = ioctl(fd, 1);\n"}), SizeIs(1));
  EXPECT_THAT(check_calls({"verify/src/x.cc", "if (::pread (fd, a, b, c)) {}\n"}), SizeIs(1));
  EXPECT_THAT(check_calls({"base/src/x.cc", "x = ioctl(fd, 1);\n"}), IsEmpty());
  EXPECT_THAT(check_calls({"cli/src/x.cc",
                           "device.read(0, x); // ::open(\n a->ioctl(); my_socket(); Foo::open(1);\n"}),
              IsEmpty());
  EXPECT_THAT(check_calls({"base/src/x.cc", "std::system(\"ls\");\n"}), SizeIs(1));
  EXPECT_THAT(check_calls({"tests/unit/x.cc", "popen(a, b);\n"}), SizeIs(1));
  EXPECT_THAT(check_calls({"tests/unit/x.cc", "file_system(a); a.system(b);\n"}), IsEmpty());
}

TEST(Style, HeadersAreLight) { EXPECT_THAT(over_tree(check_headers), IsEmpty()); }

TEST(Style, AHeavyHeaderIsReported) {
  const std::string once = "#pragma once\n";
  EXPECT_THAT(check_headers({"base/include/vacant/base/a.h", once + "#include <nlohmann/json.hpp>\n"}),
              SizeIs(1));
  EXPECT_THAT(check_headers({"base/src/a.h", once + "#include <nlohmann/json.hpp>\n"}), IsEmpty());
  EXPECT_THAT(check_headers({"base/a.h", once + "#include <fmt/format.h>\n"}), SizeIs(1));
  EXPECT_THAT(check_headers({"base/a.h", once + "#include <CLI/CLI.hpp>\n"}), SizeIs(1));
  EXPECT_THAT(check_headers({"cli/src/a.h", once + "#include <CLI/CLI.hpp>\n"}), IsEmpty());
  EXPECT_THAT(check_headers({"base/a.h", once + "using namespace std;\n"}), SizeIs(1));
  EXPECT_THAT(check_headers({"base/a.h", "int x;\n"}), SizeIs(1));
  EXPECT_THAT(check_headers({"base/a.cc", "#include <fmt/format.h>\n"}), IsEmpty());
}

TEST(Style, TodosCarryAType) {
  EXPECT_THAT(over_tree(check_todos), IsEmpty());
  const std::string word = std::string("// TO") + "DO";
  EXPECT_THAT(check_todos({"a.cc", word + ": later\n"}), SizeIs(1));
  EXPECT_THAT(check_todos({"a.cc", word + "(perf): later\n"}), IsEmpty());
}

TEST(Style, NothingSpeaksOfTheWorkplace) {
  EXPECT_THAT(over_tree(check_words), IsEmpty());
  EXPECT_THAT(check_words({"README.md", std::string("built in /wo") + "rk/x\n"}), SizeIs(1));
  EXPECT_THAT(check_words({"README.md", "a TLS session in a workspace\n"}), IsEmpty());
}

TEST(Style, EveryFuzzTargetHasSeeds) {
  std::vector<std::string> paths;
  const std::filesystem::path root = VACANT_SOURCE_DIR;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "tests/fuzz"))
    if (entry.is_regular_file())
      paths.push_back(std::filesystem::relative(entry.path(), root).generic_string());
  EXPECT_THAT(check_fuzz_seeds(paths), IsEmpty());
  EXPECT_THAT(check_fuzz_seeds({"tests/fuzz/a_fuzz.cc", "tests/fuzz/seeds/b/1"}), SizeIs(1));
  EXPECT_THAT(check_fuzz_seeds({"tests/fuzz/a_fuzz.cc", "tests/fuzz/seeds/a/1"}), IsEmpty());
}

}  // namespace
}  // namespace vacant::tidy

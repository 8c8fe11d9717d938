// The HTML report in a real browser: it draws, it counts right, it fetches nothing, and hostile names stay
// text.
#include <filesystem>
#include <regex>

#include "cli_support.h"

namespace vacant::testing {
namespace {

class HtmlReport : public ::testing::Test {
 protected:
  void SetUp() override {
    if (find_program("chromium")) return;
    if (must_run()) FAIL() << "chromium is missing";
    GTEST_SKIP() << "left out: no chromium here";
  }

  // A disk with data in an ext4 file whose name is markup, and bytes that nobody explains.
  std::string make_report() {
    const auto tree = dir_.path() / "tree";
    std::filesystem::create_directory(tree);
    write_text((tree / "<img src=x onerror=alert(1)>.pem").string(), private_key());
    EXPECT_TRUE(run({"mke2fs", "-q", "-t", "ext4", "-d", tree.string(), dir_.file("disk"), "16M"}).ok());
    write_at(dir_.file("disk"), 12'000'000, noise(50'000, 4));
    const RunOutcome outcome =
        vacant({"scan", dir_.file("disk"), "-q", "--policy", "inside", "--format", "html", "-o",
                dir_.file("report.html"), "--also", "json=" + dir_.file("report.json")});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.describe();
    return dir_.file("report.html");
  }

  std::string private_key() {
    const RunOutcome key = run({"openssl", "genpkey", "-algorithm", "ed25519"});
    EXPECT_TRUE(key.ok()) << key.describe();
    return key.out;
  }

  RunOutcome browse(const std::string& url, std::vector<std::string> more) {
    const std::string profile = dir_.file("profile-" + std::to_string(++runs_));
    std::vector<std::string> words{"chromium",
                                   "--headless",
                                   "--no-sandbox",
                                   "--disable-gpu",
                                   "--disable-quic",
                                   "--no-first-run",
                                   "--disable-background-networking",
                                   "--disable-component-update",
                                   "--disable-sync",
                                   "--enable-logging=stderr",
                                   "--user-data-dir=" + profile,
                                   "--virtual-time-budget=4000",
                                   "--window-size=1240,1600"};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back(url);
    return run(words);
  }
  // Chromium takes the form of the picture from the name.
  std::string picture(const std::string& theme) const { return dir_.file(theme + ".png"); }
  TempDir dir_;
  int runs_ = 0;
};

TEST_F(HtmlReport, DrawsCountsAndFetchesNothing) {
  const std::string path = make_report();
  const RunOutcome page = browse("file://" + path, {"--dump-dom"});
  ASSERT_TRUE(page.ok()) << page.describe();
  EXPECT_NE(page.out.find("data-ready=\"1\""), std::string::npos) << "the script did not come to its end";
  std::smatch drawn;
  ASSERT_TRUE(std::regex_search(page.out, drawn, std::regex("data-drawn=\"([0-9]+)\"")));
  EXPECT_EQ(drawn[1], "16384") << "16 MiB in cells of 1 KiB";
  EXPECT_NE(page.out.find("verdict residue"), std::string::npos);
  EXPECT_EQ(page.err.find("CONSOLE"), std::string::npos) << page.err.substr(0, 2000);
  const std::string text = read_text(path);
  EXPECT_EQ(std::regex_search(text, std::regex("(src|href)\\s*=\\s*[\"']?(https?:|//)")), false)
      << "an external asset";
  EXPECT_NE(text.find("Content-Security-Policy"), std::string::npos);
  // Every finding of the JSON report is a row of the table.
  const auto report = nlohmann::json::parse(read_text(dir_.file("report.json")));
  const std::size_t begin = page.out.find("id=\"findings\"");
  const std::string table = page.out.substr(begin, page.out.find("</table>", begin) - begin);
  std::size_t rows = 0;
  for (std::size_t at = table.find("<tr>"); at != std::string::npos; at = table.find("<tr>", at + 1)) ++rows;
  EXPECT_EQ(rows, report["findings"].size() + 1) << "and the head";
}

TEST_F(HtmlReport, HostileNamesStayText) {
  const std::string path = make_report();
  EXPECT_EQ(read_text(path).find("<img src=x"), std::string::npos);
  const RunOutcome page = browse("file://" + path, {"--dump-dom"});
  EXPECT_EQ(page.out.find("<img"), std::string::npos);
  EXPECT_NE(page.out.find("&lt;img src=x onerror=alert(1)&gt;.pem"), std::string::npos)
      << "the control: the name is there, as text";
}

TEST_F(HtmlReport, LightAndDarkAreTwoPictures) {
  const std::string path = make_report();
  for (const char* theme : {"light", "dark"}) {
    const RunOutcome shot = browse("file://" + path + "#" + theme, {"--screenshot=" + picture(theme)});
    ASSERT_TRUE(shot.ok()) << shot.describe();
    EXPECT_GT(std::filesystem::file_size(picture(theme)), 30'000U) << "an empty page is smaller";
  }
  EXPECT_NE(read_text(picture("light")), read_text(picture("dark")));
}

}  // namespace
}  // namespace vacant::testing

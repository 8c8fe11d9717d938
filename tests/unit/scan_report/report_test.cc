#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "run.h"
#include "sample.h"
#include "vacant/base/file.h"
#include "vacant/scan/report_key.h"

namespace vacant::scan {
namespace {

using testing::kHostile;
using testing::residue_report;
using testing::vacant_report;

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

// With VACANT_UPDATE_GOLDEN set the files are written instead of compared.
void expect_golden(const std::string& file, const std::string& text) {
  const std::string path = std::string(VACANT_SOURCE_DIR) + "/tests/golden/report/" + file;
  if (std::getenv("VACANT_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_file_atomic(path, as_bytes(text), 0644));
    return;
  }
  EXPECT_EQ(slurp(path), text) << file;
}

TEST(ReportGolden, Formats) {
  for (const auto& [stem, report] :
       {std::pair{"vacant", vacant_report()}, std::pair{"residue", residue_report()}}) {
    const std::string base = stem;
    expect_golden(base + ".txt", to_text(report, false));
    expect_golden(base + ".json", to_json(report));
    expect_golden(base + ".sarif", to_sarif(report));
    expect_golden(base + ".xml", to_junit(report));
  }
}

TEST(ReportJson, RoundTrips) {
  for (const Report& report : {vacant_report(), residue_report()}) {
    const std::string text = to_json(report);
    const auto again = parse_report(text);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(to_json(*again), text);
    const auto sums = check_arithmetic(*again);
    EXPECT_TRUE(sums) << sums.error().message;
  }
}

TEST(ReportJson, RefusesWhatIsNotStrict) {
  const std::string good = to_json(vacant_report());
  ASSERT_TRUE(parse_report(good));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string out = good;
    const std::size_t at = out.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return out.replace(at, from.size(), to);
  };
  EXPECT_FALSE(parse_report(with("\"policy\"", "\"policy\": \"handover\", \"policy\"")));
  EXPECT_FALSE(parse_report(with("\"policy\"", "\"extra\": 1, \"policy\"")));
  EXPECT_FALSE(parse_report(with("\"sector_bytes\":512", "\"sector_bytes\":4294967296")));
  EXPECT_FALSE(parse_report(with("\"sector_bytes\":512", "\"sector_bytes\":-1")));
  EXPECT_FALSE(parse_report(with("\"sector_bytes\":512", "\"sector_bytes\":512.0")));
  EXPECT_FALSE(parse_report(with("\"handover\"", "\"anything\"")));
  EXPECT_FALSE(parse_report(with("vacant-report/1", "vacant-report/2")));
  EXPECT_FALSE(parse_report(good + "x"));
  for (std::size_t cut = 0; cut + 2 < good.size(); cut += 7)
    EXPECT_FALSE(parse_report(good.substr(0, cut))) << cut;
}

// The map is rebuilt from what the report says of its size: no size may make the reader throw or allocate
// without bound.
TEST(ReportJson, SurvivesImpossibleSizes) {
  auto document = nlohmann::json::parse(to_json(vacant_report()));
  document["extents"] = nlohmann::json::array();
  document["extent_count"] = 0;
  for (const std::uint64_t size :
       {UINT64_MAX, UINT64_MAX - 511, UINT64_MAX - 16'384, std::uint64_t{1} << 63}) {
    document["source"]["size_bytes"] = size;
    EXPECT_NO_THROW({
      const auto report = parse_report(document.dump());
      EXPECT_FALSE(report && check_arithmetic(*report));
    }) << size;
  }
}

// Each change breaks one claim; the untouched report beside it must pass.
TEST(ReportArithmetic, EachClaimIsChecked) {
  const std::vector<std::pair<const char*, std::function<void(Report&)>>> lies = {
      {"size", [](Report& r) { r.source.size_bytes += 512; }},
      {"class total", [](Report& r) { r.class_bytes[0] -= 512, r.class_bytes[1] += 512; }},
      {"gap", [](Report& r) { r.extents[1].extent.offset_bytes += 512; }},
      {"class of an extent", [](Report& r) { r.extents[2].cls = Class::kDerived; }},
      {"map", [](Report& r) { r.map.cells[0][0] -= 512; }},
      {"map, moved between cells", [](Report& r) { r.map.cells[0][0] -= 512, r.map.cells[1][0] += 512; }},
      {"map cell size", [](Report& r) { r.map.cell_bytes *= 2; }},
      {"rule counts", [](Report& r) { r.rules[0].count = 7; }},
      {"finding count", [](Report& r) { r.finding_count = 1; }},
      {"summary", [](Report& r) { r.summary.tokens = 0; }},
      {"skipped count", [](Report& r) { r.skipped_count = 0; }},
      {"verdict", [](Report& r) { r.verdict = Verdict::kVacant; }},
      {"reasons", [](Report& r) { r.reasons.clear(); }},
      {"findings left out", [](Report& r) { r.findings.clear(), r.summary.tokens = 0, decide(r); }},
      {"extents left out", [](Report& r) { r.extents.clear(), decide(r); }},
      {"skipped left out", [](Report& r) { r.skipped.clear(), decide(r); }},
  };
  const Report good = residue_report();
  ASSERT_TRUE(check_arithmetic(good));
  for (const auto& [what, lie] : lies) {
    Report bad = good;
    lie(bad);
    const auto told = check_arithmetic(bad);
    EXPECT_FALSE(told) << what;
    EXPECT_TRUE(told || told.error().code == Code::kMismatch) << what;
  }
}

TEST(SignedReport, EveryBitCounts) {
  const auto key = make_report_key();
  const auto other = make_report_key();
  ASSERT_TRUE(key && other);
  const std::string json = "{\n  \"a\": 1\n}\n";
  const auto file = sign_report(json, key->secret_key);
  ASSERT_TRUE(file);
  const auto opened = open_signed_report(*file, key->public_key);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->json, json);
  EXPECT_FALSE(open_signed_report(*file, other->public_key));
  EXPECT_FALSE(open_signed_report(json, key->public_key)) << "unsigned";
  for (std::size_t i = 0; i < file->size(); ++i)
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string bad = *file;
      bad[i] = static_cast<char>(static_cast<unsigned char>(bad[i]) ^ (1U << bit));
      EXPECT_FALSE(open_signed_report(bad, key->public_key)) << "byte " << i << " bit " << bit;
    }
  for (std::size_t cut = 0; cut < file->size(); ++cut)
    EXPECT_FALSE(open_signed_report(file->substr(0, cut), key->public_key)) << cut;
}

TEST(ReportKey, OneSpelling) {
  const auto key = make_report_key();
  ASSERT_TRUE(key);
  const std::string text = serialise_sign_key(key->secret_key);
  const auto again = parse_sign_key(as_bytes(text));
  ASSERT_TRUE(again);
  EXPECT_EQ(to_hex(again->expose()), to_hex(key->secret_key.expose()));
  EXPECT_FALSE(parse_sign_key(as_bytes(text.substr(1))));
  EXPECT_FALSE(parse_sign_key(as_bytes(text + "\n")));
  EXPECT_TRUE(parse_public_key(as_bytes(serialise_public_key(key->public_key))));
  EXPECT_FALSE(parse_public_key(as_bytes(std::string(64, '0')))) << "a point of small order";
}

TEST(ReportText, HoldsNoControlCharacters) {
  const std::string text = to_text(residue_report(), false);
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  EXPECT_EQ(text.rfind("residue", 0), 0U) << "the verdict comes first";
  EXPECT_NE(to_text(residue_report(), true).find("\033[1;31m"), std::string::npos);
}

TEST(ReportHtml, HostileTextsStayTexts) {
  const std::string page = to_html(residue_report());
  EXPECT_EQ(page.find("<script>document.title"), std::string::npos);
  EXPECT_EQ(page.find(std::string(kHostile)), std::string::npos);
  EXPECT_EQ(page.find("src=\"http"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

// A text from the disk that looks like one of the page's own marks must not move the page's data.
TEST(ReportHtml, MarksInTextsAreTexts) {
  Report report = residue_report();
  const auto island_of = [](const std::string& page) {
    const std::string open = "<script type=\"application/json\" id=\"data\">";
    const std::size_t begin = page.find(open) + open.size();
    return page.substr(begin, page.find("</script>", begin) - begin);
  };
  ASSERT_TRUE(nlohmann::json::accept(island_of(to_html(report))));
  report.problems.emplace_back("@DATA@ @LISTS@");
  report.source.name = "@VERDICT@ @CARDS@ @DATA@";
  EXPECT_TRUE(nlohmann::json::accept(island_of(to_html(report))));
}

std::string python_check(const std::string& schema, const std::string& document) {
  const std::string code =
      "import json,sys,jsonschema\n"
      "s=json.load(open(sys.argv[1]));d=json.load(sys.stdin)\n"
      "c=jsonschema.validators.validator_for(s);c.check_schema(s)\n"
      "e=[x.message for x in c(s).iter_errors(d)]\n"
      "print('\\n'.join(e));sys.exit(1 if e else 0)\n";
  vacant::testing::RunOptions options;
  options.input = document;
  const auto outcome = vacant::testing::run({"/usr/bin/python3", "-c", code, schema}, options);
  return outcome.exit_code == 0 ? "" : "refused: " + outcome.out + outcome.err;
}

TEST(ReportSchema, AcceptsReportsAndNothingElse) {
  const std::string schema = std::string(VACANT_SOURCE_DIR) + "/docs/formats/report.schema.json";
  for (const Report& report : {vacant_report(), residue_report()})
    EXPECT_EQ(python_check(schema, to_json(report)), "");
  auto bad = nlohmann::json::parse(to_json(residue_report()));
  bad["extra"] = 1;
  EXPECT_NE(python_check(schema, bad.dump()), "");
  bad.erase("extra");
  EXPECT_EQ(python_check(schema, bad.dump()), "");
  bad["findings"][0]["length_bytes"] = -1;
  EXPECT_NE(python_check(schema, bad.dump()), "");
}

TEST(ReportSarif, HoldsToTheSchemaOfOasis) {
  const std::string schema = std::string(VACANT_SOURCE_DIR) + "/tests/golden/schema/sarif-2.1.0.json";
  for (const Report& report : {vacant_report(), residue_report()})
    EXPECT_EQ(python_check(schema, to_sarif(report)), "");
  auto bad = nlohmann::json::parse(to_sarif(residue_report()));
  bad["runs"][0]["results"][0].erase("message");
  EXPECT_NE(python_check(schema, bad.dump()), "") << "the control: the schema does refuse";
}

TEST(ReportSarif, FingerprintsAreStable) {
  Report report = residue_report();
  const auto prints = [](const Report& r) {
    std::set<std::string> out;
    const auto document = nlohmann::json::parse(to_sarif(r));
    for (const auto& result : document["runs"][0]["results"])
      out.insert(result["partialFingerprints"]["vacant/v1"].get<std::string>());
    return out;
  };
  const auto before = prints(report);
  report.findings[1].detail = "other facts";
  report.source.name = "/elsewhere/disk.img";
  EXPECT_EQ(prints(report), before);
  report.findings[1].origin.device_offset_bytes += 512;
  EXPECT_NE(prints(report), before);
}

}  // namespace
}  // namespace vacant::scan

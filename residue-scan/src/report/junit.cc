// JUnit XML: one test case for each thing that a hand-over must hold.
#include <fmt/format.h>

#include <algorithm>

#include "report/escape.h"
#include "vacant/scan/report.h"

namespace vacant::scan {

namespace {

struct Case {
  std::string name;
  std::string failure;  // empty: passed
  std::string error;    // could not be proven
};

std::uint64_t at(const Report& report, Class cls) {
  return report.class_bytes[static_cast<std::size_t>(cls)];
}

Case coverage_case(const Report& report) {
  const std::uint64_t unread = at(report, Class::kUnreadable) + at(report, Class::kSkipped);
  Case out{"every byte was looked at", "", ""};
  if (unread > 0 || report.skipped_count > 0 || report.source.size_bytes == 0)
    out.error = fmt::format("{} bytes unread, {} place(s) not looked at in full, of {} bytes", unread,
                            report.skipped_count, report.source.size_bytes);
  return out;
}

Case class_case(const Report& report, Class cls) {
  Case out{fmt::format("no byte is {}", name(cls)), "", ""};
  if (at(report, cls) > 0) out.failure = fmt::format("{} bytes are {}", at(report, cls), name(cls));
  return out;
}

Case secret_case(std::string_view what, std::uint64_t count) {
  Case out{fmt::format("no {}", what), "", ""};
  if (count > 0) out.failure = fmt::format("{} found", count);
  return out;
}

// A baseline's acceptance cannot be told by class, so the verdict itself is a case, and is the one that CI
// should look at.
Case verdict_case(const Report& report) {
  Case out{"verdict is vacant", "", ""};
  std::string reasons;
  for (const std::string& reason : report.reasons) reasons += (reasons.empty() ? "" : "; ") + reason;
  if (report.verdict == Verdict::kNotProven)
    out.error = "not-proven: " + reasons;
  else if (report.verdict != Verdict::kVacant)
    out.failure = fmt::format("{}: {}", name(report.verdict), reasons);
  return out;
}

std::vector<Case> cases_of(const Report& report) {
  std::vector<Case> out{verdict_case(report), coverage_case(report)};
  // What a baseline accepts is taken out of the verdict, not out of the counts: then only the verdict can be
  // asked.
  const bool with_baseline = std::ranges::any_of(report.accepted, &AcceptedExtent::applied);
  for (const Class cls : kAllClasses)
    if (!accepts(report.policy, cls) && cls != Class::kUnreadable && cls != Class::kSkipped && !with_baseline)
      out.push_back(class_case(report, cls));
  out.push_back(secret_case("listed secret", report.summary.known_secrets));
  if (!with_baseline) {
    out.push_back(secret_case("credential-shaped token", report.summary.tokens - report.summary.base_tokens));
    out.push_back(secret_case("private key", report.summary.private_keys));
    out.push_back(secret_case("credential file", report.summary.credential_files));
  }
  return out;
}

}  // namespace

std::string to_junit(const Report& report) {
  const std::vector<Case> cases = cases_of(report);
  std::size_t failures = 0, errors = 0;
  std::string body;
  for (const Case& entry : cases) {
    body += fmt::format("    <testcase classname=\"vacant.scan\" name=\"{}\"", xml_escape(entry.name));
    if (entry.failure.empty() && entry.error.empty()) {
      body += "/>\n";
      continue;
    }
    const bool failed = !entry.failure.empty();
    (failed ? failures : errors) += 1;
    body += fmt::format(">\n      <{0} message=\"{1}\"/>\n    </testcase>\n", failed ? "failure" : "error",
                        xml_escape(failed ? entry.failure : entry.error));
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{0}\" failures=\"{1}\" "
      "errors=\"{2}\">\n"
      "  <testsuite name=\"{3}\" tests=\"{0}\" failures=\"{1}\" errors=\"{2}\">\n{4}  "
      "</testsuite>\n</testsuites>\n",
      cases.size(), failures, errors, xml_escape("vacant scan " + report.source.name), body);
}

}  // namespace vacant::scan

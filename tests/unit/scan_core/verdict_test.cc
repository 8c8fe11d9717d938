// The verdict's rules, one by one, on reports made by hand.
#include "core/verdict.h"

#include <gtest/gtest.h>

namespace vacant::scan {
namespace {

Report vacant_report() {
  Report report;
  report.source.size_bytes = 4096;
  report.class_bytes[static_cast<std::size_t>(Class::kZero)] = 4096;
  report.extents = {{{0, 4096}, Class::kZero}};
  report.extent_count = 1;
  return report;
}

Verdict verdict_of(Report report) {
  decide(report);
  EXPECT_FALSE(report.reasons.empty());
  return report.verdict;
}

void move_bytes(Report& report, Class cls, std::uint64_t bytes) {
  report.class_bytes[static_cast<std::size_t>(Class::kZero)] -= bytes;
  report.class_bytes[static_cast<std::size_t>(cls)] += bytes;
}

TEST(Decide, EveryClassUnderEveryPolicy) {
  for (const Policy policy : {Policy::kHandover, Policy::kInUse, Policy::kInside}) {
    for (const Class cls : kAllClasses) {
      Report report = vacant_report();
      report.policy = policy;
      move_bytes(report, cls, 512);
      const bool unread = cls == Class::kUnreadable || cls == Class::kSkipped;
      const Verdict expected = accepts(policy, cls) ? Verdict::kVacant
                               : unread             ? Verdict::kNotProven
                                                    : Verdict::kResidue;
      EXPECT_EQ(verdict_of(report), expected) << name(policy) << ' ' << name(cls);
    }
  }
}

TEST(Decide, AnyGapForbidsVacant) {
  EXPECT_EQ(verdict_of(vacant_report()), Verdict::kVacant);  // the control
  Report report = vacant_report();
  report.skipped_count = 1;
  EXPECT_EQ(verdict_of(report), Verdict::kNotProven) << "a place that was not looked at in full";
  report = vacant_report();
  report.class_bytes[static_cast<std::size_t>(Class::kZero)] -= 1;
  EXPECT_EQ(verdict_of(report), Verdict::kNotProven) << "a ledger that does not cover the device";
  report = vacant_report();
  report.source.size_bytes = 0;
  report.class_bytes = {};
  EXPECT_EQ(verdict_of(report), Verdict::kNotProven) << "nothing to prove";
}

TEST(Decide, SecretsCountWhereverNobodyVouchesForThem) {
  for (const auto member :
       {&Summary::known_secrets, &Summary::tokens, &Summary::private_keys, &Summary::credential_files}) {
    Report report = vacant_report();
    report.summary.*member = 1;
    EXPECT_EQ(verdict_of(report), Verdict::kSecret);
  }
  Report report = vacant_report();
  report.summary.tokens = report.summary.base_tokens = 3;
  EXPECT_EQ(verdict_of(report), Verdict::kVacant) << "token shapes in the base are notes";
  report.summary.placeholders = 5;
  EXPECT_EQ(verdict_of(report), Verdict::kVacant);
}

TEST(Decide, ResidueOutranksSecretAndBothAreNamed) {
  Report report = vacant_report();
  move_bytes(report, Class::kUnexplained, 512);
  report.summary.tokens = 1;
  report.skipped_count = 1;
  decide(report);
  EXPECT_EQ(report.verdict, Verdict::kResidue);
  EXPECT_EQ(report.reasons.size(), 3U);
}

TEST(Decide, ABaselineAcceptsBytesButNeverAListedSecretOrAGap) {
  Report report = vacant_report();
  move_bytes(report, Class::kUnexplained, 512);
  report.extents = {{{0, 512}, Class::kUnexplained}, {{512, 3584}, Class::kZero}};
  report.extent_count = 2;
  report.accepted = {{{0, 512}, "", "known firmware", "2099-01-01", true, ""}};
  EXPECT_EQ(verdict_of(report), Verdict::kVacant);
  report.accepted[0].applied = false;
  EXPECT_EQ(verdict_of(report), Verdict::kResidue) << "listed, but not applied";
  report.accepted[0] = {{0, 256}, "", "half of it", "2099-01-01", true, ""};
  EXPECT_EQ(verdict_of(report), Verdict::kResidue);
  report.accepted[0] = {{0, 4096}, "", "all of it", "2099-01-01", true, ""};
  report.summary.known_secrets = 1;
  EXPECT_EQ(verdict_of(report), Verdict::kSecret);
  report.summary.known_secrets = 0;
  report.skipped_count = 1;
  EXPECT_EQ(verdict_of(report), Verdict::kNotProven);
}

}  // namespace
}  // namespace vacant::scan

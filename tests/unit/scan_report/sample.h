// A report that holds something in every field, and hostile texts where texts come from the disk.
#pragma once

#include <string>

#include "core/verdict.h"
#include "vacant/scan/report.h"

namespace vacant::scan::testing {

inline constexpr std::string_view kHostile =
    "/srv/</script><script>document.title='owned'</script>\"'&<!--\x1b[2J";

inline Finding sample_finding(FindingKind kind, std::string rule, std::uint64_t at, Class cls) {
  Finding out;
  out.kind = kind;
  out.rule = std::move(rule);
  out.confidence = Confidence::kProven;
  out.origin.device_offset_bytes = at;
  out.length_bytes = 40;
  out.extent = {at, 40};
  out.cls = cls;
  out.place = {0, FsPart::kFile, 12, std::string(kHostile)};
  out.detail = "facts only";
  return out;
}

inline void sample_ledger(Report& report, const std::vector<std::pair<std::uint64_t, Class>>& parts) {
  std::uint64_t size = 0;
  for (const auto& [bytes, cls] : parts) size += bytes;
  Ledger ledger(size);
  for (const auto& [bytes, cls] : parts) ledger.append({ledger.covered_bytes(), bytes}, cls);
  report.source.size_bytes = size;
  report.class_bytes = ledger.totals();
  report.extents = ledger.extents();
  report.extent_count = ledger.extent_count();
  report.map = ledger.map();
}

inline Report vacant_report() {
  Report out;
  out.source = {SourceKind::kFile, "disk.img", 0, 512, ""};
  sample_ledger(out, {{64 * kMiB, Class::kHole}, {16 * kMiB, Class::kZero}, {48 * kMiB, Class::kBase}});
  decide(out);
  return out;
}

inline Report residue_report() {
  Report out = vacant_report();
  sample_ledger(out, {{64 * kMiB, Class::kHole},
                      {16 * kMiB, Class::kBase},
                      {kMiB, Class::kForeign},
                      {4096, Class::kUnexplained},
                      {512, Class::kUnreadable},
                      {8 * kMiB, Class::kZero}});
  out.base_kind = "image";
  out.base_root = std::string(64, 'a');
  Volume volume;
  volume.extent = {0, out.source.size_bytes};
  volume.partition = "whole device";
  volume.type = "ext4";
  volume.status = std::string(kHostile);
  volume.block_bytes = 4096;
  volume.uuid.fill(std::byte{0x5A});
  out.volumes.push_back(volume);
  out.problems.push_back("journal not replayed: " + std::string(kHostile));
  out.findings = {
      sample_finding(FindingKind::kForeignIdentity, "ext4-directory-leaf", 80 * kMiB, Class::kForeign),
      sample_finding(FindingKind::kToken, "github-pat", 81 * kMiB, Class::kUnexplained)};
  out.findings[0].identity = "dir:9f3c01aa";
  out.findings[1].origin.layers = {{Codec::kGzip, 300}, {Codec::kBase64, 30}};
  out.finding_count = 2;
  out.rules = {{"ext4-directory-leaf", 1}, {"github-pat", 1}};
  out.summary.foreign_directory_inodes = out.summary.foreign_blocks = out.summary.tokens = 1;
  out.skipped = {{{81 * kMiB + 4096, 512}, "read error"}};
  out.skipped_count = 1;
  out.accepted = {{{81 * kMiB, 4096}, std::string(64, 'b'), "factory stamp", "2030-01-31", false, "expired"}};
  out.baseline_date = "2031-01-01";
  decide(out);
  return out;
}

}  // namespace vacant::scan::testing

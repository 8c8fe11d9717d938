#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "evidence.h"
#include "output.h"
#include "vacant/base/file.h"
#include "vacant/scan/report_key.h"

namespace vacant::cli {

namespace {

constexpr std::uint64_t kMaxReportBytes = 1 * kGiB;

Result<std::optional<ByteVector>> load_public_key(const std::string& path) {
  if (path.empty()) return std::optional<ByteVector>();
  const ByteVector bytes = VACANT_TRY(read_file(path, 4 * kKiB));
  auto key = scan::parse_public_key(bytes);
  if (!key) return fail(key.error().in(path));
  return std::optional<ByteVector>(std::move(*key));
}

// Whether the evidence at hand is all that the report speaks of.
Result<void> check_evidence(const scan::Report& report, const LoadedEvidence& evidence) {
  if (!report.base_root.empty() && !evidence.base_image && !evidence.base_tree)
    return fail(Code::kInvalidArgument,
                "the report was made with a base: give the same --base or --base-tree");
  if (!report.write_map.empty() && !evidence.write_map)
    return fail(Code::kInvalidArgument, "the report was made with a write map: give the same --written");
  if (report.placeholder_key && !evidence.placeholder_key)
    return fail(Code::kInvalidArgument,
                "the report was made with a placeholder key: give the same --placeholder-key");
  if (report.fingerprint_count > 0 && !evidence.fingerprints)
    return fail(Code::kInvalidArgument,
                "the report was made with fingerprints: give the same --fingerprints");
  if (!report.accepted.empty() && !evidence.baseline)
    return fail(Code::kInvalidArgument, "the report was made with a baseline: give the same --baseline");
  return {};
}

// The first line in which two reports differ, for a message. Reports are printed one field a line.
std::string first_difference(const std::string& left, const std::string& right) {
  std::size_t begin = 0;
  std::size_t i = 0;
  for (; i < left.size() && i < right.size() && left[i] == right[i]; ++i)
    if (left[i] == '\n') begin = i + 1;
  const auto line = [begin](const std::string& text) {
    return text.substr(begin, std::min(text.find('\n', begin) - begin, std::size_t{120}));
  };
  return fmt::format("the report says {} but the device gives {}", line(left), line(right));
}

// Scans the device again with the report's own policy and profile; the two reports must be the same but for
// the source's name.
Result<void> check_device(const scan::Report& report, const VerifyArgs& args, Context& context) {
  const LoadedEvidence evidence = VACANT_TRY(load_evidence(args.device, args.evidence));
  VACANT_TRY(check_evidence(report, evidence));
  scan::ScanOptions options;
  evidence.lend(options);
  options.policy = report.policy;
  options.profile = report.profile;
  options.threads = args.threads;
  options.today = report.baseline_date;
  options.cancel = context.cancel;
  ProgressLine progress(context, args.quiet, "checking");
  options.progress = [&](const Progress& step) { progress.update(step); };
  scan::Report again = VACANT_TRY(scan::scan(*evidence.device, options));
  again.source.name = report.source.name;
  again.source.kind = report.source.kind;
  again.source.sector_bytes = report.source.sector_bytes;
  const std::string left = scan::to_json(report);
  const std::string right = scan::to_json(again);
  if (left != right) return fail(Code::kMismatch, first_difference(left, right));
  return {};
}

void print_result(const VerifyArgs& args, const scan::Report& report, bool is_signed, Context& context) {
  if (args.json) {
    nlohmann::ordered_json out;
    out["format"] = "vacant-verify/1";
    out["ok"] = true;
    out["signature"] = !is_signed ? "none" : args.public_key.empty() ? "valid, key not pinned" : "valid";
    out["arithmetic"] = "holds";
    out["device"] = args.device.empty() ? "not checked" : "claims hold";
    out["verdict"] = scan::name(report.verdict);
    fmt::print(context.out, "{}\n", out.dump(2));
    return;
  }
  if (args.quiet) return;
  fmt::print(context.out, "signature   {}\narithmetic  holds\ndevice      {}\nverdict     {}\n",
             !is_signed                ? "none"
             : args.public_key.empty() ? "valid, by the key in the file (give --key to pin it)"
                                       : "valid",
             args.device.empty() ? "not checked (name it to check the claims)" : "claims hold",
             scan::name(report.verdict));
}

}  // namespace

Result<int> run_scan_verify(const VerifyArgs& args, Context& context) {
  VACANT_TRY(init_crypto());
  const ByteVector file = VACANT_TRY(read_file(args.report, kMaxReportBytes));
  const auto key = VACANT_TRY(load_public_key(args.public_key));
  const scan::SignedReport opened = VACANT_TRY(scan::open_signed_report(as_text(file), key));
  const scan::Report report = VACANT_TRY(scan::parse_report(opened.json));
  VACANT_TRY(scan::check_arithmetic(report));
  if (!args.device.empty()) VACANT_TRY(check_device(report, args, context));
  print_result(args, report, opened.public_key.has_value(), context);
  return kExitOk;
}

}  // namespace vacant::cli

#include <fmt/format.h>

#include <algorithm>

#include "evidence.h"
#include "output.h"
#include "vacant/base/file.h"
#include "vacant/scan/artefact.h"
#include "vacant/scan/report_key.h"

namespace vacant::cli {

namespace {

constexpr std::uint64_t kMaxKeyBytes = 4 * kKiB;
constexpr std::uint64_t kRevealBytes = 96;
constexpr std::size_t kRevealFindings = 50;

struct Output {
  scan::Format format;
  std::string path;
};

Result<Output> parse_output(const std::string& format, const std::string& path) {
  const auto known = scan::format_from_name(format);
  if (!known)
    return fail(Code::kInvalidArgument,
                fmt::format("unknown format {}: text, json, sarif, junit or html", format));
  VACANT_TRY(check_output(path));
  return Output{*known, path};
}

Result<std::vector<Output>> outputs_of(const ScanArgs& args) {
  std::vector<Output> outputs{VACANT_TRY(parse_output(args.json ? "json" : args.format, args.output))};
  for (const std::string& entry : args.also) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos || equals + 1 == entry.size())
      return fail(Code::kInvalidArgument, fmt::format("--also wants FORMAT=FILE, not {}", entry));
    outputs.push_back(VACANT_TRY(parse_output(entry.substr(0, equals), entry.substr(equals + 1))));
  }
  const bool plain =
      std::ranges::all_of(outputs, [](const Output& output) { return output.format == scan::Format::kText; });
  if (args.reveal && (!plain || outputs.size() > 1))
    return fail(Code::kInvalidArgument,
                "--reveal is for reading on your own terminal: it goes with --format text only");
  if (!args.sign_key.empty() && std::ranges::none_of(outputs, [](const Output& output) {
        return output.format == scan::Format::kJson;
      }))
    return fail(Code::kInvalidArgument,
                "--sign-key signs the JSON report: add --format json or --also json=FILE");
  return outputs;
}

Result<std::string> render(const scan::Report& report, const Output& output,
                           const std::optional<SecretBytes>& key, const Context& context) {
  switch (output.format) {
    case scan::Format::kText:
      return scan::to_text(report, context.colour && output.path.empty());
    case scan::Format::kJson: {
      std::string json = scan::to_json(report);
      return key ? scan::sign_report(json, *key) : Result<std::string>(std::move(json));
    }
    case scan::Format::kSarif:
      return scan::to_sarif(report);
    case scan::Format::kJunit:
      return scan::to_junit(report);
    case scan::Format::kHtml:
      return scan::to_html(report);
  }
  return fail(Code::kInternal, "unknown format");
}

Result<std::optional<SecretBytes>> load_sign_key(const std::string& path) {
  if (path.empty()) return std::optional<SecretBytes>();
  ByteVector bytes = VACANT_TRY(read_file(path, kMaxKeyBytes));
  auto key = scan::parse_sign_key(bytes);
  wipe(bytes);
  if (!key) return fail(key.error().in(path));
  return std::optional<SecretBytes>(std::move(*key));
}

// The owner asked to see it: the first bytes of each match in plain device bytes, with everything unprintable
// escaped.
std::string reveal(BlockDevice& device, const scan::Report& report) {
  std::string out = "\ncontent (--reveal):\n";
  std::size_t shown = 0;
  for (const scan::Finding& finding : report.findings) {
    if (!finding.origin.layers.empty() || finding.kind == scan::FindingKind::kForeignIdentity) continue;
    if (++shown > kRevealFindings) break;
    ByteVector bytes(static_cast<std::size_t>(std::min(kRevealBytes, finding.length_bytes)));
    if (!device.read(finding.origin.device_offset_bytes, bytes)) continue;
    out += fmt::format("  {} {}: ", finding.origin.device_offset_bytes, finding.rule);
    for (const std::byte b : bytes) {
      const auto c = std::to_integer<unsigned char>(b);
      out += c >= 0x20 && c < 0x7f ? fmt::format("{}", static_cast<char>(c)) : fmt::format("\\x{:02x}", c);
    }
    out += '\n';
  }
  return out;
}

Result<void> write_baseline(BlockDevice& device, const scan::Report& report, const ScanArgs& args) {
  std::vector<Extent> extents;
  for (const scan::ClassExtent& part : report.extents)
    if (part.cls == scan::Class::kForeign || part.cls == scan::Class::kUnexplained)
      extents.push_back(part.extent);
  if (report.extent_count > report.extents.size())
    return fail(Code::kLimit, "too many extents for a baseline: clean the disk instead");
  const scan::Baseline baseline = VACANT_TRY(scan::make_baseline(device, extents, args.reason, args.expires));
  return write_file_atomic(args.baseline_out, as_bytes(scan::serialise_baseline(baseline)), 0600);
}

Result<scan::ScanOptions> scan_options(const ScanArgs& args, const LoadedEvidence& evidence,
                                       Context& context) {
  scan::ScanOptions options;
  evidence.lend(options);
  const auto policy = scan::policy_from_name(args.policy);
  const auto profile = scan::profile_from_name(args.profile);
  if (!policy)
    return fail(Code::kInvalidArgument,
                fmt::format("unknown policy {}: handover, in-use or inside", args.policy));
  if (!profile)
    return fail(Code::kInvalidArgument,
                fmt::format("unknown profile {}: inventory, known-answer or full", args.profile));
  options.policy = *policy;
  options.profile = *profile;
  options.threads = args.threads;
  options.resume_path = args.resume;
  options.today = today();
  options.cancel = context.cancel;
  return options;
}

Result<void> write_reports(const ScanArgs& args, const std::vector<Output>& outputs,
                           const scan::Report& report, BlockDevice& device, Context& context) {
  const auto key = VACANT_TRY(load_sign_key(args.sign_key));
  for (const Output& output : outputs) {
    std::string text = VACANT_TRY(render(report, output, key, context));
    if (args.reveal) text += reveal(device, report);
    const bool silent = args.quiet && output.path.empty() && output.format == scan::Format::kText;
    if (!silent) VACANT_TRY(write_output(output.path, text, context));
  }
  return {};
}

}  // namespace

Result<int> run_scan(const ScanArgs& args, Context& context) {
  const std::vector<Output> outputs = VACANT_TRY(outputs_of(args));
  if (!args.baseline_out.empty() && (args.reason.empty() || args.expires.empty()))
    return fail(Code::kInvalidArgument,
                "--baseline-out needs --reason and --expires: who reads it must know why it was accepted, "
                "and until when");
  VACANT_TRY(load_sign_key(args.sign_key));  // a bad key is told before the scan, not after it
  const LoadedEvidence evidence = VACANT_TRY(load_evidence(args.device, args.evidence));
  scan::ScanOptions options = VACANT_TRY(scan_options(args, evidence, context));
  ProgressLine progress(context, args.quiet, "scanning");
  options.progress = [&](const Progress& step) { progress.update(step); };
  auto report = scan::scan(*evidence.device, options);
  if (!report) {
    if (report.error().code == Code::kCancelled && !args.resume.empty())
      return fail(Code::kCancelled,
                  fmt::format("stopped; go on with the same command: {} keeps what is done", args.resume));
    return fail(report.error());
  }
  VACANT_TRY(write_reports(args, outputs, *report, *evidence.device, context));
  if (!args.baseline_out.empty()) VACANT_TRY(write_baseline(*evidence.device, *report, args));
  if (!args.carve.empty()) {
    const auto files = VACANT_TRY(scan::carve(*evidence.device, report->findings, args.carve));
    if (!args.quiet) fmt::print(context.err, "{} file(s) carved to {}\n", files.size(), args.carve);
  }
  return scan::exit_code(report->verdict);
}

}  // namespace vacant::cli

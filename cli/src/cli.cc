#include "cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.h"
#include "image_options.h"

namespace vacant::cli {

namespace {

int exit_for(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return kExitUsage;
    case Code::kMismatch:
      return kExitFinding;
    case Code::kInternal:
      return kExitInternal;
    case Code::kIo:
    case Code::kNotFound:
    case Code::kPermission:
    case Code::kCorrupt:
    case Code::kLimit:
    case Code::kUnsupported:
    case Code::kCancelled:
      return kExitNotProven;
  }
  return kExitInternal;
}

void add_evidence(CLI::App& app, EvidenceArgs& args) {
  app.add_option("--base", args.base_image, "Base image: bytes equal to it at the same offset are explained")
      ->type_name("IMG");
  app.add_option("--base-tree", args.base_tree, "Hash tree of the base (dm-verity, no superblock)")
      ->type_name("FILE");
  app.add_option("--base-root", args.base_root, "Root of that tree, as signed by the publisher")
      ->type_name("HEX");
  app.add_option("--base-salt", args.base_salt, "Salt of that tree")->type_name("HEX");
  app.add_option("--base-size", args.base_bytes, "Size of the base in bytes")->type_name("BYTES");
  app.add_option("--base-block", args.base_block_bytes, "Block size of that tree")
      ->type_name("BYTES")
      ->capture_default_str();
  app.add_option("--written", args.written,
                 "Write map: JSON extents, qemu-img map output, or dirty-bitmap:NAME over NBD")
      ->type_name("MAP");
  app.add_option("--fingerprints", args.fingerprints, "Fingerprints of real secrets to look for")
      ->type_name("FILE");
  app.add_option("--placeholder-key", args.placeholder_key,
                 "Key under which placeholders of this installation verify")
      ->type_name("FILE");
  app.add_option("--hash-key", args.hash_key,
                 "Key for the digest prefix of each finding (left out without it)")
      ->type_name("FILE");
  app.add_option("--baseline", args.baseline,
                 "Extents accepted by digest, each with a reason and an expiry date")
      ->type_name("FILE");
  app.add_flag("--ram", args.ram, "The file is an image of guest memory");
  app.add_flag("--direct", args.direct, "Read with O_DIRECT, past the page cache");
  app.add_option("--trust-holes", args.holes,
                 "Take holes for zeros: auto (local files), never, remote (also NBD)")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "never", "remote"}))
      ->capture_default_str();
}

void add_scan_outputs(CLI::App& app, ScanArgs& args) {
  app.add_option("--format", args.format, "text, json, sarif, junit or html")->capture_default_str();
  app.add_flag("--json", args.json, "Same as --format json");
  app.add_option("-o,--output", args.output, "Write the report here instead of standard output")
      ->type_name("FILE");
  app.add_option("--also", args.also, "A further report: FORMAT=FILE; may be given again")
      ->type_name("FORMAT=FILE");
  app.add_option("--sign-key", args.sign_key, "Sign the JSON report (make one with: vacant keygen report)")
      ->type_name("FILE");
  app.add_option("--carve", args.carve,
                 "Save what was found to this folder (mode 0700). For the device's owner")
      ->type_name("DIR");
  app.add_option("--baseline-out", args.baseline_out, "Write a baseline that accepts what was found now")
      ->type_name("FILE");
  app.add_option("--reason", args.reason, "Why the baseline accepts it")->type_name("TEXT");
  app.add_option("--expires", args.expires, "Until when: YYYY-MM-DD")->type_name("DATE");
  app.add_flag("--reveal", args.reveal, "Show the content of findings. Text on your own terminal only");
  app.add_flag("-q,--quiet", args.quiet, "No progress and no text report: the exit code tells");
}

CLI::App* add_scan(CLI::App& app, ScanArgs& args, VerifyArgs& verify) {
  CLI::App* scan = app.add_subcommand("scan", "Prove a disk vacant, or show what was left in it");
  scan->add_option("device", args.device, "Block device, image file, or nbd+unix:///NAME?socket=PATH")
      ->type_name("DEVICE");
  scan->add_option("--policy", args.policy,
                   "handover: before a guest gets it; in-use: with its write map; inside: nothing but the "
                   "device is known")
      ->capture_default_str();
  scan->add_option("--profile", args.profile, "inventory, known-answer or full")->capture_default_str();
  scan->add_option("--threads", args.threads, "Worker threads (0: one a processor)")->capture_default_str();
  scan->add_option("--resume", args.resume, "Journal: a stopped scan goes on from it")->type_name("FILE");
  add_evidence(*scan, args.evidence);
  add_scan_outputs(*scan, args);
  CLI::App* check = scan->add_subcommand(
      "verify", "Check a report: signature, arithmetic and, given the device, its claims");
  check->add_option("report", verify.report, "JSON report, signed or not")->required()->type_name("REPORT");
  check->add_option("device", verify.device, "The device that it speaks of")->type_name("DEVICE");
  check->add_option("--key", verify.public_key, "Public key that must have signed it")->type_name("FILE");
  check->add_option("--threads", verify.threads, "Worker threads (0: one a processor)")
      ->capture_default_str();
  check->add_flag("--json", verify.json, "Print the result as JSON");
  check->add_flag("-q,--quiet", verify.quiet, "Say nothing: the exit code tells");
  add_evidence(*check, verify.evidence);
  scan->require_subcommand(0, 1);
  scan->footer(
      "Exit codes: 0 vacant, 1 residue or secret, 2 usage, 3 not proven, 4 internal error.\n"
      "Example: vacant scan disk.img --base base.img --also html=report.html");
  return scan;
}

CLI::App* add_secrets(CLI::App& app, FingerprintArgs& fingerprints, PlaceholderArgs& placeholder) {
  CLI::App* secrets =
      app.add_subcommand("secrets", "Fingerprints of real secrets, and placeholders that stand in for them");
  CLI::App* prints =
      secrets->add_subcommand("fingerprints", "Make a fingerprint file from label=value lines");
  prints
      ->add_option("--from-fd", fingerprints.from_fd,
                   "Descriptor to read the values from (0: standard input)")
      ->required()
      ->type_name("N");
  prints->add_option("-o,--output", fingerprints.output, "Fingerprint file to write (mode 0600)")
      ->required()
      ->type_name("FILE");
  CLI::App* make = secrets->add_subcommand("placeholder", "Print the placeholder of a credential");
  make->add_option("kind", placeholder.kind, "Kind of credential, for example github-classic")->required();
  make->add_option("--key", placeholder.key_file,
                   "Placeholder key (make one with: vacant keygen placeholder)")
      ->required()
      ->type_name("FILE");
  make->add_option("--workspace", placeholder.workspace, "Workspace name")->required();
  make->add_option("--credential", placeholder.credential, "Credential name")->required();
  make->add_option("--generation", placeholder.generation, "Generation")->capture_default_str();
  secrets->require_subcommand(1);
  return secrets;
}

struct AllArgs {
  ScanArgs scan;
  VerifyArgs verify;
  FingerprintArgs fingerprints;
  PlaceholderArgs placeholder;
  KeygenArgs keygen;
  ImageArgs image;
  bool rules_json = false;
};

Result<int> dispatch(CLI::App& app, const AllArgs& args, Context& context) {
  if (app.got_subcommand("scan")) {
    CLI::App* scan = app.get_subcommand("scan");
    if (scan->got_subcommand("verify")) return run_scan_verify(args.verify, context);
    if (args.scan.device.empty()) return fail(Code::kInvalidArgument, "name a device: vacant scan DEVICE");
    return run_scan(args.scan, context);
  }
  if (app.got_subcommand("secrets")) {
    CLI::App* secrets = app.get_subcommand("secrets");
    return secrets->got_subcommand("fingerprints") ? run_fingerprints(args.fingerprints, context)
                                                   : run_placeholder(args.placeholder, context);
  }
  if (app.got_subcommand("image")) return dispatch_image(*app.get_subcommand("image"), args.image, context);
  if (app.got_subcommand("keygen")) return run_keygen(args.keygen, context);
  if (app.got_subcommand("rules")) return run_rules(args.rules_json, context);
  return fail(Code::kInvalidArgument, "name a command; vacant --help lists them");
}

int parse_and_dispatch(int argc, const char* const* argv, Context& context) {
  CLI::App app("Proves that a sandbox disk was empty before its next guest moved in", "vacant");
  app.set_version_flag("--version", "vacant " VACANT_VERSION);
  app.require_subcommand(0, 1);
  AllArgs args;
  add_scan(app, args.scan, args.verify);
  add_secrets(app, args.fingerprints, args.placeholder);
  add_image(app, args.image);
  CLI::App* keygen = app.add_subcommand("keygen", "Make a key: report (signs reports), placeholder or hash");
  keygen->add_option("what", args.keygen.what, "report, placeholder or hash")
      ->required()
      ->check(CLI::IsMember({"report", "placeholder", "hash"}));
  keygen->add_option("-o,--output", args.keygen.output, "File to write (mode 0600)")
      ->required()
      ->type_name("FILE");
  app.add_subcommand("rules", "List the credential formats that scan looks for")
      ->add_flag("--json", args.rules_json, "As JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    std::ostringstream out, err;
    const int code = app.exit(problem, out, err);
    fmt::print(context.out, "{}", out.str());
    fmt::print(context.err, "{}", err.str());
    return code == 0 ? kExitOk : kExitUsage;
  }
  const auto result = dispatch(app, args, context);
  if (result) return *result;
  fmt::print(context.err, "vacant: {}\n", result.error().message);
  return exit_for(result.error().code);
}

}  // namespace

int run(int argc, const char* const* argv, Context& context) {
  try {
    return parse_and_dispatch(argc, argv, context);
  } catch (const std::exception& problem) {
    fmt::print(context.err, "vacant: internal error: {}\n", problem.what());
    return kExitInternal;
  }
}

}  // namespace vacant::cli

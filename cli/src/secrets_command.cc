#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "output.h"
#include "vacant/base/file.h"
#include "vacant/base/secret.h"
#include "vacant/scan/report_key.h"
#include "vacant/scan/token.h"
#include "vacant/secrets/fingerprint.h"
#include "vacant/secrets/placeholder.h"

namespace vacant::cli {

namespace {

constexpr std::uint64_t kMaxSecretListBytes = 64 * kMiB;

Result<SecretBytes> load_key(const std::string& path) {
  ByteVector bytes = VACANT_TRY(read_file(path, 4 * kKiB));
  auto key = secrets::parse_placeholder_key(bytes);
  wipe(bytes);
  if (!key) return fail(key.error().in(path));
  return key;
}

}  // namespace

Result<int> run_fingerprints(const FingerprintArgs& args, Context& context) {
  VACANT_TRY(init_crypto());
  if (args.from_fd < 0)
    return fail(Code::kInvalidArgument,
                "--from-fd N: the values come on a file descriptor, never as arguments");
  VACANT_TRY(check_output(args.output));
  auto bytes = read_fd(args.from_fd, kMaxSecretListBytes);
  if (!bytes) return fail(bytes.error().in(fmt::format("descriptor {}", args.from_fd)));
  auto list = secrets::parse_secret_list(*bytes);
  wipe(*bytes);
  if (!list) return fail(list.error());
  const secrets::FingerprintFile file = VACANT_TRY(secrets::make_fingerprints(*list));
  VACANT_TRY(write_file_atomic(args.output, as_bytes(secrets::serialise(file)), 0600));
  fmt::print(context.err, "{} secret(s) fingerprinted to {}\n", file.secrets.size(), args.output);
  return kExitOk;
}

Result<int> run_placeholder(const PlaceholderArgs& args, Context& context) {
  VACANT_TRY(init_crypto());
  const auto kind = secrets::token_kind_from_name(args.kind);
  if (!kind) return fail(Code::kInvalidArgument, fmt::format("unknown kind {}", args.kind));
  const SecretBytes key = VACANT_TRY(load_key(args.key_file));
  const std::string text =
      VACANT_TRY(secrets::make_placeholder(key, *kind, {args.workspace, args.credential, args.generation}));
  fmt::print(context.out, "{}\n", text);
  return kExitOk;
}

Result<int> run_keygen(const KeygenArgs& args, Context& context) {
  VACANT_TRY(init_crypto());
  VACANT_TRY(check_output(args.output));
  if (args.what != "report") {
    const SecretBytes key = SecretBytes::random(32);
    VACANT_TRY(write_file_atomic(args.output, as_bytes(secrets::serialise_placeholder_key(key)), 0600));
    fmt::print(context.err, "key written to {}\n", args.output);
    return kExitOk;
  }
  const scan::ReportKeyPair pair = VACANT_TRY(scan::make_report_key());
  VACANT_TRY(write_file_atomic(args.output, as_bytes(scan::serialise_sign_key(pair.secret_key)), 0600));
  VACANT_TRY(
      write_file_atomic(args.output + ".pub", as_bytes(scan::serialise_public_key(pair.public_key)), 0644));
  fmt::print(context.err, "secret key written to {}, public key to {}.pub\n", args.output, args.output);
  return kExitOk;
}

Result<int> run_rules(bool json, Context& context) {
  const auto rules = scan::token_rules();
  if (json) {
    auto out = nlohmann::ordered_json::array();
    for (const auto& rule : rules)
      out.push_back({{"id", rule.id}, {"description", rule.description}, {"checksum", rule.checksum}});
    fmt::print(context.out, "{}\n", out.dump(2));
    return kExitOk;
  }
  for (const auto& rule : rules)
    fmt::print(context.out, "{:<36} {}{}\n", rule.id, rule.description, rule.checksum ? " (checksum)" : "");
  return kExitOk;
}

}  // namespace vacant::cli

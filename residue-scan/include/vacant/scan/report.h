// Report: the result of one scan, as plain data, and its formats. Formatting is pure; the same report gives
// the same bytes. No wall-clock time and no thread count is in a report, so that two scans of one disk can be
// compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vacant/base/bytes.h"
#include "vacant/base/secret.h"
#include "vacant/scan/finding.h"
#include "vacant/scan/fs_view.h"
#include "vacant/scan/ledger.h"

namespace vacant::scan {

enum class Profile : std::uint8_t {
  kInventory,    // ledger and foreign proof only
  kKnownAnswer,  // and the fingerprint search
  kFull,         // and tokens, artefacts, decoders
};
std::string_view name(Profile profile);
std::optional<Profile> profile_from_name(std::string_view text);

struct SkippedExtent {
  Extent extent;
  std::string reason;
  friend auto operator<=>(const SkippedExtent&, const SkippedExtent&) = default;
};

// What a baseline accepted (see docs/formats/baseline.md).
struct AcceptedExtent {
  Extent extent;
  std::string digest;  // hex
  std::string reason;
  std::string expires;   // YYYY-MM-DD
  bool applied = false;  // false: listed, but the bytes differ, or it is past its date
  std::string note;      // why it was not applied
};

struct RuleCount {
  std::string rule;
  std::uint64_t count = 0;
};

struct Summary {
  std::uint64_t foreign_directory_inodes = 0;  // distinct "dir:" identities
  std::uint64_t foreign_file_systems = 0;      // distinct "fs:" identities
  std::uint64_t foreign_blocks = 0;
  std::uint64_t sqlite_databases = 0;  // structurally complete
  std::uint64_t credential_files = 0;
  std::uint64_t private_keys = 0;
  std::uint64_t tokens = 0;
  std::uint64_t base_tokens = 0;    // of these, in base or derived bytes: the signed image vouches for them
  std::uint64_t known_secrets = 0;  // occurrences
  std::uint64_t placeholders = 0;   // token shapes that verified as ours: counted, no finding
};

struct Report {
  // what was scanned, and against what
  DeviceInfo source;
  Policy policy = Policy::kHandover;
  Profile profile = Profile::kFull;
  std::string base_kind;  // "", "image", "hash-tree"
  std::string base_root;  // hex root of the base's hash tree; empty without a base
  std::string write_map;  // "", "extents", "dirty-bitmap:NAME"
  std::uint64_t write_map_bytes = 0;
  std::uint64_t fingerprint_count = 0;
  bool placeholder_key = false;
  std::vector<Volume> volumes;
  std::vector<std::string> problems;

  // the ledger
  ClassBytes class_bytes{};
  std::vector<ClassExtent> extents;
  std::uint64_t extent_count = 0;  // > extents.size(): truncated
  BlockMap map;
  std::vector<SkippedExtent> skipped;  // why bytes are `skipped` or `unreadable`; at most kMaxSkipped
  std::uint64_t skipped_count = 0;

  // what was found
  std::vector<Finding> findings;  // sorted by origin, then rule; at most kMaxFindings
  std::uint64_t finding_count = 0;
  std::vector<RuleCount> rules;  // exact counts by rule, sorted
  Summary summary;
  std::vector<AcceptedExtent> accepted;
  std::string baseline_date;  // the day that expiry was judged on; empty without a baseline

  Verdict verdict = Verdict::kNotProven;
  std::vector<std::string> reasons;  // why, in words
};

inline constexpr std::size_t kMaxFindings = 50'000;
inline constexpr std::size_t kMaxSkipped = 10'000;

enum class Format : std::uint8_t { kText, kJson, kSarif, kJunit, kHtml };
std::optional<Format> format_from_name(std::string_view text);

std::string to_text(const Report& report, bool colour);
std::string to_json(const Report& report);   // docs/formats/report.schema.json
std::string to_sarif(const Report& report);  // SARIF 2.1.0
std::string to_junit(const Report& report);
std::string to_html(const Report& report);  // one file, no external assets

// Strict reader of to_json's output (size limit 1 GiB, every field checked, unknown fields refused).
Result<Report> parse_report(std::string_view json);

// Checks what a report says of itself: classes sum to the size, extents are gapless and sum to the class
// totals, the map and the counts agree, the verdict follows from them. kMismatch names the first claim that
// does not hold.
Result<void> check_arithmetic(const Report& report);

// Signed form: the JSON report, then one line with the signature, in one file
// (docs/formats/signed-report.md).
Result<std::string> sign_report(std::string_view json, const SecretBytes& ed25519_secret_key);
struct SignedReport {
  std::string json;
  std::optional<ByteVector> public_key;  // set if a signature line is there
};
// Splits and verifies. With expected_key: refuses an unsigned report and any other key (kMismatch).
Result<SignedReport> open_signed_report(std::string_view file, const std::optional<ByteVector>& expected_key);

}  // namespace vacant::scan

#include "rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "run.h"
#include "vacant/props/gen.h"
#include "vacant/scan/engine.h"

namespace vacant::bench {

namespace {

constexpr std::size_t kSecretCount = 20;
constexpr std::size_t kReadBytes = kMiB;

// Shapes of public credential formats, as a user of ripgrep would write them. (With Unicode word boundaries
// rg is fifty times slower on binary data: it runs without, at its best.)
constexpr std::array kPatterns = {
    R"(\b(AKIA|ASIA)[A-Z2-7]{16}\b)",
    R"(\bgh[pousr]_[A-Za-z0-9]{36}\b)",
    R"(\bgithub_pat_[A-Za-z0-9_]{82}\b)",
    R"(\bglpat-[A-Za-z0-9_-]{20})",
    R"(\bnpm_[A-Za-z0-9]{36}\b)",
    R"(\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,})",
    R"(\bxox[abprs]-[0-9A-Za-z-]{20,})",
    R"(\b(sk|rk)_(live|test)_[A-Za-z0-9]{24,})",
    R"(\bsk-[A-Za-z0-9_-]{40,})",
    R"(\bAIza[A-Za-z0-9_-]{35})",
    R"(\bhf_[A-Za-z]{34}\b)",
    R"(\bdop_v1_[0-9a-f]{64}\b)",
    R"(\blin_api_[A-Za-z0-9]{40}\b)",
    R"(-----BEGIN [A-Z ]*PRIVATE KEY-----)",
    R"(\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})",
    R"(\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})",
    R"(\bgsk_[A-Za-z0-9]{52}\b)",
    R"(\bxai-[A-Za-z0-9]{80}\b)",
    R"((?i)(password|passwd|secret|token|api_key)\s*[=:]\s*["']?[A-Za-z0-9/+_-]{16,})",
    R"([a-z]+://[^/\s:@]{3,20}:[^/\s:@]{8,40}@[a-z0-9.-]+)"};

using DeviceResult = Result<std::unique_ptr<BlockDevice>>;
// Holes are not trusted: the rows are about reading.
DeviceResult open_corpus(const std::string& path) {
  OpenOptions options;
  options.trust_holes = false;
  return open_device(path, options);
}

template <class Each>
Result<void> read_through(const std::string& path, Each each) {
  const auto device = VACANT_TRY(open_corpus(path));
  ByteVector buffer(kReadBytes);
  for (std::uint64_t at = 0; at < device->size_bytes(); at += kReadBytes) {
    const MutableByteSpan part =
        MutableByteSpan(buffer).first(std::min<std::uint64_t>(kReadBytes, device->size_bytes() - at));
    VACANT_TRY(device->read(at, part));
    each(part);
  }
  return {};
}

Result<void> zero_test(const std::string& path) {
  std::uint64_t zeros = 0;
  VACANT_TRY(read_through(path, [&zeros](ByteSpan part) {
    for (; part.size() >= 4096; part = part.subspan(4096)) zeros += is_zero(part.first(4096)) ? 1 : 0;
  }));
  // The count is used, so that the test is not optimised away.
  return zeros <= UINT64_MAX / 4096 ? Result<void>{} : fail(Code::kInternal, "too many zeros");
}

Row scan_row(std::string id, std::string title, scan::Profile profile, unsigned threads,
             const Needles& needles) {
  const auto run = [profile, threads, &needles](const std::string& path) -> Result<void> {
    const auto device = VACANT_TRY(open_corpus(path));
    scan::ScanOptions options;
    options.profile = profile;
    options.threads = threads;
    if (profile != scan::Profile::kInventory) options.fingerprints = &needles.fingerprints;
    const auto report = scan::scan(*device, options);
    return report ? Result<void>{} : fail(report.error());
  };
  return {std::move(id), std::move(title), false, run};
}

Row rg_row(std::string id, std::string title, std::vector<std::string> words) {
  const auto run = [words](const std::string& path) -> Result<void> {
    std::vector<std::string> command = words;
    command.push_back(path);
    // The time-out is generous: rg needs minutes for large corpora. Its matches are read and dropped.
    const auto outcome = testing::run(command, {.timeout = std::chrono::minutes(30)});
    const bool ran = outcome.exit_code == 0 || outcome.exit_code == 1;  // found, or not
    return ran ? Result<void>{} : fail(Code::kIo, "rg: " + outcome.describe());
  };
  return {std::move(id), std::move(title), true, run};
}

bool printable(ByteSpan bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b >= std::byte{0x20} && b < std::byte{0x7F}; });
}

}  // namespace

Result<Needles> make_needles(const std::string& folder) {
  Needles needles;
  std::vector<secrets::NamedSecret> named;
  std::string literals;
  for (std::size_t i = 0; i < kSecretCount; ++i) {
    const std::string value = "made-up-" + to_hex(props::seeded_bytes(1000 + i, 24));
    for (const secrets::EncodedForm& form : secrets::encoded_forms(as_bytes(value))) {
      if (!printable(form.bytes.expose())) continue;  // ripgrep's pattern files are text
      literals += std::string(as_text(form.bytes.expose())) + '\n';
      ++needles.literal_count;
    }
    named.push_back({fmt::format("secret-{}", i), SecretBytes::copy_of(as_bytes(value))});
  }
  needles.fingerprints = VACANT_TRY(secrets::make_fingerprints(named));
  needles.literal_file = folder + "/literals";
  testing::write_text(needles.literal_file, literals);
  std::string patterns;
  for (const char* pattern : kPatterns) patterns += std::string(pattern) + '\n';
  needles.pattern_file = folder + "/patterns";
  needles.pattern_count = kPatterns.size();
  testing::write_text(needles.pattern_file, patterns);
  return needles;
}

std::vector<Row> make_rows(const Needles& needles) {
  using scan::Profile;
  std::vector<Row> rows;
  rows.push_back({"read", "plain read, 1 MiB calls", false,
                  [](const std::string& path) { return read_through(path, [](ByteSpan) {}); }});
  rows.push_back({"zero", "+ zero test by 4 KiB", false, zero_test});
  rows.push_back(scan_row("inventory", "scan, inventory profile", Profile::kInventory, 1, needles));
  rows.push_back(scan_row("known", fmt::format("scan, known-answer, {} secrets", kSecretCount),
                          Profile::kKnownAnswer, 1, needles));
  rows.push_back(scan_row("full", "scan, full profile", Profile::kFull, 1, needles));
  rows.push_back(scan_row("full2", "scan, full profile, 2 threads (CPU)", Profile::kFull, 2, needles));
  if (!testing::find_program("rg")) return rows;
  rows.push_back(rg_row("rg-literals", fmt::format("rg -a -F, {} literals", needles.literal_count),
                        {"rg", "-a", "-F", "-c", "-f", needles.literal_file}));
  rows.push_back(rg_row("rg-patterns", fmt::format("rg -a --no-unicode, {} patterns", needles.pattern_count),
                        {"rg", "-a", "--no-unicode", "-c", "-f", needles.pattern_file}));
  return rows;
}

}  // namespace vacant::bench

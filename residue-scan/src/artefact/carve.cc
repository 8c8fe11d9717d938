#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "vacant/base/directory.h"
#include "vacant/base/file.h"
#include "vacant/scan/artefact.h"

namespace vacant::scan {

namespace {

constexpr std::uint64_t kMaxCarveBytes = 64 * kMiB;
constexpr std::size_t kMaxCarved = 10'000;

bool is_carvable(const Finding& finding) {
  const bool kind = finding.kind == FindingKind::kArtefact || finding.kind == FindingKind::kPrivateKey ||
                    finding.kind == FindingKind::kCredentialFile;
  return kind && finding.origin.layers.empty() && !finding.extent.empty() &&
         finding.extent.length_bytes <= kMaxCarveBytes;
}

std::string_view extension(std::string_view rule) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kExtensions = {
      {{"sqlite-database", "sqlite"},
       {"sqlite-wal", "sqlite-wal"},
       {"chromium-logins", "sqlite"},
       {"chromium-cookies", "sqlite"},
       {"chromium-history", "sqlite"},
       {"chromium-web-data", "sqlite"},
       {"firefox-cookies", "sqlite"},
       {"firefox-history", "sqlite"},
       {"firefox-forms", "sqlite"},
       {"pem-private-key", "pem"},
       {"openssh-private-key", "key"},
       {"pgp-private-key", "asc"},
       {"putty-private-key", "ppk"},
       {"env-file", "env"},
       {"gcp-service-account", "json"},
       {"git-pack", "pack"},
       {"git-pack-index", "idx"},
       {"leveldb-table", "ldb"},
       {"gzip", "gz"},
       {"zip", "zip"}}};
  const auto* found = std::ranges::find(kExtensions, rule, [](const auto& pair) { return pair.first; });
  return found == kExtensions.end() ? "bin" : found->second;
}

}  // namespace

Result<std::vector<std::string>> carve(BlockDevice& device, const std::vector<Finding>& findings,
                                       const std::string& directory) {
  VACANT_TRY(ensure_private_directory(directory));
  std::vector<std::string> written;
  std::set<std::string> names;
  for (const Finding& finding : findings) {
    if (!is_carvable(finding)) continue;
    if (written.size() >= kMaxCarved) break;
    const std::string name =
        fmt::format("{}-{}.{}", finding.extent.offset_bytes, finding.rule, extension(finding.rule));
    if (!names.insert(name).second) continue;
    ByteVector bytes(static_cast<std::size_t>(finding.extent.length_bytes));
    if (!device.read(finding.extent.offset_bytes, bytes)) continue;  // unreadable parts are in the report
    VACANT_TRY(write_file_atomic(directory + "/" + name, bytes, 0600));
    written.push_back(name);
  }
  return written;
}

}  // namespace vacant::scan

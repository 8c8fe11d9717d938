// Opens and checks everything that a disk is held against. Owns it for as long as a scan borrows it.
#pragma once

#include <memory>
#include <optional>

#include "commands.h"
#include "vacant/scan/baseline.h"
#include "vacant/scan/engine.h"

namespace vacant::cli {

struct LoadedEvidence {
  std::unique_ptr<BlockDevice> device;
  std::unique_ptr<BlockDevice> base_image;
  std::optional<verify::HashTree> base_tree;
  std::optional<scan::WriteMap> write_map;
  std::optional<secrets::FingerprintFile> fingerprints;
  std::optional<SecretBytes> placeholder_key, hash_key;
  std::optional<scan::Baseline> baseline;

  // Points `options` at all of it. This object must outlive the scan.
  void lend(scan::ScanOptions& options) const;
};

Result<LoadedEvidence> load_evidence(const std::string& device, const EvidenceArgs& args);

// Today in UTC, YYYY-MM-DD; SOURCE_DATE_EPOCH wins where it is set.
std::string today();

}  // namespace vacant::cli

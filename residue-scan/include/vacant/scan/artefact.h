// Artefact detectors: what kinds of files were left in the bytes, by structural validation and not by magic
// alone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "vacant/base/device.h"
#include "vacant/scan/detector.h"

namespace vacant::scan {

// SQLite pages and databases (whole ones verified by the sqlite3 library in an isolated child), Chromium
// profile databases, LevelDB, .env files, PEM/OpenSSH/PGP keys, cloud credential files, netrc, kubeconfig,
// docker config, git packs and loose objects, gzip/zip/zstd.
Result<std::unique_ptr<DetectorFactory>> make_artefact_factory();

// Copies the bytes of findings that name a carvable extent to files in `directory` (made with mode 0700 if
// absent; refused if it exists with another owner or mode). Returns the file names written. For the device's
// owner only.
Result<std::vector<std::string>> carve(BlockDevice& device, const std::vector<Finding>& findings,
                                       const std::string& directory);

}  // namespace vacant::scan

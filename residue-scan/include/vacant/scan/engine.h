// The scan: reads a device once, in segments, on several threads, and gives every byte its class.
//
// Memory: about 2 MiB a thread, the detectors' tables, and the bounded parts of the report; it does not grow
// with the device. Determinism: the report depends on the device's bytes and the options only, not on the
// number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "vacant/base/cancel.h"
#include "vacant/base/device.h"
#include "vacant/base/progress.h"
#include "vacant/base/secret.h"
#include "vacant/scan/report.h"
#include "vacant/scan/write_map.h"
#include "vacant/secrets/fingerprint.h"
#include "vacant/verify/hash_tree.h"

namespace vacant::scan {

struct Baseline;  // baseline.h

struct ScanOptions {
  Policy policy = Policy::kHandover;
  Profile profile = Profile::kFull;
  // What the device is held against. All are borrowed and must outlive the scan.
  BlockDevice* base_image = nullptr;
  const verify::HashTree* base_tree = nullptr;
  const verify::HashTree* derived_tree = nullptr;
  std::optional<WriteMap> write_map;
  const secrets::FingerprintFile* fingerprints = nullptr;
  const SecretBytes* placeholder_key = nullptr;
  const SecretBytes* hash_key = nullptr;  // for Finding::digest_prefix
  const Baseline* baseline = nullptr;
  std::string today;  // YYYY-MM-DD, for the baseline's expiry

  unsigned threads = 0;     // 0: one a processor, at most 8
  std::string resume_path;  // empty: no journal
  FsLimits fs_limits;
  ProgressFn progress;  // called from worker threads
  const CancelToken* cancel = nullptr;
};

// Fails with kCancelled when stopped (with a resume_path the journal keeps what is done), kInvalidArgument
// for options that contradict each other, and on faults of its own. A device's read errors are no failure:
// they are in the report.
Result<Report> scan(BlockDevice& device, const ScanOptions& options);

}  // namespace vacant::scan

// The commands behind the parser. Each answers an exit code, or an Error that run() prints and maps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "context.h"
#include "vacant/base/result.h"

namespace vacant::cli {

// What a disk is held against; shared by scan and scan verify.
struct EvidenceArgs {
  std::string base_image;
  std::string base_tree, base_root, base_salt;
  std::uint64_t base_bytes = 0;  // size of the image that the tree was made of
  std::uint32_t base_block_bytes = 4096;
  std::string written;  // a file, or dirty-bitmap:NAME
  std::string fingerprints, placeholder_key, hash_key, baseline;
  bool ram = false;
  bool direct = false;
  std::string holes = "auto";  // auto, never, remote
};

struct ScanArgs {
  std::string device;
  EvidenceArgs evidence;
  std::string policy = "handover", profile = "full", format = "text", output;
  std::vector<std::string> also;  // FORMAT=FILE
  unsigned threads = 0;
  std::string resume, carve;
  std::string baseline_out, reason, expires;
  std::string sign_key;
  bool json = false, quiet = false, reveal = false;
};
Result<int> run_scan(const ScanArgs& args, Context& context);

struct VerifyArgs {
  std::string report, device, public_key;
  EvidenceArgs evidence;
  bool json = false, quiet = false;
  unsigned threads = 0;
};
Result<int> run_scan_verify(const VerifyArgs& args, Context& context);

struct FingerprintArgs {
  int from_fd = -1;
  std::string output;
};
Result<int> run_fingerprints(const FingerprintArgs& args, Context& context);

struct PlaceholderArgs {
  std::string key_file, kind, workspace, credential;
  std::uint32_t generation = 1;
};
Result<int> run_placeholder(const PlaceholderArgs& args, Context& context);

struct KeygenArgs {
  std::string what;  // "report", "placeholder", "hash"
  std::string output;
};
Result<int> run_keygen(const KeygenArgs& args, Context& context);

Result<int> run_rules(bool json, Context& context);

}  // namespace vacant::cli

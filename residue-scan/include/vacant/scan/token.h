// Token search: the shapes of public credential formats (docs/formats/rules.md), one Vectorscan database,
// offline checksums, entropy and context rules where a format has no anchor.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "vacant/scan/detector.h"

namespace vacant::scan {

struct TokenRuleInfo {
  std::string id;
  std::string description;
  bool checksum;  // the format can be checked offline
};
std::vector<TokenRuleInfo> token_rules();  // sorted by id

Result<std::unique_ptr<DetectorFactory>> make_token_factory();

}  // namespace vacant::scan

// The model of the ledger: what class each sector of a made disk must have, worked out one byte at a time,
// without any of the engine's shortcuts.
#pragma once

#include <vector>

#include "vacant/props/gen.h"
#include "vacant/scan/class.h"
#include "vacant/scan/ledger.h"

namespace vacant::props {

enum class BaseKind { kNone, kImage, kTree };

struct ModelOptions {
  BaseKind base = BaseKind::kNone;
  std::uint32_t tree_block_bytes = 4096;
  bool use_write_map = false;
};

// One class a sector.
std::vector<scan::Class> model_classes(MadeDisk& made, const ModelOptions& options);
scan::ClassBytes model_totals(const MadeDisk& made, const std::vector<scan::Class>& classes);
// Neighbouring sectors of one class merged, as the report lists them.
std::vector<scan::ClassExtent> model_extents(const MadeDisk& made, const std::vector<scan::Class>& classes);

}  // namespace vacant::props

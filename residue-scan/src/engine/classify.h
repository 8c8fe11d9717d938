// Classification: what explains each sector of a window. Private to the engine.
#pragma once

#include "engine/window.h"
#include "vacant/scan/engine.h"
#include "vacant/scan/proof.h"

namespace vacant::scan {

// The borrowed evidence that sectors are held against. Immutable and shared by all threads.
struct Evidence {
  BlockDevice* base_image = nullptr;
  const verify::HashTree* base_tree = nullptr;
  const verify::HashTree* derived_tree = nullptr;
  const WriteMap* write_map = nullptr;
  const FsView* view = nullptr;
  const Prover* prover = nullptr;
  Policy policy = Policy::kHandover;
};

// A block that is not ours. Not certain: it could also be of a deleted directory or file of ours, whose inode
// was used again since, so that its generation is lost. That can only be where nothing but the device is
// known (policy inside): elsewhere the write map has explained all that is the guest's.
struct ForeignBlock {
  Extent extent;
  Attribution attribution;
  bool certain = true;
};

// Turns the `unexplained` sectors of a freshly read window into base, derived, own or fs-live where the
// evidence says so (in that order), then tries the foreign proof on what is left.
std::vector<ForeignBlock> classify(Window& window, const Evidence& evidence);

// The worse of two classes, and the worst of a range: of what a window, or a list of runs in order, has of
// it.
Class worse(Class a, Class b);
Class worst_class(const Window& window, const Extent& extent);
Class worst_class(const std::vector<ClassExtent>& runs, const Extent& extent);

}  // namespace vacant::scan

// HashTree::load over hostile tree files. The input's first byte chooses size and block; the root is either
// the right one for the top block, so that deeper levels are reached, or zeros.
#include <cstdint>
#include <cstdlib>

#include "vacant/props/devices.h"
#include "vacant/verify/hash_tree.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vacant;
  if (size < 2 || size > 64 * 1024) return 0;
  const std::uint64_t leaves = data[0] + 1U;
  const verify::TreeParameters parameters{512, {}};
  const ByteSpan tree = ByteSpan(reinterpret_cast<const std::byte*>(data), size).subspan(1);
  verify::Digest root{};
  if (tree.size() >= 512) {
    props::MemDevice top(ByteVector(tree.begin(), tree.begin() + 512));
    const auto built = verify::HashTree::build(top, parameters, CancelToken{});
    if (built) root = built->root();
  }
  props::MemDevice file(ByteVector(tree.begin(), tree.end()));
  const auto loaded = verify::HashTree::load(file, leaves * 512, parameters, root);
  if (!loaded) return 0;
  // What loads is what it would write itself.
  const auto again = loaded->serialise();
  if (!again || loaded->leaf_count() != leaves ||
      !std::ranges::equal(*again, leaves == 1 ? ByteSpan{} : tree))
    std::abort();
  return 0;
}

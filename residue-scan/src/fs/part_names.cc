#include <array>

#include "core/name_table.h"
#include "vacant/scan/finding.h"

namespace vacant::scan {

namespace {

constexpr std::array<std::string_view, 20> kPartNames = {"file",
                                                         "file-tail-slack",
                                                         "directory",
                                                         "directory-slack",
                                                         "extent-tree",
                                                         "xattr",
                                                         "symlink",
                                                         "inode-table",
                                                         "unused-inode",
                                                         "block-bitmap",
                                                         "inode-bitmap",
                                                         "group-descriptors",
                                                         "reserved-gdt",
                                                         "superblock",
                                                         "superblock-slack",
                                                         "journal",
                                                         "journal-slack",
                                                         "other",
                                                         "free",
                                                         "outside"};
static_assert(static_cast<std::size_t>(FsPart::kOutside) + 1 == kPartNames.size());

}  // namespace

std::string_view name(FsPart part) { return kPartNames.at(static_cast<std::size_t>(part)); }

std::optional<FsPart> fs_part_from_name(std::string_view text) { return find_name<FsPart>(kPartNames, text); }

}  // namespace vacant::scan

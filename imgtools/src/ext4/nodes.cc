#include "ext4/nodes.h"

#include <fmt/format.h>

namespace vacant::img {

namespace {

constexpr std::size_t kMaxNameBytes = 255;
constexpr std::size_t kMaxDepth = 4096;
constexpr std::uint32_t kMaxNames = 65'000;  // ext4's limit of hard links

}  // namespace

Result<std::vector<std::string_view>> split_path(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string_view::npos)
      return fail(Code::kInvalidArgument, fmt::format("\"{}\" cannot be a name in a path", printable(part)));
    if (part.size() > kMaxNameBytes)
      return fail(Code::kInvalidArgument,
                  fmt::format("{}: a name has at most {} bytes", printable(part), kMaxNameBytes));
    parts.push_back(part);
    if (parts.size() > kMaxDepth)
      return fail(Code::kLimit, fmt::format("folders are nested deeper than {}", kMaxDepth));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
    if (path.empty()) return fail(Code::kInvalidArgument, "a path does not end in a slash");
  }
  return parts;
}

NodeTree::NodeTree() {
  nodes_.emplace_back().attributes.mode = 0755;
  root().names = 1;
}

Node* NodeTree::find(std::string_view path) {
  const auto parts = split_path(path);
  if (!parts) return nullptr;
  Node* node = &root();
  for (const std::string_view part : *parts) {
    const auto child = node->children.find(part);
    if (child == node->children.end()) return nullptr;
    node = child->second;
  }
  return node;
}

Result<NodeTree::Spot> NodeTree::spot_of(std::string_view path) {
  const auto parts = VACANT_TRY(split_path(path));
  if (parts.empty()) return fail(Code::kInvalidArgument, "the root is a folder and nothing else");
  Node* node = &root();
  for (std::size_t index = 0; index + 1 < parts.size(); ++index) {
    const auto child = node->children.find(parts[index]);
    if (child == node->children.end()) {
      Node& made = nodes_.emplace_back();
      made.attributes.mode = 0755;
      made.names = 1;
      node->children.emplace(parts[index], &made);
      node = &made;
      continue;
    }
    node = child->second;
    if (node->kind != NodeKind::kDirectory)
      return fail(Code::kInvalidArgument,
                  fmt::format("{}: \"{}\" in it is no folder", printable(path), printable(parts[index])));
  }
  return Spot{node, std::string(parts.back())};
}

Result<void> NodeTree::vacate(const Spot& spot, bool directory_comes, Node*& dropped) {
  const auto child = spot.parent->children.find(spot.name);
  if (child == spot.parent->children.end()) return {};
  Node* former = child->second;
  if (former->kind == NodeKind::kDirectory && !(directory_comes || former->children.empty()))
    return fail(Code::kInvalidArgument,
                fmt::format("{} is a folder with something in it already", printable(spot.name)));
  if (former->kind == NodeKind::kDirectory && directory_comes) return {};
  spot.parent->children.erase(child);
  if (--former->names == 0) dropped = former;
  return {};
}

Result<Node*> NodeTree::place(std::string_view path, NodeKind kind, Node*& dropped) {
  dropped = nullptr;
  const bool directory = kind == NodeKind::kDirectory;
  if (path.empty() && directory) return &root();
  const Spot spot = VACANT_TRY(spot_of(path));
  VACANT_TRY(vacate(spot, directory, dropped));
  const auto [entry, inserted] = spot.parent->children.emplace(spot.name, nullptr);
  if (!inserted) return entry->second;
  Node& node = nodes_.emplace_back();
  node.kind = kind;
  node.names = 1;
  entry->second = &node;
  return &node;
}

Result<void> NodeTree::link(std::string_view path, Node& node, Node*& dropped) {
  dropped = nullptr;
  if (node.kind == NodeKind::kDirectory) return fail(Code::kInvalidArgument, "a folder has one name only");
  if (node.names >= kMaxNames)
    return fail(Code::kLimit, fmt::format("{}: a file has at most {} names", printable(path), kMaxNames));
  const Spot spot = VACANT_TRY(spot_of(path));
  const auto there = spot.parent->children.find(spot.name);
  if (there != spot.parent->children.end() && there->second == &node) return {};
  VACANT_TRY(vacate(spot, false, dropped));
  spot.parent->children.emplace(spot.name, &node);
  ++node.names;
  return {};
}

}  // namespace vacant::img

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>

#include "ext4/content.h"
#include "ext4/format.h"
#include "ext4/inode_writer.h"
#include "ext4/nodes.h"
#include "ext4/write_back.h"
#include "vacant/base/secret.h"

namespace vacant::img {

namespace {

constexpr std::size_t kMaxSymlinkBytes = 4095;  // PATH_MAX without the zero
constexpr std::string_view kLostAndFound = "lost+found";

// What the file system's identity is a function of: everything added but the files' content.
class Description {
 public:
  Description() { crypto_generichash_init(&state_, nullptr, 0, crypto_generichash_BYTES); }
  void add(std::string_view kind, std::string_view path, const Attributes& attributes,
           std::string_view more) {
    field(kind);
    field(path);
    field(fmt::format("{:o} {} {} {}.{}", attributes.mode, attributes.uid, attributes.gid,
                      attributes.mtime_seconds, attributes.mtime_nanoseconds));
    field(more);
    for (const auto& [name, value] : attributes.xattrs) {
      field(name);
      field(value);
    }
  }
  Uuid uuid() {
    std::array<std::byte, crypto_generichash_BYTES> digest{};
    // SAFETY: libsodium takes bytes as unsigned char.
    crypto_generichash_final(&state_, reinterpret_cast<unsigned char*>(digest.data()), digest.size());
    return uuid_of(digest);
  }

 private:
  void field(std::string_view text) {
    std::array<std::byte, 8> length{};
    store_le(length, 0, static_cast<std::uint64_t>(text.size()));
    update(length);
    update(vacant::as_bytes(text));
  }
  void update(ByteSpan bytes) {
    crypto_generichash_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  }
  crypto_generichash_state state_{};
};

}  // namespace

struct Ext4Builder::State {
  State(BlockDevice& target, const Ext4Options& wanted)
      : options(wanted),
        device(target, round_down(wanted.size_bytes, std::max(wanted.block_bytes, 1U))),
        io(device) {}

  Result<Node*> place(std::string_view path, NodeKind kind, const Attributes& attributes);
  Result<void> drop(Node* node);
  Result<void> number_nodes();
  Result<void> write_nodes();

  Ext4Options options;
  WriteBack device;
  ExtIo io;
  FsHandle fs;
  std::optional<Allocator> allocator;
  std::optional<ContentWriter> content;
  NodeTree tree;
  Description description;
  BuildSummary summary;
  std::int64_t latest_mtime = 1;
  bool root_was_added = false;
  struct Numbered {
    Node* node;
    std::uint32_t parent;
    std::string path;
  };
  std::vector<Numbered> order;  // one entry a node, by inode number
};

Ext4Builder::Ext4Builder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Ext4Builder::Ext4Builder(Ext4Builder&&) noexcept = default;
Ext4Builder& Ext4Builder::operator=(Ext4Builder&&) noexcept = default;
Ext4Builder::~Ext4Builder() = default;

Result<Ext4Builder> Ext4Builder::start(BlockDevice& target, const Ext4Options& options) {
  VACANT_TRY(init_crypto());
  if (target.size_bytes() < options.size_bytes)
    return fail(Code::kInvalidArgument,
                fmt::format("{} has {} bytes; the file system is to have {}", target.info().name,
                            target.size_bytes(), options.size_bytes));
  auto state = std::make_unique<State>(target, options);
  state->fs = VACANT_TRY(lay_out(state->io, options));
  state->allocator.emplace(state->fs.get());
  state->content.emplace(state->device, *state->allocator, options.block_bytes);
  return Ext4Builder(std::move(state));
}

Result<void> Ext4Builder::State::drop(Node* node) {
  if (node == nullptr) return {};
  VACANT_TRY(content->drop(node->runs));
  node->runs.clear();
  return {};
}

Result<Node*> Ext4Builder::State::place(std::string_view path, NodeKind kind, const Attributes& attributes) {
  if (attributes.mtime_nanoseconds >= 1'000'000'000)
    return fail(Code::kInvalidArgument, fmt::format("{}: a second has 10^9 nanoseconds", printable(path)));
  Node* dropped = nullptr;
  Node* node = VACANT_TRY(tree.place(path, kind, dropped));
  VACANT_TRY(drop(dropped));
  node->attributes = attributes;
  latest_mtime = std::max(latest_mtime, attributes.mtime_seconds);
  if (path.empty()) root_was_added = true;
  return node;
}

Result<void> Ext4Builder::add_directory(std::string_view path, const Attributes& attributes) {
  VACANT_TRY(state_->place(path, NodeKind::kDirectory, attributes));
  state_->description.add("directory", path, attributes, "");
  return {};
}

Result<void> Ext4Builder::add_file(std::string_view path, const Attributes& attributes,
                                   std::uint64_t size_bytes, FileContent& content) {
  // The last logical block of a file is 2^32 - 2.
  if (size_bytes > (std::uint64_t{UINT32_MAX} - 1) * state_->options.block_bytes)
    return fail(Code::kLimit, fmt::format("{}: longer than a file of ext4 can be", printable(path)));
  Node* node = VACANT_TRY(state_->place(path, NodeKind::kFile, attributes));
  auto runs = state_->content->write(size_bytes, content);
  if (!runs) return fail(runs.error().in(printable(path)));
  node->size_bytes = size_bytes;
  node->runs = std::move(*runs);
  state_->summary.content_bytes += size_bytes;
  state_->description.add("file", path, attributes, fmt::format("{}", size_bytes));
  return {};
}

Result<void> Ext4Builder::add_symlink(std::string_view path, const Attributes& attributes,
                                      std::string_view target) {
  if (target.empty() ||
      target.size() > std::min<std::size_t>(kMaxSymlinkBytes, state_->options.block_bytes - 1) ||
      target.find('\0') != std::string_view::npos)
    return fail(Code::kInvalidArgument,
                fmt::format("{}: a symbolic link leads to 1..{} bytes", printable(path),
                            std::min<std::size_t>(kMaxSymlinkBytes, state_->options.block_bytes - 1)));
  Node* node = VACANT_TRY(state_->place(path, NodeKind::kSymlink, attributes));
  node->symlink_target = target;
  state_->description.add("symlink", path, attributes, target);
  return {};
}

Result<void> Ext4Builder::add_special(std::string_view path, const Attributes& attributes, SpecialKind kind,
                                      std::uint32_t major, std::uint32_t minor) {
  if (major >= 1U << 12U || minor >= 1U << 20U)
    return fail(Code::kInvalidArgument, fmt::format("{}: no such device number", printable(path)));
  Node* node = VACANT_TRY(state_->place(path, NodeKind::kSpecial, attributes));
  node->special = kind;
  node->major = major;
  node->minor = minor;
  state_->description.add("special", path, attributes,
                          fmt::format("{} {} {}", static_cast<int>(kind), major, minor));
  return {};
}

Result<void> Ext4Builder::add_hard_link(std::string_view path, std::string_view existing) {
  Node* node = state_->tree.find(existing);
  if (node == nullptr)
    return fail(Code::kInvalidArgument, fmt::format("{} is to be a further name of {}, which is not there",
                                                    printable(path), printable(existing)));
  Node* dropped = nullptr;
  VACANT_TRY(state_->tree.link(path, *node, dropped));
  VACANT_TRY(state_->drop(dropped));
  state_->description.add("link", path, {}, existing);
  return {};
}

// Numbers go up along the sorted paths. A stack of our own: the depth comes from outside.
Result<void> Ext4Builder::State::number_nodes() {
  std::uint32_t next = EXT2_FIRST_INODE(fs->super) + 1;
  struct Pending {
    Node* node;
    std::uint32_t parent;
    std::string path;
  };
  std::vector<Pending> stack{{&tree.root(), EXT2_ROOT_INO, ""}};
  while (!stack.empty()) {
    Pending at = std::move(stack.back());
    stack.pop_back();
    if (at.node->inode != 0) {
      ++summary.hard_links;
      continue;
    }
    if (at.path.empty())
      at.node->inode = EXT2_ROOT_INO;
    else if (at.path == kLostAndFound)
      at.node->inode = EXT2_FIRST_INODE(fs->super);
    else
      at.node->inode = next++;
    for (auto child = at.node->children.rbegin(); child != at.node->children.rend(); ++child)
      stack.push_back(
          {child->second, at.node->inode, at.path.empty() ? child->first : at.path + "/" + child->first});
    order.push_back({at.node, at.parent, std::move(at.path)});
  }
  if (next - 1 > fs->super->s_inodes_count)
    return fail(Code::kLimit,
                fmt::format("{} inodes are needed, and it has {}: give it more, or a larger size", next - 1,
                            fs->super->s_inodes_count));
  return {};
}

Result<void> Ext4Builder::State::write_nodes() {
  InodeWriter writer(io, fs.get(), *allocator, *content);
  for (const Numbered& entry : order) {
    VACANT_TRY(writer.write(*entry.node, entry.parent, entry.path));
    switch (entry.node->kind) {
      case NodeKind::kDirectory:
        ++summary.directories;
        break;
      case NodeKind::kFile:
        ++summary.files;
        break;
      case NodeKind::kSymlink:
        ++summary.symlinks;
        break;
      case NodeKind::kSpecial:
        ++summary.specials;
        break;
    }
  }
  return {};
}

Result<BuildSummary> Ext4Builder::finish() {
  State& state = *state_;
  const std::int64_t now = state.options.time_seconds.value_or(state.latest_mtime);
  if (!state.root_was_added) state.tree.root().attributes.mtime_seconds = now;
  if (state.tree.find(kLostAndFound) == nullptr) {
    Attributes own;
    own.mode = 0700;
    own.mtime_seconds = now;
    VACANT_TRY(state.place(kLostAndFound, NodeKind::kDirectory, own));
  }
  state.summary.uuid = state.options.uuid ? *state.options.uuid : state.description.uuid();
  set_identity(state.fs.get(), state.summary.uuid, now);
  VACANT_TRY(state.number_nodes());
  VACANT_TRY(state.write_nodes());
  VACANT_TRY(state.content->flush());
  VACANT_TRY(add_internals(state.io, state.fs.get(), state.options));
  const std::uint64_t free_blocks = ext2fs_free_blocks_count(state.fs->super);
  state.summary.used_bytes = (ext2fs_blocks_count(state.fs->super) - free_blocks) * state.options.block_bytes;
  VACANT_TRY(close_fs(state.io, std::move(state.fs)));
  VACANT_TRY(state.device.finish());
  state.summary.shared_bytes = state.content->shared_bytes();
  state.summary.written = state.device.take_written();
  return std::move(state.summary);
}

}  // namespace vacant::img

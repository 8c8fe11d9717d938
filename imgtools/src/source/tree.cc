// A folder of the host as a source.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "source/attributes.h"
#include "vacant/base/tree_walk.h"
#include "vacant/img/source.h"

namespace vacant::img {

namespace {

class HostContent final : public FileContent {
 public:
  HostContent(const HostFile& file, const FileStatus& status, const SourceOptions& options,
              std::uint64_t& done)
      : file_(file), sparse_(status.allocated_bytes < status.size_bytes), options_(options), done_(done) {}

  Result<std::uint64_t> zeros_at(std::uint64_t offset_bytes) override {
    return sparse_ ? file_.next_data(offset_bytes) - offset_bytes : 0;
  }
  Result<void> read(std::uint64_t offset_bytes, MutableByteSpan out) override {
    if (options_.cancel != nullptr && options_.cancel->cancelled()) return fail(Code::kCancelled, "stopped");
    done_ += out.size();
    if (options_.progress) options_.progress({done_, 0});
    return file_.read(offset_bytes, out);
  }
  [[nodiscard]] int file_descriptor() const override { return file_.descriptor(); }

 private:
  const HostFile& file_;
  bool sparse_;
  const SourceOptions& options_;
  std::uint64_t& done_;
};

class TreeSource {
 public:
  TreeSource(Ext4Builder& builder, const SourceOptions& options) : builder_(builder), options_(options) {}

  Result<void> add(const WalkEntry& entry) {
    const FileStatus& status = entry.status;
    if (status.type != FileType::kDirectory && status.links > 1) {
      const auto [first, is_new] =
          linked_.emplace(std::pair(status.device_id, status.inode), std::string(entry.path));
      if (!is_new) return builder_.add_hard_link(entry.path, first->second);
    }
    const Attributes attributes = attributes_of(entry);
    switch (status.type) {
      case FileType::kDirectory:
        return builder_.add_directory(entry.path, attributes);
      case FileType::kRegular:
        return add_file(entry, attributes);
      case FileType::kSymlink:
        return builder_.add_symlink(entry.path, attributes, entry.symlink_target);
      case FileType::kFifo:
        return builder_.add_special(entry.path, attributes, SpecialKind::kFifo, 0, 0);
      case FileType::kSocket:
        return builder_.add_special(entry.path, attributes, SpecialKind::kSocket, 0, 0);
      case FileType::kCharacterDevice:
        return builder_.add_special(entry.path, attributes, SpecialKind::kCharacterDevice, status.major,
                                    status.minor);
      case FileType::kBlockDevice:
        return builder_.add_special(entry.path, attributes, SpecialKind::kBlockDevice, status.major,
                                    status.minor);
    }
    return fail(Code::kInternal, "a file of no type");
  }

 private:
  Attributes attributes_of(const WalkEntry& entry) const {
    Attributes out;
    out.mode = entry.status.mode;
    out.uid = entry.status.uid;
    out.gid = entry.status.gid;
    out.mtime_seconds = entry.status.mtime_seconds;
    out.mtime_nanoseconds = entry.status.mtime_nanoseconds;
    out.xattrs = entry.xattrs;
    adjust(out, options_);
    return out;
  }

  Result<void> add_file(const WalkEntry& entry, const Attributes& attributes) {
    HostContent content(*entry.file, entry.status, options_, done_bytes_);
    VACANT_TRY(builder_.add_file(entry.path, attributes, entry.status.size_bytes, content));
    const FileStatus after = VACANT_TRY(entry.file->status());
    if (after.size_bytes == entry.status.size_bytes && after.mtime_seconds == entry.status.mtime_seconds &&
        after.mtime_nanoseconds == entry.status.mtime_nanoseconds)
      return {};
    return fail(Code::kIo, fmt::format("{} changed while it was read: build from something that stands still",
                                       printable(entry.path)));
  }

  Ext4Builder& builder_;
  const SourceOptions& options_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> linked_;
  std::uint64_t done_bytes_ = 0;
};

}  // namespace

Result<void> add_tree(Ext4Builder& builder, const std::string& folder, const SourceOptions& options) {
  TreeSource source(builder, options);
  WalkOptions walk;
  walk.one_file_system = options.one_file_system;
  walk.want_xattr = is_kept_xattr;
  walk.cancel = options.cancel;
  return walk_tree(folder, walk, [&](const WalkEntry& entry) { return source.add(entry); });
}

}  // namespace vacant::img

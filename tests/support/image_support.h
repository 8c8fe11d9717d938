// Trees with everything that a tree can hold, mounts, and comparisons of what came out of an image.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <filesystem>
#include <map>

#include "cli_support.h"

namespace vacant::testing {

inline void expect_sound(const std::string& image) {
  const RunOutcome outcome = run({"e2fsck", "-fn", image});
  EXPECT_TRUE(outcome.ok()) << outcome.describe() << outcome.out;
}

inline std::uint64_t allocated_bytes(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

// Mounts something onto a folder of its own until the end of the scope.
class Mount {
 public:
  Mount(const std::string& source, std::string folder, std::vector<std::string> options = {"-o", "loop,ro"})
      : folder_(std::move(folder)) {
    std::filesystem::create_directory(folder_);
    options.insert(options.begin(), "mount");
    options.push_back(source);
    options.push_back(folder_);
    mounted_ = run(options).ok();
  }
  ~Mount() {
    if (mounted_) run({"umount", folder_});
  }
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;
  [[nodiscard]] bool mounted() const { return mounted_; }

 private:
  std::string folder_;
  bool mounted_ = false;
};

// A new file system of a type, mounted.
class FreshFs {
 public:
  FreshFs(const TempDir& dir, const std::string& type, std::uint64_t size_bytes = 512ULL << 20U)
      : path_(dir.file("mnt-" + type)), image_(dir.file("fs-" + type)) {
    if (type == "tmpfs") {
      mount_.emplace("tmpfs", path_, std::vector<std::string>{"-t", "tmpfs"});
      return;
    }
    make_sparse(image_, size_bytes);
    if (run({"mkfs." + type, type == "ext4" ? "-F" : "-f", "-q", image_}).ok())
      mount_.emplace(image_, path_, std::vector<std::string>{"-o", "loop"});
  }
  [[nodiscard]] bool mounted() const { return mount_ && mount_->mounted(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_, image_;
  std::optional<Mount> mount_;
};

// Root with loop devices; in CI a machine without them is a fault.
inline bool may_mount() {
  return must_run() || (::geteuid() == 0 && std::filesystem::exists("/dev/loop-control"));
}

// Files of every kind: owners, modes, attributes, hard links, holes, long and strange names, depth.
inline void make_odd_tree(const std::string& tree) {
  namespace fs = std::filesystem;
  fs::create_directories(tree + "/sub/empty");
  write_text(tree + "/plain", "hello\n");
  write_text(tree + "/empty", "");
  write_text(tree + "/noise", noise(3'000'001, 1));
  make_sparse(tree + "/holes", 5ULL << 30U);
  write_at(tree + "/holes", 1 << 20, noise(5000, 2));
  write_at(tree + "/holes", (5ULL << 30U) - 9, "the end");
  write_text(tree + "/zeros", std::string(100'000, '\0'));
  fs::create_hard_link(tree + "/plain", tree + "/sub/further name");
  fs::create_symlink("plain", tree + "/short link");
  fs::create_symlink(std::string(900, 'l'), tree + "/long link");
  write_text(tree + "/" + std::string(255, 'n'), "long name");
  std::string bytes;
  for (int c = 1; c < 256; ++c)
    if (c != '/') bytes += static_cast<char>(c);
  write_text(tree + "/" + bytes.substr(0, 127), "strange name");
  write_text(tree + "/" + bytes.substr(127), "strange name too");
  for (int i = 0; i < 400; ++i)
    write_text(tree + "/sub/entry number " + std::to_string(i), std::to_string(i));
  std::string deep = tree + "/deep";
  for (int i = 0; i < 100; ++i) deep += "/d";
  fs::create_directories(deep);
  write_text(deep + "/file", "deep down");
  ::mkfifo((tree + "/fifo").c_str(), 0640);
  ::chmod((tree + "/plain").c_str(), 04751);
  ::chmod((tree + "/sub").c_str(), 01777);
  if (::geteuid() == 0) {
    ::mknod((tree + "/null").c_str(), S_IFCHR | 0666, makedev(1, 3));
    ::mknod((tree + "/disk").c_str(), S_IFBLK | 0600, makedev(259, 70'000));
    run({"chown", "-h", "1000:70000", tree + "/short link"});
    run({"chown", "3000000000:5", tree + "/noise"});
  }
  ::setxattr((tree + "/noise").c_str(), "user.note", "a value", 7, 0);
  ::setxattr((tree + "/sub").c_str(), "user.large", noise(2000, 3).data(), 2000, 0);
  run({"setfacl", "-m", "u:1234:r,g:99:rw", tree + "/plain"});
  run({"setfacl", "-d", "-m", "u:1234:rwx", tree + "/sub"});
  run({"touch", "-h", "-d", "1960-05-04 03:02:01.123456789", tree + "/empty"});
  run({"touch", "-h", "-d", "2200-05-04 03:02:01.5", tree + "/short link"});
}

// Of a large file with a hole in the middle its two ends are enough.
inline std::string content_digest(const std::string& path, const struct stat& status) {
  if (status.st_size < off_t{1} << 30U) return run({"b2sum", path}).out.substr(0, 64);
  RunOptions ends;
  ends.input = run({"head", "-c", "4M", path}).out + run({"tail", "-c", "4M", path}).out;
  return run({"b2sum"}, ends).out.substr(0, 64);
}

// Everything that names the file, one line a path: type, mode, owner, size, time, links, device, attributes,
// digest. Time and place on the host are left out.
inline std::map<std::string, std::string> listing(const std::string& tree) {
  std::map<std::string, std::string> out;
  const RunOutcome found =
      run({"find", tree, "-mindepth", "1", "-printf", "%P\\0%y %m %U:%G %s %T@ %n %l\\0"});
  EXPECT_TRUE(found.ok()) << found.describe();
  std::istringstream words(found.out);
  for (std::string path, line; std::getline(words, path, '\0') && std::getline(words, line, '\0');) {
    if (path.starts_with("lost+found")) continue;
    struct stat status{};
    const std::string whole = tree + "/" + path;
    EXPECT_EQ(::lstat(whole.c_str(), &status), 0);
    if (S_ISDIR(status.st_mode))
      line = line.substr(0, line.find(' ')) + " folder " + std::to_string(status.st_mode) + " " +
             std::to_string(status.st_mtim.tv_sec);
    line += " " + std::to_string(status.st_rdev);
    std::string names(4096, '\0');
    const ssize_t length = ::llistxattr(whole.c_str(), names.data(), names.size());
    std::map<std::string, std::string> attributes;
    for (ssize_t at = 0; at < length;) {
      const std::string name = names.c_str() + at;
      at += static_cast<ssize_t>(name.size()) + 1;
      std::string value(4096, '\0');
      const ssize_t got = ::lgetxattr(whole.c_str(), name.c_str(), value.data(), value.size());
      attributes[name] = value.substr(0, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    }
    for (const auto& [name, value] : attributes)
      if (name != "security.selinux") line += " " + name + "=" + value;
    if (S_ISREG(status.st_mode)) line += " " + content_digest(whole, status);
    out[path] = line;
  }
  EXPECT_GT(out.size(), 10U);
  return out;
}

inline std::string image_digest(const TempDir& dir, const std::string& tree) {
  const RunOutcome built =
      vacant({"image", "build", tree, dir.file("digest-image"), "--size", "256M", "--yes"});
  EXPECT_EQ(built.exit_code, 0) << built.describe();
  return run({"sha256sum", dir.file("digest-image")}).out.substr(0, 64);
}

// Copies a tree with its names in the opposite order.
inline bool copy_backwards(const std::string& from, const std::string& to) {
  RunOptions options;
  options.input =
      "set -e; mkdir '" + to + "'; cd '" + from +
      "'\nfind . -print0 | sort -zr | tar --no-recursion --null -T - --format=posix --numeric-owner --xattrs "
      "--acls --sparse -cf - | tar -C '" +
      to + "' -xp --numeric-owner --xattrs --xattrs-include='*' --acls -f -\n";
  return run({"sh"}, options).ok();
}

}  // namespace vacant::testing

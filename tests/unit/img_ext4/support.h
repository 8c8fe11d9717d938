// Images made in memory, checked by e2fsck and read back through debugfs or a mount.
#pragma once

#include <gtest/gtest.h>

#include "run.h"
#include "vacant/base/file.h"
#include "vacant/img/ext4.h"
#include "vacant/props/devices.h"

namespace vacant::img {

class Text final : public FileContent {
 public:
  explicit Text(std::string text) : text_(std::move(text)) {}
  Result<void> read(std::uint64_t offset_bytes, MutableByteSpan out) override {
    std::ranges::copy(as_bytes(text_).subspan(static_cast<std::size_t>(offset_bytes), out.size()),
                      out.begin());
    return {};
  }
  [[nodiscard]] std::uint64_t size() const { return text_.size(); }

 private:
  std::string text_;
};

inline Attributes plain(std::uint32_t mode = 0644) {
  Attributes attributes;
  attributes.mode = mode;
  attributes.mtime_seconds = 1'700'000'000;
  attributes.mtime_nanoseconds = 123'456'789;
  return attributes;
}

inline Result<void> add_text(Ext4Builder& builder, std::string_view path, const std::string& text) {
  Text content(text);
  return builder.add_file(path, plain(), content.size(), content);
}

// e2fsck -fn finds nothing; its words on failure.
inline void expect_sound(const std::string& image) {
  const testing::RunOutcome outcome = testing::run({"e2fsck", "-fn", image});
  EXPECT_TRUE(outcome.ok()) << outcome.describe() << outcome.out;
}

inline std::string debugfs(const std::string& image, const std::string& command) {
  return testing::run({"debugfs", "-R", command, image}).out;
}

}  // namespace vacant::img

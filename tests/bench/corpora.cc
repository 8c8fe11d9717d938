#include "corpora.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include "run.h"
#include "vacant/base/extent.h"
#include "vacant/props/gen.h"

namespace vacant::bench {

namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kFilledPercent = 15;

// Appends pieces until the size is reached; the last one is cut.
Result<void> write_until(const std::string& path, std::uint64_t size_bytes,
                         const std::function<ByteVector()>& next) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  for (std::uint64_t done = 0; done < size_bytes && file.good();) {
    const ByteVector piece = next();
    const std::string_view text = as_text(piece).substr(0, size_bytes - done);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    done += text.size();
  }
  file.close();
  return file.good() ? Result<void>{} : fail(Code::kIo, "writing a corpus failed: " + path);
}

// Text files of this machine, one after the other, again and again.
class TextSource {
 public:
  TextSource() {
    for (const char* root : {"/usr/include", "/usr/share/doc", "/usr/share/perl", "/usr/lib/python3"})
      collect(root);
  }
  ByteVector next() {
    if (files_.empty()) return props::seeded_bytes(1, kMiB);
    const std::string text = testing::read_text(files_[at_++ % files_.size()]);
    const ByteSpan bytes = as_bytes(text);
    return text.empty() ? ByteVector(1, std::byte{'\n'}) : ByteVector(bytes.begin(), bytes.end());
  }

 private:
  void collect(const fs::path& root) {
    std::error_code error;
    for (const auto& entry :
         fs::recursive_directory_iterator(root, fs::directory_options::skip_permission_denied, error)) {
      const std::string extension = entry.path().extension().string();
      const bool text = extension == ".h" || extension == ".hpp" || extension == ".txt" ||
                        extension == ".py" || extension == ".pm" || extension == ".pl" || extension == "";
      if (text && entry.is_regular_file(error) && entry.file_size(error) > 64)
        files_.push_back(entry.path().string());
      if (files_.size() >= 20'000) return;
    }
  }
  std::vector<std::string> files_;
  std::size_t at_ = 0;
};

Result<void> make_ext4(const std::string& path, const std::string& folder, std::uint64_t size_bytes) {
  const std::string tree = folder + "/tree";
  fs::create_directories(tree);
  TextSource text;
  std::uint64_t seed = 7;
  const std::uint64_t part = size_bytes * kFilledPercent / 100 / 16;
  for (int i = 0; i < 16; ++i) {
    const auto next = [&] { return i % 2 == 0 ? text.next() : props::seeded_bytes(seed++, kMiB); };
    VACANT_TRY(write_until(tree + "/file-" + std::to_string(i), part, next));
  }
  VACANT_TRY(write_until(path, size_bytes, [] { return ByteVector(kMiB); }));
  const auto made = testing::run({"mke2fs", "-q", "-F", "-t", "ext4", "-E", "nodiscard", "-d", tree, path});
  fs::remove_all(tree);
  return made.ok() ? Result<void>{} : fail(Code::kIo, "mke2fs: " + made.describe());
}

}  // namespace

std::string_view name(Corpus corpus) {
  switch (corpus) {
    case Corpus::kRandom:
      return "random";
    case Corpus::kText:
      return "text";
    case Corpus::kZeros:
      return "zeros";
    case Corpus::kExt4:
      return "ext4-15%";
  }
  return "";
}

Result<void> make_corpus(Corpus corpus, const std::string& path, const std::string& folder,
                         std::uint64_t size_bytes) {
  switch (corpus) {
    case Corpus::kRandom: {
      std::uint64_t seed = 1;
      return write_until(path, size_bytes, [&seed] { return props::seeded_bytes(seed++, kMiB); });
    }
    case Corpus::kText: {
      TextSource text;
      return write_until(path, size_bytes, [&text] { return text.next(); });
    }
    case Corpus::kZeros:
      return write_until(path, size_bytes, [] { return ByteVector(kMiB); });
    case Corpus::kExt4:
      return make_ext4(path, folder, size_bytes);
  }
  return fail(Code::kInternal, "no such corpus");
}

}  // namespace vacant::bench

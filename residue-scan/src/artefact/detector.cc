// The artefact detector. Binary formats and credential files begin where files begin on a disk: at sectors,
// in practice at blocks. Key armour is looked for anywhere.
#include <algorithm>
#include <array>
#include <cstring>

#include "artefact/parts.h"
#include "vacant/scan/artefact.h"

namespace vacant::scan {

namespace {

constexpr std::size_t kSector = 512, kSmallestBlock = 1024, kBlock = 4096;
constexpr std::size_t kKeyLookBehind = 96;  // from "PRIVATE KEY" back to the five dashes

class ArtefactDetector final : public Detector {
 public:
  void scan(const Buffer& buffer, FindingSink& sink) override {
    if (buffer.device != nullptr) {
      scan_aligned(buffer, sink);
    } else if (buffer.owns(0)) {
      report(buffer, 0, examine_credential_file(buffer.bytes), sink);
    }
    scan_keys(buffer, sink);
  }
  [[nodiscard]] bool runs_on_decoded() const override { return true; }

 private:
  static void report(const Buffer& buffer, std::size_t offset, const std::optional<Artefact>& artefact,
                     FindingSink& sink) {
    if (!artefact || !buffer.owns(offset)) return;
    Finding finding;
    finding.kind = artefact->kind;
    finding.rule = artefact->rule;
    finding.confidence = artefact->confidence;
    finding.origin = buffer.origin_at(offset);
    finding.length_bytes = std::max<std::uint64_t>(artefact->length_bytes, 1);
    finding.extent = buffer.extent_of(offset, static_cast<std::size_t>(finding.length_bytes));
    if (buffer.device != nullptr && finding.extent.end_bytes() > buffer.device->size_bytes())
      finding.extent.length_bytes = buffer.device->size_bytes() - finding.extent.offset_bytes;
    finding.detail = artefact->detail;
    const std::size_t matched =
        std::min<std::size_t>(buffer.bytes.size() - offset, static_cast<std::size_t>(finding.length_bytes));
    sink.found(std::move(finding), buffer.bytes.subspan(offset, matched));
  }

  void scan_aligned(const Buffer& buffer, FindingSink& sink) {
    const std::uint64_t base = buffer.origin.device_offset_bytes;
    std::size_t offset = static_cast<std::size_t>(round_up(base + buffer.owned_begin, kSector) - base);
    for (; offset < buffer.owned_end && offset + 16 <= buffer.bytes.size(); offset += kSector) {
      if (std::memcmp(buffer.bytes.data() + offset, "\0\0\0\0\0\0\0\0", 8) != 0)
        examine(buffer, offset, sink);
    }
  }

  void examine(const Buffer& buffer, std::size_t offset, FindingSink& sink) {
    const Candidate candidate{buffer.bytes.subspan(offset), buffer.origin.device_offset_bytes + offset,
                              buffer.device};
    const auto first = std::to_integer<unsigned char>(candidate.bytes[0]);
    const bool block = candidate.device_offset_bytes % kBlock == 0;
    const bool file_start = candidate.device_offset_bytes % kSmallestBlock == 0 || offset == 0 ||
                            buffer.bytes[offset - 1] == std::byte{0};
    if (first == 'S') examine_database(buffer, offset, candidate, sink);
    if (first == 0x1f || first == 'P' || first == 0x28)
      report(buffer, offset, examine_archive(candidate), sink);
    if (first == 'P' || first == 0xff || (first == 0x78 && file_start))
      report(buffer, offset, examine_git(candidate, child_), sink);
    if (block && (first == 0x0D || first == 0x0A)) examine_page(buffer, offset, candidate.bytes, sink);
    if (first == 'L' || first == 0x03 || first == 0xFE || first == 0x37)
      report(buffer, offset, examine_container(candidate.bytes), sink);
    if (!file_start) return;
    if (first == 'P') report(buffer, offset, examine_key(candidate.bytes), sink);
    if (is_text_start(candidate.bytes))
      report(buffer, offset, examine_credential_file(candidate.bytes), sink);
    else
      report(buffer, offset, examine_leveldb(candidate), sink);
  }

  static bool is_text_start(ByteSpan bytes) {
    return std::ranges::all_of(bytes.first(16), [](std::byte b) {
      const auto c = std::to_integer<unsigned char>(b);
      return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\r' || c == '\t';
    });
  }

  void examine_database(const Buffer& buffer, std::size_t offset, const Candidate& candidate,
                        FindingSink& sink) {
    std::string skipped;
    for (const Artefact& artefact : examine_sqlite(candidate, child_, skipped))
      report(buffer, offset, artefact, sink);
    if (!skipped.empty()) sink.skipped(buffer.extent_of(offset, kSector), skipped);
  }

  // One finding for a run of pages, told by its first.
  static void examine_page(const Buffer& buffer, std::size_t offset, ByteSpan bytes, FindingSink& sink) {
    auto page = examine_sqlite_page(bytes);
    if (!page) return;
    if (offset >= kBlock && examine_sqlite_page(buffer.bytes.subspan(offset - kBlock, kBlock))) return;
    while (page->length_bytes + kBlock <= bytes.size() && page->length_bytes < kMarginBytes &&
           examine_sqlite_page(bytes.subspan(static_cast<std::size_t>(page->length_bytes), kBlock)))
      page->length_bytes += kBlock;
    report(buffer, offset, page, sink);
  }

  static void scan_keys(const Buffer& buffer, FindingSink& sink) {
    constexpr std::string_view kNeedle = "PRIVATE KEY";
    const std::string_view text = as_text(buffer.bytes);
    for (std::size_t at = find_text(text, kNeedle, 0); at != std::string_view::npos;
         at = find_text(text, kNeedle, at + kNeedle.size())) {
      const std::size_t from = at > kKeyLookBehind ? at - kKeyLookBehind : 0;
      const std::size_t dashes = text.substr(from, at - from).rfind("-----BEGIN ");
      if (dashes != std::string_view::npos)
        report(buffer, from + dashes, examine_key(buffer.bytes.subspan(from + dashes)), sink);
    }
  }

  ArtefactChild child_;
};

class ArtefactFactory final : public DetectorFactory {
 public:
  [[nodiscard]] Result<std::unique_ptr<Detector>> make() const override {
    return std::make_unique<ArtefactDetector>();
  }
};

}  // namespace

Result<std::unique_ptr<DetectorFactory>> make_artefact_factory() {
  return std::make_unique<ArtefactFactory>();
}

}  // namespace vacant::scan

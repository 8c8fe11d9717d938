// The artefact detector. Binary formats and credential files begin where files begin on a disk: at sectors,
// in practice at blocks. Key armour is looked for anywhere.
#include <fmt/format.h>

#include <algorithm>

#include "artefact/parts.h"
#include "core/landmarks.h"
#include "vacant/scan/artefact.h"

namespace vacant::scan {

namespace {

constexpr std::size_t kSector = 512, kSmallestBlock = 1024;
constexpr std::string_view kKeyBegin = "-----BEGIN ", kKeyWords = "PRIVATE KEY";
constexpr std::size_t kKeyLineBytes = 96 + kKeyWords.size();  // from the dashes on
constexpr std::byte kTableMagicFirst{0x57};

class ArtefactDetector final : public Detector {
 public:
  void scan(const Buffer& buffer, FindingSink& sink) override {
    Landmarks spare;
    Run run{buffer, sink, landmarks_of(buffer, spare)};
    if (buffer.device != nullptr) {
      scan_sectors(run);
    } else {
      scan_decoded(run);
    }
    run.landmarks.special.for_each([&](std::size_t at) { scan_mark(run, at); });
    tell_gaps(run);
  }
  [[nodiscard]] bool runs_on_decoded() const override { return true; }
  [[nodiscard]] bool uses_landmarks() const override { return true; }

 private:
  // One buffer, and what has been found in it so far.
  struct Run {
    const Buffer& buffer;
    FindingSink& sink;
    const Landmarks& landmarks;
    std::size_t text_index = 0;  // of the first text that ends behind the last place asked for
    Effort effort = {};
    std::size_t pages_end = 0;    // up to here b-tree pages are told already
    std::size_t records_end = 0;  // and up to here log records
    std::size_t text_end = 0;     // and up to here a text file of this rule
    std::string text_rule = {};

    [[nodiscard]] std::uint64_t base() const { return buffer.origin.device_offset_bytes; }
    // Whether there is text here or soon: a file may begin with a comment in letters that are not ASCII. The
    // places that are asked for must rise.
    [[nodiscard]] bool near_text(std::size_t offset) {
      while (text_index < landmarks.text.size() && landmarks.text[text_index].end <= offset) ++text_index;
      return text_index < landmarks.text.size() && landmarks.text[text_index].begin <= offset + kLeadBytes;
    }
    // Files begin at blocks: at a multiple of the smallest block, or behind the zeros that fill the last one.
    [[nodiscard]] bool file_may_begin(std::size_t offset) const {
      return (base() + offset) % kSmallestBlock == 0 || offset == 0 ||
             buffer.bytes[offset - 1] == std::byte{0};
    }
  };

  // What was not looked at in full is never silent, even where the bytes are found by other rules too.
  void tell_gaps(const Run& run) {
    const Extent owned =
        run.buffer.extent_of(run.buffer.owned_begin, run.buffer.owned_end - run.buffer.owned_begin);
    if (run.effort.refused) run.sink.skipped(owned, "too many long files begin here: not all were checked");
    if (child_.take_died())
      run.sink.skipped(owned, "the isolated parser of an artefact crashed or met a limit");
  }

  static void report(const Run& run, std::size_t offset, const std::optional<Artefact>& artefact) {
    if (!artefact || !run.buffer.owns(offset)) return;
    const std::uint64_t length = std::max<std::uint64_t>(artefact->length_bytes, 1);
    Extent extent = run.buffer.extent_of(offset, static_cast<std::size_t>(length));
    if (run.buffer.device != nullptr)
      extent = extent.intersect({0, std::max(run.buffer.device->size_bytes(), extent.offset_bytes + 1)});
    report(run, offset, *artefact, length, extent);
  }

  static void report(const Run& run, std::size_t offset, const Artefact& artefact, std::uint64_t length,
                     const Extent& extent) {
    Finding finding;
    finding.kind = artefact.kind;
    finding.rule = artefact.rule;
    finding.confidence = artefact.confidence;
    finding.origin = run.buffer.origin_at(offset);
    finding.length_bytes = length;
    finding.extent = extent;
    finding.detail = artefact.detail;
    const std::size_t here = run.buffer.bytes.size() - offset;
    run.sink.found(
        std::move(finding),
        run.buffer.bytes.subspan(offset, static_cast<std::size_t>(std::min<std::uint64_t>(here, length))));
  }

  void scan_sectors(Run& run) {
    const Buffer& buffer = run.buffer;
    std::size_t offset =
        static_cast<std::size_t>(round_up(run.base() + buffer.owned_begin, kSector) - run.base());
    for (; offset < buffer.owned_end && offset + 16 <= buffer.bytes.size(); offset += kSector)
      if (load_le<std::uint64_t>(buffer.bytes, offset) != 0) examine(run, offset);
  }

  // Text files inside decoded bytes: at the start, and where an archive's members begin.
  static void scan_decoded(const Run& run) {
    const ByteSpan bytes = run.buffer.bytes;
    for (std::size_t offset = 0; offset + 16 <= bytes.size(); offset += kSector)
      if (offset == 0 || bytes[offset - 1] == std::byte{0})
        report(run, offset, examine_credential_file(bytes.subspan(offset)));
  }

  void examine(Run& run, std::size_t offset) {
    const ByteSpan bytes = run.buffer.bytes.subspan(offset);
    const Candidate candidate{bytes, run.base() + offset, run.buffer.device, &run.effort};
    switch (std::to_integer<unsigned char>(bytes[0])) {
      case 'S':
        examine_database(run, offset, candidate);
        break;
      case 'P':
      case 0x1f:
      case 0x28:
        report(run, offset, examine_archive(candidate, child_));
        [[fallthrough]];
      case 0xff:
      case 0x78:
        report(run, offset, examine_git(candidate, child_));
        break;
      case 0x37:
        report(run, offset, examine_sqlite_wal(candidate));
        break;
      case 'L':
      case 0x03:
      case 0xFE:
        report(run, offset, examine_container(candidate));
        break;
      case 0x0A:
      case 0x0D:
        examine_pages(run, offset);
        break;
      default:
        break;
    }
    if (run.file_may_begin(offset)) examine_file_start(run, offset, bytes);
  }

  static void examine_file_start(Run& run, std::size_t offset, ByteSpan bytes) {
    const auto record_type = load_le<std::uint8_t>(bytes, 6);
    if (record_type == 1 || record_type == 2) examine_log(run, offset, bytes);
    if (!run.near_text(offset)) return;
    if (bytes[0] == std::byte{'P'}) report(run, offset, examine_key(bytes));
    const auto text = examine_credential_file(bytes);
    // A file's later blocks are files of its kind as well; they are one.
    if (text && (offset >= run.text_end || text->rule != run.text_rule)) {
      run.text_end = offset + static_cast<std::size_t>(text->length_bytes);
      run.text_rule = text->rule;
      report(run, offset, text);
    }
  }

  static void examine_log(Run& run, std::size_t offset, ByteSpan bytes) {
    if (offset < run.records_end) return;
    const auto log = examine_leveldb_log(bytes);
    if (log) run.records_end = offset + static_cast<std::size_t>(log->length_bytes);
    report(run, offset, log);
  }

  void examine_database(Run& run, std::size_t offset, const Candidate& candidate) {
    std::string skipped;
    const std::vector<Artefact> found = examine_sqlite(candidate, child_, skipped);
    for (const Artefact& artefact : found) report(run, offset, artefact);
    if (!found.empty() && found.front().rule == "sqlite-database")
      run.pages_end = std::max(run.pages_end, offset + static_cast<std::size_t>(found.front().length_bytes));
    if (!skipped.empty()) run.sink.skipped(run.buffer.extent_of(offset, kSector), skipped);
  }

  // Pages that begin in the owned part; the next segment tells those behind it.
  static void examine_pages(Run& run, std::size_t offset) {
    if (offset < run.pages_end) return;
    const auto pages = examine_sqlite_pages(run.buffer.bytes.subspan(offset), run.buffer.owned_end - offset);
    if (!pages) return;
    run.pages_end = offset + static_cast<std::size_t>(pages->length_bytes);
    report(run, offset, pages);
  }

  static void scan_mark(const Run& run, std::size_t at) {
    if (run.buffer.bytes[at] == std::byte{'-'}) scan_key(run, at);
    if (run.buffer.bytes[at] == kTableMagicFirst && run.buffer.device != nullptr) scan_table(run, at);
  }

  // A LevelDB table is told by its end, wherever in a sector that is.
  static void scan_table(const Run& run, std::size_t at) {
    constexpr std::size_t kBefore = kTableFooterBytes - kTableMagic.size();
    if (at >= kBefore && run.buffer.owns(at - kBefore) &&
        as_text(run.buffer.bytes.subspan(at)).starts_with(kTableMagic))
      report_table(run, at - kBefore);
  }

  static void report_table(const Run& run, std::size_t footer_at) {
    const auto footer = examine_table_footer(run.buffer.bytes, footer_at, run.base());
    if (!footer) return;
    const std::uint64_t end = run.base() + footer_at + kTableFooterBytes;
    const std::uint64_t begin = end - footer->table_bytes;
    // The file lies in one piece if its handles lead back to where a file can begin.
    const bool in_one_piece = begin % kSector == 0 && begin >= run.base();
    Artefact table{FindingKind::kArtefact, "leveldb-table", Confidence::kLikely, kTableFooterBytes,
                   fmt::format("table of {} bytes", footer->table_bytes)};
    if (footer->index_holds) {
      table.confidence = Confidence::kProven;
      table.detail += ", its index's checksum holds";
    }
    const Extent extent =
        in_one_piece ? Extent{begin, end - begin} : Extent{end - kTableFooterBytes, kTableFooterBytes};
    report(run, footer_at, table, kTableFooterBytes, extent);
  }

  // At the last dash before "BEGIN".
  static void scan_key(const Run& run, std::size_t at) {
    constexpr std::size_t kBefore = 4;
    if (at < kBefore || !run.buffer.owns(at - kBefore)) return;
    const ByteSpan bytes = run.buffer.bytes.subspan(at - kBefore);
    const std::string_view text = as_text(bytes).substr(0, kKeyLineBytes);
    if (!text.starts_with(kKeyBegin)) return;
    const std::size_t words = text.find(kKeyWords);
    const bool is_last = text.substr(0, words).rfind(kKeyBegin) == 0;
    if (words != std::string_view::npos && is_last) report(run, at - kBefore, examine_key(bytes));
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

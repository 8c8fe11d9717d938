#include "engine/segment.h"

#include <sodium.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "core/landmarks.h"
#include "vacant/secrets/placeholder.h"

namespace vacant::scan {

namespace {

constexpr std::uint64_t kRunGapBytes = 4 * kKiB;  // runs of data are cut at zeros of this length

bool vouched_for(Class cls) { return cls == Class::kBase || cls == Class::kDerived; }

class SegmentSink final : public FindingSink {
 public:
  SegmentSink(const SegmentContext& context, const Extent& segment,
              std::vector<std::unique_ptr<Detector>>& detectors, SegmentResult& result)
      : context_(context), segment_(segment), detectors_(detectors), result_(result) {}

  void found(Finding finding, ByteSpan matched) override;
  void skipped(const Extent& extent, std::string_view reason) override;
  void nested(const Buffer& decoded) override;
  void start_slice(const Window& window) { window_ = &window; }
  void start_run() { nested_bytes_ = 0; }
  void search(Buffer& buffer);
  // Once the runs of the whole segment are in the result.
  void finish();

 private:
  struct Kept {
    Finding finding;
    std::uint64_t digest = 0;  // of the matched bytes; stays in this object
    bool reaches_on = false;   // behind its window, whose classes are known at the end only
  };
  // Whether the segment has bytes of this extent that are not in the window yet.
  [[nodiscard]] bool reaches_on(const Extent& extent) const {
    return std::min(extent.end_bytes(), segment_.end_bytes()) > window_->extent.end_bytes();
  }
  void skip(const SkippedExtent& part, Class worst);
  void settle();
  // What tells two secrets apart: the bytes, and of a listed secret its label, since its forms differ in
  // bytes.
  static std::uint64_t content_of(const Kept& kept);
  [[nodiscard]] bool is_placeholder(const Finding& finding, ByteSpan matched) const;

  const SegmentContext& context_;
  const Extent segment_;
  const Window* window_ = nullptr;
  std::vector<std::unique_ptr<Detector>>& detectors_;
  SegmentResult& result_;
  std::uint64_t nested_bytes_ = 0;
  std::array<Landmarks, kMaxDecodeDepth + 1> landmarks_;  // by depth
  std::vector<Kept> kept_;
  std::vector<std::pair<SkippedExtent, Class>> open_skips_;  // likewise, with the worst class so far
};

std::uint64_t SegmentSink::content_of(const Kept& kept) {
  if (kept.finding.kind != FindingKind::kKnownSecret) return kept.digest;
  const std::string_view label =
      std::string_view(kept.finding.detail).substr(0, kept.finding.detail.rfind(", form "));
  return XXH3_64bits(label.data(), label.size());
}

bool SegmentSink::is_placeholder(const Finding& finding, ByteSpan matched) const {
  return context_.placeholder_key != nullptr && finding.kind == FindingKind::kToken &&
         secrets::verify_placeholder(*context_.placeholder_key, as_text(matched));
}

std::string digest_prefix(const SecretBytes& key, ByteSpan matched) {
  std::array<std::byte, 16> digest{};
  // SAFETY: libsodium takes unsigned char; std::byte may be viewed as such.
  crypto_generichash(reinterpret_cast<unsigned char*>(digest.data()), digest.size(),
                     reinterpret_cast<const unsigned char*>(matched.data()), matched.size(),
                     reinterpret_cast<const unsigned char*>(key.expose().data()), key.size());
  return to_hex(ByteSpan(digest).first(8));
}

void SegmentSink::found(Finding finding, ByteSpan matched) {
  if (is_placeholder(finding, matched)) {
    ++result_.placeholders;
    return;
  }
  const bool open = reaches_on(finding.extent);
  finding.cls = worst_class(*window_, finding.extent);
  if (!open && !is_reported(finding.kind, finding.cls, context_.policy)) return;
  if (context_.hash_key != nullptr) finding.digest_prefix = digest_prefix(*context_.hash_key, matched);
  ++result_.rule_counts[finding.rule];
  if (kept_.size() < kMaxSegmentFindings)
    kept_.push_back({std::move(finding), XXH3_64bits(matched.data(), matched.size()), open});
}

void SegmentSink::skipped(const Extent& extent, std::string_view reason) {
  const SkippedExtent part{extent, std::string(reason)};
  const Class worst = worst_class(*window_, extent);
  if (reaches_on(extent) && open_skips_.size() < kMaxSegmentFindings)
    return open_skips_.push_back({part, worst});
  skip(part, worst);
}

void SegmentSink::skip(const SkippedExtent& part, Class worst) {
  if (vouched_for(worst)) return;
  ++result_.skipped_count;
  if (result_.skipped.size() < kMaxSkipped) result_.skipped.push_back(part);
}

// Gives what reaches behind its slice the worst class of all that the segment has of it.
void SegmentSink::settle() {
  for (const auto& [part, worst] : open_skips_)
    skip(part, worse(worst, worst_class(result_.runs, part.extent)));
  for (Kept& kept : kept_)
    if (kept.reaches_on)
      kept.finding.cls = worse(kept.finding.cls, worst_class(result_.runs, kept.finding.extent));
  std::erase_if(kept_, [&](const Kept& kept) {
    if (!kept.reaches_on || is_reported(kept.finding.kind, kept.finding.cls, context_.policy)) return false;
    --result_.rule_counts[kept.finding.rule];
    return true;
  });
}

void SegmentSink::nested(const Buffer& decoded) {
  nested_bytes_ += decoded.bytes.size();
  if (nested_bytes_ > kMaxNestedBytes)
    return skipped(decoded.outer, "decodes to more than the limit for one run");
  Buffer buffer = decoded;
  search(buffer);
}

void SegmentSink::search(Buffer& buffer) {
  const auto depth = static_cast<std::size_t>(buffer.depth());
  VACANT_ASSERT(depth < landmarks_.size());
  if (std::ranges::any_of(detectors_, [](const auto& detector) { return detector->uses_landmarks(); })) {
    find_landmarks(buffer.bytes, std::min(buffer.bytes.size(), buffer.owned_end + kLeadBytes),
                   landmarks_[depth]);
    buffer.landmarks = &landmarks_[depth];
  }
  for (const auto& detector : detectors_)
    if (depth == 0 || detector->runs_on_decoded()) detector->scan(buffer, *this);
}

// The same secret may be seen more than once: by two decoders that overlap, in its plain bytes and again in a
// decoded run around them, or by the fingerprint of its encoded form and that of its value. It is one
// finding: the one with the fewest layers.
void SegmentSink::finish() {
  settle();
  std::ranges::sort(kept_, [](const Kept& a, const Kept& b) {
    return std::tuple(a.finding.origin.layers.size(), std::cref(a.finding)) <
           std::tuple(b.finding.origin.layers.size(), std::cref(b.finding));
  });
  std::map<std::pair<std::string, std::uint64_t>, std::vector<Extent>> seen;
  for (Kept& kept : kept_) {
    std::vector<Extent>& places = seen[{kept.finding.rule, content_of(kept)}];
    const bool nested = !kept.finding.origin.layers.empty();
    const bool again = nested && std::ranges::any_of(places, [&](const Extent& place) {
                         return place.overlaps(kept.finding.extent);
                       });
    const bool twin = !result_.findings.empty() && result_.findings.back() == kept.finding;
    if (again || twin) {
      --result_.rule_counts[kept.finding.rule];
      continue;
    }
    places.push_back(kept.finding.extent);
    result_.findings.push_back(std::move(kept.finding));
  }
  std::ranges::sort(result_.findings);
  std::ranges::sort(result_.skipped);
}

// Hands each run of data that touches the owned part to the detectors, cut where 4 KiB of zeros lie between.
void search_runs(const SegmentContext& context, const Window& window, SegmentSink& sink) {
  constexpr std::size_t kGap = kRunGapBytes / kSectorBytes;
  std::size_t at = 0;
  while (at < window.sector_count()) {
    if (!window.holds_data(at)) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    std::size_t end = at + 1;
    for (std::size_t next = end; next < window.sector_count() && next - end < kGap; ++next)
      if (window.holds_data(next)) end = next + 1;
    at = end;
    const Extent run{window.sector_extent(begin).offset_bytes,
                     window.sector_extent(end - 1).end_bytes() - window.sector_extent(begin).offset_bytes};
    const Extent owned = run.intersect(window.owned);
    if (owned.empty()) continue;
    Buffer buffer;
    buffer.bytes = ByteSpan(window.bytes)
                       .subspan(static_cast<std::size_t>(run.offset_bytes - window.extent.offset_bytes),
                                static_cast<std::size_t>(run.length_bytes));
    buffer.owned_begin = static_cast<std::size_t>(owned.offset_bytes - run.offset_bytes);
    buffer.owned_end = buffer.owned_begin + static_cast<std::size_t>(owned.length_bytes);
    buffer.origin.device_offset_bytes = run.offset_bytes;
    buffer.device = &context.device;
    sink.start_run();
    sink.search(buffer);
  }
}

void append_owned_runs(const Window& window, std::vector<ClassExtent>& runs) {
  for (std::size_t i = 0; i < window.sector_count(); ++i) {
    const Extent part = window.sector_extent(i).intersect(window.owned);
    if (part.empty()) continue;
    if (!runs.empty() && runs.back().cls == window.classes[i])
      runs.back().extent.length_bytes += part.length_bytes;
    else
      runs.push_back({part, window.classes[i]});
  }
}

void report_foreign(const std::vector<ForeignBlock>& blocks, SegmentSink& sink, SegmentResult& result,
                    std::set<std::string>& identities) {
  for (const ForeignBlock& block : blocks) {
    Finding finding;
    finding.kind = FindingKind::kForeignIdentity;
    finding.rule = rule_name(block.attribution.kind);
    finding.confidence = block.certain ? Confidence::kProven : Confidence::kLikely;
    finding.origin.device_offset_bytes = block.extent.offset_bytes;
    finding.length_bytes = block.extent.length_bytes;
    finding.extent = block.extent;
    finding.detail = block.attribution.detail;
    if (!block.certain) finding.detail += "; or of something deleted here, whose inode was used again";
    if (block.certain) finding.identity = block.attribution.identity;
    if (!finding.identity.empty()) identities.insert(finding.identity);
    sink.found(std::move(finding), {});
  }
  result.foreign_blocks += static_cast<std::uint64_t>(std::ranges::count_if(blocks, &ForeignBlock::certain));
}

}  // namespace

bool is_reported(FindingKind kind, Class cls, Policy policy) {
  switch (kind) {
    case FindingKind::kKnownSecret:
    case FindingKind::kToken:
    case FindingKind::kForeignIdentity:
      return true;
    case FindingKind::kPrivateKey:
    case FindingKind::kCredentialFile:
      return !vouched_for(cls);
    case FindingKind::kArtefact:
      return !accepts(policy, cls);
  }
  return true;
}

SegmentResult scan_segment(const SegmentContext& context, std::uint64_t segment_index, SegmentTools tools) {
  const std::uint64_t begin = segment_index * kSegmentBytes;
  const Extent segment{begin, std::min(kSegmentBytes, context.device.size_bytes() - begin)};
  SegmentResult result;
  std::set<std::string> identities;
  SegmentSink sink(context, segment, tools.detectors, result);
  for (std::uint64_t at = begin; at < segment.end_bytes(); at += kSliceBytes) {
    Window& window = tools.reader.read({at, std::min(kSliceBytes, segment.end_bytes() - at)});
    sink.start_slice(window);
    report_foreign(classify(window, context.evidence), sink, result, identities);
    search_runs(context, window, sink);
    result.skipped_count += window.unreadable.size();
    result.skipped.insert(result.skipped.end(), window.unreadable.begin(), window.unreadable.end());
    append_owned_runs(window, result.runs);
  }
  sink.finish();
  result.identities.assign(identities.begin(), identities.end());
  return result;
}

}  // namespace vacant::scan

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "known/index.h"
#include "vacant/scan/known.h"

namespace vacant::scan {
namespace {

using known::Entry;
using known::Group;
using known::KnownIndex;
using known::Probe;

// Bytes put through the digest for one buffer. Near misses are as rare as windows that equal a secret's; only
// data made to slow the scan down gets here, and what is left of it is reported as not looked at.
constexpr std::uint64_t kDigestBudgetBytes = 256 * kMiB;

// A form that holds another one of the same secret begins at most one escape before it.
constexpr std::size_t kLookBack = 16;

struct Hit {
  std::size_t at;
  std::uint32_t secret;
  std::uint32_t length;
  std::uint16_t form;
};

// One pass over one buffer.
class Pass {
 public:
  Pass(const KnownIndex& index, const Buffer& buffer)
      : index_(index),
        buffer_(buffer),
        first_(buffer.owned_begin - std::min(buffer.owned_begin, kLookBack)) {}

  void run();
  void report(FindingSink& sink);

 private:
  template <unsigned kStride>
  void sample(std::size_t at, std::size_t end);
  void gram_hit(std::size_t at, std::uint32_t hash);
  void window_hit(std::size_t window_at, const Group& group);
  void drop_contained();
  void tell(const Hit& hit, FindingSink& sink) const;

  const KnownIndex& index_;
  const Buffer& buffer_;
  std::size_t
      first_;  // matches are looked for from here on, so that one behind an edge is known to be contained
  std::vector<Hit> hits_;
  std::uint64_t digested_bytes_ = 0;
};

void Pass::run() {
  const std::size_t size = buffer_.bytes.size();
  const unsigned stride = index_.stride();
  if (stride == 0 || size < secrets::kGramBytes || buffer_.owned_begin >= buffer_.owned_end) return;
  // A form that begins at the last owned byte has its window up to max_window_offset behind it, and the
  // sampled gram up to stride - 1 behind the window's first byte.
  const std::size_t end =
      std::min(size - secrets::kGramBytes + 1, buffer_.owned_end + index_.max_window_offset() + stride - 1);
  const std::size_t begin = round_down(first_, stride);
  switch (stride) {
    case 1:
      return sample<1>(begin, end);
    case 2:
      return sample<2>(begin, end);
    case 4:
      return sample<4>(begin, end);
    case 8:
      return sample<8>(begin, end);
    default:
      return sample<16>(begin, end);
  }
}

template <unsigned kStride>
void Pass::sample(std::size_t at, std::size_t end) {
  constexpr std::size_t kUnroll = 8;
  const std::byte* const data = buffer_.bytes.data();
  const std::uint64_t* const bits = index_.bits();
  const std::uint32_t mask = index_.hasher().mask(), factor = index_.hasher().factor();
  const unsigned shift = index_.shift();
  const auto hash_at = [&](std::size_t position) {
    std::uint32_t gram;
    std::memcpy(&gram, data + position, sizeof(gram));
    return (gram ^ mask) * factor;
  };
  const auto test = [&](std::uint32_t hash) {
    const std::uint32_t bit = hash >> shift;
    return bits[bit / 64] >> (bit % 64) & 1U;
  };
  for (; at + (kUnroll - 1) * kStride < end; at += kUnroll * kStride) {
    std::uint64_t any = 0;
    for (std::size_t i = 0; i < kUnroll; ++i) any |= test(hash_at(at + i * kStride));
    if (any == 0) [[likely]]
      continue;
    for (std::size_t i = 0; i < kUnroll; ++i) {
      const std::uint32_t hash = hash_at(at + i * kStride);
      if (test(hash) != 0) gram_hit(at + i * kStride, hash);
    }
  }
  for (; at < end; at += kStride) {
    const std::uint32_t hash = hash_at(at);
    if (test(hash) != 0) gram_hit(at, hash);
  }
}

void Pass::gram_hit(std::size_t at, std::uint32_t hash) {
  for (const Probe& probe : index_.probes(hash)) {
    if (probe.offset > at) continue;
    const std::size_t window_at = at - probe.offset;
    if (probe.width > buffer_.bytes.size() - window_at) continue;
    for (const Group& group : index_.groups(buffer_.bytes.subspan(window_at, probe.width)))
      window_hit(window_at, group);
  }
}

void Pass::window_hit(std::size_t window_at, const Group& group) {
  if (group.window_offset > window_at) return;
  const std::size_t form_at = window_at - group.window_offset;
  if (form_at < first_ || form_at >= buffer_.owned_end || group.length > buffer_.bytes.size() - form_at)
    return;
  if (digested_bytes_ > kDigestBudgetBytes) return;
  digested_bytes_ += group.length;
  const secrets::FormDigest digest =
      secrets::form_digest(index_.key(), buffer_.bytes.subspan(form_at, group.length));
  for (const Entry& entry : std::ranges::equal_range(group.entries, digest, {}, &Entry::digest))
    hits_.push_back({form_at, entry.secret, group.length, entry.form});
}

// One finding an occurrence: a form may begin with another one ("a&amp;" with "a&"), or hold it behind its
// first escape ("\/a" holds "/a"). The longer one is told.
void Pass::drop_contained() {
  std::ranges::sort(hits_, {},
                    [](const Hit& hit) { return std::tuple(hit.at, ~hit.length, hit.secret, hit.form); });
  std::map<std::uint32_t, std::size_t> end_of_secret;
  std::erase_if(hits_, [&](const Hit& hit) {
    std::size_t& end = end_of_secret[hit.secret];
    const bool contained = hit.at + hit.length <= end;
    end = std::max(end, hit.at + hit.length);
    return contained || !buffer_.owns(hit.at);
  });
}

void Pass::report(FindingSink& sink) {
  drop_contained();
  for (const Hit& hit : hits_) tell(hit, sink);
  if (digested_bytes_ > kDigestBudgetBytes)
    sink.skipped(buffer_.extent_of(buffer_.owned_begin, buffer_.owned_end - buffer_.owned_begin),
                 "too many beginnings of known secrets");
}

void Pass::tell(const Hit& hit, FindingSink& sink) const {
  Finding finding;
  finding.kind = FindingKind::kKnownSecret;
  finding.rule = "known-secret";
  finding.confidence = Confidence::kProven;
  finding.origin = buffer_.origin_at(hit.at);
  finding.length_bytes = hit.length;
  finding.extent = buffer_.extent_of(hit.at, hit.length);
  finding.detail = fmt::format("secret {}, form {}", index_.label(hit.secret), secrets::form_name(hit.form));
  sink.found(std::move(finding), buffer_.bytes.subspan(hit.at, hit.length));
}

class KnownDetector final : public Detector {
 public:
  explicit KnownDetector(std::shared_ptr<const KnownIndex> index) : index_(std::move(index)) {}
  void scan(const Buffer& buffer, FindingSink& sink) override {
    Pass pass(*index_, buffer);
    pass.run();
    pass.report(sink);
  }
  [[nodiscard]] bool runs_on_decoded() const override { return true; }

 private:
  std::shared_ptr<const KnownIndex> index_;
};

class KnownFactory final : public DetectorFactory {
 public:
  explicit KnownFactory(std::shared_ptr<const KnownIndex> index) : index_(std::move(index)) {}
  [[nodiscard]] Result<std::unique_ptr<Detector>> make() const override {
    return std::make_unique<KnownDetector>(index_);
  }

 private:
  std::shared_ptr<const KnownIndex> index_;
};

}  // namespace

Result<std::unique_ptr<DetectorFactory>> make_known_answer_factory(
    const secrets::FingerprintFile& fingerprints) {
  VACANT_TRY(init_crypto());
  auto index = std::make_shared<const KnownIndex>(VACANT_TRY(KnownIndex::build(fingerprints)));
  return std::make_unique<KnownFactory>(std::move(index));
}

}  // namespace vacant::scan

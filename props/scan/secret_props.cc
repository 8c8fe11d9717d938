// The law of the known-answer search: no planted secret is missed, in any encoding, at any offset, across any
// segment boundary; and what is not a secret is not found.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "engine/window.h"
#include "vacant/props/gen.h"
#include "vacant/scan/detector.h"
#include "vacant/scan/engine.h"
#include "vacant/secrets/fingerprint.h"

namespace vacant::props {
namespace {

// Two segments and a bit.
constexpr std::uint64_t kDiskBytes = 2 * scan::kSegmentBytes + 8192;

// Values as they come: of letters and digits, or of any bytes.
rc::Gen<ByteVector> secret_value() {
  return rc::gen::map(rc::gen::tuple(rc::gen::arbitrary<std::uint64_t>(),
                                     rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(16, 90)),
                                     rc::gen::arbitrary<bool>()),
                      [](const auto& choice) {
                        const auto& [seed, length, text] = choice;
                        ByteVector value = seeded_bytes(seed, length);
                        constexpr std::string_view kLetters =
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
                        if (text)
                          for (std::byte& byte : value)
                            byte = static_cast<std::byte>(kLetters[static_cast<std::size_t>(byte) % 64]);
                        return value;
                      });
}

// The disk with the form at this offset. The rest is random, or zeros.
ByteVector disk_with(ByteSpan form, std::uint64_t offset, std::uint64_t seed, bool random_filler) {
  ByteVector disk(kDiskBytes);
  const std::uint64_t begin = round_down(offset < 64 * kKiB ? 0 : offset - 64 * kKiB, 8);
  if (random_filler)
    std::ranges::copy(seeded_bytes(~seed, std::min<std::size_t>(128 * kKiB, kDiskBytes - begin)),
                      disk.begin() + static_cast<std::ptrdiff_t>(begin));
  std::ranges::copy(form, disk.begin() + static_cast<std::ptrdiff_t>(offset));
  return disk;
}

Result<scan::Report> search(ByteVector disk, const secrets::FingerprintFile& fingerprints) {
  MemDevice device(std::move(disk));
  scan::ScanOptions options;
  // All of it is the guest's own: only the secret can spoil the verdict.
  options.policy = scan::Policy::kInUse;
  options.write_map = scan::WriteMap({{0, device.size_bytes()}}, "extents");
  options.profile = scan::Profile::kKnownAnswer;
  options.fingerprints = &fingerprints;
  options.threads = 1;
  return scan::scan(device, options);
}

bool found_at(const scan::Report& report, std::uint64_t offset) {
  return std::ranges::any_of(report.findings, [offset](const scan::Finding& finding) {
    return finding.kind == scan::FindingKind::kKnownSecret && finding.origin.device_offset_bytes == offset;
  });
}

RC_GTEST_PROP(KnownAnswer, NoFormIsMissedAtAnyOffsetAboutABoundary, ()) {
  const ByteVector value = *secret_value();
  std::vector<secrets::NamedSecret> named;
  named.push_back({"planted", SecretBytes::copy_of(value)});
  const auto fingerprints = secrets::make_fingerprints(named);
  RC_PRE(fingerprints.has_value());  // too little variety is refused, rightly
  const auto forms = secrets::encoded_forms(value);
  RC_ASSERT(!forms.empty());
  const auto which = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, forms.size()));
  const ByteSpan form = forms[which].bytes.expose();
  // From "ends at the boundary" to "begins at it", and at both ends of the disk.
  const auto before = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(0, form.size() + 2));
  const std::vector<std::uint64_t> anchors = {2048, scan::kSliceBytes, scan::kSegmentBytes,
                                              2 * scan::kSegmentBytes, kDiskBytes - form.size()};
  const auto anchor = *rc::gen::elementOf(anchors);
  const std::uint64_t offset = anchor - std::min(before, anchor);
  const bool random_filler = *rc::gen::arbitrary<bool>();
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto report = search(disk_with(form, offset, seed, random_filler), *fingerprints);
  RC_ASSERT(report.has_value());
  RC_LOG() << "form " << forms[which].name << ", " << form.size() << " bytes, at " << offset << '\n';
  RC_ASSERT(found_at(*report, offset));
  RC_ASSERT(report->verdict == scan::Verdict::kSecret);
  RC_ASSERT(report->summary.known_secrets >= 1U);
  // Negative control: with one byte changed it is no occurrence any more.
  ByteVector other(form.begin(), form.end());
  other[other.size() / 2] ^= std::byte{0x15};
  const auto without = search(disk_with(other, offset, seed, random_filler), *fingerprints);
  RC_ASSERT(without.has_value());
  RC_ASSERT(!found_at(*without, offset));
  RC_ASSERT(without->verdict == scan::Verdict::kVacant);
}

}  // namespace
}  // namespace vacant::props

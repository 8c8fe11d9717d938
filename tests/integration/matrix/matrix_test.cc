// The detection matrix: kind x encoding x position, planted against found. It prints the table that README
// quotes, and holds it to 100 %. Every disk also carries the negative control: the same disk without what was
// planted must have no findings.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <map>
#include <random>

#include "encoders.h"
#include "vacant/props/devices.h"
#include "vacant/props/tokens.h"
#include "vacant/scan/engine.h"
#include "vacant/scan/token.h"

namespace vacant::scan {
namespace {

using props::MemDevice;

struct Encoding {
  const char* name;
  std::function<std::string(std::string_view)> encode;
};

const std::vector<Encoding>& encodings() {
  using namespace vacant::testing;
  static const std::vector<Encoding> list = {
      {"raw", [](std::string_view t) { return std::string(t); }},
      {"base64", [](std::string_view t) { return base64(t); }},
      {"base64url", [](std::string_view t) { return base64(t, true); }},
      {"hex", [](std::string_view t) { return hex(t); }},
      {"HEX", [](std::string_view t) { return hex(t, true); }},
      {"percent", [](std::string_view t) { return percent(t); }},
      {"json \\u", [](std::string_view t) { return json_unicode(t); }},
      {"utf16le", [](std::string_view t) { return utf16(t, false); }},
      {"utf16be", [](std::string_view t) { return utf16(t, true); }},
      {"gzip", [](std::string_view t) { return gzip(t); }},
      {"zlib", [](std::string_view t) { return deflate_with(t, 15); }},
      {"zstd", [](std::string_view t) { return zstd(t); }},
      {"zip", [](std::string_view t) { return zip(t); }},
      {"gzip+base64", [](std::string_view t) { return gzip(base64(t)); }},
      {"base64+gzip", [](std::string_view t) { return base64(gzip(t)); }}};
  return list;
}

// Where a plant of this size begins, for the n-th plant of a disk. Plants lie 4 MiB apart.
struct Position {
  const char* name;
  std::function<std::uint64_t(std::uint64_t edge, std::uint64_t size)> begin;
};

const std::vector<Position>& positions() {
  static const std::vector<Position> list = {
      {"block start", [](std::uint64_t edge, std::uint64_t) { return edge + 64 * kKiB; }},
      {"odd offset", [](std::uint64_t edge, std::uint64_t) { return edge + 70'001; }},
      {"over 4 KiB", [](std::uint64_t edge, std::uint64_t size) { return edge + 68 * kKiB - size / 2; }},
      {"over 1 MiB", [](std::uint64_t edge, std::uint64_t size) { return edge + kMiB - size / 2; }},
      {"over segment", [](std::uint64_t edge, std::uint64_t size) { return edge - size / 2; }},
      {"segment's last byte", [](std::uint64_t edge, std::uint64_t) { return edge - 1; }}};
  return list;
}

struct Plant {
  std::string rule;
  Extent extent;
};

struct Disk {
  explicit Disk(std::size_t count) : device((count + 2) * 4 * kMiB, true) {}
  void plant(const std::string& rule, const std::string& bytes, std::size_t index, const Position& position) {
    const std::uint64_t at = position.begin((index + 1) * 4 * kMiB, bytes.size());
    ASSERT_TRUE(device.write(at, as_bytes(bytes)));
    plants.push_back({rule, {at, bytes.size()}});
  }
  MemDevice device;
  std::vector<Plant> plants;
};

std::vector<Plant> missed(const Disk& disk, const Report& report) {
  std::vector<Plant> out;
  for (const Plant& plant : disk.plants) {
    const bool found = std::ranges::any_of(report.findings, [&](const Finding& finding) {
      return finding.rule == plant.rule && finding.extent.overlaps(plant.extent);
    });
    if (!found) out.push_back(plant);
  }
  return out;
}

ScanOptions full(const secrets::FingerprintFile* fingerprints = nullptr) {
  ScanOptions options;
  options.policy = Policy::kHandover;
  options.fingerprints = fingerprints;
  options.threads = 2;
  return options;
}

using Fill = std::function<void(Disk&, const Encoding&, const Position&)>;

// Scans one disk a cell and prints the row.
void run_matrix(const char* kind, std::size_t plants, const secrets::FingerprintFile* fingerprints,
                const Fill& fill) {
  std::printf("%-14s %-14s", kind, "encoding");
  for (const Position& position : positions()) std::printf(" %19s", position.name);
  std::printf("\n");
  for (const Encoding& encoding : encodings()) {
    std::printf("%-14s %-14s", kind, encoding.name);
    for (const Position& position : positions()) {
      Disk disk(plants);
      fill(disk, encoding, position);
      auto report = scan(disk.device, full(fingerprints));
      ASSERT_TRUE(report) << report.error().message;
      const auto lost = missed(disk, *report);
      std::printf(" %11zu of %4zu", disk.plants.size() - lost.size(), disk.plants.size());
      for (const Plant& plant : lost)
        ADD_FAILURE() << kind << ' ' << plant.rule << " as " << encoding.name << ", " << position.name
                      << ", at " << plant.extent.offset_bytes << " was missed";
    }
    std::printf("\n");
  }
}

TEST(DetectionMatrix, EveryTokenFormatInEveryEncodingAtEveryEdge) {
  const auto rules = token_rules();
  run_matrix("tokens", rules.size(), nullptr,
             [&](Disk& disk, const Encoding& encoding, const Position& position) {
               std::mt19937_64 random(7);
               for (std::size_t i = 0; i < rules.size(); ++i) {
                 const std::string text = "\n" + props::make_token_text(rules[i].id, random).text + "\n";
                 disk.plant(rules[i].id, encoding.encode(text), i, position);
               }
             });
}

TEST(DetectionMatrix, EveryListedSecretInEveryEncodingAtEveryEdge) {
  ASSERT_TRUE(init_crypto());
  std::mt19937_64 random(11);
  std::vector<secrets::NamedSecret> named;
  std::vector<std::string> values;
  for (const std::size_t size : {8, 11, 16, 24, 40, 64, 200}) {
    std::string value;
    while (value.size() < size) value += static_cast<char>('!' + random() % 94);
    values.push_back(value);
    named.push_back({"secret " + std::to_string(size), SecretBytes::copy_of(as_bytes(value))});
  }
  const auto fingerprints = secrets::make_fingerprints(named);
  ASSERT_TRUE(fingerprints) << fingerprints.error().message;
  run_matrix("known secrets", values.size(), &*fingerprints,
             [&](Disk& disk, const Encoding& encoding, const Position& position) {
               for (std::size_t i = 0; i < values.size(); ++i)
                 disk.plant("known-secret", encoding.encode("value: " + values[i] + "\n"), i, position);
             });
}

// The negative control: encoded text of the same shapes without secrets gives no finding, so that "found"
// above means something.
TEST(DetectionMatrix, WordsInTheSameEncodingsAreNoFindings) {
  for (const Encoding& encoding : encodings()) {
    Disk disk(3);
    for (std::size_t i = 0; i < 3; ++i)
      disk.plant("", encoding.encode("the quick brown fox jumps over the lazy dog, again and again\n"), i,
                 positions()[i]);
    const auto report = scan(disk.device, full());
    ASSERT_TRUE(report);
    EXPECT_EQ(report->summary.tokens + report->summary.private_keys + report->summary.credential_files, 0U)
        << encoding.name;
    EXPECT_EQ(report->verdict, Verdict::kResidue) << "and yet the bytes are not explained";
  }
}

}  // namespace
}  // namespace vacant::scan

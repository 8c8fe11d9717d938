#include "vacant/scan/baseline.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "core/strict_json.h"
#include "vacant/base/secret.h"

namespace vacant::scan {

namespace {

constexpr std::size_t kMaxEntries = 1'000'000;
constexpr std::size_t kReadBytes = kMiB;
constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kMaxReasonBytes = 1000;

bool is_reason(std::string_view text) {
  return text.size() <= kMaxReasonBytes && text.find_first_not_of(" \t\r\n") != std::string_view::npos;
}

// A day of the calendar in the one spelling YYYY-MM-DD, so that days compare as texts.
bool is_day(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  for (const std::size_t i : {0, 1, 2, 3, 5, 6, 8, 9})
    if (text[i] < '0' || text[i] > '9') return false;
  const int month = (text[5] - '0') * 10 + (text[6] - '0');
  const int day = (text[8] - '0') * 10 + (text[9] - '0');
  const int year = (text[0] - '0') * 1000 + (text[1] - '0') * 100 + (text[2] - '0') * 10 + (text[3] - '0');
  return std::chrono::year_month_day(std::chrono::year(year),
                                     std::chrono::month(static_cast<unsigned>(month)),
                                     std::chrono::day(static_cast<unsigned>(day)))
      .ok();
}

// SAFETY: libsodium takes unsigned char; std::byte may be viewed as such.
const unsigned char* raw(ByteSpan bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

Result<std::string> digest_of(BlockDevice& device, const Extent& extent, ByteSpan salt) {
  crypto_generichash_state state;
  crypto_generichash_init(&state, raw(salt), salt.size(), kDigestBytes);
  ByteVector buffer(static_cast<std::size_t>(std::min<std::uint64_t>(kReadBytes, extent.length_bytes)));
  for (std::uint64_t at = extent.offset_bytes; at < extent.end_bytes();) {
    const MutableByteSpan part = MutableByteSpan(buffer).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), extent.end_bytes() - at)));
    VACANT_TRY(device.read(at, part));
    crypto_generichash_update(&state, raw(part), part.size());
    at += part.size();
  }
  std::array<unsigned char, kDigestBytes> out{};
  crypto_generichash_final(&state, out.data(), out.size());
  return to_hex(std::as_bytes(std::span(out)));
}

Result<BaselineEntry> parse_entry(const nlohmann::json& value) {
  JsonFields fields = VACANT_TRY(JsonFields::of(value, "entries"));
  BaselineEntry out;
  const std::uint64_t offset = VACANT_TRY(fields.number("offset"));
  out.extent = VACANT_TRY(make_extent(offset, VACANT_TRY(fields.number("length"))));
  out.digest = VACANT_TRY(fields.text("digest", 64));
  out.reason = VACANT_TRY(fields.text("reason", kMaxReasonBytes));
  out.expires = VACANT_TRY(fields.text("expires", 10));
  VACANT_TRY(fields.done());
  if (out.extent.empty()) return fields.bad("length", "more than 0");
  if (out.digest.size() != 64 || !from_hex(out.digest)) return fields.bad("digest", "64 hex digits");
  if (!is_reason(out.reason))
    return fields.bad("reason", "given: who reads it must know why it was accepted");
  if (!is_day(out.expires)) return fields.bad("expires", "a day, YYYY-MM-DD");
  return out;
}

AcceptedExtent judge(BlockDevice& device, const BaselineEntry& entry, ByteSpan salt, std::string_view today) {
  AcceptedExtent out{entry.extent, entry.digest, entry.reason, entry.expires, false, ""};
  if (today > entry.expires) {
    out.note = "expired";
    return out;
  }
  if (entry.extent.end_bytes() > device.size_bytes()) {
    out.note = "lies past the device's end";
    return out;
  }
  const auto digest = digest_of(device, entry.extent, salt);
  out.applied = digest && *digest == entry.digest;
  if (!digest)
    out.note = "could not be read";
  else if (!out.applied)
    out.note = "the bytes are others now";
  return out;
}

}  // namespace

Result<Baseline> parse_baseline(std::string_view text) {
  const nlohmann::json document = VACANT_TRY(parse_strict_json(text));
  JsonFields fields = VACANT_TRY(JsonFields::of(document, "baseline"));
  if (VACANT_TRY(fields.text("format")) != "vacant-baseline/1")
    return fail(Code::kCorrupt, "not a baseline of version 1 (docs/formats/baseline.md)");
  Baseline out;
  const auto salt = from_hex(VACANT_TRY(fields.text("salt", 64)));
  if (!salt || salt->size() != out.salt.size()) return fields.bad("salt", "64 hex digits");
  std::ranges::copy(*salt, out.salt.begin());
  for (const nlohmann::json& entry : *VACANT_TRY(fields.array("entries", kMaxEntries)))
    out.entries.push_back(VACANT_TRY(parse_entry(entry)));
  VACANT_TRY(fields.done());
  std::ranges::sort(out.entries, {}, &BaselineEntry::extent);
  return out;
}

std::string serialise_baseline(const Baseline& baseline) {
  nlohmann::ordered_json out;
  out["format"] = "vacant-baseline/1";
  out["salt"] = to_hex(baseline.salt);
  out["entries"] = nlohmann::ordered_json::array();
  for (const BaselineEntry& entry : baseline.entries)
    out["entries"].push_back({{"offset", entry.extent.offset_bytes},
                              {"length", entry.extent.length_bytes},
                              {"digest", entry.digest},
                              {"reason", entry.reason},
                              {"expires", entry.expires}});
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<Baseline> make_baseline(BlockDevice& device, const std::vector<Extent>& extents,
                               std::string_view reason, std::string_view expires) {
  VACANT_TRY(init_crypto());
  if (!is_reason(reason))
    return fail(Code::kInvalidArgument,
                fmt::format("a baseline needs a reason, of at most {} bytes", kMaxReasonBytes));
  if (std::ranges::any_of(extents, &Extent::empty))
    return fail(Code::kInvalidArgument, "a baseline cannot hold an empty extent");
  if (!is_day(expires)) return fail(Code::kInvalidArgument, "a baseline needs a day of expiry, YYYY-MM-DD");
  if (extents.size() > kMaxEntries)
    return fail(Code::kLimit, fmt::format("a baseline holds at most {} extents", kMaxEntries));
  Baseline out;
  randombytes_buf(out.salt.data(), out.salt.size());
  for (const Extent& extent : extents)
    out.entries.push_back(
        {extent, VACANT_TRY(digest_of(device, extent, out.salt)), std::string(reason), std::string(expires)});
  std::ranges::sort(out.entries, {}, &BaselineEntry::extent);
  return out;
}

Result<std::vector<AcceptedExtent>> evaluate_baseline(BlockDevice& device, const Baseline& baseline,
                                                      std::string_view today) {
  VACANT_TRY(init_crypto());
  if (!is_day(today))
    return fail(Code::kInvalidArgument, "the day to judge a baseline on must be YYYY-MM-DD");
  std::vector<AcceptedExtent> out;
  for (const BaselineEntry& entry : baseline.entries)
    out.push_back(judge(device, entry, baseline.salt, today));
  return out;
}

}  // namespace vacant::scan

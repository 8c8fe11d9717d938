// The decoders' Detector. What is handed on as nested, and what is not, is told in docs/formats/decoding.md.
#include <fmt/core.h>

#include <algorithm>

#include "decode/classes.h"
#include "decode/codecs.h"
#include "decode/deflate_probe.h"
#include "decode/glance.h"
#include "decode/inflate.h"
#include "vacant/scan/decode.h"

namespace vacant::scan {
namespace {

using decode::Chars;
using decode::Decoded;
using decode::Ending;
using decode::Format;
using decode::Inflated;
using decode::kMinHexDigits;

constexpr std::size_t kLongRun =
    256;  // characters: no word is that long, so decode it whatever it looks like
constexpr std::uint64_t kMaxCompressedBytes = 16 * kMiB;  // of one stream
constexpr std::uint64_t kMaxEncodedBytes = 22 * kMiB;     // of one base64 run: 16 MiB decoded
constexpr std::size_t kFirstInputBytes = 16 * 1024;       // most streams in residue are small

// Shared by the scan of one buffer and of everything nested in it: hostile data must not multiply without
// end.
struct Budget {
  static constexpr std::uint64_t kBytes = 128 * kMiB;
  static constexpr std::size_t kStreams = 16'384;  // calls of the decompressor
  std::uint64_t left_bytes = kBytes;
  std::size_t left_streams = kStreams;
  bool spent = false;
  int scans = 0;  // active
};

// The whole number at an offset, or 0 behind the end.
unsigned u8_at(ByteSpan bytes, std::size_t at) {
  return at < bytes.size() ? std::to_integer<unsigned>(bytes[at]) : 0;
}

struct Stream {
  Codec codec;
  Format format;
  std::size_t header_bytes;  // in front of the compressed bytes
};

std::optional<Stream> gzip_stream(ByteSpan bytes, std::size_t at) {
  const bool os_known = u8_at(bytes, at + 9) <= 13 || u8_at(bytes, at + 9) == 255;
  const unsigned level = u8_at(bytes, at + 8);
  if (bytes.size() - at < 18 || u8_at(bytes, at + 2) != 8 || (u8_at(bytes, at + 3) & 0xE0U) != 0)
    return std::nullopt;
  if (!os_known || (level != 0 && level != 2 && level != 4)) return std::nullopt;
  return Stream{Codec::kGzip, Format::kGzip, 0};
}

std::optional<Stream> zstd_stream(ByteSpan bytes, std::size_t at) {
  const bool magic = u8_at(bytes, at + 2) == 0x2F && u8_at(bytes, at + 3) == 0xFD;
  if (bytes.size() - at < 8 || !magic || (u8_at(bytes, at + 4) & 0x08U) != 0) return std::nullopt;
  return Stream{Codec::kZstd, Format::kZstd, 0};
}

// A local file header with a deflated or zstd member. Stored members are plain bytes already.
std::optional<Stream> zip_stream(ByteSpan bytes, std::size_t at) {
  if (bytes.size() - at < 32 || load_le<std::uint32_t>(bytes, at) != 0x04034B50) return std::nullopt;
  const auto version = load_le<std::uint16_t>(bytes, at + 4), flags = load_le<std::uint16_t>(bytes, at + 6);
  const auto method = load_le<std::uint16_t>(bytes, at + 8),
             name_bytes = load_le<std::uint16_t>(bytes, at + 26);
  const std::size_t header = 30U + name_bytes + load_le<std::uint16_t>(bytes, at + 28);
  const bool encrypted = (flags & 1U) != 0;
  if ((version & 0xFFU) > 63 || encrypted || name_bytes == 0 || name_bytes > 4096) return std::nullopt;
  if (header >= bytes.size() - at || (method != 8 && method != 93)) return std::nullopt;
  return Stream{Codec::kZip, method == 8 ? Format::kDeflate : Format::kZstd, header};
}

std::optional<Stream> zlib_stream(ByteSpan bytes, std::size_t at) {
  const bool dictionary = (u8_at(bytes, at + 1) & 0x20U) != 0;
  if (bytes.size() - at < 8 || dictionary || load_be<std::uint16_t>(bytes, at) % 31 != 0) return std::nullopt;
  if (!decode::plausible_deflate(bytes.subspan(at + 2))) return std::nullopt;
  return Stream{Codec::kZlib, Format::kZlib, 0};
}

std::optional<Stream> stream_at(ByteSpan bytes, std::size_t at) {
  switch (u8_at(bytes, at)) {
    case 0x1F:
      return gzip_stream(bytes, at);
    case 0x28:
      return zstd_stream(bytes, at);
    case 0x50:
      return zip_stream(bytes, at);
    default:
      return zlib_stream(bytes, at);
  }
}

// One pass over one buffer.
class Pass {
 public:
  Pass(const Buffer& buffer, FindingSink& sink, decode::Inflater& inflater, Budget& budget)
      : buffer_(buffer),
        owned_{buffer.owned_begin, buffer.owned_end},
        reach_(buffer.owned_end + decode::kEscapeGap),
        sink_(sink),
        inflater_(inflater),
        budget_(budget) {}

  void go(const Landmarks& landmarks);

 private:
  void run(Range run);
  void wide(std::size_t at);
  void special(std::size_t at);
  [[nodiscard]] bool touches_owned(const Range& range) const {
    return range.begin < owned_.end && range.end > owned_.begin;
  }
  // The budget is spent: says so once, and decodes nothing more of this buffer, nor of those that hold it.
  void give_up();
  bool gave_up() {
    if (budget_.spent) give_up();
    return given_up_;
  }
  void text_run(const Range& run, const Chars& chars);
  bool hex_runs(const Chars& chars);
  void hex_run(const Chars& chars, const Range& digits);
  void base64_run(const Range& run, const Chars& chars);
  void percent(std::size_t at);
  void json(std::size_t at);
  void compressed(std::size_t at);
  void hand_inflated(std::size_t at, const Stream& stream, Inflated inflated, bool input_was_cut);
  [[nodiscard]] ByteVector input(std::size_t from, std::uint64_t offset) const;
  [[nodiscard]] std::uint64_t input_bytes(std::size_t from) const;
  [[nodiscard]] ByteVector with_bytes_behind(const Range& run) const;
  void hand_on(Codec codec, const Range& encoded, Decoded decoded);

  const Buffer& buffer_;
  Range owned_;
  std::size_t reach_;  // an encoded text that begins in the owned part shows itself before this
  FindingSink& sink_;
  decode::Inflater& inflater_;
  Budget& budget_;
  bool given_up_ = false;
  std::size_t run_end_ = 0, wide_end_ = 0, percent_end_ = 0, json_end_ = 0, stream_end_ = 0;
};

void Pass::hand_on(Codec codec, const Range& encoded, Decoded decoded) {
  if (decoded.owned.begin >= decoded.owned.end) return;
  const Extent extent = buffer_.extent_of(encoded.begin, encoded.size());
  if (buffer_.depth() >= kMaxDecodeDepth) return sink_.skipped(extent, "encoded too many times over");
  if (decoded.bytes.size() > budget_.left_bytes) return give_up();
  budget_.left_bytes -= decoded.bytes.size();
  Buffer nested;
  nested.bytes = decoded.bytes;
  nested.owned_begin = decoded.owned.begin;
  nested.owned_end = decoded.owned.end;
  nested.origin = buffer_.origin_at(encoded.begin);
  nested.origin.layers.push_back({codec, 0});
  nested.outer = extent;
  sink_.nested(nested);
}

void Pass::give_up() {
  if (given_up_) return;
  given_up_ = budget_.spent = true;
  sink_.skipped(buffer_.extent_of(owned_.begin, owned_.size()), "decodes to too much");
}

void Pass::go(const Landmarks& landmarks) {
  for (const Range& each : landmarks.runs) run(each);
  landmarks.wide.for_each([this](std::size_t at) { wide(at); });
  landmarks.special.for_each([this](std::size_t at) { special(at); });
}

void Pass::run(Range run) {
  if (gave_up() || run.begin < run_end_ || run.begin >= owned_.end) return;  // or a line of the run before
  if (run.size() < kLongRun) {
    const decode::Glance glance = decode::glance(buffer_.bytes, run);
    if (!glance.goes_on && !glance.text && !glance.hex) return;
  }
  const Chars chars = decode::gather(buffer_.bytes, run, owned_);
  run_end_ = run.end;
  if (touches_owned(run)) text_run(run, chars);
}

void Pass::text_run(const Range& run, const Chars& chars) {
  if (!hex_runs(chars)) base64_run(run, chars);
}

// Decodes the runs of hex digits inside; true if there is nothing but hex digits.
bool Pass::hex_runs(const Chars& chars) {
  const std::size_t size = chars.text.size();
  for (std::size_t begin = 0; begin < size;) {
    std::size_t end = begin;
    while (end < size && decode::is_hex(chars.text[end])) ++end;
    if (end - begin >= kMinHexDigits) hex_run(chars, {begin, end});
    if (end - begin == size) return true;
    begin = end + 1;
  }
  return false;
}

// Where the digits begin is not known if something is stuck to their front: both ways to pair them are tried.
void Pass::hex_run(const Chars& chars, const Range& digits) {
  for (std::size_t phase = 0; phase < 2; ++phase) {
    const Range part{digits.begin + phase, digits.end};
    Decoded decoded = decode::decode_hex(chars, part);
    const bool must = phase == 0 && (chars.wrapped || digits.size() >= kLongRun);
    if (must || decode::plausible(decoded.bytes))
      hand_on(Codec::kHex, {chars.position(part.begin), chars.position(part.end - 1) + 1},
              std::move(decoded));
  }
}

// The first of the four alignments is that of the line breaks, or of the start of the run. The others are
// tried too, since a run may begin before the buffer does or have something stuck to its front.
void Pass::base64_run(const Range& run, const Chars& chars) {
  const bool url =
      std::ranges::any_of(chars.text, [](std::byte c) { return c == std::byte{'-'} || c == std::byte{'_'}; });
  const Codec codec = url ? Codec::kBase64Url : Codec::kBase64;
  const std::size_t first = chars.broken ? chars.first_line % 4 : 0;
  for (std::size_t phase = 0; phase < 4; ++phase) {
    Decoded decoded = decode::decode_base64(chars, phase);
    const bool must = phase == first && (chars.wrapped || chars.text.size() >= kLongRun);
    if (!must && !decode::plausible(decoded.bytes)) continue;
    const bool cut = run.end == buffer_.bytes.size() && buffer_.device != nullptr;
    if (cut && decode::compressed_start(decoded.bytes)) {
      // The stream inside needs all of its bytes, also those behind this buffer.
      const ByteVector whole = with_bytes_behind(run);
      Range all{0, std::min(run.size(), whole.size())};
      const Range owned{owned_.begin - std::min(owned_.begin, run.begin), owned_.end - run.begin};
      while (all.end < whole.size() && decode::is_base64(whole[all.end])) ++all.end;
      decoded = decode::decode_base64(decode::gather(whole, all, owned), phase);
    }
    hand_on(codec, {chars.position(phase), run.end}, std::move(decoded));
  }
}

void Pass::wide(std::size_t at) {
  if (gave_up() || at < wide_end_ || at >= reach_) return;
  const Range run = decode::wide_run(buffer_.bytes, at);
  if (run.size() == 0) return;
  wide_end_ = run.end;
  if (!touches_owned(run)) return;
  // The text is the same in both byte orders; UTF-16 is aligned to its units as a rule, which tells them
  // apart.
  const std::uint64_t position = buffer_.origin.device_offset_bytes + run.begin;
  const Codec codec = position % 2 == 0 ? Codec::kUtf16Le : Codec::kUtf16Be;
  hand_on(codec, run, decode::decode_wide(buffer_.bytes, run, owned_));
}

void Pass::special(std::size_t at) {
  if (gave_up() || at >= reach_) return;
  switch (u8_at(buffer_.bytes, at)) {
    case '%':
      return percent(at);
    case '\\':
      return json(at);
    case 0x1F:
    case 0x28:
    case 0x50:
    case 0x78:
      return compressed(at);
    default:
      return;
  }
}

void Pass::percent(std::size_t at) {
  if (at < percent_end_) return;
  const decode::Cluster cluster = decode::percent_cluster(buffer_.bytes, at);
  percent_end_ = cluster.range.end;
  if (!cluster.enough || !touches_owned(cluster.range)) return;
  Decoded decoded = decode::decode_percent(buffer_.bytes, cluster.range, owned_);
  if (decode::plausible(decoded.bytes)) hand_on(Codec::kPercent, cluster.range, std::move(decoded));
}

void Pass::json(std::size_t at) {
  if (at < json_end_) return;
  const decode::Cluster cluster = decode::json_cluster(buffer_.bytes, at);
  json_end_ = cluster.range.end;
  if (!cluster.enough || !touches_owned(cluster.range)) return;
  Decoded decoded = decode::decode_json(buffer_.bytes, cluster.range, owned_);
  if (decode::plausible(decoded.bytes)) hand_on(Codec::kJson, cluster.range, std::move(decoded));
}

// How many bytes from `from` on there are: of the buffer, and behind it those of the device.
std::uint64_t Pass::input_bytes(std::size_t from) const {
  if (buffer_.device == nullptr) return buffer_.bytes.size() - from;
  const std::uint64_t at = buffer_.origin.device_offset_bytes + from;
  const std::uint64_t size = buffer_.device->size_bytes();
  return std::max<std::uint64_t>(buffer_.bytes.size() - from, size - std::min(at, size));
}

// A chunk of the input of a stream that begins at `from`. An unreadable place ends it: the engine reports it.
ByteVector Pass::input(std::size_t from, std::uint64_t offset) const {
  const std::uint64_t limit = std::min(kMaxCompressedBytes, input_bytes(from));
  const std::uint64_t want = offset == 0 ? kFirstInputBytes : decode::kInputChunkBytes;
  if (offset >= limit) return {};
  const std::uint64_t count = std::min(want, limit - offset);
  if (from + offset < buffer_.bytes.size()) {
    const ByteSpan rest = buffer_.bytes.subspan(from + offset);
    const ByteSpan part = rest.first(std::min<std::size_t>(rest.size(), count));
    return {part.begin(), part.end()};
  }
  ByteVector out(count);
  if (!buffer_.device->read(buffer_.origin.device_offset_bytes + from + offset, out)) return {};
  return out;
}

ByteVector Pass::with_bytes_behind(const Range& run) const {
  const ByteSpan here = buffer_.bytes.subspan(run.begin, run.size());
  ByteVector out(here.begin(), here.end());
  const std::uint64_t limit = std::min(kMaxEncodedBytes, input_bytes(run.begin));
  while (out.size() < limit) {
    ByteVector chunk(std::min<std::uint64_t>(kMiB, limit - out.size()));
    if (!buffer_.device->read(buffer_.origin.device_offset_bytes + run.begin + out.size(), chunk)) break;
    out.insert(out.end(), chunk.begin(), chunk.end());
    const auto outside = [](std::byte c) {
      return !decode::is_base64(c) && c != std::byte{'\n'} && c != std::byte{'\r'};
    };
    if (std::ranges::any_of(chunk, outside)) break;
  }
  return out;
}

void Pass::compressed(std::size_t at) {
  if (at < stream_end_ || !buffer_.owns(at)) return;
  const auto stream = stream_at(buffer_.bytes, at);
  if (!stream) return;
  const std::size_t from = at + stream->header_bytes;
  if (buffer_.depth() >= kMaxDecodeDepth)
    return sink_.skipped(buffer_.extent_of(at, 4), "encoded too many times over");
  if (budget_.left_streams == 0 || budget_.left_bytes == 0) return give_up();
  --budget_.left_streams;
  const std::uint64_t limit = std::min(kMaxDecodedBytes, budget_.left_bytes);
  auto inflated = inflater_.inflate(
      stream->format, limit, [&](std::uint64_t offset) -> Result<ByteVector> { return input(from, offset); });
  if (!inflated)
    return sink_.skipped(
        buffer_.extent_of(at, std::min<std::size_t>(kSectorBytes, buffer_.bytes.size() - at)),
        "the decompressor failed");
  // A nested buffer with bytes behind its owned part is a piece of a longer run.
  const bool piece = buffer_.device == nullptr && buffer_.owned_end < buffer_.bytes.size();
  hand_inflated(at, *stream, std::move(*inflated), piece || input_bytes(from) > kMaxCompressedBytes);
}

void Pass::hand_inflated(std::size_t at, const Stream& stream, Inflated inflated, bool input_was_cut) {
  const std::uint64_t length = std::max<std::uint64_t>(1, stream.header_bytes + inflated.consumed_bytes);
  const bool worthless = inflated.ending == Ending::kDamaged && inflated.bytes.size() < kMinHexDigits;
  if (worthless) return;
  stream_end_ = at + length;
  const Extent extent = buffer_.extent_of(at, length);
  if (inflated.ending == Ending::kTooLong) sink_.skipped(extent, "a compressed stream that is too long");
  if (inflated.ending == Ending::kTooDense)
    sink_.skipped(extent, "a compressed stream of a suspicious ratio");
  if (inflated.ending == Ending::kTruncated && input_was_cut)
    sink_.skipped(extent, "a compressed stream that goes on behind what was decoded");
  Decoded decoded;
  decoded.owned = {0, inflated.bytes.size()};
  decoded.bytes = std::move(inflated.bytes);
  hand_on(stream.codec, {at, at + length}, std::move(decoded));
}

class DecodeDetector final : public Detector {
 public:
  void scan(const Buffer& buffer, FindingSink& sink) override {
    if (budget_.scans == 0) budget_ = Budget{};
    ++budget_.scans;
    Pass pass(buffer, sink, inflater_, budget_);
    Landmarks spare;  // of this buffer: another one is scanned while it is in use
    pass.go(landmarks_of(buffer, spare));
    --budget_.scans;
  }
  [[nodiscard]] bool runs_on_decoded() const override { return true; }
  [[nodiscard]] bool uses_landmarks() const override { return true; }

 private:
  decode::Inflater inflater_;
  Budget budget_;
};

class DecodeFactory final : public DetectorFactory {
 public:
  [[nodiscard]] Result<std::unique_ptr<Detector>> make() const override {
    return std::make_unique<DecodeDetector>();
  }
};

}  // namespace

Result<std::unique_ptr<DetectorFactory>> make_decoder_factory() { return std::make_unique<DecodeFactory>(); }

}  // namespace vacant::scan

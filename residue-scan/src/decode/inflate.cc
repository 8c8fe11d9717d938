#include "decode/inflate.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

namespace vacant::scan::decode {
namespace {

constexpr std::size_t kOutputChunkBytes = 256 * 1024;
constexpr std::uint64_t kRatioFromBytes = 1024 * 1024;  // the ratio is looked at from here on
constexpr int kMaxWindowLog = 27;                       // zstd: 128 MiB of window

// Input by chunks, output with its limits: what both libraries share.
class Pump {
 public:
  Pump(std::uint64_t limit_bytes, const InputReader& input) : limit_bytes_(limit_bytes), input_(input) {}

  // True if there is input to work on.
  bool fill() {
    if (used_ < chunk_.size()) return true;
    offset_ += chunk_.size();
    used_ = 0;
    auto next = input_(offset_);
    chunk_ = next ? std::move(*next) : ByteVector{};
    return !chunk_.empty();
  }
  [[nodiscard]] ByteSpan rest() const { return ByteSpan(chunk_).subspan(used_); }
  void consume(std::size_t count) { used_ += count; }
  [[nodiscard]] std::uint64_t consumed() const { return offset_ + used_; }

  // Room for the next piece of output; commit() says how much of it was used.
  MutableByteSpan room() {
    const std::size_t have = out_.size();
    out_.resize(std::min<std::uint64_t>(limit_bytes_, have + kOutputChunkBytes));
    return MutableByteSpan(out_).subspan(have);
  }
  void commit(std::size_t unused) { out_.resize(out_.size() - unused); }
  [[nodiscard]] std::optional<Ending> over_limit() const {
    if (out_.size() >= limit_bytes_) return Ending::kTooLong;
    if (out_.size() > kRatioFromBytes && out_.size() / kMaxRatio > consumed()) return Ending::kTooDense;
    return std::nullopt;
  }
  Inflated finish(Ending ending) { return {ending, consumed(), std::move(out_)}; }

 private:
  std::uint64_t limit_bytes_;
  const InputReader& input_;
  ByteVector chunk_, out_;
  std::size_t used_ = 0;
  std::uint64_t offset_ = 0;
};

// SAFETY: zlib wants unsigned char, which may alias anything; next_in is not written through.
Bytef* zlib_bytes(const std::byte* bytes) {
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes));
}

int window_bits(Format format) {
  if (format == Format::kGzip) return 15 + 16;
  return format == Format::kZlib ? 15 : -15;
}

Inflated inflate_zlib(Format format, Pump& pump) {
  z_stream stream{};
  if (inflateInit2(&stream, window_bits(format)) != Z_OK) return pump.finish(Ending::kDamaged);
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
  for (;;) {
    const bool more = pump.fill();
    const ByteSpan in = pump.rest();
    const MutableByteSpan out = pump.room();
    stream.next_in = zlib_bytes(in.data());
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = zlib_bytes(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    pump.consume(in.size() - stream.avail_in);
    pump.commit(stream.avail_out);
    if (status == Z_STREAM_END) return pump.finish(Ending::kComplete);
    if (status != Z_OK && status != Z_BUF_ERROR) return pump.finish(Ending::kDamaged);
    if (const auto limit = pump.over_limit()) return pump.finish(*limit);
    if (!more && stream.avail_out > 0) return pump.finish(Ending::kTruncated);
  }
}

Inflated inflate_zstd(Pump& pump) {
  const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (!context) return pump.finish(Ending::kDamaged);
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  for (;;) {
    const bool more = pump.fill();
    const ByteSpan bytes = pump.rest();
    const MutableByteSpan room = pump.room();
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    ZSTD_outBuffer out{room.data(), room.size(), 0};
    const std::size_t status = ZSTD_decompressStream(context.get(), &out, &in);
    pump.consume(in.pos);
    pump.commit(room.size() - out.pos);
    if (ZSTD_isError(status) != 0) return pump.finish(Ending::kDamaged);
    if (status == 0) return pump.finish(Ending::kComplete);
    if (const auto limit = pump.over_limit()) return pump.finish(*limit);
    if (!more && out.pos < room.size()) return pump.finish(Ending::kTruncated);
  }
}

// Request: format, limit. Upcall: offset, answered by input. Answer: ending, consumed bytes, output.
Result<ByteVector> serve(ByteSpan request, IsolateChannel& channel) {
  Reader reader(request);
  const auto format = static_cast<Format>(VACANT_TRY(reader.le<std::uint8_t>()));
  const std::uint64_t limit_bytes = VACANT_TRY(reader.le<std::uint64_t>());
  const Inflated inflated = inflate_here(format, limit_bytes, [&](std::uint64_t offset) {
    ByteVector question(8);
    store_le<std::uint64_t>(question, 0, offset);
    return channel.upcall(question);
  });
  ByteVector answer(9 + inflated.bytes.size());
  store_le<std::uint8_t>(answer, 0, static_cast<std::uint8_t>(inflated.ending));
  store_le<std::uint64_t>(answer, 1, inflated.consumed_bytes);
  std::ranges::copy(inflated.bytes, answer.begin() + 9);
  return answer;
}

Result<Inflated> parse_answer(ByteSpan answer, std::uint64_t limit_bytes) {
  Reader reader(answer);
  Inflated out;
  const auto ending = VACANT_TRY(reader.le<std::uint8_t>());
  out.consumed_bytes = VACANT_TRY(reader.le<std::uint64_t>());
  if (ending > static_cast<std::uint8_t>(Ending::kTooDense) || reader.remaining() > limit_bytes)
    return fail(Code::kCorrupt, "the decompressor gave a wrong answer");
  out.ending = static_cast<Ending>(ending);
  const ByteSpan bytes = VACANT_TRY(reader.take(reader.remaining()));
  out.bytes.assign(bytes.begin(), bytes.end());
  return out;
}

}  // namespace

Inflated inflate_here(Format format, std::uint64_t limit_bytes, const InputReader& input) {
  Pump pump(limit_bytes, input);
  return format == Format::kZstd ? inflate_zstd(pump) : inflate_zlib(format, pump);
}

Result<Inflated> Inflater::inflate(Format format, std::uint64_t limit_bytes, const InputReader& input) {
  if (!isolate_ || !isolate_->alive()) {
    IsolateLimits limits;
    limits.cpu_seconds = 1'000'000;  // the child serves a whole scan; one call is bounded by `wall`
    isolate_.reset();
    isolate_.emplace(VACANT_TRY(Isolate::start(serve, limits)));
  }
  ByteVector request(9);
  store_le<std::uint8_t>(request, 0, static_cast<std::uint8_t>(format));
  store_le<std::uint64_t>(request, 1, limit_bytes);
  const auto upcall = [&](ByteSpan question) -> Result<ByteVector> {
    Reader reader(question);
    return input(VACANT_TRY(reader.le<std::uint64_t>()));
  };
  const ByteVector answer = VACANT_TRY(isolate_->call(request, upcall));
  return parse_answer(answer, limit_bytes);
}

}  // namespace vacant::scan::decode

#include "artefact/streams.h"

#include <zlib.h>

#include <algorithm>

namespace vacant::scan {

struct Inflater::State {
  z_stream stream{};
  bool started = false;
  ByteVector chunk = ByteVector(32 * 1024);
};

void Inflater::Free::operator()(State* state) const {
  if (state->started) inflateEnd(&state->stream);
  delete state;
}

Inflater::Inflater(int window_bits) : state_(new State) {
  state_->started = inflateInit2(&state_->stream, window_bits) == Z_OK;
}

std::optional<Inflater::Stream> Inflater::run(ByteSpan bytes, std::uint64_t limit_bytes) {
  if (!state_->started || inflateReset(&state_->stream) != Z_OK) return std::nullopt;
  z_stream& stream = state_->stream;
  ByteVector& chunk = state_->chunk;
  Stream out;
  // SAFETY: zlib takes unsigned char and does not write to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  for (;;) {
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    const int status = ::inflate(&stream, Z_SYNC_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) return std::nullopt;
    const std::size_t got = chunk.size() - stream.avail_out;
    if (out.out_bytes == 0)
      out.first.assign(chunk.begin(),
                       chunk.begin() + static_cast<std::ptrdiff_t>(std::min(got, kFirstBytes)));
    out.out_bytes += got;
    out.ended = status == Z_STREAM_END;
    if (out.ended || got == 0 || out.out_bytes > limit_bytes) break;
  }
  out.in_bytes = bytes.size() - stream.avail_in;
  return out;
}

namespace {

struct PackEntry {
  unsigned type = 0;
  std::uint64_t object_bytes = 0;
};

// Type and length in 7-bit groups, then what a delta is made against. nullopt: too few bytes.
std::optional<PackEntry> read_entry(ByteSpan bytes, std::size_t& at) {
  if (at >= bytes.size()) return std::nullopt;
  auto octet = std::to_integer<std::uint64_t>(bytes[at++]);
  PackEntry entry{static_cast<unsigned>((octet >> 4U) & 7U), octet & 15U};
  for (unsigned shift = 4; (octet & 0x80U) != 0; shift += 7) {
    if (at >= bytes.size() || shift > 53) return std::nullopt;
    octet = std::to_integer<std::uint64_t>(bytes[at++]);
    entry.object_bytes |= (octet & 0x7FU) << shift;
  }
  if (entry.type == 7) at += 20;
  if (entry.type == 6)
    while (at < bytes.size() && (std::to_integer<unsigned>(bytes[at++]) & 0x80U) != 0) {
    }
  if (at > bytes.size()) return std::nullopt;
  return entry;
}

}  // namespace

PackWalk walk_pack(ByteSpan bytes) {
  constexpr std::size_t kHeader = 12;
  constexpr std::uint64_t kEntryCost = 1024;  // an empty object takes time too
  PackWalk out;
  if (bytes.size() < kHeader) return out;
  const std::uint64_t count = load_be<std::uint32_t>(bytes, 8);
  std::uint64_t left = 4 * kMaxInflatedBytes;
  out.end_bytes = kHeader;
  Inflater inflater(15);
  while (out.objects < count) {
    std::size_t at = static_cast<std::size_t>(out.end_bytes);
    const auto entry = read_entry(bytes, at);
    out.cut_off = !entry;
    if (!entry || entry->type == 0 || entry->type == 5 || entry->object_bytes + kEntryCost > left) break;
    const auto stream = inflater.run(bytes.subspan(at), entry->object_bytes);
    out.cut_off = stream && !stream->ended && stream->out_bytes <= entry->object_bytes;
    if (!stream || !stream->ended || stream->out_bytes != entry->object_bytes) break;
    out.end_bytes = at + stream->in_bytes;
    left -= entry->object_bytes + kEntryCost;
    ++out.objects;
  }
  return out;
}

}  // namespace vacant::scan

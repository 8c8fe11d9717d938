#include <algorithm>

#include "artefact/parts.h"

namespace vacant::scan {

std::uint64_t Candidate::left_bytes() const {
  if (device == nullptr) return bytes.size();
  const std::uint64_t size = device->size_bytes();
  return size > device_offset_bytes ? size - device_offset_bytes : 0;
}

Result<ByteVector> Candidate::read(std::uint64_t size_bytes) const {
  if (size_bytes > left_bytes() || size_bytes > kMaxWholeBytes)
    return fail(Code::kLimit, "longer than what is here");
  if (!spend(size_bytes)) return fail(Code::kLimit, "too many long things here");
  ByteVector out;
  out.reserve(static_cast<std::size_t>(size_bytes) + 1);  // room for what the child's requests end in
  out.resize(static_cast<std::size_t>(size_bytes));
  const std::size_t have = std::min(out.size(), bytes.size());
  std::copy_n(bytes.begin(), have, out.begin());
  if (have < out.size())
    VACANT_TRY(device->read(device_offset_bytes + have, MutableByteSpan(out).subspan(have)));
  return out;
}

}  // namespace vacant::scan

// RapidCheck generators: extents, and disks composed of pieces whose classes are known beforehand. A plan is
// a value (it prints and shrinks); make_disk turns it into devices.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <memory>
#include <ostream>
#include <vector>

#include "vacant/base/extent.h"
#include "vacant/props/devices.h"

namespace vacant::props {

// What a piece's sectors hold.
enum class PieceKind : std::uint8_t {
  kUntouched,    // never written: a hole where those are trusted
  kZero,         // written zeros
  kBase,         // a copy of the base (zeros behind its end)
  kOwn,          // random bytes that the write map covers
  kOwnPartly,    // random bytes of which the write map covers all but one byte a sector
  kForeign,      // random bytes that nothing explains
  kForeignByte,  // zeros but for one byte a sector
  kAlmostBase,   // a copy of the base with one bit changed a sector
};
std::ostream& operator<<(std::ostream& out, PieceKind kind);

struct Piece {
  PieceKind kind = PieceKind::kUntouched;
  std::uint32_t sectors = 1;
};
std::ostream& operator<<(std::ostream& out, const Piece& piece);

struct DiskPlan {
  std::uint64_t size_bytes = 0;    // any; the last sector may be short
  std::uint64_t base_bytes = 0;    // the base's size, at most size_bytes
  std::uint64_t first_sector = 0;  // where the pieces begin; untouched before and after them
  std::vector<Piece> pieces;       // cut off at the end of the disk
  std::uint64_t seed = 0;
  bool trust_holes = false;
};
std::ostream& operator<<(std::ostream& out, const DiskPlan& plan);

struct MadeDisk {
  std::unique_ptr<MemDevice> disk;
  std::unique_ptr<MemDevice> base;
  std::vector<Extent> written;  // what the guest wrote itself
};
MadeDisk make_disk(const DiskPlan& plan);

// Random bytes, the same for the same seed.
ByteVector seeded_bytes(std::uint64_t seed, std::size_t count);

// A non-empty extent inside [0, size_bytes).
rc::Gen<Extent> extent_within(std::uint64_t size_bytes);
// Disks of up to a few dozen sectors, or whose pieces lie about a multiple of `boundary_bytes` (the engine's
// segment).
rc::Gen<DiskPlan> disk_plan(std::uint64_t boundary_bytes);

}  // namespace vacant::props

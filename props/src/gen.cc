#include "vacant/props/gen.h"

#include <algorithm>
#include <array>

namespace vacant::props {

namespace {

constexpr std::array kAllKinds = {PieceKind::kUntouched,   PieceKind::kZero,      PieceKind::kBase,
                                  PieceKind::kOwn,         PieceKind::kOwnPartly, PieceKind::kForeign,
                                  PieceKind::kForeignByte, PieceKind::kAlmostBase};

// SplitMix64: small, fast, and the same everywhere.
std::uint64_t next(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

// Sector `index` of the base: one in four is zero.
ByteVector base_sector(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t state = seed ^ (index * 0xD1342543DE82EF95U);
  if (next(state) % 4 == 0) return ByteVector(kSectorBytes);
  return seeded_bytes(state, kSectorBytes);
}

void flip_a_bit(ByteVector& bytes, std::uint64_t& state) {
  bytes[next(state) % bytes.size()] ^= static_cast<std::byte>(1U << (next(state) % 8));
}

class DiskMaker {
 public:
  explicit DiskMaker(const DiskPlan& plan) : plan_(plan), state_(~plan.seed) {
    made_.disk = std::make_unique<MemDevice>(plan.size_bytes, plan.trust_holes);
    ByteVector base;
    for (std::uint64_t index = 0; base.size() < plan.base_bytes; ++index) {
      const ByteVector sector = base_sector(plan.seed, index);
      base.insert(base.end(), sector.begin(), sector.end());
    }
    base.resize(plan.base_bytes);
    made_.base = std::make_unique<MemDevice>(std::move(base));
  }

  MadeDisk run() {
    std::uint64_t sector = plan_.first_sector;
    for (const Piece& piece : plan_.pieces)
      for (std::uint32_t i = 0; i < piece.sectors; ++i) put(piece.kind, sector++);
    return std::move(made_);
  }

 private:
  void put(PieceKind kind, std::uint64_t sector) {
    const std::uint64_t offset = sector * kSectorBytes;
    if (kind == PieceKind::kUntouched || offset >= plan_.size_bytes) return;
    ByteVector bytes = content(kind, offset);
    bytes.resize(std::min(kSectorBytes, plan_.size_bytes - offset));
    VACANT_ASSERT(made_.disk->write(offset, bytes).has_value());
    if (kind == PieceKind::kOwn) made_.written.push_back({offset, bytes.size()});
    if (kind == PieceKind::kOwnPartly && bytes.size() > 1)
      made_.written.push_back({offset, bytes.size() - 1});
  }

  ByteVector content(PieceKind kind, std::uint64_t offset) {
    ByteVector bytes(kSectorBytes);
    switch (kind) {
      case PieceKind::kUntouched:
      case PieceKind::kZero:
        break;
      case PieceKind::kAlmostBase:
      case PieceKind::kBase: {
        const std::uint64_t end = std::min(plan_.base_bytes, offset + kSectorBytes);
        if (end > offset) {
          const auto from = made_.base->bytes().begin() + static_cast<std::ptrdiff_t>(offset);
          std::copy_n(from, end - offset, bytes.begin());
        }
        if (kind == PieceKind::kAlmostBase) flip_a_bit(bytes, state_);
        break;
      }
      case PieceKind::kForeignByte:
        bytes[next(state_) % kSectorBytes] = static_cast<std::byte>(next(state_) % 255 + 1);
        break;
      case PieceKind::kOwn:
      case PieceKind::kOwnPartly:
      case PieceKind::kForeign:
        bytes = seeded_bytes(next(state_), kSectorBytes);
        break;
    }
    return bytes;
  }

  const DiskPlan& plan_;
  std::uint64_t state_;
  MadeDisk made_;
};

rc::Gen<Piece> piece() {
  return rc::gen::build<Piece>(
      rc::gen::set(&Piece::kind, rc::gen::elementOf(std::vector(kAllKinds.begin(), kAllKinds.end()))),
      rc::gen::set(&Piece::sectors,
                   rc::gen::weightedOneOf<std::uint32_t>({{4, rc::gen::inRange<std::uint32_t>(1, 9)},
                                                          {2, rc::gen::just<std::uint32_t>(8)},
                                                          {1, rc::gen::inRange<std::uint32_t>(1, 150)}})));
}

// Chooses where the disk lies about the boundaries, given what is on it.
rc::Gen<DiskPlan> place(std::uint64_t boundary_sectors) {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::element<std::uint64_t>(0, 0, 1, 2), rc::gen::inRange<std::uint64_t>(0, 40),
                     rc::gen::inRange<std::uint64_t>(1, 200), rc::gen::inRange<std::uint64_t>(0, 512),
                     rc::gen::inRange<std::uint64_t>(0, 101), rc::gen::inRange<std::uint64_t>(0, 512)),
      [boundary_sectors](const auto& choice) {
        const auto& [boundary, before, after, tail, base_percent, base_tail] = choice;
        DiskPlan plan;
        const std::uint64_t middle = boundary * boundary_sectors;
        plan.first_sector = middle > before ? middle - before : 0;
        plan.size_bytes = (middle + after) * kSectorBytes + tail;
        const std::uint64_t covered =
            round_down(plan.size_bytes - plan.first_sector * kSectorBytes, 100) / 100;
        plan.base_bytes =
            std::min(plan.size_bytes, plan.first_sector * kSectorBytes + covered * base_percent + base_tail);
        return plan;
      });
}

}  // namespace

std::ostream& operator<<(std::ostream& out, PieceKind kind) {
  constexpr std::array<const char*, 8> kNames = {"untouched",  "zero",    "base",         "own",
                                                 "own-partly", "foreign", "foreign-byte", "almost-base"};
  return out << kNames[static_cast<std::size_t>(kind)];
}

std::ostream& operator<<(std::ostream& out, const Piece& piece) {
  return out << piece.kind << '*' << piece.sectors;
}

std::ostream& operator<<(std::ostream& out, const DiskPlan& plan) {
  out << plan.size_bytes << " bytes, base " << plan.base_bytes << ", seed " << plan.seed
      << (plan.trust_holes ? ", holes trusted" : "") << ", from sector " << plan.first_sector << ':';
  for (const Piece& part : plan.pieces) out << ' ' << part;
  return out;
}

MadeDisk make_disk(const DiskPlan& plan) { return DiskMaker(plan).run(); }

ByteVector seeded_bytes(std::uint64_t seed, std::size_t count) {
  ByteVector bytes(round_up(count, sizeof(std::uint64_t)));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) store_le(bytes, at, next(seed));
  bytes.resize(count);
  return bytes;
}

rc::Gen<Extent> extent_within(std::uint64_t size_bytes) {
  VACANT_ASSERT(size_bytes > 0);
  return rc::gen::mapcat(rc::gen::inRange<std::uint64_t>(0, size_bytes), [size_bytes](std::uint64_t offset) {
    return rc::gen::map(rc::gen::inRange<std::uint64_t>(1, size_bytes - offset + 1),
                        [offset](std::uint64_t length) { return Extent{offset, length}; });
  });
}

rc::Gen<DiskPlan> disk_plan(std::uint64_t boundary_bytes) {
  return rc::gen::map(rc::gen::tuple(rc::gen::resize(rc::kNominalSize, place(boundary_bytes / kSectorBytes)),
                                     rc::gen::container<std::vector<Piece>>(piece()),
                                     rc::gen::arbitrary<std::uint64_t>(), rc::gen::arbitrary<bool>()),
                      [](auto choice) {
                        auto& [plan, pieces, seed, trust_holes] = choice;
                        plan.pieces = std::move(pieces);
                        plan.seed = seed;
                        plan.trust_holes = trust_holes;
                        return plan;
                      });
}

}  // namespace vacant::props

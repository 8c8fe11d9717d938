// The classes of the provenance ledger, the policies that accept them, and the verdicts. Value types.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace vacant::scan {

enum class Class : std::uint8_t {
  kHole,         // not allocated, in a source whose allocator we trust
  kZero,         // read, all zero
  kBase,         // equals the base image at the same offset
  kDerived,      // equals the tree of the image after its signed post-install steps
  kOwn,          // inside the write map of this guest
  kFsLive,       // referenced by a consistent file system on the device
  kForeign,      // carries an identity that is proven not to be ours
  kUnexplained,  // not zero, and none of the above
  kUnreadable,   // the device failed to read it
  kSkipped,      // a limit or a crash of a parser: not looked at, or not in full
};
inline constexpr std::size_t kClassCount = 10;
inline constexpr std::array<Class, kClassCount> kAllClasses = {
    Class::kHole,   Class::kZero,    Class::kBase,        Class::kDerived,    Class::kOwn,
    Class::kFsLive, Class::kForeign, Class::kUnexplained, Class::kUnreadable, Class::kSkipped};

std::string_view name(Class cls);  // "fs-live"
std::optional<Class> class_from_name(std::string_view text);

enum class Policy : std::uint8_t {
  kHandover,  // before a guest gets the disk: hole, zero, base, derived
  kInUse,     // a used disk with its write map: also own
  kInside,    // nothing is known but the device: also fs-live (weaker; the report says so)
};
std::string_view name(Policy policy);  // "in-use"
std::optional<Policy> policy_from_name(std::string_view text);
// Whether bytes of this class have an innocent explanation under the policy. Foreign, unexplained,
// unreadable and skipped never have.
bool accepts(Policy policy, Class cls);

enum class Verdict : std::uint8_t { kVacant, kResidue, kSecret, kNotProven };
std::string_view name(Verdict verdict);  // "not-proven"
std::optional<Verdict> verdict_from_name(std::string_view text);
int exit_code(Verdict verdict);  // 0, 1, 1, 3

}  // namespace vacant::scan

#include "vacant/scan/class.h"

#include "core/name_table.h"

namespace vacant::scan {

namespace {

constexpr std::array<std::string_view, kClassCount> kClassNames = {
    "hole", "zero", "base", "derived", "own", "fs-live", "foreign", "unexplained", "unreadable", "skipped"};
constexpr std::array<std::string_view, 3> kPolicyNames = {"handover", "in-use", "inside"};
constexpr std::array<std::string_view, 4> kVerdictNames = {"vacant", "residue", "secret", "not-proven"};

}  // namespace

std::string_view name(Class cls) { return kClassNames[static_cast<std::size_t>(cls)]; }
std::optional<Class> class_from_name(std::string_view text) { return find_name<Class>(kClassNames, text); }
std::string_view name(Policy policy) { return kPolicyNames[static_cast<std::size_t>(policy)]; }
std::optional<Policy> policy_from_name(std::string_view text) {
  return find_name<Policy>(kPolicyNames, text);
}
std::string_view name(Verdict verdict) { return kVerdictNames[static_cast<std::size_t>(verdict)]; }
std::optional<Verdict> verdict_from_name(std::string_view text) {
  return find_name<Verdict>(kVerdictNames, text);
}

bool accepts(Policy policy, Class cls) {
  switch (cls) {
    case Class::kHole:
    case Class::kZero:
    case Class::kBase:
    case Class::kDerived:
      return true;
    case Class::kOwn:
      return policy == Policy::kInUse;
    case Class::kFsLive:
      return policy == Policy::kInside;
    case Class::kForeign:
    case Class::kUnexplained:
    case Class::kUnreadable:
    case Class::kSkipped:
      return false;
  }
  return false;
}

int exit_code(Verdict verdict) {
  switch (verdict) {
    case Verdict::kVacant:
      return 0;
    case Verdict::kResidue:
    case Verdict::kSecret:
      return 1;
    case Verdict::kNotProven:
      return 3;
  }
  return 3;
}

}  // namespace vacant::scan

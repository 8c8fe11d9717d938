#include <array>

#include "core/name_table.h"
#include "vacant/scan/report.h"

namespace vacant::scan {

namespace {

constexpr std::array<std::string_view, 6> kKinds = {"known-secret",    "token",    "private-key",
                                                    "credential-file", "artefact", "foreign-identity"};
constexpr std::array<std::string_view, 3> kConfidences = {"proven", "likely", "possible"};
constexpr std::array<std::string_view, 3> kProfiles = {"inventory", "known-answer", "full"};
constexpr std::array<std::string_view, 5> kFormats = {"text", "json", "sarif", "junit", "html"};

}  // namespace

std::string_view name(FindingKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::optional<FindingKind> finding_kind_from_name(std::string_view text) {
  return find_name<FindingKind>(kKinds, text);
}
std::string_view name(Confidence confidence) { return kConfidences[static_cast<std::size_t>(confidence)]; }
std::optional<Confidence> confidence_from_name(std::string_view text) {
  return find_name<Confidence>(kConfidences, text);
}
std::string_view name(Profile profile) { return kProfiles[static_cast<std::size_t>(profile)]; }
std::optional<Profile> profile_from_name(std::string_view text) {
  return find_name<Profile>(kProfiles, text);
}
std::optional<Format> format_from_name(std::string_view text) { return find_name<Format>(kFormats, text); }

}  // namespace vacant::scan

// Reading of "label=value" lists. Values may be anything; no message here repeats one.
#include <fmt/core.h>

#include <set>

#include "vacant/secrets/fingerprint.h"

namespace vacant::secrets {
namespace {

Result<NamedSecret> parse_record(std::string_view record, std::size_t number) {
  const std::size_t equals = record.find('=');
  if (equals == std::string_view::npos)
    return fail(Code::kInvalidArgument,
                fmt::format("secret list, record {}: no '=' after the label", number));
  const std::string_view label = record.substr(0, equals), value = record.substr(equals + 1);
  if (!valid_label(label))
    return fail(
        Code::kInvalidArgument,
        fmt::format("secret list, record {}: the label is not 1 to 128 printable ASCII characters", number));
  if (value.size() > kMaxSecretBytes)
    return fail(Code::kLimit,
                fmt::format("secret list, record {}: longer than {} bytes", number, kMaxSecretBytes));
  return NamedSecret{std::string(label), SecretBytes::copy_of(as_bytes(value))};
}

}  // namespace

Result<std::vector<NamedSecret>> parse_secret_list(ByteSpan bytes) {
  std::string_view left = as_text(bytes);
  const char separator = left.find('\0') == std::string_view::npos ? '\n' : '\0';
  std::vector<NamedSecret> out;
  std::set<std::string, std::less<>> labels;
  for (std::size_t number = 1; !left.empty(); ++number) {
    const std::size_t end = std::min(left.find(separator), left.size());
    std::string_view record = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    if (separator == '\n' && record.ends_with('\r')) record.remove_suffix(1);
    if (record.empty()) continue;
    if (out.size() >= kMaxSecrets)
      return fail(Code::kLimit, fmt::format("more than {} secrets", kMaxSecrets));
    out.push_back(VACANT_TRY(parse_record(record, number)));
    if (!labels.insert(out.back().label).second)
      return fail(Code::kInvalidArgument,
                  fmt::format("secret list, record {}: the label occurs twice", number));
  }
  return out;
}

}  // namespace vacant::secrets

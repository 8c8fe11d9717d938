#include "patterns.h"

#include <fmt/format.h>

#include "token/rule.h"

namespace vacant::bench {

namespace {

using scan::token::in_class;
using scan::token::ShapePart;

constexpr std::size_t kLongest = 128;  // longer bounds are left open, as people do: they make rg much slower

// What the finders look for, without what they check beyond a pattern's power.
constexpr const char* kFinders[] = {
    R"(\bsk-[A-Za-z0-9_-]{20,}T3BlbkFJ[A-Za-z0-9_-]{20,})",
    R"(\beyJ[A-Za-z0-9_-]{13,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,})",
    R"(\b(https?|ftp|postgres|postgresql|mysql|mariadb|mongodb|redis|rediss|amqps?|smtps?|mssql))"
    R"(://[^:/@\s]{0,128}:[^:/@\s]{8,}@)",
    R"("type"\s*:\s*"service_account")",
    R"("type"\s*:\s*"authorized_user")",
    R"(\bIQoJb3JpZ2lu[A-Za-z0-9/+]{88,})",
    R"(:_authToken=["']?[A-Za-z0-9_%.+/-]{16,})",
    R"((VAULT_TOKEN|X-Vault-Token)[=: "']{1,4}s\.[A-Za-z0-9]{24})",
    R"([A-Z0-9_]*(SECRET|PASSWORD|PASSWD|TOKEN|API_KEY|_KEY)=["']?[A-Za-z0-9_%.+/-]{16,})",
    R"(\bsig=[A-Za-z0-9_%.+/-]{41,}%3[Dd])",
    R"(\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33})",
    R"(b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/]{40,})",
    R"(-----BEGIN [A-Z ]*PRIVATE KEY-----)",
};

std::string escaped(char c) {
  return std::string_view(R"(\.+*?()|[]{}^$)").find(c) == std::string_view::npos ? std::string(1, c)
                                                                                 : std::string("\\") + c;
}

std::string character_class(char cls) {
  std::string out = "[";
  for (unsigned c = 0x21; c < 0x7F; ++c) {
    if (!in_class(cls, static_cast<unsigned char>(c))) continue;
    unsigned last = c;
    while (last + 1 < 0x7F && in_class(cls, static_cast<unsigned char>(last + 1))) ++last;
    out += fmt::format("\\x{:02x}", c);
    if (last > c) out += fmt::format("-\\x{:02x}", last);
    c = last;
  }
  return out + "]";
}

std::string expression(const ShapePart& part) {
  if (part.cls == 0) return escaped(part.literal);
  const std::string cls = character_class(part.cls);
  if (part.min == part.max) return fmt::format("{}{{{}}}", cls, part.min);
  if (part.max > kLongest) return fmt::format("{}{{{},}}", cls, part.min);
  return fmt::format("{}{{{},{}}}", cls, part.min, part.max);
}

}  // namespace

std::vector<std::string> token_patterns() {
  std::vector<std::string> out;
  for (const scan::token::TokenRule& rule : scan::token::token_table()) {
    if (rule.find != nullptr) continue;
    std::string pattern = R"(\b)";
    for (const ShapePart& part : scan::token::parse_shape(rule.shape)) pattern += expression(part);
    out.push_back(std::move(pattern));
  }
  out.insert(out.end(), std::begin(kFinders), std::end(kFinders));
  return out;
}

}  // namespace vacant::bench

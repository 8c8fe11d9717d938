// Rules that need a look around their anchor: structures, infixes and context.
#include <algorithm>
#include <array>

#include "token/checks.h"
#include "token/rule.h"

namespace vacant::scan::token {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::size_t kContextBytes = 512;
constexpr std::size_t kMaxJwtPart = 12 * 1024;
constexpr std::size_t kMaxJson = 8 * 1024;

std::size_t run_end(std::string_view text, std::size_t at, char cls, std::size_t limit) {
  const std::size_t end = std::min(text.size(), at + limit);
  while (at < end && in_class(cls, static_cast<unsigned char>(text[at]))) ++at;
  return at;
}
std::size_t run_begin(std::string_view text, std::size_t at, char cls, std::size_t limit) {
  const std::size_t begin = at - std::min(at, limit);
  while (at > begin && in_class(cls, static_cast<unsigned char>(text[at - 1]))) --at;
  return at;
}
std::string_view around(std::string_view text, std::size_t at, std::size_t bytes) {
  const std::size_t begin = at - std::min(at, bytes);
  return text.substr(begin, at - begin + bytes);
}

// sk-[kind-]A T3BlbkFJ B with A and B of one length (74, 58 or 20).
std::optional<Match> find_openai(std::string_view text, std::size_t begin, std::size_t end) {
  const std::size_t tail = run_end(text, end, 'w', 75) - end;
  if (tail != 20 && tail != 58 && tail != 74) return std::nullopt;
  for (const std::string_view prefix : {"sk-proj-", "sk-svcacct-", "sk-admin-", "sk-"}) {
    if (begin < tail + prefix.size()) continue;
    const std::size_t start = begin - tail - prefix.size();
    if (!text.substr(start).starts_with(prefix) || !starts_cleanly(text, start)) continue;
    const std::size_t body = start + prefix.size();
    if (run_end(text, body, 'w', tail) != begin) continue;
    return Match{start, end + tail - start, {Confidence::kLikely, "infix present"}};
  }
  return std::nullopt;
}

std::optional<Match> find_jwt(std::string_view text, std::size_t begin, std::size_t) {
  // A run is read from its first character only: so hostile runs cost no more than their length.
  if (begin > 0 && in_class('w', static_cast<unsigned char>(text[begin - 1])) && !starts_cleanly(text, begin))
    return std::nullopt;
  if (begin > 0 && text[begin - 1] == '-') return std::nullopt;
  const std::size_t header_end = run_end(text, begin, 'w', kMaxJwtPart);
  if (header_end >= text.size() || text[header_end] != '.' || header_end - begin < 16) return std::nullopt;
  const std::size_t payload = header_end + 1;
  if (!text.substr(payload).starts_with("eyJ")) return std::nullopt;
  const std::size_t payload_end = run_end(text, payload, 'w', kMaxJwtPart);
  if (payload_end >= text.size() || text[payload_end] != '.') return std::nullopt;
  const std::size_t end = run_end(text, payload_end + 1, 'w', 2048);
  if (end - payload_end - 1 < 16) return std::nullopt;
  const auto header = decode_base64(text.substr(begin, header_end - begin));
  const auto body = decode_base64(text.substr(payload, payload_end - payload));
  if (!header || !body || !json_object(*header, "alg")) return std::nullopt;
  if (!json_object(*body, "")) return std::nullopt;
  return Match{begin,
               end - begin,
               {Confidence::kProven, json_object(*body, "exp") ? "header and payload parse, expires"
                                                               : "header and payload parse, no expiry"}};
}

// Where a scheme that may carry a password begins, ending at `end`.
std::size_t scheme_begin(std::string_view text, std::size_t end) {
  constexpr std::array<std::string_view, 16> kSchemes{
      "http",        "https", "ftp",    "postgres", "postgresql", "mysql", "mariadb", "mongodb",
      "mongodb+srv", "redis", "rediss", "amqp",     "amqps",      "smtp",  "smtps",   "mssql"};
  for (const std::string_view scheme : kSchemes) {
    if (end < scheme.size() || text.substr(end - scheme.size(), scheme.size()) != scheme) continue;
    if (starts_cleanly(text, end - scheme.size())) return end - scheme.size();
  }
  return kNone;
}

std::size_t part_end(std::string_view text, std::size_t at, std::size_t limit) {
  const std::size_t end = std::min(text.size(), at + limit);
  for (; at < end; ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c <= ' ' || c >= 0x7f || std::string_view(":/@\"'<>`{}[]()$|\\^?,").find(text[at]) != kNone) break;
  }
  return at;
}

std::optional<Match> find_url(std::string_view text, std::size_t begin, std::size_t end) {
  const std::size_t user_end = part_end(text, end, 129);
  if (user_end >= text.size() || text[user_end] != ':' || user_end - end > 128) return std::nullopt;
  const std::size_t password = user_end + 1;
  const std::size_t password_end = part_end(text, password, 257);
  const std::size_t length = password_end - password;
  if (password_end >= text.size() || text[password_end] != '@' || length < 8 || length > 256)
    return std::nullopt;
  const std::size_t host_end = run_end(text, password_end + 1, 'z', 253);
  if (host_end - password_end < 3) return std::nullopt;
  const std::size_t scheme = scheme_begin(text, begin);
  if (scheme == kNone) return std::nullopt;
  const Variety v = variety(text.substr(password, length));
  if (v.distinct < 6 || v.digits == 0 || v.digits == static_cast<int>(length)) return std::nullopt;
  return Match{scheme, host_end - scheme, {Confidence::kLikely, "user, password and host in a URL"}};
}

// The JSON object around an anchor: from a '{' shortly before it to the '}' that balances it.
std::optional<Match> json_around(std::string_view text, std::size_t anchor) {
  const std::size_t window = anchor - std::min(anchor, kMaxJson / 2 - 1);
  const std::size_t back = text.substr(window, anchor - window).rfind('{');
  if (back == kNone) return std::nullopt;
  const std::size_t open = window + back;
  const std::string_view body = text.substr(open, kMaxJson);
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (quoted && body[i] == '\\')
      ++i;
    else if (body[i] == '"')
      quoted = !quoted;
    else if (!quoted && body[i] == '{')
      ++depth;
    else if (!quoted && body[i] == '}' && --depth == 0)
      return Match{open, i + 1, {}};
  }
  return std::nullopt;
}

std::optional<Match> find_gcp(std::string_view text, std::size_t begin, std::size_t) {
  auto match = json_around(text, begin);
  if (!match) return std::nullopt;
  const std::string_view object = text.substr(match->begin, match->length);
  if (object.find(".iam.gserviceaccount.com") == kNone || object.find("PRIVATE KEY") == kNone)
    return std::nullopt;
  if (!json_object(object, "private_key") || !json_object(object, "client_email")) return std::nullopt;
  match->opinion = {Confidence::kProven, "JSON parses: key and account address present"};
  return match;
}

std::optional<Match> find_gcp_user(std::string_view text, std::size_t begin, std::size_t) {
  auto match = json_around(text, begin);
  if (!match) return std::nullopt;
  const std::string_view object = text.substr(match->begin, match->length);
  if (!json_object(object, "refresh_token") || !json_object(object, "client_secret")) return std::nullopt;
  match->opinion = {Confidence::kProven, "JSON parses: client secret and refresh token present"};
  return match;
}

// 40 characters of base64 near an access key id. Entropy and mixed case tell it from paths and hashes.
std::optional<Match> secret_in(std::string_view text, std::size_t from, std::size_t to) {
  for (std::size_t at = from; at < to;) {
    if (!in_class('s', static_cast<unsigned char>(text[at]))) {
      ++at;
      continue;
    }
    const std::size_t end = run_end(text, at, 's', text.size());
    const std::string_view run = text.substr(at, end - at);
    const Variety v = variety(run.substr(0, 40));
    const bool fits = run.size() == 40 && (at == 0 || text[at - 1] != '_') && ends_cleanly(text, end);
    if (fits && v.entropy > 4.0 && v.digits > 0 && v.upper > 1 && v.lower > 1)
      return Match{at, 40, {Confidence::kLikely, "beside an access key id"}};
    at = end;
  }
  return std::nullopt;
}

std::optional<Match> find_aws_secret(std::string_view text, std::size_t begin, std::size_t) {
  if (!starts_cleanly(text, begin) || run_end(text, begin + 4, 'k', 17) != begin + 20) return std::nullopt;
  if (variety(text.substr(begin + 4, 16)).distinct < distinct_floor(16)) return std::nullopt;
  const std::size_t behind = std::min(text.size(), begin + kContextBytes);
  if (auto match = secret_in(text, begin + 20, behind)) return match;
  std::size_t from = begin - std::min(begin, kContextBytes);
  while (from > 0 && from < begin && in_class('s', static_cast<unsigned char>(text[from - 1]))) ++from;
  return secret_in(text, from, begin);
}

std::optional<Match> value_behind(std::string_view text, std::size_t at, char cls, std::size_t least) {
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) ++at;
  const std::size_t end = run_end(text, at, cls, 4097);
  if (end - at < least || end - at > 4096) return std::nullopt;
  const bool closes = end >= text.size() || static_cast<unsigned char>(text[end]) <= ' ' ||
                      text[end] == '"' || text[end] == '\'' || text[end] == '\\' || text[end] == '=';
  if (!closes) return std::nullopt;
  return Match{at, end - at, {Confidence::kLikely, ""}};
}

std::optional<Match> find_npmrc(std::string_view text, std::size_t, std::size_t end) {
  auto match = value_behind(text, end, 'p', 16);
  if (!match || variety(text.substr(match->begin, match->length)).distinct < 6) return std::nullopt;
  match->opinion.detail = "value of an npmrc authentication line";
  return match;
}

std::optional<Match> find_vault_legacy(std::string_view text, std::size_t, std::size_t end) {
  std::size_t at = end;
  while (at < text.size() && at < end + 4 && std::string_view("=: \"'").find(text[at]) != kNone) ++at;
  if (!text.substr(at).starts_with("s.") || run_end(text, at + 2, 'b', 25) != at + 26) return std::nullopt;
  if (variety(text.substr(at, 26)).distinct < 6) return std::nullopt;
  return Match{at, 26, {Confidence::kLikely, "behind the name of a Vault token"}};
}

// NAME_SECRET=value at the start of a line.
std::optional<Match> find_env(std::string_view text, std::size_t, std::size_t end) {
  std::size_t name = end - 1;
  const std::size_t least = name - std::min<std::size_t>(name, 64);
  while (name > least && (in_class('U', static_cast<unsigned char>(text[name - 1])) || text[name - 1] == '_'))
    --name;
  if (name >= 7 && text.substr(name - 7, 7) == "export ") name -= 7;
  if (name != 0 && text[name - 1] != '\n' && text[name - 1] != '\0') return std::nullopt;
  auto match = value_behind(text, end, 'p', 16);
  if (!match) return std::nullopt;
  const std::string_view value = text.substr(match->begin, match->length);
  const Variety v = variety(value);
  if (v.entropy < 3.5 || v.digits < 2 || v.lower + v.upper < 4 || value.find('/') < 2) return std::nullopt;
  if (value.size() > 256) return std::nullopt;
  match->opinion = {Confidence::kPossible, "random value of a secret-like variable"};
  return match;
}

std::optional<Match> find_sas(std::string_view text, std::size_t begin, std::size_t end) {
  const std::size_t stop = run_end(text, end, 'p', 128);
  const std::string_view value = text.substr(end, stop - end);
  if (value.size() < 44 || (!value.ends_with("%3D") && !value.ends_with("%3d"))) return std::nullopt;
  const std::string_view near = around(text, begin, kContextBytes);
  if (near.find("sv=20") == kNone || near.find("se=20") == kNone) return std::nullopt;
  if (variety(value).distinct < 12) return std::nullopt;
  return Match{begin, stop - begin, {Confidence::kLikely, "signature beside version and expiry"}};
}

std::optional<Match> find_telegram(std::string_view text, std::size_t begin, std::size_t end) {
  const std::size_t start = run_begin(text, begin, 'd', 11);
  const std::size_t body = end - 1;  // the 'A' behind the colon
  if (begin - start < 8 || begin - start > 10 || !starts_cleanly(text, start) ||
      run_end(text, body, 'w', 36) != body + 35)
    return std::nullopt;
  const Variety v = variety(text.substr(body, 35));
  if (v.distinct < 12 || looks_worded(v, 35) || v.lower == 0 || v.upper < 2) return std::nullopt;
  return Match{start, body + 35 - start, {}};
}

std::optional<Match> find_session(std::string_view text, std::size_t begin, std::size_t end) {
  const std::size_t stop = run_end(text, end, 's', 4097);
  if (stop - begin < 100 || stop - begin > 4096 || !starts_cleanly(text, begin)) return std::nullopt;
  if (variety(text.substr(begin, stop - begin)).distinct < 24) return std::nullopt;
  return Match{begin, stop - begin, {Confidence::kPossible, "start and length of a session token"}};
}

std::string base64_lines(std::string_view text, std::size_t at, std::size_t& end) {
  std::string body;
  for (end = at; end < text.size() && body.size() < kMaxJson; ++end) {
    const char c = text[end];
    if (in_class('s', static_cast<unsigned char>(c)))
      body += c;
    else if (c != '\n' && c != '\r')
      break;
  }
  while (end > at && (text[end - 1] == '\n' || text[end - 1] == '\r')) --end;
  body.resize(body.size() - body.size() % 4);
  return body;
}

// openssh-key-v1: names of cipher and key derivation, then blobs. Unencrypted keys repeat a random number.
std::optional<Opinion> judge_openssh(ByteSpan bytes) {
  Reader reader(bytes);
  if (!reader.take(15)) return std::nullopt;
  std::array<ByteSpan, 3> names;
  const auto blob = [&](ByteSpan& out) {
    const auto length = reader.be<std::uint32_t>();
    if (!length || *length > reader.remaining()) return false;
    out = *reader.take(*length);
    return true;
  };
  for (ByteSpan& field : names)
    if (!blob(field)) return std::nullopt;
  const auto keys = reader.be<std::uint32_t>();
  ByteSpan public_key;
  if (!keys || *keys != 1 || !blob(public_key)) return std::nullopt;
  if (as_text(names[0]) != "none") return Opinion{Confidence::kLikely, "encrypted"};
  const auto size = reader.be<std::uint32_t>();
  const auto first = reader.be<std::uint32_t>();
  const auto second = reader.be<std::uint32_t>();
  if (!size || !first || !second || *first != *second) return std::nullopt;
  return Opinion{Confidence::kProven, "not encrypted, check numbers agree"};
}

std::optional<Match> find_openssh(std::string_view text, std::size_t begin, std::size_t) {
  // Inside its PEM frame it is the file detector's finding.
  if (text.substr(begin - std::min<std::size_t>(begin, 48), 48).find("-----") != kNone) return std::nullopt;
  std::size_t end = begin;
  const auto bytes = decode_base64(base64_lines(text, begin, end));
  if (!bytes) return std::nullopt;
  const auto opinion = judge_openssh(as_bytes(*bytes));
  if (!opinion) return std::nullopt;
  while (end < text.size() && text[end] == '=') ++end;
  return Match{begin, end - begin, *opinion};
}

}  // namespace

std::vector<TokenRule> finder_rules() {
  std::vector<TokenRule> out;
  const auto add = [&](std::string_view id, std::string_view what, std::string_view anchor, Finder find,
                       bool checksum = false) {
    out.push_back({.id = id,
                   .description = what,
                   .anchor = anchor,

                   .find = find,
                   .checksum = checksum});
  };
  add("openai-key", "OpenAI key", "T3BlbkFJ", find_openai);
  add("jwt", "JSON web token", "eyJ", find_jwt, true);
  add("url-with-password", "URL with user and password", "://", find_url);
  add("gcp-service-account", "Google service account key", "\"service_account\"", find_gcp, true);
  add("gcp-user-credentials", "Google user credentials", "\"authorized_user\"", find_gcp_user, true);
  for (const std::string_view anchor : {"AKIA", "ASIA"})
    add("aws-secret-access-key", "AWS secret access key beside its id", anchor, find_aws_secret);
  add("aws-session-token", "AWS session token", "IQoJb3JpZ2lu", find_session);
  add("npmrc-auth-token", "npmrc authentication line", ":_authToken=", find_npmrc);
  add("vault-legacy-token", "HashiCorp Vault token, old form", "VAULT_TOKEN", find_vault_legacy);
  add("vault-legacy-token", "HashiCorp Vault token, old form", "X-Vault-Token", find_vault_legacy);
  for (const std::string_view anchor : {"SECRET=", "PASSWORD=", "PASSWD=", "TOKEN=", "API_KEY=", "_KEY="})
    add("env-secret", "random value of a secret-like variable", anchor, find_env);
  add("azure-sas", "Azure shared access signature", "sig=", find_sas);
  add("telegram-bot-token", "Telegram bot token", ":A", find_telegram);
  add("openssh-private-key-body", "OpenSSH private key without its frame", "b3BlbnNzaC1rZXktdjE",
      find_openssh, true);
  return out;
}

}  // namespace vacant::scan::token

// Credential files by the shape of their whole text, from its first byte. No allow-list of words: what is
// refused is refused by structure.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>

#include "artefact/parts.h"

namespace vacant::scan {

namespace {

constexpr std::size_t kMaxFileBytes = 64 * 1024;

Artefact file(std::string rule, Confidence confidence, std::size_t length, std::string detail) {
  return {FindingKind::kCredentialFile, std::move(rule), confidence, length, std::move(detail)};
}

bool is_text(unsigned char c) { return c == '\n' || c == '\r' || c == '\t' || (c >= 0x20 && c != 0x7f); }

// The text up to the first byte that no text file has.
std::string_view text_of(std::string_view all) {
  const auto end = std::ranges::find_if(all, [](char c) { return !is_text(static_cast<unsigned char>(c)); });
  return all.substr(0, static_cast<std::size_t>(end - all.begin()));
}

std::size_t variety(std::string_view text) {
  std::bitset<256> seen;
  for (const char c : text) seen.set(static_cast<unsigned char>(c));
  return seen.count();
}

template <class Each>
void for_lines(std::string_view text, const Each& each) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!each(line)) return;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool name_is_secret(std::string_view name) {
  constexpr std::array<std::string_view, 9> kWords = {"TOKEN",       "SECRET",     "PASSWORD",
                                                      "PASSWD",      "API_KEY",    "APIKEY",
                                                      "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

// A value that could be a secret: no path, no reference to another variable, one word of some length and
// variety.
bool value_is_secret(std::string_view value) {
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
    value = value.substr(1, value.size() - 2);
  if (value.size() < 8 || value.size() > 4096 || value.find_first_of(" \t$`(){}<>") != std::string_view::npos)
    return false;
  if (value.front() == '/' || value.front() == '.' || value.front() == '%') return false;
  const bool mixed =
      value.find_first_of("0123456789") != std::string_view::npos &&
      value.find_first_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != std::string_view::npos;
  return mixed && variety(value) >= 7;
}

bool url_has_password(std::string_view value) {
  const std::size_t scheme = value.find("://");
  const std::size_t at = value.find('@', scheme == std::string_view::npos ? 0 : scheme + 3);
  if (scheme == std::string_view::npos || at == std::string_view::npos) return false;
  const std::size_t colon = value.find(':', scheme + 3);
  return colon < at && at - colon > 6 &&
         value.substr(colon, at - colon).find_first_of("/$<>{} ") == std::string_view::npos;
}

// KEY=value lines and comments only, at least two of the former and one that holds a secret.
std::optional<Artefact> env_file(std::string_view text) {
  std::size_t pairs = 0, secret = 0, used = 0;
  for_lines(text, [&](std::string_view line) {
    std::string_view body = trim(line);
    if (body.starts_with("export ")) body = trim(body.substr(7));
    if (body.empty() || body.front() == '#') {
      used += line.size() + 1;
      return true;
    }
    const std::size_t equals = body.find('=');
    if (equals == std::string_view::npos || equals == 0) return false;
    const std::string_view key = body.substr(0, equals);
    const bool named =
        key.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string_view::npos &&
        (key.front() < '0' || key.front() > '9');
    if (!named) return false;
    ++pairs;
    const std::string_view value = trim(body.substr(equals + 1));
    secret += (name_is_secret(key) && value_is_secret(value)) || url_has_password(value) ? 1 : 0;
    used += line.size() + 1;
    return true;
  });
  if (pairs < 2 || secret == 0) return std::nullopt;
  return file("env-file", Confidence::kLikely, std::min(used, text.size()),
              fmt::format("{} variables, {} that hold a secret", pairs, secret));
}

bool has_all(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::all_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// The value behind `key` and an equals sign, a colon or a blank, to the end of the line or the closing quote.
std::string_view value_behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return "";
  std::string_view rest = text.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of("\" \t:="), rest.size()));
  return rest.substr(0, std::min(rest.find_first_of("\"\r\n, \t"), rest.size()));
}

std::optional<Artefact> ini_like(std::string_view text) {
  const std::string_view secret = value_behind(text, "aws_secret_access_key");
  if (secret.size() != 40 || variety(secret) < 12) return std::nullopt;
  return file("aws-credentials-file", Confidence::kLikely,
              std::min<std::size_t>(text.size(), text.find("aws_secret_access_key") + 64),
              "profile with a secret access key");
}

std::optional<Artefact> json_like(std::string_view text) {
  const std::size_t length = text.size();
  if (has_all(text, {"\"service_account\"", "\"private_key\"", "-----BEGIN", ".iam.gserviceaccount.com"}))
    return file("gcp-service-account", Confidence::kProven, length, "");
  if (has_all(text, {"\"client_id\"", "\"client_secret\"", "\"refresh_token\""}) &&
      value_behind(text, "\"refresh_token\"").size() >= 20)
    return file("gcp-user-credentials", Confidence::kLikely, length, "");
  if (has_all(text, {"\"AccessToken\"", "\"RefreshToken\"", "\"secret\""}))
    return file("azure-token-cache", Confidence::kLikely, length, "");
  if (has_all(text, {"\"auths\"", "\"auth\""})) {
    const std::string_view value = value_behind(text.substr(text.find("\"auths\"")), "\"auth\"");
    const auto decoded = decode_base64_lines(value, 4096);
    if (decoded && decoded->size() >= 4 && as_text(*decoded).find(':') != std::string_view::npos)
      return file("docker-config", Confidence::kProven, length, "auth decodes to user and password");
  }
  return std::nullopt;
}

std::optional<Artefact> kubeconfig(std::string_view text) {
  if (!has_all(text, {"kind: Config", "clusters:", "users:"})) return std::nullopt;
  const auto key = decode_base64_lines(value_behind(text, "client-key-data:"), 64 * 1024);
  if (key && as_text(*key).find("PRIVATE KEY-----") != std::string_view::npos)
    return file("kubeconfig", Confidence::kProven, text.size(), "client key decodes to PEM");
  const std::size_t users = text.find("users:");
  if (value_behind(text.substr(users), "token:").size() >= 16)
    return file("kubeconfig", Confidence::kLikely, text.size(), "bearer token");
  return std::nullopt;
}

std::optional<Artefact> netrc(std::string_view text) {
  if (!has_all(text.substr(0, 2048), {"login ", "password "})) return std::nullopt;
  const std::string_view password = value_behind(text, "password ");
  if (password.size() < 6 || variety(password) < 5 ||
      password.find_first_of("<>{}$") != std::string_view::npos)
    return std::nullopt;
  // A list of words only: key and value in turn.
  const std::string_view host = value_behind(text, "machine ");
  if (host.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:") !=
      std::string_view::npos)
    return std::nullopt;
  return file("netrc", Confidence::kLikely, std::min<std::size_t>(text.size(), 2048),
              "machine, login and password");
}

// Every line is a URL with user and password.
std::optional<Artefact> git_credentials(std::string_view text) {
  std::size_t lines = 0;
  bool other = false;
  for_lines(text, [&](std::string_view line) {
    if (line.empty()) return true;
    other |= !(line.starts_with("https://") || line.starts_with("http://")) || !url_has_password(line);
    ++lines;
    return !other;
  });
  if (lines == 0 || other) return std::nullopt;
  return file("git-credentials", Confidence::kLikely, text.size(), fmt::format("{} stored logins", lines));
}

std::optional<Artefact> npmrc(std::string_view text) {
  const std::string_view token = value_behind(text.substr(0, 4096), ":_authToken");
  if (token.size() < 16 || variety(token) < 8 || token.find_first_of("${}") != std::string_view::npos)
    return std::nullopt;
  return file("npmrc", Confidence::kLikely, std::min<std::size_t>(text.size(), 4096), "registry token");
}

// host:port:database:user:password, every line.
std::optional<Artefact> pgpass(std::string_view text) {
  std::size_t lines = 0;
  bool other = false;
  for_lines(text, [&](std::string_view line) {
    if (line.empty() || line.front() == '#') return true;
    std::array<std::string_view, 5> fields;
    std::size_t count = 0;
    for (std::string_view rest = line; count < 5; ++count) {
      const std::size_t colon = count == 4 ? rest.size() : std::min(rest.find(':'), rest.size());
      fields[count] = rest.substr(0, colon);
      if (colon >= rest.size()) {
        ++count;
        break;
      }
      rest.remove_prefix(colon + 1);
    }
    const bool port = count == 5 && (fields[1] == "*" ||
                                     (!fields[1].empty() && fields[1].size() <= 5 &&
                                      fields[1].find_first_not_of("0123456789") == std::string_view::npos));
    other |= !port || fields[4].size() < 6 || fields[4].find_first_of(": \t/") != std::string_view::npos ||
             variety(fields[4]) < 5;
    ++lines;
    return !other;
  });
  if (lines == 0 || other) return std::nullopt;
  return file("pgpass", Confidence::kLikely, text.size(), fmt::format("{} entries", lines));
}

std::optional<Artefact> age_identity(std::string_view text) {
  if (text.find("AGE-SECRET-KEY-1") == std::string_view::npos) return std::nullopt;
  return Artefact{FindingKind::kPrivateKey, "age-identity-file", Confidence::kLikely,
                  std::min<std::size_t>(text.size(), 512), ""};
}

// What the first line says that the file could be. Most text is refused here, before more of it is read.
enum class Shape { kNone, kJson, kIni, kKube, kNetrc, kUrls, kNpmrc, kAge, kEnv, kColons };

bool is_assignment(std::string_view line) {
  if (line.starts_with("export ")) line.remove_prefix(7);
  const std::size_t equals = line.find('=');
  return equals != std::string_view::npos && equals > 0 &&
         line.substr(0, equals).find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
             std::string_view::npos;
}

// host:port:...: five fields, the second a number or "*".
bool has_port(std::string_view line) {
  const std::size_t host = line.find(':');
  if (host == std::string_view::npos || host == 0) return false;
  const std::string_view rest = line.substr(host + 1);
  const std::size_t port = rest.find(':');
  if (port == std::string_view::npos || port == 0 || port > 5) return false;
  return rest.substr(0, port).find_first_not_of("0123456789*") == std::string_view::npos &&
         std::ranges::count(rest, ':') == 3;
}

Shape shape_of(std::string_view line) {
  if (line.starts_with("{")) return Shape::kJson;
  if (line.starts_with("[") && line.find(']') != std::string_view::npos) return Shape::kIni;
  if (line.starts_with("apiVersion:") || line.starts_with("kind:")) return Shape::kKube;
  if (line.starts_with("machine ")) return Shape::kNetrc;
  if (line.starts_with("https://") || line.starts_with("http://")) return Shape::kUrls;
  if (line.starts_with("# created: ")) return Shape::kAge;
  if (line.starts_with("//") && line.find(":_auth") != std::string_view::npos) return Shape::kNpmrc;
  if (line.starts_with("registry=") || line.starts_with("@")) return Shape::kNpmrc;
  if (line == "#" || line.starts_with("# ") || line.starts_with("##") || is_assignment(line))
    return Shape::kEnv;
  if (has_port(line)) return Shape::kColons;
  return Shape::kNone;
}

std::optional<Artefact> examine_as(Shape shape, std::string_view text) {
  switch (shape) {
    case Shape::kNone:
      return std::nullopt;
    case Shape::kJson:
      return json_like(text);
    case Shape::kIni:
      return ini_like(text);
    case Shape::kKube:
      return kubeconfig(text);
    case Shape::kNetrc:
      return netrc(text);
    case Shape::kUrls:
      return git_credentials(text);
    case Shape::kNpmrc:
      return npmrc(text);
    case Shape::kAge:
      return age_identity(text);
    case Shape::kEnv:
      return env_file(text);
    case Shape::kColons:
      return pgpass(text);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Artefact> examine_credential_file(ByteSpan bytes) {
  constexpr std::size_t kFirstLineBytes = 512, kFirstLook = 2048, kLeastBytes = 16;
  const std::string_view all = as_text(bytes.first(std::min(bytes.size(), kMaxFileBytes)));
  const std::string_view line =
      all.substr(0, std::min(all.substr(0, kFirstLineBytes).find('\n'), kFirstLineBytes));
  const Shape shape = shape_of(line.substr(0, line.find('\r')));
  if (shape == Shape::kNone) return std::nullopt;
  // An object's first key, where program text has a block's first statement.
  if (shape == Shape::kJson) {
    const std::size_t next = all.substr(0, kFirstLineBytes).find_first_not_of(" \t\r\n", 1);
    if (next == std::string_view::npos || all[next] != '"') return std::nullopt;
  }
  // Comments begin many files: most are refused by their first lines.
  if (shape == Shape::kEnv && !env_file(all.substr(0, kFirstLook))) return std::nullopt;
  const std::string_view text = text_of(all);
  if (text.size() < kLeastBytes) return std::nullopt;
  return examine_as(shape, text);
}

}  // namespace vacant::scan

// Credential files by the shape of their whole text, from its first byte. No allow-list of words: what is
// refused is refused by structure.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "artefact/parts.h"
#include "artefact/text.h"

namespace vacant::scan {

namespace {

constexpr std::size_t kMaxFileBytes = 64 * 1024;

Artefact file(std::string rule, Confidence confidence, std::size_t length, std::string detail) {
  return {FindingKind::kCredentialFile, std::move(rule), confidence, length, std::move(detail)};
}

// [profile] sections whose keys are `name = value`; one of them a pair of access key and secret.
std::optional<Artefact> aws_credentials(std::string_view text) {
  std::size_t ids = 0, secrets = 0;
  const std::size_t used = for_lines(text, [&](std::string_view line) {
    const std::string_view body = trim(line);
    if (body.empty() || body.front() == '#' || body.front() == ';') return true;
    if (body.front() == '[') return body.back() == ']';
    const std::size_t equals = body.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view key = trim(body.substr(0, equals)), value = trim(body.substr(equals + 1));
    // Not AKIA alone: stores that speak S3 give out names of their own form.
    ids += key == "aws_access_key_id" && value.size() >= 16 && value.size() <= 128 ? 1 : 0;
    secrets += key == "aws_secret_access_key" && value.size() == 40 && variety(value) >= 12 ? 1 : 0;
    return true;
  });
  if (ids == 0 || secrets == 0) return std::nullopt;
  return file("aws-credentials-file", Confidence::kLikely, used,
              fmt::format("{} profiles with a secret", secrets));
}

// The length of the JSON object or array that the text begins with; nullopt if it does not end. Only braces,
// brackets and strings are looked at.
std::optional<std::size_t> json_length(std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return std::nullopt;
}

// A string of JSON that holds a PEM key with its line ends escaped.
bool holds_private_key(std::string_view value) {
  std::string text;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const bool line_end = value[i] == '\\' && i + 1 < value.size() && value[i + 1] == 'n';
    text += line_end ? '\n' : value[i];
    i += line_end ? 1 : 0;
  }
  return examine_key(as_bytes(text)).has_value();
}

// A whole string of JSON behind a key, with blanks in it.
std::string_view json_string(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return "";
  std::string_view rest = text.substr(at + key.size());
  const std::size_t open = rest.find_first_not_of(" \t\r\n:");
  if (open == std::string_view::npos || rest[open] != '"') return "";
  rest.remove_prefix(open + 1);
  return rest.substr(0, rest.find('"'));
}

std::optional<Artefact> docker_config(std::string_view text, std::size_t length) {
  const std::size_t auths = text.find("\"auths\"");
  if (auths == std::string_view::npos) return std::nullopt;
  const auto decoded = decode_base64_lines(json_string(text.substr(auths), "\"auth\""), 4096);
  if (!decoded || decoded->size() < 4) return std::nullopt;
  const std::string_view pair = as_text(*decoded);
  const std::size_t colon = pair.find(':');
  if (colon == 0 || colon == std::string_view::npos || leading_text(pair).size() != pair.size())
    return std::nullopt;
  return file("docker-config", Confidence::kProven, length, "auth decodes to user and password");
}

std::optional<Artefact> json_like(std::string_view text) {
  const auto whole = json_length(text);
  const std::size_t length = whole.value_or(text.size());
  text = text.substr(0, length);
  if (has_all(text, {"\"service_account\"", "\"private_key\"", "-----BEGIN", "\"client_email\""})) {
    const bool parsed = holds_private_key(json_string(text, "\"private_key\""));
    return file("gcp-service-account", parsed && whole ? Confidence::kProven : Confidence::kLikely, length,
                parsed ? "its private key parses" : "its private key does not parse");
  }
  if (has_all(text, {"\"client_id\"", "\"client_secret\"", "\"refresh_token\""}) &&
      json_string(text, "\"refresh_token\"").size() >= 20)
    return file("gcp-user-credentials", Confidence::kLikely, length, "refresh token");
  const bool msal =
      has_all(text, {"\"AccessToken\"", "\"RefreshToken\"", "\"home_account_id\"", "\"secret\""}) &&
      json_string(text, "\"secret\"").size() >= 20;
  const bool adal = has_all(text, {"\"tokenType\"", "\"accessToken\"", "\"refreshToken\""}) &&
                    json_string(text, "\"refreshToken\"").size() >= 20;
  if (msal || adal)
    return file("azure-token-cache", Confidence::kLikely, length, "access and refresh tokens");
  return docker_config(text, length);
}

std::optional<Artefact> kubeconfig(std::string_view text) {
  if (!has_all(text, {"kind: Config", "clusters:", "users:"})) return std::nullopt;
  const auto key = decode_base64_lines(value_behind(text, "client-key-data:"), 64 * 1024);
  if (key && examine_key(*key))
    return file("kubeconfig", Confidence::kProven, text.size(), "client key decodes to a private key");
  const std::string_view token = value_behind(text.substr(text.find("users:")), "token:");
  if (token.size() >= 16 && variety(token) >= 8 && token.find_first_of("${}<>") == std::string_view::npos)
    return file("kubeconfig", Confidence::kLikely, text.size(), "bearer token");
  return std::nullopt;
}

bool is_netrc_password(std::string_view word) {
  return word.size() >= 6 && word.size() <= 512 && variety(word) >= 5 &&
         word.find_first_of("<>{}$") == std::string_view::npos;
}

bool is_host(std::string_view word) {
  return word.size() <= 253 &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:") ==
             std::string_view::npos;
}

// Words in turn: machine HOST (or default), then login NAME, password WORD, account NAME. No other word.
std::optional<Artefact> netrc(std::string_view text) {
  std::size_t passwords = 0, logins = 0, at = 0, used = 0;
  std::string_view key;
  while ((at = text.find_first_not_of(" \t\r\n", at)) != std::string_view::npos) {
    const std::string_view word = text.substr(at, text.find_first_of(" \t\r\n", at) - at);
    at += word.size();
    if (key.empty() && word.front() == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (key.empty() && word == "default") {
      used = at;
    } else if (key.empty()) {
      if (word != "machine" && word != "login" && word != "password" && word != "account" && word != "port" &&
          word != "protocol")
        break;
      key = word;
    } else {
      if (key == "machine" && !is_host(word)) break;
      passwords += key == "password" && is_netrc_password(word) ? 1 : 0;
      logins += key == "login" ? 1 : 0;
      key = "";
      used = at;
    }
  }
  if (passwords == 0 || logins == 0) return std::nullopt;
  return file("netrc", Confidence::kLikely, used, fmt::format("{} passwords", passwords));
}

// Every line is a URL with user and password.
std::optional<Artefact> git_credentials(std::string_view text) {
  if (!url_has_password(leading_text(first_line(text)))) return std::nullopt;
  std::size_t lines = 0;
  const std::size_t used = for_lines(text, [&](std::string_view line) {
    if (line.empty()) return true;
    const bool good = (line.starts_with("https://") || line.starts_with("http://")) &&
                      line.find_first_of(" \t\"'<>") == std::string_view::npos && url_has_password(line);
    lines += good ? 1 : 0;
    return good;
  });
  if (lines == 0) return std::nullopt;
  return file("git-credentials", Confidence::kLikely, used, fmt::format("{} stored logins", lines));
}

// Lines key=value, one of which is a registry's token.
std::optional<Artefact> npmrc(std::string_view text) {
  std::size_t tokens = 0;
  const std::size_t used = for_lines(text, [&](std::string_view line) {
    if (line.empty() || line.front() == '#' || line.front() == ';') return true;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos ||
        line.substr(0, equals).find_first_of("(){}<>'\"") != std::string_view::npos)
      return false;
    const std::string_view key = trim(line.substr(0, equals));
    const std::string_view value = unquoted(trim(line.substr(equals + 1)));
    const bool names_token =
        key.starts_with("//") &&
        (key.ends_with(":_authToken") || key.ends_with(":_auth") || key.ends_with(":_password"));
    tokens += names_token && value.size() >= 16 && variety(value) >= 8 &&
                      value.find_first_of("${} ") == std::string_view::npos
                  ? 1
                  : 0;
    return true;
  });
  if (tokens == 0) return std::nullopt;
  return file("npmrc", Confidence::kLikely, used, fmt::format("{} registry tokens", tokens));
}

// A database or a user: an identifier, or "*". Names may hold more; but then anything with colons could be
// one.
bool is_pg_name(std::string_view name) {
  return name == "*" || (!name.empty() && (is_letter(name.front()) || name.front() == '_') &&
                         std::ranges::all_of(name, [](char c) {
                           return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '@';
                         }));
}

// host:port:database:user:password.
bool is_pgpass_line(std::string_view line) {
  std::array<std::string_view, 5> fields;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t colon = line.substr(0, 256).find(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    fields[i] = line.substr(0, colon);
    line.remove_prefix(colon + 1);
  }
  fields[4] = line;
  constexpr std::string_view kHost = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_*/";
  const bool port = fields[1] == "*" || (fields[1].size() <= 5 && std::ranges::all_of(fields[1], is_digit));
  return port && fields[0].find_first_not_of(kHost) == std::string_view::npos && is_pg_name(fields[2]) &&
         is_pg_name(fields[3]) && fields[4].size() >= 6 && fields[4].size() <= 256 &&
         fields[4].find_first_of(": \t/") == std::string_view::npos && variety(fields[4]) >= 5;
}

std::optional<Artefact> pgpass(std::string_view text) {
  std::size_t lines = 0;
  const std::size_t used = for_lines(text, [&](std::string_view line) {
    if (line.empty() || line.front() == '#') return true;
    const bool good = is_pgpass_line(line);
    lines += good ? 1 : 0;
    return good;
  });
  // One line may be anything with colons, unless the text ends with it.
  const bool ends = used == text.size() || !is_text_byte(static_cast<unsigned char>(text[used]));
  if (lines == 0 || (lines == 1 && !ends)) return std::nullopt;
  return file("pgpass", Confidence::kLikely, used, fmt::format("{} entries", lines));
}

// Lines of age's own: comments and keys. The key's checksum is the token rules' matter.
std::optional<Artefact> age_identity(std::string_view text) {
  std::size_t keys = 0;
  const std::size_t used = for_lines(text, [&](std::string_view line) {
    if (line.empty() || line.front() == '#') return true;
    const bool good =
        line.starts_with("AGE-SECRET-KEY-1") && line.size() == 74 &&
        std::ranges::all_of(line, [](char c) { return is_digit(c) || (c >= 'A' && c <= 'Z') || c == '-'; });
    keys += good ? 1 : 0;
    return good;
  });
  if (keys == 0) return std::nullopt;
  return Artefact{FindingKind::kPrivateKey, "age-identity-file", Confidence::kLikely, used,
                  fmt::format("{} keys", keys)};
}

constexpr std::array<bool, 256> kNameCharacters = [] {
  std::array<bool, 256> out{};
  for (unsigned c = 0; c < 256; ++c)
    out[c] = is_letter(static_cast<char>(c)) || is_digit(static_cast<char>(c)) ||
             std::string_view("_-./@*").contains(static_cast<char>(c));
  return out;
}();
bool is_name_character(char c) { return kNameCharacters[static_cast<unsigned char>(c)]; }

// Cheap looks at the first bytes: most blocks of text begin in the middle of something.
bool begins_json(std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t\r\n", 1);
  return at != std::string_view::npos && at < 64 && (text[at] == '"');
}

bool begins_yaml_config(std::string_view text) {
  return text.starts_with("apiVersion:") || text.starts_with("kind: ") || text.starts_with("clusters:") ||
         text.starts_with("current-context:") || text.starts_with("users:") || text.starts_with("contexts:");
}

// What begins with a comment is what comes behind the comments.
std::string_view skip_comments(std::string_view text) {
  if (text.front() != '#' && text.front() != ';' && text.front() != '\n' && text.front() != '\r') return text;
  const std::size_t used = for_lines(
      text, [](std::string_view line) { return line.empty() || line.front() == '#' || line.front() == ';'; });
  return text.substr(std::min(used, text.size()));
}

std::optional<Artefact> json_array(std::string_view body) {
  const std::size_t at = body.find_first_not_of(" \t\r\n", 1);
  if (at == std::string_view::npos || at > 64 || body[at] != '{') return std::nullopt;
  return begins_json(body.substr(at)) ? json_like(leading_text(body)) : std::nullopt;
}

std::optional<Artefact> by_first_bytes(std::string_view all, std::string_view body) {
  const auto whole = [&] { return leading_text(all); };
  switch (body.front()) {
    case '{':
      return begins_json(body) ? json_like(leading_text(body)) : std::nullopt;
    case '[':
      return trim(first_line(body)).ends_with(']') ? aws_credentials(all) : json_array(body);
    case 'm':
    case 'd':
      if (body.starts_with("machine ") || body.starts_with("default login ")) return netrc(whole());
      break;
    case 'h':
      if (body.starts_with("http")) return git_credentials(all);
      break;
    case 'A':
      if (body.starts_with("AGE-SECRET-KEY-1")) return age_identity(all);
      break;
    case 'a':
    case 'k':
    case 'c':
    case 'u':
      if (begins_yaml_config(body)) return kubeconfig(whole());
      break;
    default:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Artefact> examine_credential_file(ByteSpan bytes) {
  constexpr std::size_t kLeast = 16, kLongestName = 256, kLook = 32;
  const std::string_view all = as_text(bytes.first(std::min(bytes.size(), kMaxFileBytes)));
  if (all.size() < kLeast || leading_text(all.substr(0, kLeast)).size() < kLeast) return std::nullopt;
  const std::string_view body = skip_comments(all);
  if (body.empty() || !is_text_byte(static_cast<unsigned char>(body.front()))) return std::nullopt;
  if (auto found = by_first_bytes(all, body)) return found;
  // What stands behind the first word of name characters tells the rest apart.
  const std::string_view start = body.substr(0, kLongestName);
  const auto name =
      static_cast<std::size_t>(std::ranges::find_if_not(start, is_name_character) - start.begin());
  if (name == start.size()) return std::nullopt;
  const char behind = body[name];
  if (behind == ':' && is_pgpass_line(leading_text(first_line(body.substr(0, 1024))))) return pgpass(all);
  const bool variable = body.front() == '_' || is_letter(body.front());
  if ((behind == '=' && variable) || body.starts_with("export ")) {
    auto found = examine_env_file(body);
    if (found) found->length_bytes += all.size() - body.size();
    if (found) return found;
  }
  const std::string_view rest = body.substr(name, kLook);
  const bool key_value = body.starts_with("//") || trim(rest).starts_with('=');
  return key_value ? npmrc(all) : std::nullopt;
}

}  // namespace vacant::scan

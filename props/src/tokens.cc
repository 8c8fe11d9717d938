#include "vacant/props/tokens.h"

#include <array>
#include <map>
#include <vector>

#include "vacant/base/bytes.h"

namespace vacant::props {
namespace {

using Random = std::mt19937_64;

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kUpperHex = "0123456789ABCDEF";
constexpr std::string_view kBase62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kLetters = kBase62.substr(10);
constexpr std::string_view kUpperDigits = kBase62.substr(0, 36);
constexpr std::string_view kBase32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr std::string_view kBech32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";

std::string pick(Random& random, std::string_view alphabet, std::size_t count) {
  std::string out;
  while (out.size() < count) out += alphabet[random() % alphabet.size()];
  return out;
}

std::string crc_base62(std::string_view body) {
  std::uint32_t value = crc32_ieee(as_bytes(body));
  std::string out(6, '0');
  for (std::size_t i = 6; i-- > 0; value /= 62) out[i] = kBase62[value % 62];
  return out;
}

std::string crc_hex(std::string_view body) {
  const std::uint32_t value = crc32_ieee(as_bytes(body));
  std::string out;
  for (unsigned shift = 32; shift > 0; shift -= 4) out += kHex[(value >> (shift - 4)) & 15U];
  return out;
}

std::string base64(std::string_view bytes, bool url) {
  std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  alphabet += url ? "-_" : "+/";
  std::string out;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : bytes) {
    bits = (bits << 8U) | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) out += alphabet[(bits >> (count - 6)) & 63U];
    bits &= 0xffU;
  }
  if (count > 0) out += alphabet[(bits << (6 - count)) & 63U];
  return out;
}

std::string raw(Random& random, std::size_t count) {
  std::string out;
  while (out.size() < count) out += static_cast<char>(random());
  return out;
}

std::string age_key(Random& random) {
  constexpr std::array<std::uint32_t, 5> kGenerator{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd,
                                                    0x2a1462b3};
  const std::string hrp = "age-secret-key-";
  std::vector<std::uint32_t> values;
  for (const char c : hrp) values.push_back(static_cast<std::uint32_t>(c) >> 5U);
  values.push_back(0);
  for (const char c : hrp) values.push_back(static_cast<std::uint32_t>(c) & 31U);
  std::string out = "AGE-SECRET-KEY-1";
  for (int i = 0; i < 52; ++i) values.push_back(static_cast<std::uint32_t>(random() & 31U));
  for (std::size_t i = values.size() - 52; i < values.size(); ++i) out += kBech32[values[i]];
  values.resize(values.size() + 6);
  std::uint32_t state = 1;
  for (const std::uint32_t value : values) {
    const std::uint32_t top = state >> 25U;
    state = ((state & 0x1ffffffU) << 5U) ^ value;
    for (unsigned i = 0; i < 5; ++i)
      if (((top >> i) & 1U) != 0) state ^= kGenerator[i];
  }
  state ^= 1U;
  for (unsigned i = 0; i < 6; ++i) out += kBech32[(state >> (5 * (5 - i))) & 31U];
  return out;
}

std::string pypi(Random& random) {
  const std::string identifier = raw(random, 36);
  const std::string bytes = std::string("\x02\x01\x08", 3) + "pypi.org" + "\x02\x24" + identifier +
                            std::string(2, '\0') + "\x06\x20" + raw(random, 32);
  return "pypi-" + base64(bytes, true);
}

std::string json_base64(Random& random, std::size_t filler) {
  const std::string fill = pick(random, kBase62, filler);
  // 3 n bytes, so that no padding is due.
  std::string json = R"({"iat":17,"n":")" + fill;
  while ((json.size() + 2) % 3 != 0) json += 'x';
  return base64(json + "\"}", false);
}

std::string jwt(Random& random) {
  const std::string header = R"({"alg":"HS256","typ":"JWT"})";
  const std::string payload = R"({"sub":")" + pick(random, kBase62, 12) + R"(","exp":1700000000})";
  return base64(header, true) + "." + base64(payload, true) + "." + base64(raw(random, 32), true);
}

std::string word32(std::size_t value) {
  std::string out;
  for (unsigned shift = 32; shift > 0; shift -= 8) out += static_cast<char>(value >> (shift - 8));
  return out;
}
std::string blob(std::string_view text) { return word32(text.size()) + std::string(text); }

std::string openssh(Random& random) {
  const std::string check = raw(random, 4);
  std::string inner = check + check + blob("ssh-ed25519") + raw(random, 120);
  std::string bytes = std::string("openssh-key-v1") + '\0' + blob("none") + blob("none") + blob("") +
                      word32(1) + blob(raw(random, 51)) + blob(inner);
  while (bytes.size() % 3 != 0) bytes += '\1';
  return base64(bytes, false);
}

std::string gcp(Random& random) {
  return R"({"type": "service_account", "private_key": "-----BEGIN )" + std::string("PRIVATE KEY-----\\n") +
         pick(random, kBase62, 64) + R"(", "client_email": "x@y.iam.gserviceaccount.com"})";
}

std::string gcp_user(Random& random) {
  return R"({"client_secret": ")" + pick(random, kBase62, 24) + R"(", "refresh_token": ")" +
         pick(random, kBase62, 40) + R"(", "type": "authorized_user"})";
}

std::string sk(std::string_view kind, Random& random, std::size_t side) {
  return "sk-" + std::string(kind) + pick(random, kBase62, side) + "T3Blbk" + "FJ" +
         pick(random, kBase62, side);
}

// What stands in front of the body and what it is made of, for forms without a checksum.
struct Plain {
  std::string_view prefix;
  std::string_view alphabet;
  std::size_t length;
};
const std::map<std::string_view, Plain>& plain_forms() {
  static const std::map<std::string_view, Plain> forms{
      {"gitlab-pat", {"glpat-", kBase62, 20}},
      {"gitlab-deploy", {"gldt-", kBase62, 20}},
      {"gitlab-runner", {"glrt-", kBase62, 20}},
      {"gitlab-runner-registration", {"GR1348941", kBase62, 20}},
      {"gitlab-ci-job", {"glcbt-64_", kBase62, 20}},
      {"gitlab-trigger", {"glptt-", kHex, 40}},
      {"gitlab-feed", {"glft-", kBase62, 20}},
      {"gitlab-incoming-mail", {"glimt-", kBase62, 25}},
      {"gitlab-agent", {"glagent-", kBase62, 50}},
      {"gitlab-oauth-secret", {"gloas-", kBase62, 64}},
      {"gitlab-scim", {"glsoat-", kBase62, 20}},
      {"gitlab-feature-flag", {"glffct-", kBase62, 20}},
      {"aws-access-key-id", {"AKIA", kBase32, 16}},
      {"aws-bedrock-key", {"ABSK", kBase62, 120}},
      {"aws-bedrock-short-key", {"bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t", kBase62, 80}},
      {"google-api-key", {"AIza", kBase62, 35}},
      {"google-gemini-key", {"AQ.Ab8RN6", kBase62, 44}},
      {"google-oauth-access", {"ya29.", kBase62, 120}},
      {"google-oauth-refresh", {"1//0", kBase62, 90}},
      {"google-oauth-client-secret", {"GOCSPX-", kBase62, 28}},
      {"digitalocean-token", {"dop_v1_", kHex, 64}},
      {"heroku-api-key", {"HRKU-AA", kBase62, 58}},
      {"fly-token", {"FlyV1 fm2_", kBase62, 600}},
      {"vercel-ai-gateway", {"vck_", kBase62, 56}},
      {"netlify-token", {"nfp_", kBase62, 36}},
      {"deno-deploy-token", {"ddp_", kBase62, 36}},
      {"supabase-token", {"sbp_", kHex, 40}},
      {"supabase-secret-key", {"sb_secret_", kBase62, 31}},
      {"planetscale-token", {"pscale_tkn_", kBase62, 43}},
      {"databricks-token", {"dapi", kHex, 32}},
      {"anthropic-oauth-access", {"sk-ant-oat01-", kBase62, 95}},
      {"anthropic-oauth-refresh", {"sk-ant-ort01-", kBase62, 95}},
      {"openrouter-key", {"sk-or-v1-", kHex, 64}},
      {"groq-key", {"gsk_", kBase62, 52}},
      {"xai-key", {"xai-", kBase62, 80}},
      {"perplexity-key", {"pplx-", kBase62, 48}},
      {"replicate-token", {"r8_", kBase62, 37}},
      {"huggingface-token", {"hf_", kLetters, 34}},
      {"huggingface-org-token", {"api_org_", kLetters, 34}},
      {"stripe-key", {"sk_live_", kBase62, 99}},
      {"stripe-webhook-secret", {"whsec_", kBase62, 32}},
      {"slack-cookie", {"xoxd-", kBase62, 120}},
      {"slack-refresh-token", {"xoxe-1-", kBase62, 146}},
      {"slack-config-token", {"xoxe.xoxp-1-", kBase62, 164}},
      {"discord-webhook", {"discord.com/api/webhooks/123456789012345678/", kBase62, 68}},
      {"shopify-token", {"shpat_", kHex, 32}},
      {"square-access-token", {"EAAA", kBase62, 60}},
      {"square-oauth", {"sq0csp-", kBase62, 43}},
      {"twilio-api-key", {"SK", kHex, 32}},
      {"crates-io-token", {"cio", kBase62, 32}},
      {"rubygems-key", {"rubygems_", kHex, 48}},
      {"docker-hub-pat", {"dckr_pat_", kBase62, 27}},
      {"docker-hub-org-token", {"dckr_oat_", kBase62, 32}},
      {"vault-service-token", {"hvs.", kBase62, 95}},
      {"vault-batch-token", {"hvb.", kBase62, 150}},
      {"sentry-user-token", {"sntryu_", kHex, 64}},
      {"linear-api-key", {"lin_api_", kBase62, 40}},
      {"figma-token", {"figd_", kBase62, 40}},
      {"bitbucket-app-password", {"ATBB", kBase62, 32}},
      {"confluent-key", {"cflt", kBase62, 60}},
      {"aws-session-token", {"IQoJb3JpZ2lu", kBase62, 300}},
  };
  return forms;
}

std::string with_crc(std::string_view prefix, Random& random) {
  const std::string body = pick(random, kBase62, 30);
  return std::string(prefix) + body + crc_base62(body);
}

using Maker = std::string (*)(Random&);
const std::map<std::string_view, Maker>& made_forms() {
  static const std::map<std::string_view, Maker> forms{
      {"github-pat-classic", [](Random& r) { return with_crc("ghp_", r); }},
      {"github-oauth", [](Random& r) { return with_crc("gho_", r); }},
      {"github-user-to-server", [](Random& r) { return with_crc("ghu_", r); }},
      {"github-server-to-server", [](Random& r) { return with_crc("ghs_", r); }},
      {"github-refresh", [](Random& r) { return with_crc("ghr_", r); }},
      {"npm-access-token", [](Random& r) { return with_crc("npm_", r); }},
      {"github-pat-fine-grained",
       [](Random& r) { return "github_pat_" + pick(r, kBase62, 22) + "_" + pick(r, kBase62, 59); }},
      {"gitlab-pat-routable",
       [](Random& r) { return "glpat-" + pick(r, kBase62, 51) + ".01." + pick(r, kHex, 9); }},
      {"azure-storage-key", [](Random& r) { return "AccountKey=" + base64(raw(r, 64), false) + "=="; }},
      {"azure-ad-client-secret",
       [](Random& r) { return pick(r, kBase62, 3) + "8Q~" + pick(r, kBase62, 34); }},
      {"cloudflare-token",
       [](Random& r) {
         const std::string body = pick(r, kBase62, 40);
         return "cfut_" + body + crc_hex(body);
       }},
      {"cloudflare-origin-ca",
       [](Random& r) { return "v1.0-" + pick(r, kHex, 24) + "-" + pick(r, kHex, 146); }},
      {"tailscale-key",
       [](Random& r) { return "tskey-auth-" + pick(r, kBase62, 16) + "-" + pick(r, kBase62, 32); }},
      {"anthropic-api-key", [](Random& r) { return "sk-ant-api03-" + pick(r, kBase62, 93) + "AA"; }},
      {"anthropic-admin-key", [](Random& r) { return "sk-ant-admin01-" + pick(r, kBase62, 93) + "AA"; }},
      {"slack-bot-token",
       [](Random& r) {
         return "xoxb-1" + pick(r, kDigits, 11) + "-" + pick(r, kDigits, 12) + "-" + pick(r, kBase62, 24);
       }},
      {"slack-user-token",
       [](Random& r) {
         return "xoxp-" + pick(r, kDigits, 12) + "-" + pick(r, kDigits, 12) + "-" + pick(r, kDigits, 12) +
                "-" + pick(r, kHex, 32);
       }},
      {"slack-session-token",
       [](Random& r) {
         return "xoxc-" + pick(r, kDigits, 12) + "-" + pick(r, kDigits, 12) + "-" + pick(r, kDigits, 12) +
                "-" + pick(r, kHex, 64);
       }},
      {"slack-app-token",
       [](Random& r) {
         return "xapp-1-A" + pick(r, kUpperDigits, 10) + "-" + pick(r, kDigits, 13) + "-" + pick(r, kHex, 64);
       }},
      {"slack-webhook",
       [](Random& r) {
         return "hooks.slack.com/services/T" + pick(r, kUpperDigits, 10) + "/B" + pick(r, kUpperDigits, 10) +
                "/" + pick(r, kBase62, 24);
       }},
      {"sendgrid-key", [](Random& r) { return "SG." + pick(r, kBase62, 22) + "." + pick(r, kBase62, 43); }},
      {"pypi-upload-token", pypi},
      {"grafana-service-account",
       [](Random& r) { return "glsa_" + pick(r, kBase62, 32) + "_" + pick(r, kHex, 8); }},
      {"grafana-cloud-token", [](Random& r) { return "glc_" + json_base64(r, 60); }},
      {"terraform-cloud-token",
       [](Random& r) { return pick(r, kBase62, 14) + ".atlasv1." + pick(r, kBase62, 67); }},
      {"sentry-org-token",
       [](Random& r) { return "sntrys_" + json_base64(r, 90) + "_" + pick(r, kBase62, 43); }},
      {"notion-token", [](Random& r) { return "ntn_" + pick(r, kDigits, 11) + pick(r, kBase62, 35); }},
      {"atlassian-token",
       [](Random& r) { return "ATATT3" + pick(r, kBase62, 177) + "=" + pick(r, kUpperHex, 8); }},
      {"postman-key", [](Random& r) { return "PMAK-" + pick(r, kHex, 24) + "-" + pick(r, kHex, 34); }},
      {"airtable-pat", [](Random& r) { return "pat" + pick(r, kBase62, 14) + "." + pick(r, kHex, 64); }},
      {"onepassword-service-account", [](Random& r) { return "ops_" + json_base64(r, 400); }},
      {"onepassword-secret-key",
       [](Random& r) {
         std::string out = "A3-" + pick(r, kUpperDigits, 6) + "-" + pick(r, kUpperDigits, 6);
         for (int i = 0; i < 4; ++i) out += "-" + pick(r, kUpperDigits, 5);
         return out;
       }},
      {"age-secret-key", age_key},
      {"zuplo-key", [](Random& r) { return "zpka_" + pick(r, kHex, 32) + "_" + pick(r, kHex, 8); }},
      {"openai-key", [](Random& r) { return sk("proj-", r, 74); }},
      {"jwt", jwt},
      {"gcp-service-account", gcp},
      {"gcp-user-credentials", gcp_user},
      {"telegram-bot-token",
       [](Random& r) { return "1" + pick(r, kDigits, 9) + ":A" + pick(r, kBase62, 34); }},
      {"openssh-private-key-body", openssh},
      {"url-with-password",
       [](Random& r) {
         return "postgres://app:" + pick(r, kLetters, 11) + pick(r, kDigits, 3) + "@db.invalid";
       }},
  };
  return forms;
}

MadeToken in_context(std::string before, const std::string& token, std::string_view behind) {
  MadeToken made{std::move(before), 0, token.size()};
  made.token_at = made.text.size();
  made.text += token;
  made.text += behind;
  return made;
}

std::string mixed(Random& random, std::size_t count) {
  return "a7Q" + pick(random, kBase62, count - 6) + "Z2k";
}

}  // namespace

MadeToken make_token_text(std::string_view rule_id, Random& random) {
  if (const auto it = plain_forms().find(rule_id); it != plain_forms().end())
    return in_context(
        "", std::string(it->second.prefix) + pick(random, it->second.alphabet, it->second.length), "");
  if (const auto it = made_forms().find(rule_id); it != made_forms().end())
    return in_context("", it->second(random), "");
  if (rule_id == "aws-secret-access-key")
    return in_context("AKIA" + pick(random, kBase32, 16) + " = ", mixed(random, 40), "");
  if (rule_id == "npmrc-auth-token")
    return in_context("//registry.invalid/:_authToken=", mixed(random, 36), "\n");
  if (rule_id == "vault-legacy-token") return in_context("VAULT_TOKEN=", "s." + mixed(random, 24), "");
  if (rule_id == "env-secret") return in_context("\nAPP_SECRET=", mixed(random, 32), "\n");
  if (rule_id == "azure-sas")
    return in_context("?sv=2024-01-01&se=2030-01-01&", "sig=" + pick(random, kBase62, 43) + "%3D", "");
  return {};
}

std::string make_token(std::string_view rule_id, Random& random) {
  return make_token_text(rule_id, random).text;
}

}  // namespace vacant::props

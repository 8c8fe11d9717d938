// The rules that are plain shapes. Sources: the issuers' documentation and public descriptions of formats.
#include "token/checks.h"
#include "token/rule.h"

namespace vacant::scan::token {
namespace {

void add_forges(std::vector<TokenRule>& out) {
  const auto github = [&](std::string_view id, std::string_view what, std::string_view shape) {
    out.push_back(
        {.id = id, .description = what, .shape = shape, .check = check_crc_base62, .checksum = true});
  };
  github("github-pat-classic", "GitHub personal access token (classic)", "ghp_{b:36}");
  github("github-oauth", "GitHub OAuth access token", "gho_{b:36}");
  github("github-user-to-server", "GitHub App user token", "ghu_{b:36}");
  github("github-server-to-server", "GitHub App installation token", "ghs_{b:36}");
  github("github-refresh", "GitHub App refresh token", "ghr_{b:36-76}");
  github("npm-access-token", "npm access token", "npm_{b:36}");
  out.push_back({"github-pat-fine-grained", "GitHub fine-grained token", "github_pat_{b:22}_{b:59}"});
  out.push_back({"gitlab-pat", "GitLab personal access token", "glpat-{w:20}"});
  out.push_back({"gitlab-pat-routable", "GitLab routable token", "glpat-{w:27-300}.{b:2}{b:7}"});
  out.push_back({"gitlab-pat-routable", "GitLab routable token", "glpat-{w:27-300}.01.{b:9}"});
  out.push_back({"gitlab-deploy", "GitLab deploy token", "gldt-{w:20}"});
  out.push_back({"gitlab-runner", "GitLab runner token", "glrt-{w:20}"});
  out.push_back({"gitlab-runner", "GitLab runner token", "glrt-t{d:1}_{w:20-27}"});
  out.push_back({"gitlab-runner-registration", "GitLab runner registration", "GR1348941{w:20}"});
  out.push_back({"gitlab-ci-job", "GitLab CI job token", "glcbt-{b:1-5}_{w:20}"});
  out.push_back({"gitlab-trigger", "GitLab pipeline trigger", "glptt-{h:40}"});
  out.push_back({"gitlab-feed", "GitLab feed token", "glft-{w:20}"});
  out.push_back({"gitlab-incoming-mail", "GitLab incoming mail token", "glimt-{w:25}"});
  out.push_back({"gitlab-agent", "GitLab agent token", "glagent-{w:50}"});
  out.push_back({"gitlab-oauth-secret", "GitLab OAuth application secret", "gloas-{w:64}"});
  out.push_back({"gitlab-scim", "GitLab SCIM token", "glsoat-{w:20}"});
  out.push_back({"gitlab-feature-flag", "GitLab feature flag client token", "glffct-{w:20}"});
}

void add_clouds(std::vector<TokenRule>& out) {
  for (const std::string_view shape : {"AKIA{k:16}", "ASIA{k:16}", "ABIA{k:16}", "ACCA{k:16}"})
    out.push_back({.id = "aws-access-key-id",
                   .description = "AWS access key id",
                   .shape = shape,
                   .check = check_aws_key_id});
  out.push_back({"aws-bedrock-key", "AWS Bedrock API key", "ABSK{s:109-269}"});
  out.push_back({"aws-bedrock-short-key", "AWS Bedrock short-term key",
                 "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{s:32-4096}"});
  out.push_back({"google-api-key", "Google API key", "AIza{w:35}"});
  out.push_back({"google-gemini-key", "Google Gemini key, new form", "AQ.Ab8RN6{w:44}"});
  out.push_back({"google-oauth-access", "Google OAuth access token", "ya29.{w:40-2048}"});
  out.push_back({.id = "google-oauth-refresh",
                 .description = "Google OAuth refresh token",
                 .shape = "1//0{w:40-256}",
                 .check = check_mixed});
  out.push_back({"google-oauth-client-secret", "Google OAuth client secret", "GOCSPX-{w:28}"});
  out.push_back({.id = "azure-storage-key",
                 .description = "Azure storage account key",
                 .shape = "AccountKey={s:86}==",
                 .check = check_azure_key});
  out.push_back({.id = "azure-ad-client-secret",
                 .description = "Azure AD client secret",
                 .shape = "{b:3}{d:1}Q~{z:31-34}",
                 .check = check_mixed});
  for (const std::string_view shape : {"dop_v1_{h:64}", "doo_v1_{h:64}", "dor_v1_{h:64}"})
    out.push_back({"digitalocean-token", "DigitalOcean token", shape});
  for (const std::string_view shape : {"cfut_{b:40}{h:8}", "cfat_{b:40}{h:8}", "cfk_{b:40}{h:8}"})
    out.push_back({.id = "cloudflare-token",
                   .description = "Cloudflare API token or key",
                   .shape = shape,
                   .check = check_crc_hex,
                   .checksum = true});
  out.push_back({"cloudflare-origin-ca", "Cloudflare Origin CA key", "v1.0-{h:24}-{h:146}"});
  out.push_back({"heroku-api-key", "Heroku API key", "HRKU-AA{w:58}"});
  out.push_back({"fly-token", "Fly.io token", "FlyV1 fm1_{s:200-1200}"});
  out.push_back({"fly-token", "Fly.io token", "FlyV1 fm2_{s:200-1200}"});
  for (const std::string_view shape : {"tskey-api-{b:6-24}-{b:16-64}", "tskey-auth-{b:6-24}-{b:16-64}",
                                       "tskey-client-{b:6-24}-{b:16-64}", "tskey-webhook-{b:6-24}-{b:16-64}"})
    out.push_back({"tailscale-key", "Tailscale key", shape});
  out.push_back({"vercel-ai-gateway", "Vercel AI gateway key", "vck_{b:56}"});
  out.push_back({"netlify-token", "Netlify token", "nfp_{b:36}"});
  out.push_back({"deno-deploy-token", "Deno Deploy token", "ddp_{b:36}"});
  out.push_back({"deno-deploy-token", "Deno Deploy token", "ddw_{b:36}"});
  out.push_back({"supabase-token", "Supabase access token", "sbp_{h:40}"});
  out.push_back({"supabase-secret-key", "Supabase secret key", "sb_secret_{w:31}"});
  for (const std::string_view shape :
       {"pscale_tkn_{z:32-64}", "pscale_oauth_{z:32-64}", "pscale_pw_{z:32-64}"})
    out.push_back({"planetscale-token", "PlanetScale token or password", shape});
  out.push_back({"databricks-token", "Databricks token", "dapi{h:32}-{d:1}"});
  out.push_back({"databricks-token", "Databricks token", "dapi{h:32}"});
}

void add_ai(std::vector<TokenRule>& out) {
  out.push_back({.id = "anthropic-api-key",
                 .description = "Anthropic API key",
                 .shape = "sk-ant-api03-{w:95}",
                 .check = check_anthropic});
  out.push_back({.id = "anthropic-admin-key",
                 .description = "Anthropic admin key",
                 .shape = "sk-ant-admin01-{w:95}",
                 .check = check_anthropic});
  out.push_back({"anthropic-oauth-access", "Anthropic OAuth access token", "sk-ant-oat01-{w:80-120}"});
  out.push_back({"anthropic-oauth-refresh", "Anthropic OAuth refresh token", "sk-ant-ort01-{w:80-120}"});
  out.push_back({"openrouter-key", "OpenRouter key", "sk-or-v1-{h:64}"});
  out.push_back({"groq-key", "Groq key", "gsk_{b:52}"});
  out.push_back({"xai-key", "xAI key", "xai-{w:80}"});
  out.push_back({"perplexity-key", "Perplexity key", "pplx-{b:48}"});
  out.push_back({.id = "replicate-token",
                 .description = "Replicate token",
                 .shape = "r8_{b:37}",
                 .check = check_alnum});
  out.push_back({"huggingface-token", "Hugging Face token", "hf_{l:34}"});
  out.push_back({"huggingface-org-token", "Hugging Face organisation token", "api_org_{l:34}"});
}

void add_chat_and_pay(std::vector<TokenRule>& out) {
  for (const std::string_view shape : {"sk_live_{b:16-247}", "sk_test_{b:16-247}", "rk_live_{b:16-247}",
                                       "rk_test_{b:16-247}", "sk_prod_{b:16-247}"})
    out.push_back({.id = "stripe-key", .description = "Stripe key", .shape = shape, .check = check_alnum});
  out.push_back({.id = "stripe-webhook-secret",
                 .description = "Stripe webhook secret",
                 .shape = "whsec_{s:32-64}",
                 .check = check_alnum});
  out.push_back({"slack-bot-token", "Slack bot token", "xoxb-{d:10-13}-{d:10-13}-{b:24}"});
  out.push_back({"slack-user-token", "Slack user token", "xoxp-{d:10-13}-{d:10-13}-{d:10-13}-{h:28-36}"});
  out.push_back({"slack-session-token", "Slack session token", "xoxc-{d:10-13}-{d:10-13}-{d:10-13}-{h:64}"});
  out.push_back({"slack-cookie", "Slack session cookie", "xoxd-{p:60-512}"});
  out.push_back({"slack-refresh-token", "Slack refresh token", "xoxe-{d:1}-{b:140-170}"});
  out.push_back({"slack-config-token", "Slack configuration token", "xoxe.xoxb-{d:1}-{b:160-170}"});
  out.push_back({"slack-config-token", "Slack configuration token", "xoxe.xoxp-{d:1}-{b:160-170}"});
  out.push_back({"slack-app-token", "Slack app token", "xapp-{d:1}-{U:8-13}-{d:10-13}-{h:64}"});
  for (const std::string_view shape : {"hooks.slack.com/services/T{U:8-12}/B{U:8-12}/{b:24}",
                                       "hooks.slack.com/workflows/T{U:8-12}/A{U:8-12}/{d:16-20}/{b:24}",
                                       "hooks.slack.com/triggers/T{U:8-12}/{d:10-16}/{h:32}"})
    out.push_back({"slack-webhook", "Slack webhook address", shape});
  for (const std::string_view shape :
       {"discord.com/api/webhooks/{d:17-20}/{w:60-80}", "discordapp.com/api/webhooks/{d:17-20}/{w:60-80}"})
    out.push_back({"discord-webhook", "Discord webhook address", shape});
  for (const std::string_view shape : {"shpat_{X:32}", "shpca_{X:32}", "shppa_{X:32}", "shpss_{X:32}"})
    out.push_back({"shopify-token", "Shopify token or secret", shape});
  out.push_back({.id = "square-access-token",
                 .description = "Square access token",
                 .shape = "EAAA{w:60}",
                 .check = check_mixed});
  for (const std::string_view shape : {"sq0atp-{w:22}", "sq0csp-{w:43}"})
    out.push_back({"square-oauth", "Square token or OAuth secret", shape});
  out.push_back({"sendgrid-key", "SendGrid key", "SG.{w:22}.{w:43}"});
  out.push_back({.id = "twilio-api-key",
                 .description = "Twilio API key id",
                 .shape = "SK{h:32}",
                 .check = check_possible});
}

void add_tools(std::vector<TokenRule>& out) {
  out.push_back({.id = "pypi-upload-token",
                 .description = "PyPI upload token",
                 .shape = "pypi-AgEIcHlwaS5vcmc{w:50-1000}",
                 .check = check_pypi,
                 .checksum = true});
  out.push_back({.id = "pypi-upload-token",
                 .description = "PyPI upload token",
                 .shape = "pypi-AgENdGVzdC5weXBpLm9yZw{w:50-1000}",
                 .check = check_pypi,
                 .checksum = true});
  out.push_back({.id = "crates-io-token",
                 .description = "crates.io token",
                 .shape = "cio{b:32}",
                 .check = check_mixed});
  out.push_back({"rubygems-key", "RubyGems key", "rubygems_{h:48}"});
  out.push_back({"docker-hub-pat", "Docker Hub personal access token", "dckr_pat_{w:27}"});
  out.push_back({"docker-hub-org-token", "Docker Hub organisation token", "dckr_oat_{w:32}"});
  out.push_back({.id = "grafana-service-account",
                 .description = "Grafana service account token",
                 .shape = "glsa_{b:32}_{X:8}",
                 .check = check_optional_crc});
  out.push_back({.id = "grafana-cloud-token",
                 .description = "Grafana Cloud token",
                 .shape = "glc_eyJ{s:37-400}",
                 .check = check_json_payload,
                 .checksum = true});
  out.push_back({"vault-service-token", "HashiCorp Vault service token", "hvs.{w:90-120}"});
  out.push_back({"vault-batch-token", "HashiCorp Vault batch token", "hvb.{w:138-300}"});
  out.push_back({"terraform-cloud-token", "Terraform Cloud token", "{b:14}.atlasv1.{w:60-70}"});
  out.push_back({"sentry-user-token", "Sentry user token", "sntryu_{h:64}"});
  out.push_back({.id = "sentry-org-token",
                 .description = "Sentry organisation token",
                 .shape = "sntrys_eyJ{s:40-400}_{s:43}",
                 .check = check_json_payload,
                 .checksum = true});
  out.push_back({"linear-api-key", "Linear key", "lin_api_{b:40}"});
  out.push_back({"notion-token", "Notion token", "ntn_{d:11}{b:35}"});
  out.push_back({"figma-token", "Figma token", "figd_{w:38-42}"});
  out.push_back({"atlassian-token", "Atlassian API token", "ATATT3{w:170-190}={X:8}"});
  out.push_back({"atlassian-token", "Atlassian admin token", "ATCTT3{w:170-190}={X:8}"});
  out.push_back({.id = "bitbucket-app-password",
                 .description = "Bitbucket app password",
                 .shape = "ATBB{b:32}",
                 .check = check_mixed});
  out.push_back({"postman-key", "Postman key", "PMAK-{h:24}-{h:34}"});
  out.push_back({"airtable-pat", "Airtable token", "pat{b:14}.{h:64}"});
  out.push_back({.id = "onepassword-service-account",
                 .description = "1Password service account token",
                 .shape = "ops_eyJ{s:250-4096}",
                 .check = check_json_payload,
                 .checksum = true});
  out.push_back({"onepassword-secret-key", "1Password secret key", "A3-{U:6}-{U:6}-{U:5}-{U:5}-{U:5}-{U:5}"});
  out.push_back({.id = "age-secret-key",
                 .description = "age secret key",
                 .shape = "AGE-SECRET-KEY-1{q:58}",
                 .check = check_age,
                 .checksum = true});
  out.push_back({.id = "zuplo-key",
                 .description = "Zuplo API key",
                 .shape = "zpka_{h:32}_{h:8}",
                 .check = check_optional_crc});
  out.push_back({"confluent-key", "Confluent secret", "cflt{s:60}"});
}

}  // namespace

std::vector<TokenRule> shape_rules() {
  std::vector<TokenRule> out;
  add_forges(out);
  add_clouds(out);
  add_ai(out);
  add_chat_and_pay(out);
  add_tools(out);
  return out;
}

}  // namespace vacant::scan::token

// One Vectorscan database of literals, shared by all threads; our own code decides.
#include <hs.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "core/landmarks.h"
#include "token/checks.h"
#include "token/rule.h"
#include "vacant/scan/token.h"

namespace vacant::scan {
namespace token {

const std::vector<TokenRule>& token_table() {
  static const std::vector<TokenRule> table = [] {
    std::vector<TokenRule> out = shape_rules();
    for (TokenRule& rule : finder_rules()) out.push_back(rule);
    return out;
  }();
  return table;
}

namespace {

struct FreeDatabase {
  void operator()(hs_database_t* database) const { hs_free_database(database); }
};
struct FreeScratch {
  void operator()(hs_scratch_t* scratch) const { hs_free_scratch(scratch); }
};
using Scratch = std::unique_ptr<hs_scratch_t, FreeScratch>;

struct Compiled {
  const TokenRule* rule = nullptr;
  Shape shape = {};
  Lead lead = {};
};
struct Program {
  std::vector<Compiled> rules;
  std::unique_ptr<hs_database_t, FreeDatabase> database;
};

std::vector<Compiled> compile_rules() {
  std::vector<Compiled> out;
  for (const TokenRule& rule : token_table()) {
    Compiled one{.rule = &rule};
    if (rule.find == nullptr) {
      one.shape = parse_shape(rule.shape);
      one.lead = shape_lead(one.shape);
    } else {
      one.lead = {std::string(rule.anchor), rule.anchor.size()};
    }
    out.push_back(std::move(one));
  }
  return out;
}

Result<std::shared_ptr<const Program>> make_program() {
  auto program = std::make_shared<Program>();
  program->rules = compile_rules();
  std::vector<const char*> patterns;
  std::vector<unsigned> flags, ids;
  std::vector<std::size_t> lengths;
  for (const Compiled& one : program->rules) {
    patterns.push_back(one.lead.literal.c_str());
    ids.push_back(static_cast<unsigned>(ids.size()));
    flags.push_back(0);
    lengths.push_back(one.lead.literal.size());
  }
  hs_database_t* database = nullptr;
  hs_compile_error_t* error = nullptr;
  const auto status =
      hs_compile_lit_multi(patterns.data(), flags.data(), ids.data(), lengths.data(),
                           static_cast<unsigned>(ids.size()), HS_MODE_BLOCK, nullptr, &database, &error);
  if (status != HS_SUCCESS) {
    std::string message = std::string("compiling the token patterns: ") + error->message;
    hs_free_compile_error(error);
    return fail(Code::kInternal, std::move(message));
  }
  program->database.reset(database);
  return std::shared_ptr<const Program>(std::move(program));
}

std::optional<Match> judge(const Compiled& one, std::string_view text, std::size_t begin, std::size_t end) {
  if (one.rule->find != nullptr) return one.rule->find(text, begin, end);
  if (!starts_cleanly(text, begin)) return std::nullopt;
  const auto length = match_shape(one.shape, text.substr(begin));
  if (!length || !ends_cleanly(text, begin + *length)) return std::nullopt;
  const std::string_view found = text.substr(begin, *length);
  Match match{begin, *length, {}};
  if (one.rule->check != nullptr) match.opinion = one.rule->check(found);
  if (match.opinion.refuted) return std::nullopt;
  const std::string_view body = found.substr(std::min(one.lead.length, found.size()));
  if (match.opinion.confidence != Confidence::kProven && variety(body).distinct < distinct_floor(body.size()))
    return std::nullopt;
  return match;
}

class TokenDetector final : public Detector {
 public:
  TokenDetector(std::shared_ptr<const Program> program, Scratch scratch)
      : program_(std::move(program)), scratch_(std::move(scratch)) {}

  void scan(const Buffer& buffer, FindingSink& sink) override {
    Run run{.program = *program_, .buffer = buffer, .text = as_text(buffer.bytes)};
    Landmarks spare;
    // A credential is longer than kMinTextBytes, and all of it is printable.
    for (const Range& part : landmarks_of(buffer, spare).text) {
      run.part_begin = part.begin;
      const auto status = hs_scan(program_->database.get(), run.text.data() + part.begin,
                                  static_cast<unsigned>(part.size()), 0, scratch_.get(), &on_lead, &run);
      if (status == HS_SUCCESS) continue;
      return sink.skipped(buffer.extent_of(buffer.owned_begin, buffer.owned_end - buffer.owned_begin),
                          "token search failed");
    }
    emit(run, sink);
  }
  [[nodiscard]] bool runs_on_decoded() const override { return true; }
  [[nodiscard]] bool uses_landmarks() const override { return true; }

 private:
  using Key = std::pair<std::size_t, std::string_view>;  // first byte, rule
  struct Hit {
    Key key;
    Match match;
  };
  struct Run {
    const Program& program;
    const Buffer& buffer;
    std::string_view text;
    std::size_t part_begin = 0;  // of what is being searched
    std::vector<Hit> hits = {};
  };

  static int on_lead(unsigned id, unsigned long long, unsigned long long to, unsigned, void* context) {
    Run& run = *static_cast<Run*>(context);
    const Compiled& one = run.program.rules[id];
    const auto end = run.part_begin + static_cast<std::size_t>(to);
    if (end < one.lead.length) return 0;
    auto match = judge(one, run.text, end - one.lead.length, end);
    if (match && run.buffer.owns(match->begin))
      run.hits.push_back({{match->begin, one.rule->id}, std::move(*match)});
    return 0;
  }

  // In order of place, each once: two anchors may lead to one match.
  static void emit(Run& run, FindingSink& sink) {
    std::sort(run.hits.begin(), run.hits.end(), [](const Hit& left, const Hit& right) {
      return std::pair(left.key, left.match.length) < std::pair(right.key, right.match.length);
    });
    const Hit* last = nullptr;
    for (Hit& hit : run.hits) {
      if (last != nullptr && last->key == hit.key) continue;
      last = &hit;
      Finding finding;
      finding.kind = FindingKind::kToken;
      finding.rule = std::string(hit.key.second);
      finding.confidence = hit.match.opinion.confidence;
      finding.origin = run.buffer.origin_at(hit.match.begin);
      finding.length_bytes = hit.match.length;
      finding.extent = run.buffer.extent_of(hit.match.begin, hit.match.length);
      finding.detail = std::move(hit.match.opinion.detail);
      sink.found(std::move(finding), run.buffer.bytes.subspan(hit.match.begin, hit.match.length));
    }
  }

  std::shared_ptr<const Program> program_;
  Scratch scratch_;
};

class TokenFactory final : public DetectorFactory {
 public:
  explicit TokenFactory(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  [[nodiscard]] Result<std::unique_ptr<Detector>> make() const override {
    hs_scratch_t* scratch = nullptr;
    if (hs_alloc_scratch(program_->database.get(), &scratch) != HS_SUCCESS)
      return fail(Code::kLimit, "no memory for the token search");
    return std::make_unique<TokenDetector>(program_, Scratch(scratch));
  }

 private:
  std::shared_ptr<const Program> program_;
};

}  // namespace
}  // namespace token

std::vector<TokenRuleInfo> token_rules() {
  std::vector<TokenRuleInfo> out;
  std::set<std::string_view> seen;
  for (const token::TokenRule& rule : token::token_table())
    if (seen.insert(rule.id).second)
      out.push_back({std::string(rule.id), std::string(rule.description), rule.checksum});
  std::sort(out.begin(), out.end(),
            [](const TokenRuleInfo& left, const TokenRuleInfo& right) { return left.id < right.id; });
  return out;
}

Result<std::unique_ptr<DetectorFactory>> make_token_factory() {
  auto program = VACANT_TRY(token::make_program());
  return std::make_unique<token::TokenFactory>(std::move(program));
}

}  // namespace vacant::scan

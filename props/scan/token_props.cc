#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "vacant/props/tokens.h"
#include "vacant/scan/token.h"

namespace vacant::scan {
namespace {

class Sink final : public FindingSink {
 public:
  void found(Finding finding, ByteSpan) override { findings.push_back(std::move(finding)); }
  void skipped(const Extent&, std::string_view) override {}
  void nested(const Buffer&) override {}
  std::vector<Finding> findings;
};

// Law: wherever two buffers are cut, a token is reported once, by the one that owns its first byte.
RC_GTEST_PROP(TokenLaw, OneOwnerForEveryCut, ()) {
  const auto rules = token_rules();
  const auto& rule = rules[*rc::gen::inRange<std::size_t>(0, rules.size())];
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  const auto made = props::make_token_text(rule.id, random);
  const std::string text = std::string(600, ' ') + "\n" + made.text + "\n";
  const auto cut = *rc::gen::inRange<std::size_t>(0, text.size());
  const auto detector = make_token_factory().value()->make().value();
  Sink sink;
  for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{0, cut}, {cut, text.size()}}) {
    Buffer buffer;
    buffer.bytes = as_bytes(text);
    buffer.owned_begin = begin;
    buffer.owned_end = end;
    detector->scan(buffer, sink);
  }
  int hits = 0;
  for (const Finding& finding : sink.findings)
    if (finding.rule == rule.id && finding.origin.device_offset_bytes == 601 + made.token_at) ++hits;
  RC_ASSERT(hits == 1);
}

}  // namespace
}  // namespace vacant::scan

#include "core/strict_json.h"

#include <fmt/format.h>

#include <limits>

namespace vacant::scan {

using nlohmann::json;

namespace {

constexpr int kMaxDepth = 16;

// Watches the parser's events: depth, and keys that come twice in one object.
class Watch {
 public:
  bool operator()(int depth, json::parse_event_t event, json& value) {
    if (depth > kMaxDepth) too_deep = true;
    if (event == json::parse_event_t::object_start) keys_.emplace_back();
    if (event == json::parse_event_t::object_end && !keys_.empty()) keys_.pop_back();
    if (event == json::parse_event_t::key && !keys_.empty() && !keys_.back().insert(value.get<std::string>()).second) twice = true;
    return !too_deep;
  }
  bool too_deep = false;
  bool twice = false;

 private:
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

Result<json> parse_strict_json(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) return fail(Code::kCorrupt, "begins with a byte order mark");
  Watch watch;
  json document = json::parse(text, std::ref(watch), false);
  if (watch.too_deep) return fail(Code::kLimit, "nested too deeply");
  if (watch.twice) return fail(Code::kCorrupt, "a key comes twice");
  if (document.is_discarded()) return fail(Code::kCorrupt, "no valid JSON");
  return document;
}

Result<JsonFields> JsonFields::of(const json& value, std::string where) {
  if (!value.is_object()) return fail(Code::kCorrupt, fmt::format("{} must be an object", where));
  return JsonFields(value, std::move(where));
}

std::unexpected<Error> JsonFields::bad(std::string_view key, std::string_view want) const {
  return fail(Code::kCorrupt, fmt::format("{}: \"{}\" must be {}", where_, key, want));
}

Result<const json*> JsonFields::find(const char* key) {
  const auto found = value_->find(key);
  if (found == value_->end()) return bad(key, "there");
  seen_.insert(key);
  return &*found;
}

Result<std::uint64_t> JsonFields::number(const char* key) {
  const json* value = VACANT_TRY(find(key));
  if (!value->is_number_unsigned()) return bad(key, "a whole number from 0");
  return value->get<std::uint64_t>();
}

Result<std::int64_t> JsonFields::integer(const char* key) {
  const json* value = VACANT_TRY(find(key));
  if (!value->is_number_integer()) return bad(key, "a whole number");
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return bad(key, "a smaller number");
  return value->get<std::int64_t>();
}

Result<std::string> JsonFields::text(const char* key, std::size_t limit_bytes) {
  const json* value = VACANT_TRY(find(key));
  if (!value->is_string()) return bad(key, "a text");
  auto out = value->get<std::string>();
  if (out.size() > limit_bytes) return bad(key, "shorter");
  return out;
}

Result<bool> JsonFields::flag(const char* key) {
  const json* value = VACANT_TRY(find(key));
  if (!value->is_boolean()) return bad(key, "true or false");
  return value->get<bool>();
}

Result<const json*> JsonFields::array(const char* key, std::size_t limit) {
  const json* value = VACANT_TRY(find(key));
  if (!value->is_array()) return bad(key, "a list");
  if (value->size() > limit) return bad(key, fmt::format("a list of at most {} entries", limit));
  return value;
}

Result<const json*> JsonFields::object(const char* key) {
  const json* value = VACANT_TRY(find(key));
  if (!value->is_object()) return bad(key, "an object");
  return value;
}

Result<void> JsonFields::done() const {
  for (const auto& [key, value] : value_->items())
    if (!seen_.contains(key)) return fail(Code::kCorrupt, fmt::format("{}: unknown field \"{}\"", where_, key));
  return {};
}

}  // namespace vacant::scan

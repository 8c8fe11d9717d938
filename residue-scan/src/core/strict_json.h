// Strict reading of JSON from outside: bounded depth, no key twice, no unknown fields, whole numbers only. Private to scan.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "vacant/base/bytes.h"
#include "vacant/base/extent.h"
#include "vacant/base/result.h"

namespace vacant::scan {

// No exceptions; kLimit for more than 16 levels, kCorrupt for a key that comes twice or anything that is no JSON.
Result<nlohmann::json> parse_strict_json(std::string_view text);

// One object, read field by field. Fields that were not asked for are refused by done().
class JsonFields {
 public:
  // `where` is used in messages: "volumes[3]".
  static Result<JsonFields> of(const nlohmann::json& value, std::string where);

  Result<std::uint64_t> number(const char* key);
  Result<std::int64_t> integer(const char* key);
  Result<std::string> text(const char* key, std::size_t limit_bytes = 64 * 1024);
  Result<bool> flag(const char* key);
  // The element, which must be an array of at most `limit` entries, or an object. Borrowed from the document.
  Result<const nlohmann::json*> array(const char* key, std::size_t limit);
  Result<const nlohmann::json*> object(const char* key);
  [[nodiscard]] bool has(const char* key) const { return value_->contains(key); }
  Result<void> done() const;

  [[nodiscard]] std::unexpected<Error> bad(std::string_view key, std::string_view want) const;

 private:
  JsonFields(const nlohmann::json& value, std::string where) : value_(&value), where_(std::move(where)) {}
  Result<const nlohmann::json*> find(const char* key);
  const nlohmann::json* value_;
  std::string where_;
  std::set<std::string, std::less<>> seen_;
};

}  // namespace vacant::scan

// The encoded forms of a value, and how much of the value each prefix of a form gives away. Private.
#pragma once

#include <cstdint>
#include <vector>

#include "vacant/base/bytes.h"
#include "vacant/secrets/fingerprint.h"

namespace vacant::secrets {

// Bytes of an encoding; `known` says, for each of them, how many leading bytes of the value a reader of the
// encoding up to and including that byte has seen (a byte seen in part counts as seen).
struct Encoded {
  ByteVector bytes;
  std::vector<std::uint32_t> known;

  Encoded() = default;
  Encoded(Encoded&&) = default;
  Encoded& operator=(Encoded&&) = default;
  Encoded(const Encoded&) = delete;
  Encoded& operator=(const Encoded&) = delete;
  ~Encoded() { wipe(bytes); }
  void reserve(std::size_t count);  // before the first put: a growing vector would leave copies behind
  void put(std::byte byte, std::uint32_t known_bytes) {
    bytes.push_back(byte);
    known.push_back(known_bytes);
  }
};

struct Form {
  std::uint16_t form = 0;
  Encoded encoded;
  bool window_at_end = false;
};

// All forms of a value, at most kMaxFormBytes of each, duplicates left out, in the order of their indices.
std::vector<Form> make_forms(ByteSpan value);

struct Window {
  std::uint8_t stride = 0;  // 0: no window is small enough
  std::uint32_t offset = 0;
};
// The widest window that shows at most half of the value.
Window choose_window(const Form& form, std::size_t value_bytes);
// How many bytes of the value a window shows.
std::size_t shown_bytes(const Form& form, const Window& window);

}  // namespace vacant::secrets

// Enumerators and their names in reports. Private to scan.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace vacant::scan {

// The enumerator whose name stands at its index, if any has this name.
template <class Enum, std::size_t N>
std::optional<Enum> find_name(const std::array<std::string_view, N>& names, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == text) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace vacant::scan

// Escaping for each output. Names and paths come from hostile disks. Private to scan.
#pragma once

#include <string>
#include <string_view>

namespace vacant::scan {

// For a terminal: control characters, bytes that are no UTF-8 and direction overrides become \xNN.
std::string printable(std::string_view text);
// For XML and HTML text and attributes: also what XML 1.0 cannot hold is replaced.
std::string xml_escape(std::string_view text);

}  // namespace vacant::scan

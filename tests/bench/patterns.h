// The token rules as regular expressions, for ripgrep.
#pragma once

#include <string>
#include <vector>

namespace vacant::bench {

// One for each shape of the rule table, and one for each finder as a user of ripgrep would write it.
std::vector<std::string> token_patterns();

}  // namespace vacant::bench

// Names of report fields that the writer, the reader and the checks share. Private to scan.
#pragma once

#include <array>
#include <utility>

#include "vacant/scan/report.h"

namespace vacant::scan {

inline constexpr std::array<std::pair<const char*, std::uint64_t Summary::*>, 10> kSummaryFields = {{
    {"foreign_directory_inodes", &Summary::foreign_directory_inodes},
    {"foreign_file_systems", &Summary::foreign_file_systems},
    {"foreign_blocks", &Summary::foreign_blocks},
    {"sqlite_databases", &Summary::sqlite_databases},
    {"credential_files", &Summary::credential_files},
    {"private_keys", &Summary::private_keys},
    {"tokens", &Summary::tokens},
    {"base_tokens", &Summary::base_tokens},
    {"known_secrets", &Summary::known_secrets},
    {"placeholders", &Summary::placeholders},
}};

}  // namespace vacant::scan

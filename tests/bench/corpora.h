// The benchmark's inputs, made at run time: random bytes, text of this machine, written zeros, and an ext4
// image that is 15 % full. All are plain, fully allocated files, so that every byte has to be read.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "vacant/base/result.h"

namespace vacant::bench {

enum class Corpus { kRandom, kText, kZeros, kExt4 };
inline constexpr std::array kCorpora = {Corpus::kRandom, Corpus::kText, Corpus::kZeros, Corpus::kExt4};
std::string_view name(Corpus corpus);

// Writes the file `path` of exactly this size; `folder` is for what is needed on the way.
Result<void> make_corpus(Corpus corpus, const std::string& path, const std::string& folder,
                         std::uint64_t size_bytes);

}  // namespace vacant::bench

// Made-up files of the kinds that the artefact detector finds, built at run time from a seed: no source file
// holds a key or a password. None of them opens anything. For tests and benchmarks of every module.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace vacant::props {

struct MadeFile {
  std::string rule;  // what the detector calls it
  std::string bytes;
};

// A database of the sqlite3 library with `rows` rows of text in one table. Page size 512 to 65536.
std::string make_sqlite(std::mt19937_64& random, int page_bytes, int rows);
std::string make_env_file(std::mt19937_64& random);
// PKCS #8 for Ed25519 around 32 random bytes.
std::string make_pem_key(std::mt19937_64& random);
// One record of a LevelDB log with its masked checksum.
std::string make_leveldb_record(std::string_view payload);
// A table of one data block of random bytes, with an index block, a footer and their checksums.
std::string make_leveldb_table(std::mt19937_64& random);
// "blob N", a zero byte and the content, as one zlib stream.
std::string make_git_blob(std::string_view content);

// One file of each kind that can be made here, the same for the same state of `random`.
std::vector<MadeFile> make_artefacts(std::mt19937_64& random);

}  // namespace vacant::props

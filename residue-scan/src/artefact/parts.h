// The parts of the artefact detector. Each looks at bytes that may begin something, and answers what it
// proved. Private to scan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "vacant/base/isolate.h"
#include "vacant/scan/detector.h"

namespace vacant::scan {

// Something that begins at the first byte of what was examined.
struct Artefact {
  FindingKind kind = FindingKind::kArtefact;
  std::string rule;
  Confidence confidence = Confidence::kLikely;
  std::uint64_t length_bytes = 0;
  std::string detail;
};

// A place on a device that something may begin at, with as much of it as the buffer holds.
struct Candidate {
  ByteSpan bytes;
  std::uint64_t device_offset_bytes = 0;
  BlockDevice* device = nullptr;
};

// Runs the sqlite3 library and zlib over hostile bytes, in a child that is started at first use and again
// after a crash.
class ArtefactChild {
 public:
  // "quick_check ok" and the names of the tables, or what failed.
  struct Database {
    bool complete = false;
    std::string problem;
    std::vector<std::string> tables;
  };
  Result<Database> check_database(ByteSpan bytes);
  // The first bytes (at most 64) of a zlib stream.
  Result<ByteVector> inflate_start(ByteSpan bytes);

 private:
  Result<ByteVector> ask(char what, ByteSpan bytes);
  std::optional<Isolate> child_;
};

// At sector-aligned offsets of plain buffers. Several answers: a database, and what kind of profile it is.
std::vector<Artefact> examine_sqlite(const Candidate& candidate, ArtefactChild& child, std::string& skipped);
std::optional<Artefact> examine_sqlite_page(ByteSpan bytes);
std::optional<Artefact> examine_leveldb(const Candidate& candidate);
std::optional<Artefact> examine_archive(const Candidate& candidate);
std::optional<Artefact> examine_git(const Candidate& candidate, ArtefactChild& child);
std::optional<Artefact> examine_container(ByteSpan bytes);

// The text of a file that begins here: .env, netrc, kubeconfig and so on.
std::optional<Artefact> examine_credential_file(ByteSpan bytes);
// A key block that begins with five dashes at `bytes`, or a key format with a first line of its own.
std::optional<Artefact> examine_key(ByteSpan bytes);

// Strict standard base64 over several lines; nullopt for anything else. At most `limit` bytes out.
std::optional<ByteVector> decode_base64_lines(std::string_view text, std::size_t limit);

}  // namespace vacant::scan

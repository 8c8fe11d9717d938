// Finding: something that was found, told without any of its content. Value type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vacant/base/extent.h"
#include "vacant/scan/class.h"
#include "vacant/scan/origin.h"

namespace vacant::scan {

enum class FindingKind : std::uint8_t {
  kKnownSecret,      // a listed secret (fingerprint file): verdict "secret" wherever it lies
  kToken,            // the shape of a credential: verdict "secret" (in `base` bytes: a note)
  kPrivateKey,       // a private key that parses
  kCredentialFile,   // .env, netrc, kubeconfig, docker config, cloud credential file
  kArtefact,         // SQLite, LevelDB, git object, archive: what was left there. Evidence of residue
  kForeignIdentity,  // metadata of another file system, proven by checksum or UUID
};
std::string_view name(FindingKind kind);  // "known-secret"
std::optional<FindingKind> finding_kind_from_name(std::string_view text);

enum class Confidence : std::uint8_t {
  kProven,    // a checksum, a MAC or a digest holds, or the structure was parsed in full
  kLikely,    // distinctive anchor and shape
  kPossible,  // shape and context only
};
std::string_view name(Confidence confidence);
std::optional<Confidence> confidence_from_name(std::string_view text);

// What part of a file system a place belongs to.
enum class FsPart : std::uint8_t {
  kFile,
  kFileTailSlack,
  kDirectory,
  kDirectorySlack,
  kExtentTree,
  kXattr,
  kSymlink,
  kInodeTable,
  kUnusedInode,
  kBlockBitmap,
  kInodeBitmap,
  kGroupDescriptors,
  kReservedGdt,
  kSuperblock,
  kSuperblockSlack,
  kJournal,
  kJournalSlack,
  kOther,
  kFree,
  kOutside
};
std::string_view name(FsPart part);  // "file-tail-slack"
std::optional<FsPart> fs_part_from_name(std::string_view text);

// Who owns the block that a finding lies in.
struct Place {
  int volume = -1;  // index into Report::volumes, -1: outside every volume
  FsPart part = FsPart::kOutside;
  std::uint32_t inode = 0;  // 0: none
  std::string path;         // of that inode where it could be resolved; printable, escaped, <= 4096 bytes
  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Finding {
  FindingKind kind = FindingKind::kArtefact;
  std::string rule;  // stable id: "github-pat", "sqlite-database", "ext4-directory-leaf"
  Confidence confidence = Confidence::kPossible;
  Origin origin;
  std::uint64_t length_bytes = 0;  // of the match, in the innermost bytes
  Extent extent;  // the device bytes concerned (of the outermost encoded run for nested matches)
  Class cls = Class::kUnexplained;  // worst class among those bytes; filled by the engine
  Place place;                      // filled by the engine
  std::string detail;    // structural facts only ("page size 4096, 12 pages, quick_check ok"); NEVER content
  std::string identity;  // for foreign identities: a number that counts distinct owners, e.g. "dir:9f3c01aa"
  std::string digest_prefix;  // keyed BLAKE2b of the match, 16 hex digits; empty without --hash-key
  friend auto operator<=>(const Finding&, const Finding&) = default;
};

}  // namespace vacant::scan

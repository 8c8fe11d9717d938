// The parts of the artefact detector. Each looks at bytes that may begin something, and answers what it
// proved. Private to scan.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vacant/base/isolate.h"
#include "vacant/scan/detector.h"

namespace vacant::scan {

// The longest thing that is read as a whole from a device.
inline constexpr std::uint64_t kMaxWholeBytes = 64 * kMiB;

// Something that begins at the first byte of what was examined.
struct Artefact {
  FindingKind kind = FindingKind::kArtefact;
  std::string rule;
  Confidence confidence = Confidence::kLikely;
  std::uint64_t length_bytes = 0;
  std::string detail;
};

// How much one run of data may cost beyond a pass over it: bytes that are read once more, hashed or handed to
// the child. It is not spent by honest data; a device full of headers that each claim 64 MiB spends it.
struct Effort {
  std::uint64_t left_bytes = 128 * kMiB;
  bool refused = false;  // something was not looked at for want of it
  bool spend(std::uint64_t bytes) {
    if (bytes > left_bytes) {
      refused = true;
      return false;
    }
    left_bytes -= bytes;
    return true;
  }
};
inline constexpr std::uint64_t kCallEffortBytes = 32 * kKiB;  // of a small request to the child

// A place on a device that something may begin at, with as much of it as the buffer holds.
struct Candidate {
  ByteSpan bytes;
  std::uint64_t device_offset_bytes = 0;
  BlockDevice* device = nullptr;
  Effort* effort = nullptr;  // never null in the detector

  // How many bytes there are from here to the end of the device (or of the bytes, without a device).
  [[nodiscard]] std::uint64_t left_bytes() const;
  // The first `size_bytes` from here: from the buffer where they lie in it, else from the device. kLimit if
  // that is more than there is, more than kMaxWholeBytes, or more effort than is left.
  [[nodiscard]] Result<ByteVector> read(std::uint64_t size_bytes) const;
  [[nodiscard]] bool spend(std::uint64_t count) const { return effort == nullptr || effort->spend(count); }
};

// Runs the sqlite3 library and zlib over hostile bytes, in a child that is started at first use and again
// after a crash.
class ArtefactChild {
 public:
  // Whether the child died (a crash or a limit) since the last call of this; what it was asked then is
  // unknown.
  bool take_died() { return std::exchange(died_, false); }

  // "quick_check ok" and the names of the tables, or what failed.
  struct Database {
    bool complete = false;
    std::string problem;
    std::vector<std::string> tables;
  };
  Result<Database> check_database(ByteVector bytes);

  enum class Wrapping : std::uint8_t { kZlib, kGzip };
  struct Inflated {
    ByteVector first;             // at most 64 bytes
    std::uint64_t out_bytes = 0;  // what came out
    std::uint64_t in_bytes = 0;   // what went in
    bool ended = false;           // the stream ended, and its checksum held
  };
  Result<Inflated> inflate(ByteSpan bytes, Wrapping wrapping);

  // The objects of a git pack, from its header on: how many there are whole, and where the last of them ends.
  struct Pack {
    std::uint64_t objects = 0;
    std::uint64_t end_bytes = 0;
    bool cut_off = false;  // the next one needs more bytes (it does not contradict itself)
  };
  Result<Pack> walk_pack(ByteVector bytes);

 private:
  bool died_ = false;
  Result<ByteVector> ask(ByteVector bytes, char what);
  std::optional<Isolate> child_;
};

// At sector-aligned offsets of plain buffers. Several answers: a database, and what kind of profile it is.
std::vector<Artefact> examine_sqlite(const Candidate& candidate, ArtefactChild& child, std::string& skipped);
// Pages of one size that follow each other; the first begins here, the last begins before `limit`.
std::optional<Artefact> examine_sqlite_pages(ByteSpan bytes, std::size_t limit);
std::optional<Artefact> examine_sqlite_wal(const Candidate& candidate);
std::optional<Artefact> examine_leveldb_log(ByteSpan bytes);
std::optional<Artefact> examine_archive(const Candidate& candidate, ArtefactChild& child);
std::optional<Artefact> examine_git(const Candidate& candidate, ArtefactChild& child);
std::optional<Artefact> examine_container(const Candidate& candidate);

// A LevelDB table, told by the footer at its end.
struct TableFooter {
  std::uint64_t table_bytes = 0;  // from the table's first byte to the footer's last
  bool index_holds = false;       // the index block is here and its checksum holds
};
inline constexpr std::size_t kTableFooterBytes = 48;
inline constexpr std::string_view kTableMagic{"\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8};
// `footer_at` is where the footer begins in bytes. `before_bytes` is what the device has before bytes[0].
std::optional<TableFooter> examine_table_footer(ByteSpan bytes, std::size_t footer_at,
                                                std::uint64_t before_bytes);

// The text of a file that begins here: .env, netrc, kubeconfig and so on.
std::optional<Artefact> examine_credential_file(ByteSpan bytes);
std::optional<Artefact> examine_env_file(std::string_view text);
// Whether a URL carries a user and a password that is no reference to something else.
bool url_has_password(std::string_view value);
// A key block that begins with five dashes at `bytes`, or a key format with a first line of its own.
std::optional<Artefact> examine_key(ByteSpan bytes);

// Strict standard base64 over several lines; nullopt for anything else. At most `limit` bytes out.
std::optional<ByteVector> decode_base64_lines(std::string_view text, std::size_t limit);

}  // namespace vacant::scan

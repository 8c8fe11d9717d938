// The isolated side of the artefact detector: sqlite3 on an in-memory copy, and zlib. A request's last byte
// says what is asked; so the bytes before it can be handed on where they are.
#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "artefact/parts.h"
#include "artefact/streams.h"

namespace vacant::scan {

namespace {

constexpr std::size_t kMaxTables = 200;
constexpr int kProgressSteps = 10'000, kMaxProgressCalls = 20'000;  // 200 million virtual machine steps

struct CloseDb {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
struct FinishStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Db = std::unique_ptr<sqlite3, CloseDb>;
using Statement = std::unique_ptr<sqlite3_stmt, FinishStatement>;

int count_steps(void* counter) { return ++*static_cast<int*>(counter) > kMaxProgressCalls ? 1 : 0; }

// The first column of every row, at most `limit` rows.
Result<std::vector<std::string>> query(sqlite3* db, const char* sql, std::size_t limit) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(db, sql, -1, &raw, nullptr) != SQLITE_OK)
    return fail(Code::kCorrupt, sqlite3_errstr(sqlite3_errcode(db)));
  const Statement statement(raw);
  std::vector<std::string> rows;
  int step = SQLITE_ROW;
  while (rows.size() < limit && (step = sqlite3_step(raw)) == SQLITE_ROW) {
    // SAFETY: sqlite3 answers a NUL-terminated text of unsigned char, or null.
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(raw, 0));
    rows.emplace_back(text == nullptr ? "" : text);
  }
  if (step == SQLITE_INTERRUPT) return fail(Code::kLimit, "checking the database takes too long");
  if (step != SQLITE_ROW && step != SQLITE_DONE)
    return fail(Code::kCorrupt, sqlite3_errstr(sqlite3_errcode(db)));
  return rows;
}

// Opens the bytes as a read-only database in memory. No file is touched: there is none in the sandbox.
Result<Db> open_bytes(ByteSpan bytes) {
  sqlite3* raw = nullptr;
  if (sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nullptr) != SQLITE_OK)
    return fail(Code::kInternal, "sqlite3 does not start");
  Db db(raw);
  // SAFETY: sqlite3 takes unsigned char; READONLY, so that the buffer is neither written, resized nor freed.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  const int problem = sqlite3_deserialize(raw, "main", data, size, size, SQLITE_DESERIALIZE_READONLY);
  if (problem != SQLITE_OK) return fail(Code::kCorrupt, "not a database");
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, 64 << 20);
  return db;
}

// Answer: '1' or '0', the problem or nothing, then a line a table.
Result<ByteVector> check_database(ByteSpan bytes) {
  const Db db = VACANT_TRY(open_bytes(bytes));
  int calls = 0;
  sqlite3_progress_handler(db.get(), kProgressSteps, count_steps, &calls);
  std::string out = "1\n";
  const auto checked = query(db.get(), "PRAGMA quick_check(1)", 1);
  if (!checked)
    out = "0" + checked.error().message + "\n";
  else if (checked->empty() || checked->front() != "ok")
    out = "0quick_check finds damage\n";
  if (const auto tables = query(db.get(), "SELECT name FROM sqlite_schema WHERE type='table'", kMaxTables))
    for (const std::string& table : *tables)
      if (table.find('\n') == std::string::npos && table.size() < 200) out += table + "\n";
  const ByteSpan view = as_bytes(out);
  return ByteVector(view.begin(), view.end());
}

// Answer: ended, bytes in, bytes out, the first of them.
Result<ByteVector> inflate(ByteSpan bytes, int window_bits) {
  const auto stream = Inflater(window_bits).run(bytes, kMaxInflatedBytes);
  if (!stream) return fail(Code::kCorrupt, "no such stream");
  ByteVector out(17);
  store_le<std::uint8_t>(out, 0, stream->ended ? 1 : 0);
  store_le<std::uint64_t>(out, 1, stream->in_bytes);
  store_le<std::uint64_t>(out, 9, stream->out_bytes);
  out.insert(out.end(), stream->first.begin(), stream->first.end());
  return out;
}

// Answer: whether more bytes are needed, whole objects, where the last of them ends.
Result<ByteVector> walk(ByteSpan bytes) {
  const PackWalk walked = walk_pack(bytes);
  ByteVector out(17);
  store_le<std::uint8_t>(out, 0, walked.cut_off ? 1 : 0);
  store_le<std::uint64_t>(out, 1, walked.objects);
  store_le<std::uint64_t>(out, 9, walked.end_bytes);
  return out;
}

Result<ByteVector> serve(ByteSpan request, IsolateChannel& /*channel*/) {
  if (request.empty()) return fail(Code::kCorrupt, "no request");
  const ByteSpan bytes = request.first(request.size() - 1);
  switch (std::to_integer<char>(request.back())) {
    case 'D':
      return check_database(bytes);
    case 'Z':
      return inflate(bytes, 15);
    case 'G':
      return inflate(bytes, 15 + 16);
    case 'P':
      return walk(bytes);
    default:
      return fail(Code::kCorrupt, "no such request");
  }
}

// Two long requests at once would take more memory than the scan may: the parent's copy and the child's.
constexpr std::size_t kLongRequestBytes = 8 * kMiB;
std::mutex& long_requests() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

Result<ByteVector> ArtefactChild::ask(ByteVector bytes, char what) {
  if (!child_ || !child_->alive()) {
    IsolateLimits limits;
    limits.cpu_seconds = 1'000'000;  // the child serves a whole scan; one call is bounded by `wall`
    limits.memory_bytes = 512ULL << 20;
    limits.response_bytes = kMiB;
    child_.reset();
    child_ = VACANT_TRY(Isolate::start(serve, limits));
  }
  bytes.push_back(static_cast<std::byte>(what));
  if (bytes.size() < kLongRequestBytes) {
    auto answer = child_->call(bytes);
    died_ |= !child_->alive();
    return answer;
  }
  const std::lock_guard<std::mutex> lock(long_requests());
  auto answer = child_->call(bytes);
  died_ |= !child_->alive();
  child_.reset();  // with what it has mapped
  return answer;
}

Result<ArtefactChild::Database> ArtefactChild::check_database(ByteVector bytes) {
  if (bytes.size() < 100) return fail(Code::kCorrupt, "not a database");
  // A database in WAL mode cannot be opened in memory; with the WAL gone its pages are those of rollback
  // mode.
  bytes[18] = bytes[19] = std::byte{1};
  const ByteVector answer = VACANT_TRY(ask(std::move(bytes), 'D'));
  std::string_view text = as_text(answer);
  if (text.empty()) return fail(Code::kCorrupt, "no answer");
  Database out;
  out.complete = text.front() == '1';
  bool first = true;
  for (text.remove_prefix(1); !text.empty();) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (first)
      out.problem = text.substr(0, end);
    else
      out.tables.emplace_back(text.substr(0, end));
    first = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

Result<ArtefactChild::Inflated> ArtefactChild::inflate(ByteSpan bytes, Wrapping wrapping) {
  const ByteVector answer =
      VACANT_TRY(ask(ByteVector(bytes.begin(), bytes.end()), wrapping == Wrapping::kGzip ? 'G' : 'Z'));
  if (answer.size() < 17 || answer.size() > 17 + Inflater::kFirstBytes)
    return fail(Code::kCorrupt, "a wrong answer");
  Inflated out;
  out.ended = load_le<std::uint8_t>(answer, 0) == 1;
  out.in_bytes = std::min<std::uint64_t>(load_le<std::uint64_t>(answer, 1), bytes.size());
  out.out_bytes = load_le<std::uint64_t>(answer, 9);
  out.first.assign(answer.begin() + 17, answer.end());
  return out;
}

Result<ArtefactChild::Pack> ArtefactChild::walk_pack(ByteVector bytes) {
  const std::uint64_t size = bytes.size();
  const ByteVector answer = VACANT_TRY(ask(std::move(bytes), 'P'));
  if (answer.size() != 17) return fail(Code::kCorrupt, "a wrong answer");
  Pack out;
  out.cut_off = load_le<std::uint8_t>(answer, 0) == 1;
  out.objects = load_le<std::uint64_t>(answer, 1);
  out.end_bytes = std::min(load_le<std::uint64_t>(answer, 9), size);
  return out;
}

}  // namespace vacant::scan

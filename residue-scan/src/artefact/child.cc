// The isolated side of the artefact detector: sqlite3 on an in-memory copy, and the first bytes of a zlib
// stream.
#include <sqlite3.h>
#include <zlib.h>

#include <memory>

#include "artefact/parts.h"

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
Result<Db> open_bytes(ByteVector& bytes) {
  sqlite3* raw = nullptr;
  if (sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nullptr) != SQLITE_OK)
    return fail(Code::kInternal, "sqlite3 does not start");
  Db db(raw);
  // A database in WAL mode cannot be opened in memory; with the WAL gone its pages are those of rollback
  // mode.
  if (bytes.size() > 20) bytes[18] = bytes[19] = std::byte{1};
  // SAFETY: sqlite3 takes unsigned char; READONLY, so that the buffer stays ours and is not resized.
  const int problem = sqlite3_deserialize(
      raw, "main", reinterpret_cast<unsigned char*>(bytes.data()), static_cast<sqlite3_int64>(bytes.size()),
      static_cast<sqlite3_int64>(bytes.size()), SQLITE_DESERIALIZE_READONLY);
  if (problem != SQLITE_OK) return fail(Code::kCorrupt, "not a database");
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, 64 << 20);
  return db;
}

// Answer: '1' or '0', the problem or nothing, then a line a table.
Result<ByteVector> check_database(ByteSpan request) {
  ByteVector bytes(request.begin(), request.end());
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

Result<ByteVector> inflate_start(ByteSpan request) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return fail(Code::kInternal, "zlib does not start");
  ByteVector out(64);
  // SAFETY: zlib takes unsigned char and does not write to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(request.data()));
  stream.avail_in = static_cast<uInt>(request.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int problem = inflate(&stream, Z_SYNC_FLUSH);
  out.resize(out.size() - stream.avail_out);
  inflateEnd(&stream);
  if (problem != Z_OK && problem != Z_STREAM_END) return fail(Code::kCorrupt, "no zlib stream");
  return out;
}

Result<ByteVector> serve(ByteSpan request, IsolateChannel& /*channel*/) {
  if (request.empty()) return fail(Code::kCorrupt, "no request");
  return request[0] == std::byte{'D'} ? check_database(request.subspan(1))
                                      : inflate_start(request.subspan(1));
}

}  // namespace

Result<ByteVector> ArtefactChild::ask(char what, ByteSpan bytes) {
  if (!child_ || !child_->alive()) {
    IsolateLimits limits;
    limits.cpu_seconds = 3600;
    limits.memory_bytes = 512ULL << 20;
    limits.response_bytes = kMiB;
    child_ = VACANT_TRY(Isolate::start(serve, limits));
  }
  ByteVector request{static_cast<std::byte>(what)};
  request.insert(request.end(), bytes.begin(), bytes.end());
  return child_->call(request);
}

Result<ArtefactChild::Database> ArtefactChild::check_database(ByteSpan bytes) {
  const ByteVector answer = VACANT_TRY(ask('D', bytes));
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

Result<ByteVector> ArtefactChild::inflate_start(ByteSpan bytes) {
  return ask('Z', bytes.first(std::min<std::size_t>(bytes.size(), 4096)));
}

}  // namespace vacant::scan

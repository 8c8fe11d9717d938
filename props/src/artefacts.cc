#include "vacant/props/artefacts.h"

#include <sqlite3.h>
#include <zlib.h>

#include <memory>

#include "vacant/base/bytes.h"

namespace vacant::props {
namespace {

using Random = std::mt19937_64;

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Letters and digits, at least one of each.
std::string word(Random& random, std::size_t count) {
  std::string out = "a7";
  while (out.size() < count) out += kBase64[random() % 62];
  return out;
}

std::string octets(Random& random, std::size_t count) {
  std::string out;
  while (out.size() < count) out += static_cast<char>(random());
  return out;
}

// With a line end behind each 64 characters.
std::string base64_lines(std::string_view bytes) {
  std::string out;
  std::size_t column = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = (bits << 8U) | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : kBase64[(bits >> (18 - 6 * k)) & 63U];
    column += 4;
    if (column % 64 == 0) out += '\n';
  }
  return out.ends_with('\n') ? out : out + '\n';
}

std::string little_endian(std::uint64_t value, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

std::string masked_crc(std::string_view bytes) {
  const std::uint32_t crc = ~crc32c_raw(~0U, as_bytes(bytes));
  return little_endian(static_cast<std::uint32_t>(((crc >> 15U) | (crc << 17U)) + 0xA282EAD8U), 4);
}

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>(value | 0x80U);
  return out + static_cast<char>(value);
}

// Appends a block with its type and checksum; answers its handle.
std::string add_block(std::string& table, std::string block) {
  const std::string handle = varint(table.size()) + varint(block.size());
  block += '\0';  // not compressed
  table += block + masked_crc(block);
  return handle;
}

}  // namespace

std::string make_sqlite(Random& random, int page_bytes, int rows) {
  sqlite3* raw = nullptr;
  VACANT_ASSERT(sqlite3_open(":memory:", &raw) == SQLITE_OK);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> db(raw, sqlite3_close);
  const auto execute = [&](const std::string& sql) {
    VACANT_ASSERT(sqlite3_exec(raw, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  };
  execute("PRAGMA page_size=" + std::to_string(page_bytes));
  execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT, body TEXT)");
  execute("BEGIN");
  for (int i = 0; i < rows; ++i)
    execute("INSERT INTO notes (title, body) VALUES ('" + word(random, 12) + "', '" + word(random, 90) +
            "')");
  execute("COMMIT");
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(raw, "main", &size, 0);
  VACANT_ASSERT(bytes != nullptr);
  const std::unique_ptr<unsigned char, void (*)(void*)> guard(bytes, sqlite3_free);
  // SAFETY: unsigned char viewed as char.
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

std::string make_env_file(Random& random) {
  return "# made up for a test\nPORT=8080\nAPI_TOKEN=" + word(random, 32) +
         "\nDATABASE_URL=postgres://fake:" + word(random, 16) + "@db.invalid/app\n";
}

std::string make_pem_key(Random& random) {
  constexpr std::string_view kHead{"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20", 16};
  const std::string label = std::string("PRIVATE") + " KEY";
  return "-----BEGIN " + label + "-----\n" + base64_lines(std::string(kHead) + octets(random, 32)) +
         "-----END " + label + "-----\n";
}

std::string make_leveldb_record(std::string_view payload) {
  const std::string body = std::string(1, '\x01') + std::string(payload);
  return masked_crc(body) + little_endian(payload.size(), 2) + body;
}

std::string make_leveldb_table(Random& random) {
  std::string table;
  const std::string data = add_block(table, octets(random, 3000));
  const std::string metaindex = add_block(table, std::string(4, '\0') + little_endian(1, 4));
  const std::string index = add_block(table, "key" + data + little_endian(0, 4) + little_endian(1, 4));
  std::string footer = metaindex + index;
  footer.resize(40);
  return table + footer + little_endian(0xdb4775248b80fb57U, 8);
}

std::string make_git_blob(std::string_view content) {
  const std::string plain = "blob " + std::to_string(content.size()) + '\0' + std::string(content);
  uLongf size = compressBound(plain.size());
  std::string out(size, '\0');
  // SAFETY: zlib takes unsigned char.
  VACANT_ASSERT(compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                          reinterpret_cast<const Bytef*>(plain.data()), plain.size(), 6) == Z_OK);
  out.resize(size);
  return out;
}

std::vector<MadeFile> make_artefacts(Random& random) {
  std::vector<MadeFile> out;
  out.push_back({"sqlite-database", make_sqlite(random, 4096, 200)});
  out.push_back({"env-file", make_env_file(random)});
  out.push_back({"pem-private-key", make_pem_key(random)});
  out.push_back({"leveldb-log", make_leveldb_record(octets(random, 200))});
  out.push_back({"leveldb-table", make_leveldb_table(random)});
  out.push_back({"git-object", make_git_blob(word(random, 500))});
  out.push_back({"netrc", "machine git.invalid login fake password " + word(random, 20) + "\n"});
  out.push_back({"git-credentials", "https://fake:" + word(random, 20) + "@git.invalid\n"});
  out.push_back({"npmrc", "//registry.invalid/:_authToken=" + word(random, 36) + "\n"});
  out.push_back({"pgpass", "db.invalid:5432:app:fake:" + word(random, 16) + "\n"});
  out.push_back({"aws-credentials-file", "[default]\naws_access_key_id = " + word(random, 20) +
                                             "\naws_secret_access_key = " + word(random, 40) + "\n"});
  return out;
}

}  // namespace vacant::props

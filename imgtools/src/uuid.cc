#include <sodium.h>

#include <algorithm>

#include "vacant/base/bytes.h"
#include "vacant/base/secret.h"
#include "vacant/img/ext4.h"

namespace vacant::img {

namespace {

// RFC 9562: the version in the upper half of byte 6, the variant in the upper bits of byte 8.
void stamp(Uuid& uuid, unsigned version) {
  uuid[6] = (uuid[6] & std::byte{0x0f}) | static_cast<std::byte>(version << 4U);
  uuid[8] = (uuid[8] & std::byte{0x3f}) | std::byte{0x80};
}

}  // namespace

Result<Uuid> parse_uuid(std::string_view text) {
  std::string digits(text);
  const bool dashes =
      text.size() == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-';
  std::erase(digits, '-');
  const auto bytes = from_hex(digits);
  if (!dashes || !bytes || bytes->size() != 16)
    return fail(Code::kInvalidArgument, "a UUID has the form 01234567-89ab-cdef-0123-456789abcdef");
  Uuid uuid{};
  std::ranges::copy(*bytes, uuid.begin());
  return uuid;
}

std::string to_string(const Uuid& uuid) {
  std::string text = to_hex(uuid);
  for (const std::size_t at : {20U, 16U, 12U, 8U}) text.insert(at, "-");
  return text;
}

Uuid random_uuid() {
  const SecretBytes random = SecretBytes::random(16);
  Uuid uuid{};
  std::ranges::copy(random.expose(), uuid.begin());
  stamp(uuid, 4);
  return uuid;
}

Uuid uuid_of(ByteSpan bytes) {
  Uuid uuid{};
  // SAFETY: libsodium takes bytes as unsigned char.
  crypto_generichash(reinterpret_cast<unsigned char*>(uuid.data()), uuid.size(),
                     reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr, 0);
  stamp(uuid, 8);
  return uuid;
}

}  // namespace vacant::img

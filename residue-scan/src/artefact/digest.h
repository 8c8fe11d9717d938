// SHA-1 (git's) and SHA-256 through OpenSSL. Not over secrets. Private to scan.
#pragma once

#include "vacant/base/bytes.h"

namespace vacant::scan {

ByteVector sha1(ByteSpan bytes);    // 20 bytes
ByteVector sha256(ByteSpan bytes);  // 32 bytes

}  // namespace vacant::scan

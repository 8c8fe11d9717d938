// Keys that sign reports: an Ed25519 seed as 64 hex digits (secret, mode 0600) and a public key as 64 hex digits.
#pragma once

#include <string>

#include "vacant/base/bytes.h"
#include "vacant/base/result.h"
#include "vacant/base/secret.h"

namespace vacant::scan {

struct ReportKeyPair {
  SecretBytes secret_key;  // the 32-byte seed
  ByteVector public_key;   // 32 bytes
};
Result<ReportKeyPair> make_report_key();

std::string serialise_sign_key(const SecretBytes& secret_key);
std::string serialise_public_key(const ByteVector& public_key);
// kCorrupt unless the file is 64 hex digits and an optional line end.
Result<SecretBytes> parse_sign_key(ByteSpan file);
// Also refuses points of small order and such that are no canonical point.
Result<ByteVector> parse_public_key(ByteSpan file);

}  // namespace vacant::scan

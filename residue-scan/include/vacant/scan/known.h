// Known-answer search: finds every listed secret, in every encoding, from fingerprints alone.
#pragma once

#include <memory>

#include "vacant/scan/detector.h"
#include "vacant/secrets/fingerprint.h"

namespace vacant::scan {

// Findings: kind kKnownSecret, rule "known-secret", detail "secret <label>, form <form>". The file is copied.
Result<std::unique_ptr<DetectorFactory>> make_known_answer_factory(
    const secrets::FingerprintFile& fingerprints);

}  // namespace vacant::scan

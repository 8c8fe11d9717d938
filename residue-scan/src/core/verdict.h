// The verdict as a pure function of a report, for the engine and for scan verify. Private to scan.
#pragma once

#include "vacant/scan/report.h"

namespace vacant::scan {

// Sets the verdict and its reasons from what the report says. Order: residue, secret, not proven, vacant; the
// reasons name all that was found.
void decide(Report& report);

}  // namespace vacant::scan

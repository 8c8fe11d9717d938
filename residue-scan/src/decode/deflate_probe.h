// A cheap look at the start of a deflate stream (RFC 1951). Private.
//
// zlib streams begin with two bytes that occur in any data; starting the isolated decoder for each of them
// would cost too much. The probe decodes up to a fixed number of symbols of the first block without producing
// output. It is total: any bytes, bounded time, no allocation.
#pragma once

#include "vacant/base/bytes.h"

namespace vacant::scan::decode {

// False if this cannot be the start of a deflate stream. True also if the bytes end before that shows.
bool plausible_deflate(ByteSpan bytes);

}  // namespace vacant::scan::decode

// The resume journal: finished segments, in device order, each with a checksum. A torn tail is dropped and
// scanned again, so a kill at any point loses at most the segments that were in flight.
// docs/formats/resume-journal.md.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/segment.h"
#include "vacant/base/append_log.h"

namespace vacant::scan {

class Journal {
 public:
  // Opens or creates the file. `identity` names the device and every option that shapes the result: a journal
  // with another one is refused (kMismatch), never mixed in. Calls `replay` for each whole segment that is
  // there.
  static Result<Journal> open(const std::string& path, ByteSpan identity,
                              const std::function<Result<void>(SegmentResult)>& replay);
  Result<void> add(const SegmentResult& result);

 private:
  explicit Journal(AppendLog log) : log_(std::move(log)) {}
  AppendLog log_;
};

// The record's bytes and back; the reader trusts nothing.
ByteVector encode_segment(const SegmentResult& result);
Result<SegmentResult> decode_segment(ByteSpan bytes);

}  // namespace vacant::scan

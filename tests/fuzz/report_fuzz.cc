// Reports come from whoever hands a disk over: the reader, the checks and the writers must hold for any
// bytes.
#include <cstdlib>

#include "vacant/scan/report.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto opened = vacant::scan::open_signed_report(text, std::nullopt);
  const auto report = vacant::scan::parse_report(opened ? std::string_view(opened->json) : text);
  if (!report) return 0;
  (void)vacant::scan::check_arithmetic(*report);
  const std::string json = vacant::scan::to_json(*report);
  const auto again = vacant::scan::parse_report(json);
  if (!again || vacant::scan::to_json(*again) != json) std::abort();
  (void)vacant::scan::to_text(*report, false);
  (void)vacant::scan::to_sarif(*report);
  (void)vacant::scan::to_junit(*report);
  (void)vacant::scan::to_html(*report);
  return 0;
}

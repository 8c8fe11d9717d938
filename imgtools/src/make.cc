#include "vacant/img/make.h"

namespace vacant::img {

Result<MakeSummary> make_image(Target& target, const Fill& fill, const MakeOptions& options) {
  MakeSummary summary;
  summary.was_cleared = !target.is_new();
  ZeroOptions zero;
  zero.discard = options.discard;
  zero.cancel = options.cancel;
  zero.progress = options.clearing;
  if (summary.was_cleared) summary.before = VACANT_TRY(zero_device(target.device(), zero));
  zero.keep = VACANT_TRY(fill(target.device()));
  if (summary.was_cleared) {
    VACANT_TRY(target.device().flush());
    summary.after = VACANT_TRY(zero_device(target.device(), zero));
  }
  VACANT_TRY(target.commit());
  return summary;
}

}  // namespace vacant::img

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "evidence.h"
#include "image_args.h"
#include "output.h"
#include "vacant/img/ext4.h"
#include "vacant/img/make.h"
#include "vacant/img/source.h"

namespace vacant::cli {

namespace {

using Json = nlohmann::ordered_json;

// Names what will go, and asks. An answer needs a terminal: scripts say --yes.
Result<void> confirm_overwrite(const TargetArgs& args, Context& context) {
  std::error_code problem;
  const auto status = std::filesystem::status(args.path, problem);
  if (args.yes || !std::filesystem::exists(status)) return {};
  const bool file = std::filesystem::is_regular_file(status);
  if (!file && !std::filesystem::is_block_file(status))
    return fail(Code::kUnsupported, fmt::format("{} is neither a file nor a block device", args.path));
  const std::string what = file ? fmt::format("the file {} ({})", args.path,
                                              human_bytes(std::filesystem::file_size(args.path, problem)))
                                : fmt::format("everything on the device {}", args.path);
  if (!context.err_is_terminal || ::isatty(STDIN_FILENO) == 0)
    return fail(Code::kInvalidArgument, fmt::format("this would overwrite {}: say --yes if it may go", what));
  fmt::print(context.err, "This overwrites {}. Go on? [y/N] ", what);
  std::fflush(context.err);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "y" && answer != "yes") return fail(Code::kCancelled, "nothing was changed");
  return {};
}

Result<Target> open_target(const TargetArgs& args, std::uint64_t size_bytes, Context& context) {
  VACANT_TRY(confirm_overwrite(args, context));
  TargetOptions options;
  options.size_bytes = size_bytes;
  options.overwrite = true;
  options.in_place = args.in_place;
  return Target::open(args.path, options);
}

Result<img::Ext4Options> ext4_options(const Ext4Args& args) {
  img::Ext4Options options;
  options.size_bytes = VACANT_TRY(parse_size(args.size));
  options.block_bytes = args.block_bytes;
  options.inode_count = args.inode_count;
  if (!args.uuid.empty()) options.uuid = VACANT_TRY(img::parse_uuid(args.uuid));
  options.label = args.label;
  options.time_seconds = args.time_seconds ? args.time_seconds : source_date_epoch();
  options.journal_mib = args.journal_mib;
  options.journal = !args.no_journal;
  options.resize_inode = args.resize_inode;
  options.reserved_percent = args.reserved_percent;
  return options;
}

Json cleared_json(const img::MakeSummary& made) {
  return {{"cleared_first", made.was_cleared},
          {"discard_accepted", made.before.discard_accepted},
          {"overwritten_bytes", made.before.overwritten_bytes},
          {"found_after_writing_bytes", made.after.overwritten_bytes},
          {"verified_zero_bytes", made.was_cleared ? made.after.verified_bytes : 0}};
}

void tell(const TargetArgs& args, const Json& json, const std::string& text, Context& context) {
  if (args.json)
    fmt::print(context.out, "{}\n", json.dump(2));
  else if (!args.quiet)
    fmt::print(context.out, "{}\n", text);
}

std::string cleared_text(const img::MakeSummary& made) {
  if (!made.was_cleared) return "";
  return fmt::format("\n  target: cleared first ({} overwritten{}), {} read back as zeros",
                     human_bytes(made.before.overwritten_bytes + made.after.overwritten_bytes),
                     made.before.discard_accepted ? " after a discard" : "",
                     human_bytes(made.after.verified_bytes));
}

struct Made {
  img::BuildSummary build;
  img::MakeSummary make;
};

// `add` fills the builder; everything else is the same for create and build.
Result<Made> make_ext4(const TargetArgs& args, const img::Ext4Options& options,
                       const std::function<Result<void>(img::Ext4Builder&)>& add, Context& context) {
  Target target = VACANT_TRY(open_target(args, options.size_bytes, context));
  Made made;
  ProgressLine progress(context, args.quiet, "clearing");
  img::MakeOptions make;
  make.discard = !args.no_discard;
  make.cancel = context.cancel;
  make.clearing = [&](const Progress& step) { progress.update(step); };
  const auto fill = [&](BlockDevice& device) -> Result<std::vector<Extent>> {
    auto builder = VACANT_TRY(img::Ext4Builder::start(device, options));
    VACANT_TRY(add(builder));
    made.build = VACANT_TRY(builder.finish());
    return made.build.written;
  };
  made.make = VACANT_TRY(img::make_image(target, fill, make));
  return made;
}

std::uint64_t sum_of(const std::vector<Extent>& extents) {
  std::uint64_t sum = 0;
  for (const Extent& extent : extents) sum += extent.length_bytes;
  return sum;
}

Json made_json(const std::string& path, const img::Ext4Options& options, const Made& made) {
  const img::BuildSummary& build = made.build;
  return {{"format", "vacant-image/1"},
          {"path", path},
          {"type", "ext4"},
          {"size_bytes", options.size_bytes},
          {"uuid", img::to_string(build.uuid)},
          {"label", options.label},
          {"directories", build.directories},
          {"files", build.files},
          {"symlinks", build.symlinks},
          {"specials", build.specials},
          {"hard_links", build.hard_links},
          {"content_bytes", build.content_bytes},
          {"written_bytes", sum_of(build.written) - build.shared_bytes},
          {"shared_bytes", build.shared_bytes},
          {"target", cleared_json(made.make)}};
}

Result<img::SourceOptions> source_options(const ImageBuildArgs& args, const img::Ext4Options& ext4) {
  img::SourceOptions options;
  options.one_file_system = args.one_file_system;
  if (args.clamp_mtime) {
    if (!ext4.time_seconds)
      return fail(Code::kInvalidArgument, "--clamp-mtime needs --time or SOURCE_DATE_EPOCH: clamp to what?");
    options.latest_mtime = ext4.time_seconds;
  }
  if (args.owner.empty()) return options;
  img::SourceOptions::Owner owner;
  const char* end = args.owner.data() + args.owner.size();
  const auto uid = std::from_chars(args.owner.data(), end, owner.uid);
  if (uid.ec == std::errc() && uid.ptr != end && *uid.ptr == ':') {
    const auto gid = std::from_chars(uid.ptr + 1, end, owner.gid);
    if (gid.ec == std::errc() && gid.ptr == end) options.owner = owner;
  }
  if (!options.owner)
    return fail(Code::kInvalidArgument, "--owner wants UID:GID in numbers, for example 0:0");
  return options;
}

}  // namespace

Result<int> run_image_create(const ImageCreateArgs& args, Context& context) {
  img::Ext4Options options = VACANT_TRY(ext4_options(args.ext4));
  if (!options.uuid && !options.time_seconds) options.uuid = img::random_uuid();
  if (!options.time_seconds) options.time_seconds = std::time(nullptr);
  const Made made = VACANT_TRY(
      make_ext4(args.target, options, [](img::Ext4Builder&) -> Result<void> { return {}; }, context));
  tell(args.target, made_json(args.target.path, options, made),
       fmt::format("{}: ext4 of {}, UUID {}, {} written{}", args.target.path, human_bytes(options.size_bytes),
                   img::to_string(made.build.uuid), human_bytes(sum_of(made.build.written)),
                   cleared_text(made.make)),
       context);
  return kExitOk;
}

Result<int> run_image_build(const ImageBuildArgs& args, Context& context) {
  const img::Ext4Options options = VACANT_TRY(ext4_options(args.ext4));
  img::SourceOptions source = VACANT_TRY(source_options(args, options));
  ProgressLine progress(context, args.target.quiet, "building");
  source.cancel = context.cancel;
  source.progress = [&](const Progress& step) { progress.update(step); };
  const auto add = [&](img::Ext4Builder& builder) { return img::add_tree(builder, args.source, source); };
  const Made made = VACANT_TRY(make_ext4(args.target, options, add, context));
  progress.clear();
  const img::BuildSummary& build = made.build;
  tell(args.target, made_json(args.target.path, options, made),
       fmt::format(
           "{}: ext4 of {}, UUID {}\n  {} folders, {} files ({}), {} symbolic links, {} others, {} further "
           "names\n  {} written, {} shared with the source{}",
           args.target.path, human_bytes(options.size_bytes), img::to_string(build.uuid), build.directories,
           build.files, human_bytes(build.content_bytes), build.symlinks, build.specials, build.hard_links,
           human_bytes(sum_of(build.written) - build.shared_bytes), human_bytes(build.shared_bytes),
           cleared_text(made.make)),
       context);
  return kExitOk;
}

Result<int> run_image_zero(const ImageZeroArgs& args, Context& context) {
  VACANT_TRY(confirm_overwrite(args.target, context));
  TargetOptions target_options;
  target_options.overwrite = target_options.in_place = true;
  Target target = VACANT_TRY(Target::open(args.target.path, target_options));
  ProgressLine progress(context, args.target.quiet, "clearing");
  img::ZeroOptions options;
  options.discard = !args.target.no_discard && !args.every_byte;
  options.every_byte = args.every_byte;
  options.cancel = context.cancel;
  options.progress = [&](const Progress& step) { progress.update(step); };
  const img::ZeroStats stats = VACANT_TRY(img::zero_device(target.device(), options));
  VACANT_TRY(target.commit());
  progress.clear();
  tell(args.target,
       {{"format", "vacant-zero/1"},
        {"path", args.target.path},
        {"size_bytes", target.device().size_bytes()},
        {"discard_accepted", stats.discard_accepted},
        {"overwritten_bytes", stats.overwritten_bytes},
        {"verified_zero_bytes", stats.verified_bytes}},
       fmt::format("{}: {} overwritten{}, {} read back as zeros", args.target.path,
                   human_bytes(stats.overwritten_bytes), stats.discard_accepted ? " after a discard" : "",
                   human_bytes(stats.verified_bytes)),
       context);
  return kExitOk;
}

}  // namespace vacant::cli

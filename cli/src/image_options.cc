#include "image_options.h"

namespace vacant::cli {

namespace {

void add_target(CLI::App& verb, TargetArgs& args) {
  verb.add_option("target", args.path, "Image file to make, or block device to write over")
      ->required()
      ->type_name("TARGET");
  verb.add_flag("-y,--yes", args.yes, "Write over what is there, without asking");
  verb.add_flag("--in-place", args.in_place, "Clear and write an existing file instead of replacing it");
  verb.add_flag("--no-discard", args.no_discard, "Do not ask an existing target to discard its blocks first");
  verb.add_flag("--json", args.json, "Print what was done as JSON");
  verb.add_flag("-q,--quiet", args.quiet, "Say nothing: the exit code tells");
}

void add_ext4(CLI::App& verb, Ext4Args& args) {
  verb.add_option("--label", args.label, "Volume label, at most 16 bytes")->type_name("TEXT");
  verb.add_option("--uuid", args.uuid, "UUID of the file system")->type_name("UUID");
  verb.add_option("--time", args.time_seconds,
                  "Time of the file system, in seconds since 1970 (default: SOURCE_DATE_EPOCH)")
      ->type_name("SECONDS");
  verb.add_option("--block-size", args.block_bytes, "1024, 2048 or 4096")
      ->type_name("BYTES")
      ->capture_default_str();
  verb.add_option("--inodes", args.inode_count, "Number of inodes (0: one for each 16 KiB)")
      ->type_name("N")
      ->capture_default_str();
  verb.add_option("--journal-size", args.journal_mib, "Size of the journal (0: what suits the size)")
      ->type_name("MIB")
      ->capture_default_str();
  verb.add_flag("--no-journal", args.no_journal, "Without a journal");
  verb.add_flag("--resize-inode", args.resize_inode,
                "With reserved group descriptors, for growing while mounted");
  verb.add_option("--reserved", args.reserved_percent, "Share of the blocks that only root may fill")
      ->type_name("PERCENT")
      ->capture_default_str();
}

void add_create(CLI::App& image, ImageCreateArgs& args) {
  CLI::App* verb = image.add_subcommand("create", "Make an empty sparse ext4 image");
  verb->add_option("size", args.ext4.size, "Size, for example 24G or 512M")->required()->type_name("SIZE");
  add_target(*verb, args.target);
  add_ext4(*verb, args.ext4);
  verb->footer(
      "The UUID is random unless --uuid or SOURCE_DATE_EPOCH is given: then the image is the same bit for "
      "bit.\n"
      "Example: vacant image create 24G home.img");
}

void add_build(CLI::App& image, ImageBuildArgs& args) {
  CLI::App* verb = image.add_subcommand("build", "Make an ext4 image with a tree of files, without root");
  verb->add_option("source", args.source, "Folder, or tar archive, or - for one on standard input")
      ->required()
      ->type_name("TREE|TAR|-");
  add_target(*verb, args.target);
  verb->add_option("--size", args.ext4.size, "Size, for example 24G")->required()->type_name("SIZE");
  add_ext4(*verb, args.ext4);
  verb->add_option("--owner", args.owner, "Everything belongs to this user and group")->type_name("UID:GID");
  verb->add_flag("--clamp-mtime", args.clamp_mtime, "No file is younger than the time of the file system");
  verb->add_flag("--one-file-system", args.one_file_system, "Stay out of what is mounted in the folder");
  verb->footer("Example: vacant image build rootfs/ base.img --size 24G");
}

void add_zero(CLI::App& image, ImageZeroArgs& args) {
  CLI::App* verb = image.add_subcommand("zero", "Clear a disk, and prove it by reading all of it");
  add_target(*verb, args.target);
  verb->add_flag("--every-byte", args.every_byte,
                 "Write zeros also where zeros are read: a thin pool then maps and clears each block");
}

}  // namespace

void add_image(CLI::App& app, ImageArgs& args) {
  CLI::App* image =
      app.add_subcommand("image", "Disk images that carry nothing over from what was there before");
  image->require_subcommand(1);
  add_create(*image, args.create);
  add_build(*image, args.build);
  add_zero(*image, args.zero);
}

Result<int> dispatch_image(CLI::App& image, const ImageArgs& args, Context& context) {
  if (image.got_subcommand("create")) return run_image_create(args.create, context);
  if (image.got_subcommand("build")) return run_image_build(args.build, context);
  if (image.got_subcommand("zero")) return run_image_zero(args.zero, context);
  return fail(Code::kInternal, "an image verb without a command");
}

}  // namespace vacant::cli

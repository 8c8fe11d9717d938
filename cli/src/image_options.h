// vacant image for the argument parser.
#pragma once

#include <CLI/CLI.hpp>

#include "image_args.h"

namespace vacant::cli {

void add_image(CLI::App& app, ImageArgs& args);
Result<int> dispatch_image(CLI::App& image, const ImageArgs& args, Context& context);

}  // namespace vacant::cli

#include "vacant/scan/write_map.h"

#include <gtest/gtest.h>

namespace vacant::scan {
namespace {

Result<WriteMap> parse(std::string_view json, std::uint64_t size = kMiB) {
  return parse_write_map(as_bytes(json), size);
}

TEST(WriteMapTest, RoundsInwardsMergesAndSorts) {
  const WriteMap map({{5000, 3000}, {1, 1000}, {4096, 904}}, "extents");
  EXPECT_EQ(map.extents(), (std::vector<Extent>{{4096, 3584}}));
  EXPECT_TRUE(map.covers({4096, 512}));
  EXPECT_FALSE(map.covers({512, 512})) << "only part of that sector was written";
  EXPECT_FALSE(map.covers({7680, 512}));
}

TEST(WriteMapTest, ReadsItsOwnFormat) {
  const auto map =
      parse(R"({"format":"vacant-write-map/1","size":1048576,"extents":[{"offset":4096,"length":4096}]})");
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_EQ(map->extents(), (std::vector<Extent>{{4096, 4096}}));
}

TEST(WriteMapTest, RefusesWhatItCannotBeSureOf) {
  const char* bad[] = {
      "",
      "{}",
      "[1]",
      "null",
      R"({"format":"vacant-write-map/2","size":1048576,"extents":[]})",
      R"({"format":"vacant-write-map/1","size":4096,"extents":[]})",
      R"({"format":"vacant-write-map/1","size":1048576,"extents":[{"offset":-1,"length":4096}]})",
      R"({"format":"vacant-write-map/1","size":1048576,"extents":[{"offset":0.5,"length":4096}]})",
      R"({"format":"vacant-write-map/1","size":1048576,"extents":[{"offset":1048576,"length":1}]})",
      R"({"format":"vacant-write-map/1","size":1048576,"extents":[{"offset":18446744073709551615,)"
      R"("length":2}]})",
      R"({"format":"vacant-write-map/1","size":1048576,"size":1048576,"extents":[]})",
      R"({"format":"vacant-write-map/1","size":1048576,"extents":[],"more":1})"};
  for (const char* text : bad) EXPECT_FALSE(parse(text)) << text;
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += '[';
  EXPECT_FALSE(parse(deep));
}

TEST(WriteMapTest, TakesOnlyTheTopLayerOfAQemuMap) {
  const auto map = parse(R"([{"start":0,"length":65536,"depth":1,"present":true,"zero":false,"data":true},
      {"start":65536,"length":65536,"depth":0,"present":true,"zero":false,"data":true}])");
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_EQ(map->extents(), (std::vector<Extent>{{65536, 65536}}));
  const auto flat =
      parse(R"([{"start":0,"length":1048576,"depth":0,"present":true,"zero":false,"data":true}])");
  EXPECT_FALSE(flat) << "the map of a plain image would call everything the guest's own";
}

}  // namespace
}  // namespace vacant::scan

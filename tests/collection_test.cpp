// The index of the collection, filters, selections and paths of the cache.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "collection/archive_download.hpp"
#include "collection/cache.hpp"
#include "collection/filter.hpp"
#include "collection/gzip_check.hpp"
#include "collection/index.hpp"
#include "collection/origin.hpp"
#include "collection/part_file.hpp"
#include "collection/quantity.hpp"
#include "collection/retry.hpp"
#include "collection/select.hpp"
#include "collection/sizes.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_directory.hpp"

namespace lanky::collection {
namespace {

using Names = std::vector<std::string>;
using testing::content;
using testing::TemporaryDirectory;

const Index& index() {
  static const Index all = read_index("tests/data/collection/ssstats.csv");
  return all;
}

Names names_of(const std::vector<Entry>& entries) {
  Names names;
  for (const Entry& entry : entries)
    names.push_back(entry.name);
  return names;
}

/// What a filter leaves of the index.
Names where(const std::string& filter) {
  Selection selection;
  selection.where = Filter::parse(filter);
  return names_of(select(index(), selection));
}

// --- the index ---

TEST(CollectionIndex, ReadsEveryField) {
  ASSERT_EQ(index().entries.size(), 14U);
  EXPECT_EQ(index().date, "31-Oct-2023 18:12:37");
  const Entry& west = index().entries[2];
  EXPECT_EQ(west.id, 3);
  EXPECT_EQ(west.full_name(), "HB/west0479");
  EXPECT_EQ(west.rows, 479);
  EXPECT_EQ(west.nnz, 1888);
  EXPECT_EQ(west.entries, 1910);
  EXPECT_TRUE(west.real);
  EXPECT_FALSE(west.binary);
  EXPECT_FALSE(west.nd);
  EXPECT_FALSE(west.posdef);
  EXPECT_DOUBLE_EQ(west.psym, 0.0123966942148760);
  EXPECT_EQ(west.nsym, 0);
  EXPECT_EQ(west.kind, "chemical process simulation problem");
  const Entry& cant = index().entries[3];
  EXPECT_TRUE(cant.nd && cant.posdef);
  const Entry& pilot = index().entries[6];
  EXPECT_EQ(std::pair(pilot.rows, pilot.cols), std::pair(std::int64_t{2030}, std::int64_t{6680}));
}

TEST(CollectionIndex, LastFieldMayBeMissingAndKindsMayHaveCommas) {
  EXPECT_EQ(index().entries[5].entries, 43250);
  EXPECT_EQ(index().entries[5].kind, "circuit simulation problem");
  EXPECT_EQ(index().entries[12].kind, "2D/3D problem, of a mesh");
  EXPECT_EQ(index().entries[12].entries, 2118662);
}

TEST(CollectionIndex, TakesLinesOfAnySystemAndBlankOnes) {
  const Index two = parse_index(
      "2\r\ntoday\r\n\r\nG,a,1,2,3,1,0,0,-1,0.5,nan,some kind\r\nG,b,1,1,1,1,1,0,0,1,1,k,1", "x");
  ASSERT_EQ(two.entries.size(), 2U);
  EXPECT_EQ(two.entries[0].kind, "some kind");
  EXPECT_FALSE(two.entries[0].posdef);
  EXPECT_EQ(two.entries[1].id, 2);
}

TEST(CollectionIndex, SaysWhichLineIsWrong) {
  const std::string head = "2\ntoday\nG,a,1,2,3,1,0,0,0,0,0,kind\n";
  const auto expect = [&](const std::string& line, const Names& fragments) {
    expect_error([&] { parse_index(head + line, "my.csv"); }, ErrorCode::parse, fragments);
  };
  expect("G,b,1,2", {"my.csv:4: ", "4 fields"});
  expect("G,b,1,x,3,1,0,0,0,0,0,kind", {"my.csv:4: ", "ncols \"x\"", "whole number"});
  expect("G,b,1,2,-3,1,0,0,0,0,0,kind", {"my.csv:4: ", "nnz -3 is negative"});
  expect("G,b,1,2,3,1,0,0,0,z,0,kind", {"my.csv:4: ", "psym \"z\""});
  expect("G,b,1,2,3,1,0,0,0,0,0,kind,-4", {"my.csv:4: ", "entries -4 is negative"});
  expect("G,..,1,2,3,1,0,0,0,0,0,kind", {"my.csv:4: ", "name \"..\""});
  expect("..,b,1,2,3,1,0,0,0,0,0,kind", {"my.csv:4: ", "group \"..\""});
  expect("/etc,b,1,2,3,1,0,0,0,0,0,kind", {"my.csv:4: ", "group \"/etc\""});
  expect("G,../b,1,2,3,1,0,0,0,0,0,kind", {"my.csv:4: ", "name \"../b\""});
  expect("G/..,b,1,2,3,1,0,0,0,0,0,kind", {"my.csv:4: ", "group \"G/..\""});
  expect("", {"my.csv:3: ", "ends after 1 matrices of 2"});
  expect_error([] { parse_index("<html>", "page"); }, ErrorCode::parse, {"page:1: ", "number"});
  expect_error([] { parse_index("", "nothing"); }, ErrorCode::parse, {"nothing:1: "});
  expect_error([] { read_index("no/such.csv"); }, ErrorCode::io,
               {"no/such.csv", "No such file or directory"});
}

// --- filters ---

TEST(CollectionFilter, ComparesNumbers) {
  EXPECT_EQ(where("nnz = 1888"), Names({"west0479"}));
  EXPECT_EQ(where("nnz < 4054"), Names({"west0479"}));
  EXPECT_EQ(where("nnz <= 4054"), Names({"1138_bus", "west0479"}));
  EXPECT_EQ(where("nnz > 4007383"), Names({"circuit5M"}));
  EXPECT_EQ(where("nnz >= 4007383"), Names({"cant", "circuit5M"}));
  EXPECT_EQ(where("id != 3 and id<=4"), Names({"1138_bus", "bcsstk13", "cant"}));
}

TEST(CollectionFilter, KnowsEveryNumberAndItsOtherNames) {
  for (const char* rows : {"rows", "nrows", "m", "NRows"})
    EXPECT_EQ(where(std::string(rows) + " = 2030"), Names({"lp_pilot87"})) << rows;
  for (const char* cols : {"cols", "ncols", "n"})
    EXPECT_EQ(where(std::string(cols) + " = 6680"), Names({"lp_pilot87"})) << cols;
  EXPECT_EQ(where("entries = 1910"), Names({"west0479"}));
  EXPECT_EQ(where("psym in 0.01..0.02"), Names({"west0479"}));
  EXPECT_EQ(where("nsym = 0.5"), Names({"memplus"}));
  EXPECT_EQ(where("per_row > 60"), Names({"cant"}));  // 64.2
  EXPECT_EQ(where("density > 1e-2 and id > 3"), Names({"conf5_0-4x4-10"}));
}

TEST(CollectionFilter, TakesRangesWithBothEndsAndWithOne) {
  EXPECT_EQ(where("nnz in 1888..4054"), Names({"1138_bus", "west0479"}));
  EXPECT_EQ(where("nnz in ..4053"), Names({"west0479"}));
  EXPECT_EQ(where("nnz in 4M.."), Names({"cant", "circuit5M"}));
  EXPECT_EQ(where("rows in 1.1k..1.2K"), Names({"1138_bus"}));
  EXPECT_EQ(where("nnz in 59e6..0.06G"), Names({"circuit5M"}));
}

TEST(CollectionFilter, TakesSets) {
  EXPECT_EQ(where("id in {1, 3,4 }"), Names({"1138_bus", "west0479", "cant"}));
  EXPECT_EQ(where("group in {hb, 'Williams'} and nnz > 5k"), Names({"bcsstk13", "cant"}));
  EXPECT_EQ(where("nnz in {4054}"), Names({"1138_bus"}));
}

TEST(CollectionFilter, ComparesText) {
  EXPECT_EQ(where("name = CANT"), Names({"cant"}));
  EXPECT_EQ(where("kind ~ circuit and nnz < 1e5"), Names({"memplus", "rajat01"}));
  EXPECT_EQ(where("kind ~ 'least squares'"), Names({"Maragal_6"}));
  EXPECT_EQ(where("kind ~ \"Quantum Chemistry\""), Names({"conf5_0-4x4-10"}));
  EXPECT_EQ(where("kind~2D/3D and id<5"), Names({"cant"}));
  EXPECT_EQ(where("group != HB and id <= 4"), Names({"cant"}));
  EXPECT_EQ(where("kind !~ problem"), Names({"wiki-Vote", "delaunay_n15"}));
  EXPECT_EQ(where("name = can"), Names());
}

TEST(CollectionFilter, KnowsEveryFlag) {
  EXPECT_EQ(where("not real"), Names({"conf5_0-4x4-10"}));
  EXPECT_EQ(where("binary"), Names({"wiki-Vote", "delaunay_n15", "wave"}));
  EXPECT_EQ(where("nd and not binary"), Names({"bcsstk13", "cant"}));
  EXPECT_EQ(where("posdef"), where("spd"));
  EXPECT_EQ(where("spd"), Names({"1138_bus", "bcsstk13", "cant", "finan512"}));
  EXPECT_EQ(where("rectangular"), Names({"lp_pilot87", "Maragal_6"}));
  EXPECT_EQ(where("square").size(), 12U);
  EXPECT_EQ(where("symmetric and not spd"), Names({"delaunay_n15", "wave"}));
  EXPECT_EQ(where("isBinary = 1"), where("binary"));
  EXPECT_EQ(where("real != 1"), where("real = 0"));
}

TEST(CollectionFilter, NotBindsClosestThenAndThenOr) {
  EXPECT_EQ(where("id = 1 or id = 2 and id = 3"), Names({"1138_bus"}));
  EXPECT_EQ(where("(id = 1 or id = 2) and id = 2"), Names({"bcsstk13"}));
  EXPECT_EQ(where("not square or id = 1"), Names({"1138_bus", "lp_pilot87", "Maragal_6"}));
  EXPECT_EQ(where("not (square or id = 7)"), Names({"Maragal_6"}));
  EXPECT_EQ(where("not not rectangular"), where("rectangular"));
  EXPECT_EQ(where("not square and id = 7"), Names({"lp_pilot87"}));
  EXPECT_EQ(where("NOT square AND id=7 OR id=1"), Names({"1138_bus", "lp_pilot87"}));
}

TEST(CollectionFilter, EveryErrorNamesItsColumn) {
  const std::vector<std::pair<std::string, Names>> cases = {
      {"", {"column 1: ", "expected a condition"}},
      {"nnz > 5 and ", {"column 13: ", "expected a condition"}},
      {"nzn > 5", {"column 1: ", "no field \"nzn\"", "did you mean nnz?"}},
      {"square and qqqqqq", {"column 12: ", "no field \"qqqqqq\"", "the fields are id, rows"}},
      {"nnz", {"column 4: ", "nnz is a number"}},
      {"nrows ~ 5", {"column 7: ", "rows is a number"}},
      {"nnz > big", {"column 7: ", "\"big\" is no number"}},
      {"nnz > ", {"column 7: ", "expected a number"}},
      {"nnz > 5x", {"column 7: ", "\"5x\""}},
      {"nnz > 1e999", {"column 7: ", "\"1e999\""}},
      {"nnz > 5 kind ~ a", {"column 9: ", "expected \"and\", \"or\" or the end"}},
      {"kind ~ least squares", {"column 14: ", "quote text"}},
      {"kind", {"column 5: ", "kind is text"}},
      {"kind < a", {"column 6: ", "kind is text"}},
      {"kind ~ ", {"column 8: ", "expected text"}},
      {"kind ~ 'open", {"column 8: ", "no ' ends this text"}},
      {"kind in a", {"column 9: ", "expected \"{\""}},
      {"(square", {"column 8: ", "expected \")\""}},
      {"square)", {"column 7: ", "expected \"and\""}},
      {"id in {1 2}", {"column 10: ", "expected \"}\""}},
      {"id in {}", {"column 8: ", "expected a number"}},
      {"id in 5", {"column 7: ", "expected a range"}},
      {"id in ..", {"column 7: ", "needs an end"}},
      {"id in 9..5", {"column 7: ", "empty"}},
      {"id in 5..x", {"column 10: ", "\"x\""}},
      {"real = 2", {"column 8: ", "a flag is 0 or 1"}},
      {std::string(300, '('), {"column 201: ", "nested more than 200"}},
      {"not " + std::string(300, '('), {"nested"}},
  };
  for (const auto& [filter, fragments] : cases) {
    SCOPED_TRACE(filter);
    expect_error([&text = filter] { Filter::parse(text); }, ErrorCode::invalid_argument, fragments);
  }
}

TEST(CollectionFilter, CaretStandsBelowTheColumn) {
  const std::string text = "square\tand nzn > 5";
  try {
    Filter::parse(text);
    FAIL() << "no error";
  } catch (const FilterError& error) {
    EXPECT_EQ(error.column(), 12U);
    EXPECT_EQ(caret_message("--where", text, error),
              "--where: column 12: there is no field \"nzn\"; did you mean nnz?\n"
              "  square and nzn > 5\n"
              "             ^");
  }
}

TEST(CollectionFilter, OneOfNoTextLetsAllThrough) {
  EXPECT_EQ(select(index(), {}).size(), index().entries.size());
}

TEST(CollectionQuantity, HasSuffixes) {
  EXPECT_EQ(parse_quantity("3.2G"), 3.2e9);
  EXPECT_EQ(parse_quantity("10k"), 1e4);
  EXPECT_EQ(parse_quantity("2.5m"), 2.5e6);
  EXPECT_EQ(parse_quantity("1T"), 1e12);
  EXPECT_EQ(parse_quantity("1e5"), 1e5);
  EXPECT_EQ(parse_quantity("-.5"), -.5);
  for (const char* text : {"", "G", "5GB", "5 G", "inf", "nan", "0x10", "+5"})
    EXPECT_FALSE(parse_quantity(text)) << text;
}

// --- selections ---

TEST(CollectionSelect, TakesNamesWithTheirGroupAndWithout) {
  EXPECT_EQ(names_of(select(index(), {{"Williams/cant", "west0479", "CANT"}, {}})),
            Names({"cant", "west0479"}));
  expect_error(
      [] {
        select(index(), {{"west0497"}, {}});
      },
      ErrorCode::invalid_argument, {"14 matrices", "\"west0497\"", "did you mean west0479?"});
  expect_error(
      [] {
        select(index(), {{"HB/cant"}, {}});
      },
      ErrorCode::invalid_argument, {"\"HB/cant\""});
}

TEST(CollectionSelect, ANameOfTwoNeedsItsGroup) {
  const Index two = parse_index(
      "3\n\nA,x,1,1,1,1,0,0,0,0,0,k\nB,x,1,1,1,1,0,0,0,0,0,k\nB,X,2,1,1,1,0,0,0,0,0,k\n", "two");
  expect_error([&] { select(two, {{"x"}, {}}); }, ErrorCode::invalid_argument, {"A/x", "B/x"});
  EXPECT_EQ(select(two, {{"B/x"}, {}}).size(), 1U);
  EXPECT_EQ(select(two, {{"X"}, {}}).at(0).rows, 2) << "the exact name goes before others";
}

TEST(CollectionSelect, SortsAndLimits) {
  const auto named = [](Order order, std::size_t limit) {
    return names_of(select(index(), {{}, Filter::parse("nnz < 1e5"), order, limit}));
  };
  EXPECT_EQ(named(Order::index, 2), Names({"1138_bus", "bcsstk13"}));
  EXPECT_EQ(named(Order::nnz, 3), Names({"west0479", "1138_bus", "rajat01"}));
  EXPECT_EQ(named(Order::name, 4), Names({"1138_bus", "bcsstk13", "west0479", "memplus"}));
  EXPECT_EQ(named(Order::nnz, 0), Names());
}

// --- the cache ---

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    if (before != nullptr) before_ = before;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  ~Variable() { before_.empty() ? unsetenv(name_) : setenv(name_, before_.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string before_;
};

TEST(CollectionCache, FollowsTheEnvironment) {
  const Variable home("HOME", "/home/u");
  const Variable no_own("LANKY_CACHE", nullptr);
  {
    const Variable xdg("XDG_CACHE_HOME", "/x");
    EXPECT_EQ(cache_folder(), "/x/lanky");
    const Variable own("LANKY_CACHE", "/own");
    EXPECT_EQ(cache_folder(), "/own");
  }
  const Variable relative("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(cache_folder(), "/home/u/.cache/lanky");
  const Variable no_home("HOME", nullptr);
  expect_error([] { cache_folder(); }, ErrorCode::io, {"LANKY_CACHE"});
}

TEST(CollectionCache, HoldsAnArchiveAgainstItsRecord) {
  const TemporaryDirectory folder;
  const Entry& west = index().entries[2];
  const auto path = cache_path(west, folder.path());
  EXPECT_EQ(path, folder.path() / "suitesparse/HB/west0479.tar.gz");
  EXPECT_EQ(index_path(folder.path()), folder.path() / "suitesparse/ssstats.csv");
  EXPECT_FALSE(is_cached(west, folder.path()));
  create_directories(path.parent_path());
  folder.file("suitesparse/HB/west0479.tar.gz", "12345");
  EXPECT_TRUE(is_cached(west, folder.path())) << "one without a record is taken as it is";
  Origin origin{"http://x", "\"e\"", "Mon", "0a", "md5", 5};
  write_origin(path, origin);
  EXPECT_TRUE(is_cached(west, folder.path()));
  origin.bytes = 6;
  write_origin(path, origin);
  EXPECT_FALSE(is_cached(west, folder.path()));
  const auto read = read_origin(path);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->url + read->etag + read->last_modified + read->md5 + read->checked,
            "http://x\"e\"Mon0amd5");
  EXPECT_EQ(read->bytes, 6);
}

/// An index in the cache is checked each time it is read, whoever owns it or a link leads to.
TEST(CollectionCache, AForgedIndexIsChecked) {
  constexpr uid_t kNobody = 65534;
  const TemporaryDirectory folder;
  const auto path = index_path(folder.path());
  create_directories(path.parent_path());
  for (const char* line :
       {"../../..,a,1,1,1,1,0,0,0,0,0,k", "G,../../../.bashrc,1,1,1,1,0,0,0,0,0,k",
        "G,a/b,1,1,1,1,0,0,0,0,0,k", "G,.ssh,1,1,1,1,0,0,0,0,0,k", "G,a,-1,1,1,1,0,0,0,0,0,k",
        "G,a,1,1,99999999999999999999,1,0,0,0,0,0,k", "G,a,1,1,1,1,0,0,0,0,0,k,-1"}) {
    const auto forged = folder.file("forged.csv", std::string("1\ntoday\n") + line + "\n");
    if (geteuid() == 0) {
      EXPECT_EQ(chown(forged.c_str(), kNobody, kNobody), 0);
    }
    std::filesystem::remove(path);
    std::filesystem::create_symlink(forged, path);
    expect_error([&] { read_index(path); }, ErrorCode::parse, {"ssstats.csv:3: "});
  }
}

TEST(CollectionCache, WeakETagsVouchForNoBytes) {
  const auto validator = [](const std::string& etag, const std::string& last_modified) {
    Origin origin;
    origin.etag = etag;
    origin.last_modified = last_modified;
    return origin.validator();
  };
  EXPECT_EQ(validator("\"e\"", "Mon"), "\"e\"");
  EXPECT_EQ(validator("W/\"e\"", "Mon"), "Mon");
  EXPECT_EQ(validator("W/\"e\"", ""), "");
}

TEST(CollectionPartFile, IsOfOneOwnerAndGoesOnWhereItWas) {
  const TemporaryDirectory folder;
  const auto target = folder.path() / "G/a.tar.gz";
  {
    auto part = PartFile::lock(target);
    ASSERT_TRUE(part);
    EXPECT_FALSE(PartFile::lock(target)) << "it is locked";
    part->restart({"http://x", "\"e\"", "", "", "", 6});
    part->append("abc");
    EXPECT_FALSE(part->whole());
  }
  auto part = PartFile::lock(target);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->size(), 3);
  EXPECT_EQ(part->origin().etag, "\"e\"");
  part->append("def");
  EXPECT_TRUE(part->whole());
  part->publish(part->origin());
  EXPECT_EQ(content(target), "abcdef");
  EXPECT_FALSE(exists(part->path()));
  EXPECT_FALSE(exists(origin_path(part->path())));
  EXPECT_TRUE(exists(origin_path(target)));
}

TEST(CollectionPartFile, BytesOfUnknownOriginAreDropped) {
  const TemporaryDirectory folder;
  create_directories(folder.path() / "G");
  folder.file("G/a.tar.gz.part", "bytes of nobody knows what");
  const auto part = PartFile::lock(folder.path() / "G/a.tar.gz");
  ASSERT_TRUE(part);
  EXPECT_EQ(part->size(), 0);
}

TEST(CollectionPartFile, AnEmptyOneLeavesNothing) {
  const TemporaryDirectory folder;
  { ASSERT_TRUE(PartFile::lock(folder.path() / "G/a.tar.gz")); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(CollectionGzip, KnowsWholeDamagedAndOtherFiles) {
  const TemporaryDirectory folder;
  const std::string whole = content("tests/data/archives/tiny.tar.gz");
  ASSERT_GT(whole.size(), 40U);
  EXPECT_EQ(fault_of_gzip(folder.file("whole", whole)), "");
  const std::string cut = fault_of_gzip(folder.file("cut", whole.substr(0, whole.size() - 5)));
  EXPECT_NE(cut, "");
  std::string flipped = whole;
  flipped[flipped.size() - 6] ^= 1;  // of the checksum
  EXPECT_NE(fault_of_gzip(folder.file("flipped", flipped)).find("damaged"), std::string::npos);
  EXPECT_EQ(fault_of_gzip(folder.file("page", "<html>no such matrix</html>")), "is no gzip file");
  EXPECT_EQ(fault_of_gzip(folder.file("empty", "")), "is empty");
  EXPECT_EQ(fault_of_gzip(folder.path() / "absent"), "cannot be opened");
}

TEST(CollectionGzip, BytesBehindTheStreamAreAFaultAndZerosAreNot) {
  const TemporaryDirectory folder;
  const std::string whole = content("tests/data/archives/tiny.tar.gz");
  const std::string behind = fault_of_gzip(folder.file("behind", whole + "more"));
  EXPECT_NE(behind.find("byte " + std::to_string(whole.size()) + " is behind the end"),
            std::string::npos)
      << behind;
  EXPECT_EQ(fault_of_gzip(folder.file("padded", whole + std::string(9999, '\0'))), "");
  EXPECT_EQ(fault_of_gzip(folder.file("twice", whole + whole)), "");
}

// --- retries ---

Reply reply_of(int status) {
  Reply reply;
  reply.status = status;
  return reply;
}

TEST(CollectionRetry, JudgesReplies) {
  EXPECT_EQ(judge(reply_of(200)), Verdict::good);
  EXPECT_EQ(judge(reply_of(206)), Verdict::good);
  for (const int status : {408, 416, 429, 500, 502, 503, 504})
    EXPECT_EQ(judge(reply_of(status)), Verdict::retry) << status;
  for (const int status : {301, 401, 403, 404, 410})
    EXPECT_EQ(judge(reply_of(status)), Verdict::hopeless) << status;
  Reply cut = reply_of(200);
  cut.fault = Fault::broken;
  EXPECT_EQ(judge(cut), Verdict::retry);
  cut.fault = Fault::refused;
  EXPECT_EQ(judge(cut), Verdict::hopeless);
  EXPECT_EQ(reason(reply_of(404)), "HTTP 404 (not found)");
}

TEST(CollectionRetry, CountsAndHonoursTheServer) {
  Attempts attempts({2, 0});
  EXPECT_TRUE(attempts.due());
  EXPECT_TRUE(attempts.again());
  EXPECT_TRUE(attempts.due()) << "no pause was asked for";
  EXPECT_TRUE(attempts.again(100));
  EXPECT_FALSE(attempts.due());
  EXPECT_EQ(attempts.announcement(), "again in 100.0 s (2 of 2)");
  EXPECT_FALSE(attempts.again());
  attempts.reset();
  EXPECT_FALSE(attempts.again(100000)) << "a day is no pause";
  EXPECT_TRUE(attempts.again());
}

TEST(CollectionSizes, TheMostIsAboveWhatAMatrixHasAndNeverOverflows) {
  for (const Entry& entry : index().entries)
    EXPECT_GT(most_bytes(entry), 7 * estimated_bytes(entry)) << entry.name;
  const Entry& west = index().entries[2];
  EXPECT_EQ(most_bytes(west), (64 << 20) + 80 * west.entries + 1024 * (west.rows + west.cols));
  Entry absurd;
  absurd.nnz = absurd.entries = absurd.rows = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(most_bytes(absurd), 1'000'000'000'000'000'000);
  EXPECT_EQ(estimated_bytes(absurd), 1'000'000'000'000'000'000);
}

TEST(CollectionSizes, EstimatesByKindOfEntries) {
  const auto estimate = [](const char* name) {
    return estimated_bytes(select(index(), {{name}, {}}).at(0));
  };
  EXPECT_EQ(estimate("west0479"), static_cast<std::int64_t>(1910 * 6.5));
  EXPECT_EQ(estimate("1138_bus"), static_cast<std::int64_t>(4054 * 6.5 / 2)) << "a triangle";
  EXPECT_LT(estimate("wiki-Vote"), 103689 * 3) << "a pattern";
  EXPECT_GT(estimate("conf5_0-4x4-10"), 119808 * 9) << "complex";
}

}  // namespace
}  // namespace lanky::collection

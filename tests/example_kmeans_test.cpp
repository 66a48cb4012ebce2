// examples/kmeans: files of points, and Lloyd's algorithm beside one in plain double arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <lanky/error.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "examples/kmeans/judge.hpp"
#include "examples/kmeans/kmeans.hpp"
#include "examples/kmeans/points.hpp"
#include "examples/kmeans/program.hpp"
#include "examples/support/npy.hpp"
#include "support/executor.hpp"
#include "support/temporary_directory.hpp"

namespace lanky::examples {

namespace {

using testing::TemporaryDirectory;

// ---- files

/// An .npy file of that header and data; version 1 or 2.
std::string npy(std::string header, const std::string& data, int version = 1) {
  header += '\n';
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte)
    file += static_cast<char>(header.size() >> (8 * byte) & 0xff);
  return file + header + data;
}

std::string header(const std::string& type, const std::string& order, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

template <class Stored>
std::string bytes(const std::vector<Stored>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Stored)};
}

/// What reading the file complains of; "" where it does not.
std::string complaint(const TemporaryDirectory& directory, const std::string& name,
                      const std::string& content, ErrorCode code) {
  try {
    read_points<double>(directory.file(name, content));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "";
}

TEST(KMeansFiles, NpyOfEitherTypeOrderAndVersion) {
  const TemporaryDirectory directory;
  const std::vector<double> rows = {1, 2, 3, 4, 5, 6};
  const std::vector<double> columns = {1, 4, 2, 5, 3, 6};
  const std::vector<float> narrow = {1, 2, 3, 4, 5, 6};
  for (const std::string& content :
       {npy(header("<f8", "False", "(2, 3)"), bytes(rows)),
        npy(header("<f8", "True", "(2, 3)"), bytes(columns)),
        npy(header("<f8", "False", "(2, 3)"), bytes(rows), 2),
        npy(header("<f4", "False", "(2, 3)"), bytes(narrow), 3),
        npy("{'shape': (2,3), 'fortran_order': False, 'descr': '<f4'}", bytes(narrow))}) {
    const std::string path = directory.file("x.npy", content);
    const Table<double> table = read_points<double>(path);
    EXPECT_EQ(table.rows, 2);
    EXPECT_EQ(table.cols, 3);
    EXPECT_EQ(table.values, rows);
    EXPECT_EQ(read_points<float>(path).values, narrow);
  }
}

TEST(KMeansFiles, NpyIsReadAsItWasWritten) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "x.npy";
  const std::vector<double> values = {0.1, -2.5e300, 3, 4};
  write_npy(path, values, 2, 2);
  EXPECT_EQ(read_points<double>(path).values, values);
  EXPECT_EQ((testing::content(path).size() - values.size() * sizeof(double)) % 64, 0U);
  write_npy(path, std::vector<std::int32_t>{1, 2}, 2);
  EXPECT_NE(testing::content(path).find("'descr': '<i4', 'fortran_order': False, 'shape': (2,), }"),
            std::string::npos);
  EXPECT_THROW(write_npy(directory.path() / "none" / "x.npy", values, 2, 2), Error);
}

TEST(KMeansFiles, NpyThatIsBroken) {
  const TemporaryDirectory directory;
  const std::string four = bytes(std::vector<double>{1, 2, 3, 4});
  const auto told = [&](const std::string& content, ErrorCode code = ErrorCode::parse) {
    return complaint(directory, "x.npy", content, code);
  };
  const auto holds = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  holds(told(""), "is no .npy file");
  holds(told("PK is no NumPy file"), "is no .npy file");
  holds(told(npy(header("<f8", "False", "(2, 2)"), four).substr(0, 30)), "ends within its header");
  holds(told(npy(header("<f8", "False", "(2, 2)"), four, 4), ErrorCode::unsupported), "version 4");
  holds(told(npy(header(">f8", "False", "(2, 2)"), four), ErrorCode::unsupported), "'>f8'");
  holds(told(npy(header("<i8", "False", "(2, 2)"), four), ErrorCode::unsupported), "'<i8'");
  holds(told(npy(header("<f8", "False", "(4,)"), four)), "(4,)");
  holds(told(npy(header("<f8", "False", "(2, 2, 1)"), four)), "(2, 2, 1)");
  holds(told(npy(header("<f8", "False", "(-2, 2)"), four)), "(-2, 2)");
  holds(told(npy(header("<f8", "False", "(0, 2)"), "")), "(0, 2)");
  holds(told(npy(header("<f8", "False", "(2, 3)"), four)), "holds 4 numbers");
  holds(told(npy(header("<f8", "False", "(9223372036854775807, 2)"), four)), "holds 4 numbers");
  holds(told(npy(header("<f8", "False", "(99999999999999999999, 2)"), four)), "its shape");
  holds(told(npy("{'fortran_order': False, 'shape': (2, 2)}", four)), "no 'descr'");
  holds(told(npy("{'descr': '<f8', 'shape': (2, 2)}", four)), "no 'fortran_order'");
  holds(told(npy("{'descr': '<f8', 'fortran_order': False}", four)), "no 'shape'");
  const double infinite = std::numeric_limits<double>::infinity();
  holds(told(npy(header("<f8", "False", "(2, 2)"), bytes(std::vector<double>{1, 2, 3, infinite}))),
        "row 1, column 1");
  EXPECT_THROW(read_points<double>(directory.path() / "none.npy"), Error);
  EXPECT_THROW(read_points<double>(directory.file("x.txt", "1,2\n")), Error);
}

TEST(KMeansFiles, Csv) {
  const TemporaryDirectory directory;
  const std::vector<double> expected = {1, -2.5, 3e2, 4};
  for (const char* content : {"1,-2.5\n3e2,4\n", "1 , -2.5\r\n\r\n3e2,4", "x,y\n1,-2.5\n300,4\n",
                              "\xef\xbb\xbf\"x\",\"y\"\n1,-2.5\n300,4\n"}) {
    const Table<double> table = read_points<double>(directory.file("x.csv", content));
    EXPECT_EQ(table.rows, 2) << content;
    EXPECT_EQ(table.cols, 2) << content;
    EXPECT_EQ(table.values, expected) << content;
  }
}

TEST(KMeansFiles, CsvThatIsBroken) {
  const TemporaryDirectory directory;
  const auto expect = [&](const std::string& content, const std::string& part) {
    const std::string message = complaint(directory, "x.csv", content, ErrorCode::parse);
    EXPECT_NE(message.find(part), std::string::npos) << content << ": " << message;
  };
  expect("", "no row of numbers");
  expect("x,y\n", "no row of numbers");
  expect("x,y\nz,w\n", "x.csv:2: column 1: \"z\"");
  expect("1,two\n", "x.csv:1: column 2: \"two\"");
  expect("1,2\n3\n", "x.csv:2: has 1 fields, the rows above have 2");
  expect("1,2\n3,\n", "x.csv:2: column 2: \"\"");
  expect("1,2\n3,nan\n", "x.csv:2: column 2: \"nan\"");
  expect("1,2\n3,1e999\n", "x.csv:2: column 2: \"1e999\"");
  expect("1,2\n3,4x\n", "x.csv:2: column 2: \"4x\"");
}

// ---- the algorithm

/// Lloyd's algorithm in double, by the definition of distances.
struct Reference {
  std::vector<std::vector<double>> points;
  std::vector<std::vector<double>> centers;
  std::vector<std::int32_t> labels;
  std::vector<double> distances;
  double inertia = 0;

  Reference(const Table<double>& table, const std::vector<std::int64_t>& starts) {
    for (std::int64_t i = 0; i < table.rows; ++i)
      points.emplace_back(table.values.begin() + i * table.cols,
                          table.values.begin() + (i + 1) * table.cols);
    for (const std::int64_t start : starts)
      centers.push_back(points[static_cast<std::size_t>(start)]);
    labels.resize(points.size());
    distances.resize(points.size());
  }

  std::vector<int> counts() const {
    std::vector<int> result(centers.size());
    for (const std::int32_t label : labels)
      ++result[static_cast<std::size_t>(label)];
    return result;
  }

  void label(bool relocate) {
    inertia = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      distances[i] = std::numeric_limits<double>::infinity();
      for (std::size_t c = 0; c < centers.size(); ++c) {
        double sum = 0;
        for (std::size_t j = 0; j < points[i].size(); ++j)
          sum += (points[i][j] - centers[c][j]) * (points[i][j] - centers[c][j]);
        if (sum < distances[i]) {
          distances[i] = sum;
          labels[i] = static_cast<std::int32_t>(c);
        }
      }
      inertia += distances[i];
    }
    for (std::size_t c = 0; relocate && c < centers.size(); ++c) {
      const std::vector<int> sizes = counts();
      if (sizes[c] != 0) continue;
      std::size_t farthest = points.size();
      for (std::size_t i = 0; i < points.size(); ++i) {
        if (sizes[static_cast<std::size_t>(labels[i])] > 1 &&
            (farthest == points.size() || distances[i] > distances[farthest]))
          farthest = i;
      }
      labels[farthest] = static_cast<std::int32_t>(c);
      distances[farthest] = 0;
    }
  }

  void move_centers() {
    const std::vector<int> sizes = counts();
    for (std::vector<double>& center : centers)
      std::fill(center.begin(), center.end(), 0.0);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto c = static_cast<std::size_t>(labels[i]);
      for (std::size_t j = 0; j < points[i].size(); ++j)
        centers[c][j] += points[i][j] / sizes[c];
    }
  }

  void run(int iterations) {
    for (int i = 0; i < iterations; ++i) {
      label(true);
      move_centers();
    }
    label(false);
  }
};

Table<double> blob_table(const Blobs& blobs) {
  Table<double> table{.rows = blobs.rows, .cols = blobs.cols, .values = {}};
  for (std::int64_t i = 0; i < blobs.rows; ++i) {
    for (std::int64_t j = 0; j < blobs.cols; ++j)
      table.values.push_back(blob_value(blobs, blob_of(blobs, i), i, j));
  }
  return table;
}

template <class T>
Table<T> in_type(const Table<double>& table) {
  return {.rows = table.rows,
          .cols = table.cols,
          .values = std::vector<T>(table.values.begin(), table.values.end())};
}

template <class T>
KMeans<T> kmeans_of(const Stream& stream, const Table<double>& table, KMeansOptions options) {
  return {stream, upload_points(stream, in_type<T>(table)), table.cols, std::move(options)};
}

template <class T>
Verdict judge_on(const KMeansResult<T>& result, const Table<double>& table) {
  return judge<T>(result, table.rows, table.cols, [&](std::int64_t i, std::int64_t j) {
    return table.values[static_cast<std::size_t>(i * table.cols + j)];
  });
}

using Cases =
    ::testing::Types<testing::On<DeviceKind::cpu, double>, testing::On<DeviceKind::cpu, float>,
                     testing::On<DeviceKind::cuda, double>, testing::On<DeviceKind::cuda, float>>;

template <class>
class KMeansOn : public ::testing::Test {};
TYPED_TEST_SUITE(KMeansOn, Cases, testing::OnName);

EXECUTOR_TEST(KMeansOn, MakesTheSameBlobsEverywhere) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const Blobs blobs{.rows = 77, .cols = 131, .clusters = 5};
  const Matrix<T> points = make_points<T>(stream, blobs);
  const Matrix<T> uploaded = upload_points(stream, in_type<T>(blob_table(blobs)));
  EXPECT_EQ(points.view().ld * sizeof(T) % 16, 0U);
  EXPECT_EQ(points.buffer().to_host(), uploaded.buffer().to_host());
}

EXECUTOR_TEST(KMeansOn, RecoversBlobs) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const Blobs blobs{.rows = 3000, .cols = 40, .clusters = 16};
  KMeans<T> kmeans(stream, make_points<T>(stream, blobs), blobs.cols,
                   {.clusters = 16, .iterations = 8});
  std::set<std::int64_t> started;
  for (const std::int64_t row : kmeans.choose_starts())
    started.insert(blob_of(blobs, row));
  EXPECT_EQ(started.size(), 16U) << "k-means++ left a far blob out";
  const KMeansResult<T> result = kmeans.run(*kmeans.lanky_product());
  EXPECT_EQ(judge_on(result, blob_table(blobs)).fault, "");
  std::vector<std::int32_t> label_of_blob(16, -1);
  for (std::int64_t i = 0; i < blobs.rows; ++i) {
    std::int32_t& label = label_of_blob[static_cast<std::size_t>(blob_of(blobs, i))];
    const std::int32_t mine = result.labels[static_cast<std::size_t>(i)];
    if (label < 0) label = mine;
    ASSERT_EQ(mine, label) << "point " << i;
  }
  EXPECT_EQ(std::set<std::int32_t>(label_of_blob.begin(), label_of_blob.end()).size(), 16U);
}

// Overlapping blobs, whose centers go on moving; sides that fill no word, strip, group or chunk.
EXECUTOR_TEST(KMeansOn, EqualsPlainArithmetic) {
  using T = typename TypeParam::Element;
  struct Shape {
    std::int64_t n, d, k;
  };
  const Stream stream(device);
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{9, 3, 9}, Shape{300, 7, 3}, Shape{700, 130, 37},
                             Shape{1500, 5, 16}, Shape{150, 1033, 4}}) {
    const Table<double> table =
        blob_table({.rows = shape.n, .cols = shape.d, .clusters = 6, .spread = 1, .seed = 7});
    KMeans<T> kmeans = kmeans_of<T>(stream, table, {.clusters = shape.k, .iterations = 6});
    Reference reference(table, kmeans.choose_starts());
    reference.run(6);
    const KMeansResult<T> result = kmeans.run(*kmeans.lanky_product());
    const Verdict verdict = judge_on(result, table);
    EXPECT_EQ(verdict.fault, "");
    EXPECT_EQ(result.iterations, 6);
    EXPECT_EQ(result.inertia.size(), 7U);
    const double sum = std::accumulate(result.distances.begin(), result.distances.end(), 0.0);
    EXPECT_NEAR(result.inertia.back(), sum, 1e-9 * sum);
    if constexpr (std::is_same_v<T, double>) {
      EXPECT_EQ(result.labels, reference.labels) << shape.n << " x " << shape.d;
      EXPECT_NEAR(result.inertia.back(), reference.inertia, verdict.inertia_slack);
      for (std::size_t e = 0; e < result.centers.size(); ++e) {
        const auto d = static_cast<std::size_t>(shape.d);
        ASSERT_NEAR(result.centers[e], reference.centers[e / d][e % d], 1e-11) << e;
      }
    }
  }
}

// All three centers begin at one point: the second and the third have no points, and take the
// farthest ones in turn, of those that are equally far the first.
EXECUTOR_TEST(KMeansOn, AnEmptyClusterTakesTheFarthestPoint) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const Table<double> table{.rows = 6, .cols = 1, .values = {0, 1, -10, 9, 9, -1}};
  KMeans<T> kmeans = kmeans_of<T>(stream, table, {.clusters = 3, .iterations = 1});
  kmeans.start_from({0, 0, 0});
  const KMeansResult<T> result = kmeans.run(*kmeans.lanky_product());
  EXPECT_EQ(result.labels, (std::vector<std::int32_t>{0, 0, 1, 2, 2, 0}));
  // -10 and the first 9 become centers; 0, 1, 9 and -1 stay with the first, whose mean is 2.25.
  ASSERT_EQ(result.centers.size(), 3U);
  EXPECT_NEAR(result.centers[0], 2.25, 1e-5);
  EXPECT_NEAR(result.centers[1], -10, 1e-5);
  EXPECT_NEAR(result.centers[2], 9, 1e-5);
  EXPECT_NEAR(result.inertia.front(), 0 + 1 + 100 + 81 + 81 + 1, 1e-3);
}

// More rows than a block or a chunk holds, and many clusters empty at once.
EXECUTOR_TEST(KMeansOn, ManyEmptyClusters) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const Table<double> table =
      blob_table({.rows = 2000, .cols = 12, .clusters = 20, .spread = 8, .seed = 3});
  KMeans<T> kmeans = kmeans_of<T>(stream, table, {.clusters = 20, .iterations = 1});
  const std::vector<std::int64_t> starts(20, 5);
  kmeans.start_from(starts);
  Reference reference(table, starts);
  reference.run(1);
  const KMeansResult<T> result = kmeans.run(*kmeans.lanky_product());
  EXPECT_EQ(judge_on(result, table).fault, "");
  for (std::size_t e = 0; e < result.centers.size(); ++e)
    ASSERT_NEAR(result.centers[e], reference.centers[e / 12][e % 12], 1e-4) << e;
}

EXECUTOR_TEST(KMeansOn, GivesTheSameBitsAgain) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const Blobs blobs{.rows = 4000, .cols = 50, .clusters = 8, .spread = 1};
  const KMeansOptions options{.clusters = 16, .iterations = 5, .seed = 4};
  KMeans<T> first(stream, make_points<T>(stream, blobs), blobs.cols, options);
  KMeans<T> second(stream, make_points<T>(stream, blobs), blobs.cols, options);
  EXPECT_EQ(first.choose_starts(), second.choose_starts());
  const KMeansResult<T> one = first.run(*first.lanky_product());
  second.run(*second.lanky_product());
  second.stage_times(*second.lanky_product(), 1);  // moves its centers on: run() begins anew
  const KMeansResult<T> other = second.run(*second.lanky_product());
  EXPECT_EQ(one.centers, other.centers);
  EXPECT_EQ(one.labels, other.labels);
  EXPECT_EQ(one.inertia, other.inertia);
}

EXECUTOR_TEST(KMeansOn, IsAccurateFarFromZero) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  Table<double> table = blob_table({.rows = 500, .cols = 20, .clusters = 4, .spread = 4});
  for (double& value : table.values)
    value = static_cast<float>(value + 5000);
  KMeans<T> kmeans = kmeans_of<T>(stream, table, {.clusters = 4, .iterations = 5});
  Reference reference(table, kmeans.choose_starts());
  reference.run(5);
  const KMeansResult<T> result = kmeans.run(*kmeans.lanky_product());
  EXPECT_EQ(result.labels, reference.labels);
  EXPECT_NEAR(result.inertia.back(), reference.inertia, 1e-4 * reference.inertia);
}

TEST(KMeans, ToleranceEndsIt) {
  const Stream stream(Device::cpu());
  const Table<double> table = blob_table({.rows = 300, .cols = 8, .clusters = 4});
  std::vector<double> seen;
  KMeans<double> kmeans = kmeans_of<double>(
      stream, table,
      {.clusters = 4, .iterations = 100, .tolerance = 1e-4, .progress = [&](int, double inertia) {
         seen.push_back(inertia);
       }});
  const KMeansResult<double> result = kmeans.run(*kmeans.lanky_product());
  EXPECT_LT(result.iterations, 20);
  ASSERT_EQ(seen.size(), static_cast<std::size_t>(result.iterations));
  EXPECT_GE(seen.size(), 2U);
  EXPECT_LE(seen[seen.size() - 2] - seen.back(), 1e-4 * seen[seen.size() - 2]);
  EXPECT_TRUE(std::equal(seen.begin(), seen.end(), result.inertia.begin()));
}

TEST(KMeans, RandomStartsAreDistinctRows) {
  const Stream stream(Device::cpu());
  const Table<double> table = blob_table({.rows = 30, .cols = 2, .clusters = 4});
  KMeans<double> kmeans =
      kmeans_of<double>(stream, table, {.clusters = 30, .iterations = 1, .init = Init::random});
  const std::vector<std::int64_t>& starts = kmeans.choose_starts();
  EXPECT_EQ(std::set<std::int64_t>(starts.begin(), starts.end()).size(), 30U);
  EXPECT_NEAR(kmeans.run(*kmeans.lanky_product()).inertia.back(), 0, 1e-9);
}

TEST(KMeans, EqualPointsFillEveryCluster) {
  const Stream stream(Device::cpu());
  const Table<double> table{.rows = 5, .cols = 2, .values = std::vector<double>(10, 3.0)};
  KMeans<double> kmeans = kmeans_of<double>(stream, table, {.clusters = 3, .iterations = 3});
  const std::vector<std::int64_t>& starts = kmeans.choose_starts();
  EXPECT_EQ(std::set<std::int64_t>(starts.begin(), starts.end()).size(), 3U);
  const KMeansResult<double> result = kmeans.run(*kmeans.lanky_product());
  EXPECT_EQ(result.centers, std::vector<double>(6, 3.0));
  EXPECT_EQ(result.inertia.back(), 0);
}

TEST(KMeans, RefusesClustersThatCannotBe) {
  const Stream stream(Device::cpu());
  const Table<double> table = blob_table({.rows = 5, .cols = 2, .clusters = 4});
  const auto told = [&](std::int64_t clusters) -> std::string {
    try {
      kmeans_of<double>(stream, table, {.clusters = clusters});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(told(5), "");
  EXPECT_EQ(told(6), "6 clusters of 5 points; a cluster needs a point");
  EXPECT_EQ(told(0), "0 clusters; there must be at least one");
  EXPECT_THROW(make_cublas_product<double>(stream), Error);
  KMeans<double> kmeans = kmeans_of<double>(stream, table, {.clusters = 2});
  EXPECT_THROW(kmeans.start_from({0}), Error);
  EXPECT_THROW(kmeans.start_from({0, 5}), Error);
}

// Each fault is one that the judge has to find.
TEST(KMeans, TheJudgeFindsWhatIsWrong) {
  const Stream stream(Device::cpu());
  const Table<double> table =
      blob_table({.rows = 400, .cols = 9, .clusters = 4, .spread = 2, .seed = 2});
  KMeans<double> kmeans = kmeans_of<double>(stream, table, {.clusters = 4, .iterations = 4});
  const KMeansResult<double> right = kmeans.run(*kmeans.lanky_product());
  ASSERT_EQ(judge_on(right, table).fault, "");
  KMeansResult<double> wrong = right;
  wrong.labels[0] = (wrong.labels[0] + 1) % 4;
  EXPECT_NE(judge_on(wrong, table).fault, "");
  wrong = right;
  wrong.distances[0] *= 1.0001;
  EXPECT_NE(judge_on(wrong, table).fault, "");
  wrong = right;
  wrong.centers[0] += 0.001;
  EXPECT_NE(judge_on(wrong, table).fault, "");
  wrong = right;
  wrong.inertia.back() = wrong.inertia.front() * 1.0001;
  EXPECT_NE(judge_on(wrong, table).fault, "");
  wrong = right;
  wrong.inertia[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(judge_on(wrong, table).fault, "");
}

TEST(KMeansProgram, WritesWhatItFound) {
  const TemporaryDirectory directory;
  ProgramOptions options;
  options.blobs = {.rows = 200, .cols = 6, .clusters = 3};
  options.kmeans = {.clusters = 3, .iterations = 4};
  options.dtype = "f32";
  options.device = "cpu";
  options.rounds = 1;
  options.centers = directory.path() / "centers.npy";
  options.labels = directory.path() / "labels.npy";
  options.json = directory.path() / "lines.jsonl";
  EXPECT_TRUE(run_kmeans(options));
  const Table<float> centers = read_points<float>(options.centers);
  EXPECT_EQ(centers.rows, 3);
  EXPECT_EQ(centers.cols, 6);
  EXPECT_NE(testing::content(options.labels).find("(200,)"), std::string::npos);

  // The centers that were found are the points of a second run, read from the file.
  options.input = options.centers;
  options.kmeans.clusters = 1;
  options.centers.clear();
  options.labels.clear();
  EXPECT_TRUE(run_kmeans(options));
  std::ifstream lines(options.json);
  std::string line;
  std::vector<nlohmann::json> records;
  while (std::getline(lines, line))
    records.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0]["kind"], "kmeans");
  EXPECT_EQ(records[0]["contestant"], "lanky");
  EXPECT_EQ(records[0]["status"], "ok");
  EXPECT_EQ(records[0]["n"], 200);
  EXPECT_EQ(records[0]["x_bytes"], 200 * 6 * 4);
  EXPECT_EQ(records[0]["iterations"], 4);
  EXPECT_GT(records[0]["product_ms"], 0);
  EXPECT_EQ(records[1]["n"], 3);

  options.compare = true;  // there is no cuBLAS on the CPU
  EXPECT_THROW(run_kmeans(options), Error);
}

TEST(KMeansProgram, ComparesWithCublas) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const TemporaryDirectory directory;
  for (const char* dtype : {"f64", "f32"}) {
    ProgramOptions options;
    options.blobs = {.rows = 3000, .cols = 300, .clusters = 16, .spread = 1};
    options.kmeans = {.clusters = 16, .iterations = 5};
    options.device = device.name();
    options.dtype = dtype;
    options.compare = true;
    options.rounds = 1;
    options.json = directory.path() / "lines.jsonl";
    EXPECT_TRUE(run_kmeans(options));
  }
  const std::string lines = testing::content(directory.path() / "lines.jsonl");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 4);
  EXPECT_NE(lines.find("\"contestant\":\"cublas\""), std::string::npos);
}

}  // namespace

}  // namespace lanky::examples

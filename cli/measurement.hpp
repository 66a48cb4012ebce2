// One matrix or product after another, measured in this process. What fails is told as a result.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/cases/gemm_case.hpp"
#include "bench/cases/spmv_case.hpp"
#include "bench/harness/session.hpp"
#include "bench/records/matrix_record.hpp"
#include "cli/case_result.hpp"
#include "cli/options.hpp"
#include "cli/sources.hpp"

namespace lanky::cli {

/// Who hears of a measurement while it goes on.
class Listener {
 public:
  virtual ~Listener() = default;
  /// What is done from now on: "cant f64".
  virtual void begin(const std::string& task) = 0;
  /// The matrix has been read: `record` has its facts.
  virtual void read(const bench::MatrixRecord& record) = 0;
  virtual void add(const CaseResult& result) = 0;
};

class Measurement {
 public:
  Measurement(const RunOptions& options, bench::Session& session, Listener& listener);

  /// "NAME VERSION" of every contestant that was plugged in.
  std::vector<std::string> peers() const;

  /// Reads once, multiplies in every one of these types by as many columns as the options say;
  /// `content` as content_of() has it. The record lacks what only an observer knows: its memory.
  bench::MatrixRecord multiply(const Source& source, const std::string& content,
                               const std::vector<DType>& dtypes);
  void multiply_dense(const bench::GemmCase& gemm);
  /// Measures every way to compute a product; the fastest goes into `tuning`, which is saved.
  void tune_dense(const bench::GemmCase& gemm, GemmTuning& tuning);

 private:
  /// Products of the matrix in one element type, as the options ask for.
  bench::SpmvWorkloads workloads(bench::SpmvMatrix& matrix, DType dtype);
  /// Runs `task`; what it throws becomes a result of `subject`.
  template <class Task>
  void guarded(const std::variant<bench::SpmvCase, bench::GemmCase>& subject, Task task);
  void report(const bench::CaseReport& report);
  void report(const CaseResult& result);

  const RunOptions& options_;
  bench::Session& session_;
  Listener& listener_;
  bench::SpmvSelection selection_;
  std::vector<bench::SpmvColumns> columns_;
  bench::MatrixRecord* current_ = nullptr;  // of the matrix at work
};

std::vector<DType> dtypes_of(const RunOptions& options);
/// A vector once, several columns in each of the layouts.
std::vector<bench::SpmvColumns> columns_of(const RunOptions& options);

/// The named grids and sets have thousands of cases: each gets less time.
bench::MeasureOptions timing_of(const RunOptions& options, const Work& work);

}  // namespace lanky::cli

// The matrices that paths, folders and specs of the command line mean.
#pragma once

#include <cstdint>
#include <lanky/csr.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/records/matrix_record.hpp"
#include "cli/options.hpp"

namespace lanky::cli {

/// A sparse matrix that is still to be read or generated.
struct Source {
  std::string name;          // "cant" of "path/cant.mtx.gz"; the spec of a generated one
  std::string matrix_class;  // see bench/cases/spmv_set.hpp
  std::string place;         // path or spec
  bool generated = false;
  std::string collection{};  // "GROUP/NAME" of what the SuiteSparse index names
  std::string label{};       // what tells it from others of its name; "" where there is none

  /// What people see it called.
  const std::string& shown() const { return label.empty() ? name : label; }

  /// Appends to `warnings` and throws as io::read_csr and io::generate do.
  CsrMatrix<double> read(std::vector<std::string>& warnings) const;
};

/// What its record says of a source before it is read.
bench::MatrixRecord record_of(const Source& source);

/// What tells the matrix from others wherever it stands: the hash of a file's bytes, which are read
/// for it; the spec of a generated one. "" where there is no regular file, or it cannot be read.
std::string content_of(const Source& source);

nlohmann::ordered_json to_json(const Source& source);
Source source_of(const nlohmann::ordered_json& json);

struct Sources {
  std::vector<Source> matrices;
  std::vector<bench::MatrixRecord> failed;  // folders without matrices, what is not in the cache
};

/// All matrices of `work`, folders searched, in the order of the command line and of names below
/// folders. `seed`: of the drawn set. Throws where a filter is none, or there is no index.
Sources find_sources(const Work& work, std::uint64_t seed);

}  // namespace lanky::cli

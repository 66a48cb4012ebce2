// The matrix of a .mat file: which variable it is, and its data as libmatio gives them out,
// checked.
#pragma once

#include <complex>
#include <cstdint>
#include <filesystem>
#include <lanky/io.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/matio.hpp"

namespace lanky::inline v1::io {

/// A numeric array of rank 2 whose data have been read.
struct MatVariable {
  std::string name;  // for messages: "a.mat: variable Problem.A"
  Header header;
  const matvar_t* variable;
};

/// An open file and its variables. One thread at a time has one.
class MatFile {
 public:
  /// Throws Error(io), Error(unsupported) where libmatio is missing.
  explicit MatFile(const std::filesystem::path& path);

  /// The variable of that name ("A" or "Problem.A") or, if it is "", the only sparse one, fields A
  /// of structs included, or else the only dense one. Throws Error(parse) that lists what there is,
  /// or says what is wrong with its data.
  MatVariable matrix(std::string_view name);

 private:
  struct Close {
    void operator()(mat_t* file) const noexcept { matio().close(file); }
  };
  struct Free {
    void operator()(matvar_t* variable) const noexcept { matio().free(variable); }
  };
  /// A variable, or a field of one.
  struct Candidate {
    std::string name;
    matvar_t* variable;
  };

  void check_structure() const;
  void list_variables();
  Candidate choose(std::string_view name) const;
  std::vector<Candidate> candidates(bool sparse) const;
  [[noreturn]] void fail(std::string_view message) const;

  std::unique_lock<std::mutex> lock_;
  std::string name_;
  std::unique_ptr<mat_t, Close> file_;
  std::vector<std::unique_ptr<matvar_t, Free>> variables_;
  std::vector<Candidate> all_;
};

}  // namespace lanky::inline v1::io

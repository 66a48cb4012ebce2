// What a line of standard input asks of the programs that fit costs of sparse products.
#pragma once

#include <lanky/half.hpp>
#include <lanky/io.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "sparse/shapes.hpp"

namespace lanky::regret {

/// Reads matrices by FILE or SPEC, and keeps the last: the lines of a matrix follow each other.
class Matrices {
 public:
  const CsrMatrix<double>& read(const std::string& source) {
    if (source != source_) {
      const bool file = source.find(".mtx") != std::string::npos;
      matrix_ = file ? io::read_csr<double>(source) : io::generate<double>(source);
      source_ = source;
    }
    return matrix_;
  }

 private:
  std::string source_;
  CsrMatrix<double> matrix_;
};

/// Of names between semicolons.
inline std::vector<sparse::Shape> shapes_named(const std::string& text) {
  std::vector<sparse::Shape> shapes;
  std::istringstream names(text);
  for (std::string name; std::getline(names, name, ';');)
    shapes.push_back(sparse::shape_of(name));
  return shapes;
}

/// f(std::type_identity<T>{}) for the T that `type` names: a type whose rates are fitted.
template <class F>
auto dispatch_fitted(const std::string& type, const F& f) {
  if (type == "f64") return f(std::type_identity<double>{});
  if (type == "f32") return f(std::type_identity<float>{});
  if (type == "f16") return f(std::type_identity<half>{});
  throw std::invalid_argument("a type is f64, f32 or f16, not " + type);
}

}  // namespace lanky::regret

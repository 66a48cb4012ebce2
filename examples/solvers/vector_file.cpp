#include "examples/solvers/vector_file.hpp"

#include <fstream>
#include <lanky/error.hpp>
#include <limits>

#include "examples/support/npy.hpp"

namespace lanky::examples::solvers {

template <class T>
void write_vector(const std::string& path, const std::vector<T>& x) {
  if (path.ends_with(".npy")) {
    write_npy(path, x, static_cast<std::int64_t>(x.size()));
    return;
  }
  std::ofstream file(path);
  file.precision(std::numeric_limits<T>::max_digits10);
  for (const T value : x)
    file << value << '\n';
  if (!file.flush()) throw Error(ErrorCode::io, path + " cannot be written");
}

template void write_vector(const std::string&, const std::vector<double>&);
template void write_vector(const std::string&, const std::vector<float>&);

}  // namespace lanky::examples::solvers

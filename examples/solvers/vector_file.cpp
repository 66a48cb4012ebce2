#include "examples/solvers/vector_file.hpp"

#include <fstream>
#include <lanky/error.hpp>
#include <limits>
#include <type_traits>

namespace lanky::examples::solvers {

namespace {

/// Magic, version, length of the header, and the header, 64-byte aligned as NumPy has it.
std::string npy_header(const char* type, std::size_t size) {
  std::string header = std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (" +
                       std::to_string(size) + ",), }";
  constexpr std::size_t kBefore = 10;  // bytes ahead of the header
  header.append((64 - (kBefore + header.size() + 1) % 64) % 64, ' ').append("\n");
  std::string all("\x93NUMPY\x01\x00", 8);
  all += static_cast<char>(header.size() % 256);
  all += static_cast<char>(header.size() / 256);
  return all + header;
}

}  // namespace

template <class T>
void write_vector(const std::string& path, const std::vector<T>& x) {
  std::ofstream file(path, std::ios::binary);
  if (path.ends_with(".npy")) {
    file << npy_header(std::is_same_v<T, double> ? "<f8" : "<f4", x.size());
    file.write(reinterpret_cast<const char*>(x.data()),
               static_cast<std::streamsize>(x.size() * sizeof(T)));
  } else {
    file.precision(std::numeric_limits<T>::max_digits10);
    for (const T value : x)
      file << value << '\n';
  }
  if (!file.flush()) throw Error(ErrorCode::io, path + " cannot be written");
}

template void write_vector(const std::string&, const std::vector<double>&);
template void write_vector(const std::string&, const std::vector<float>&);

}  // namespace lanky::examples::solvers

// A build without libmatio's header.
#include <complex>
#include <lanky/error.hpp>

#include "core/text.hpp"
#include "io/mat_reader.hpp"

namespace lanky::inline v1::io {

template <class T>
CsrMatrix<T> read_mat(const std::filesystem::path& path, const ReadOptions& /*options*/) {
  throw Error(ErrorCode::unsupported,
              concat(path.string(),
                     ": is a .mat file, and this lanky was built without libmatio; "
                     "install the Debian package libmatio-dev and build it again"));
}

Header read_mat_header(const std::filesystem::path& path, const ReadOptions& options) {
  read_mat<double>(path, options);
  return {};
}

template CsrMatrix<double> read_mat(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<float> read_mat(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<half> read_mat(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<bfloat16> read_mat(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<std::complex<float>> read_mat(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<std::complex<double>> read_mat(const std::filesystem::path&, const ReadOptions&);

}  // namespace lanky::inline v1::io

#include "examples/abft/protected_gemm.hpp"

#include <algorithm>
#include <cmath>
#include <lanky/error.hpp>
#include <string>

namespace lanky::examples::abft {

namespace {

constexpr double kFalseAlarm = 1e-9;  // probability of one in a product, of either kind below

/// Each of `count` roundings stays below lambda times its scale but for a probability of
/// 2 exp(-lambda^2 / 2), all of them but for kFalseAlarm.
double lambda_of(std::int64_t count) {
  return std::sqrt(2 * std::log(2 * static_cast<double>(count) / kFalseAlarm));
}

template <class T>
VendorGemm<T>* encoding_vendor(Encoder encoder, VendorGemm<T>* vendor) {
  if (encoder == Encoder::lanky) return nullptr;
  if (vendor == nullptr)
    throw Error(ErrorCode::unsupported, "checksums by the vendor's library need a GPU");
  return vendor;
}

std::int64_t checked_extent(std::int64_t extent, const char* name) {
  if (extent < 1)
    throw Error(ErrorCode::invalid_argument,
                std::string(name) + " is " + std::to_string(extent) + "; it must be at least 1");
  return extent;
}

std::vector<double> roots(std::vector<double> squares) {
  for (double& x : squares)
    x = std::sqrt(x);
  return squares;
}

}  // namespace

template <class T>
ProtectedGemm<T>::ProtectedGemm(const Stream& stream, std::int64_t m, std::int64_t n,
                                std::int64_t k, Encoder encoder)
    : stream_(stream),
      m_(checked_extent(m, "m")),
      n_(checked_extent(n, "n")),
      k_(checked_extent(k, "k")),
      lambda_(lambda_of(2 * (m + n))),
      vendor_(make_vendor_gemm<T>(stream)),
      elements_(make_elements<T>(stream, m, n, k)),
      encoding_vendor_(encoding_vendor(encoder, vendor_.get())),
      multiply_(stream, {.m = m, .n = n, .k = k}, vendor_.get()),
      encode_a_(stream, {.m = k, .n = 2, .k = m, .op_a = Op::trans}, encoding_vendor_),
      encode_b_(stream, {.m = k, .n = 2, .k = n}, encoding_vendor_),
      expect_columns_(stream, {.m = n, .n = 2, .k = k, .op_a = Op::trans}, encoding_vendor_),
      expect_rows_(stream, {.m = m, .n = 2, .k = k}, encoding_vendor_),
      sum_columns_(stream, {.m = n, .n = 2, .k = m, .op_a = Op::trans}, encoding_vendor_),
      sum_rows_(stream, {.m = m, .n = 2, .k = n}, encoding_vendor_),
      w_(stream, m, 2),
      v_(stream, n, 2),
      r_(stream, k, 2),
      s_(stream, k, 2),
      expected_columns_(stream, n, 2),
      expected_rows_(stream, m, 2),
      found_columns_(stream, n, 2),
      found_rows_(stream, m, 2),
      norms_a_{Buffer<double>(stream, m), Buffer<double>(stream, k)},
      norms_b_{Buffer<double>(stream, k), Buffer<double>(stream, n)},
      norms_c_{Buffer<double>(stream, m), Buffer<double>(stream, n)},
      scales_(stream, 1) {
  elements_->fill_weights(stream_, w_.view());
  elements_->fill_weights(stream_, v_.view());
}

template <class T>
void ProtectedGemm<T>::encode_a(MatrixView<const T> a) {
  encode_a_.run(stream_, a, w_.view(), r_.view());
}

template <class T>
void ProtectedGemm<T>::encode_b(MatrixView<const T> b) {
  encode_b_.run(stream_, b, v_.view(), s_.view());
}

template <class T>
void ProtectedGemm<T>::expect(MatrixView<const T> a, MatrixView<const T> b) {
  expect_columns_.run(stream_, b, r_.view(), expected_columns_.view());
  expect_rows_.run(stream_, a, s_.view(), expected_rows_.view());
}

template <class T>
void ProtectedGemm<T>::bound(MatrixView<const T> a, MatrixView<const T> b) {
  elements_->square_norms(stream_, a, norms_a_.rows.data(), norms_a_.cols.data());
  elements_->square_norms(stream_, b, norms_b_.rows.data(), norms_b_.cols.data());
  elements_->scales(stream_, {norms_a_.cols.data(), r_.buffer().data()},
                    {norms_b_.rows.data(), s_.buffer().data()}, m_, n_, k_,
                    lambda_ * unit_roundoff(kDType<T>), scales_.data());
}

template <class T>
void ProtectedGemm<T>::prepare(MatrixView<const T> a, MatrixView<const T> b) {
  encode_a(a);
  encode_b(b);
  expect(a, b);
  bound(a, b);
}

template <class T>
void ProtectedGemm<T>::multiply(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  multiply_.run(stream_, a, b, c);
}

template <class T>
void ProtectedGemm<T>::check(MatrixView<const T> a, MatrixView<const T> b, MatrixView<const T> c,
                             Report* report) {
  sum_columns_.run(stream_, c, w_.view(), found_columns_.view());
  sum_rows_.run(stream_, c, v_.view(), found_rows_.view());
  elements_->square_norms(stream_, c, norms_c_.rows.data(), norms_c_.cols.data());
  elements_->inspect(stream_,
                     {n_, expected_columns_.buffer().data(), found_columns_.buffer().data(),
                      norms_b_.cols.data(), norms_c_.cols.data()},
                     {m_, expected_rows_.buffer().data(), found_rows_.buffer().data(),
                      norms_a_.rows.data(), norms_c_.rows.data()},
                     scales_.data(), report);
  elements_->settle(stream_, a, b, c, rounding_factor(lambda_of(1), unit_roundoff(kDType<T>), k_),
                    report);
}

template <class T>
void ProtectedGemm<T>::correct(MatrixView<T> c, const Report* report) {
  elements_->correct(stream_, c, report);
}

template <class T>
typename ProtectedGemm<T>::Bounds ProtectedGemm<T>::bounds() const {
  const Scales scales = scales_.to_host()[0];
  Bounds bounds;
  bounds.norms_of_a = roots(norms_a_.rows.to_host());
  bounds.norms_of_b = roots(norms_b_.cols.to_host());
  bounds.columns = roots(norms_c_.cols.to_host());
  bounds.rows = roots(norms_c_.rows.to_host());
  for (std::size_t j = 0; j < bounds.columns.size(); ++j) {
    bounds.columns[j] = std::hypot(scales.columns.of_operand[0] * bounds.norms_of_b[j],
                                   scales.columns.of_result[0] * bounds.columns[j]);
  }
  for (std::size_t i = 0; i < bounds.rows.size(); ++i) {
    bounds.rows[i] = std::hypot(scales.rows.of_operand[0] * bounds.norms_of_a[i],
                                scales.rows.of_result[0] * bounds.rows[i]);
  }
  return bounds;
}

template <class T>
std::string ProtectedGemm<T>::explain_encoding() const {
  return encode_a_.explain();
}

template class ProtectedGemm<double>;
template class ProtectedGemm<float>;

}  // namespace lanky::examples::abft

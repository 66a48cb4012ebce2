#include "packed_rows.hpp"

#include <algorithm>
#include <numeric>

#include "memory.hpp"
#if defined(PETSC_HAVE_CUDA)
#include "row_kernels.hpp"
#endif

namespace lanky_petsc {

PackedRows::PackedRows(const std::vector<PetscInt>& rows) : rows_(rows.begin(), rows.end()) {
  Indices slots(rows_.size());
  std::iota(slots.begin(), slots.end(), 0);
  const auto row_of = [&](std::int64_t slot) { return rows_[static_cast<std::size_t>(slot)]; };
  std::stable_sort(slots.begin(), slots.end(),
                   [&](std::int64_t a, std::int64_t b) { return row_of(a) < row_of(b); });
  const auto same = [&](std::int64_t a, std::int64_t b) { return row_of(a) == row_of(b); };
  if (std::adjacent_find(slots.begin(), slots.end(), same) == slots.end()) return;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    if (k > 0 && same(slots[k - 1], slots[k])) continue;
    targets_.push_back(row_of(slots[k]));
    begins_.push_back(static_cast<std::int64_t>(k));
  }
  begins_.push_back(static_cast<std::int64_t>(slots.size()));
  slots_ = std::move(slots);
}

PackedRows::OnDevice::OnDevice(const PackedRows& packed, const lanky::Stream& stream)
    : device(stream.device()),
      rows(lanky::Buffer<std::int64_t>::from(stream, packed.rows_)),
      targets(lanky::Buffer<std::int64_t>::from(stream, packed.targets_)),
      begins(lanky::Buffer<std::int64_t>::from(stream, packed.begins_)),
      slots(lanky::Buffer<std::int64_t>::from(stream, packed.slots_)) {
  stream.synchronize();  // other streams read them, too
}

const PackedRows::OnDevice& PackedRows::on_device(const lanky::Stream& stream) {
  if (!on_device_ || on_device_->device != stream.device()) on_device_.emplace(*this, stream);
  return *on_device_;
}

void PackedRows::gather(const Columns& x, Element* packed, const lanky::Stream& stream) {
#if defined(PETSC_HAVE_CUDA)
  if (stream.device().is_cuda()) {
    check(gather_rows(elements(x.data()), x.leading(), x.columns(), on_device(stream).rows.data(),
                      size(), packed, stream.native()),
          "gather_rows");
    return;
  }
#endif
  (void)stream;
  for (const std::int64_t row : rows_) {
    for (PetscInt j = 0; j < x.columns(); ++j)
      *packed++ = elements(x.data())[row + std::int64_t{j} * x.leading()];
  }
}

void PackedRows::add(const Element* packed, const Columns& y, const lanky::Stream& stream) {
  Element* const to = elements(y.data());
  const std::int64_t leading = y.leading(), columns = y.columns();
#if defined(PETSC_HAVE_CUDA)
  if (stream.device().is_cuda()) {
    const OnDevice& there = on_device(stream);
    const auto count = static_cast<std::int64_t>(targets_.size());
    check(repeated()
              ? add_rows(packed, leading, columns, there.targets.data(), there.begins.data(),
                         there.slots.data(), count, to, stream.native())
              : add_rows(packed, leading, columns, there.rows.data(), size(), to, stream.native()),
          "add_rows");
    return;
  }
#endif
  (void)stream;
  const auto add_row = [&](std::int64_t row, std::int64_t slot) {
    for (std::int64_t j = 0; j < columns; ++j)
      to[row + j * leading] += packed[slot * columns + j];
  };
  if (!repeated()) {
    for (std::int64_t i = 0; i < size(); ++i)
      add_row(rows_[static_cast<std::size_t>(i)], i);
    return;
  }
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    for (auto k = begins_[t]; k < begins_[t + 1]; ++k)
      add_row(targets_[t], slots_[static_cast<std::size_t>(k)]);
  }
}

}  // namespace lanky_petsc

#include "io/matio.hpp"

#include <lanky/error.hpp>

#include "core/text.hpp"

namespace lanky::inline v1::io {

namespace {

/// HDF5's default is to print what goes wrong.
void silence_hdf5(const SharedLibrary& library) {
  using SetAuto = int(std::int64_t stack, void* function, void* data);
  if (auto* set_auto = library.function<SetAuto>("H5Eset_auto2")) set_auto(0, nullptr, nullptr);
}

}  // namespace

Matio::Matio()
    : library({LANKY_MATIO_SONAME}),
      open(library.function<decltype(Mat_Open)>("Mat_Open")),
      close(library.function<decltype(Mat_Close)>("Mat_Close")),
      read_next_info(library.function<decltype(Mat_VarReadNextInfo)>("Mat_VarReadNextInfo")),
      read_data(library.function<decltype(Mat_VarReadDataAll)>("Mat_VarReadDataAll")),
      field(library.function<decltype(Mat_VarGetStructFieldByName)>("Mat_VarGetStructFieldByName")),
      free(library.function<decltype(Mat_VarFree)>("Mat_VarFree")) {
  silence_hdf5(library);
}

const Matio& matio() {
  static const Matio instance;
  for (const bool found :
       {instance.open != nullptr, instance.close != nullptr, instance.read_next_info != nullptr,
        instance.read_data != nullptr, instance.field != nullptr, instance.free != nullptr}) {
    if (found) continue;
    throw Error(ErrorCode::unsupported,
                concat(".mat files are read by libmatio, which cannot be opened (",
                       instance.library.failure(), "); install the Debian package libmatio11"));
  }
  return instance;
}

}  // namespace lanky::inline v1::io

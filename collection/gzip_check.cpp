#include "collection/gzip_check.hpp"

#include <zlib.h>

#include <memory>
#include <vector>

namespace lanky::collection {

namespace {

struct CloseFile {
  void operator()(gzFile file) const { gzclose_r(file); }
};

}  // namespace

std::string fault_of_gzip(const std::filesystem::path& path) {
  std::unique_ptr<gzFile_s, CloseFile> file(gzopen(path.c_str(), "rb"));
  if (file == nullptr) return "cannot be opened";
  gzbuffer(file.get(), 1 << 18);
  std::vector<char> block(1 << 18);
  int count = 0;
  bool any = false;
  while ((count = gzread(file.get(), block.data(), static_cast<unsigned>(block.size()))) > 0) {
    if (gzdirect(file.get()) != 0) return "is no gzip file";
    any = true;
  }
  int code = Z_OK;
  const std::string message = gzerror(file.get(), &code);
  if (count < 0) return "is damaged (" + message + ")";
  if (!any && code == Z_OK) return "is empty";
  return gzclose_r(file.release()) == Z_OK ? "" : "ends before its gzip stream does";
}

}  // namespace lanky::collection

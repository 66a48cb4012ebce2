#include "core/module_path.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#include <system_error>

namespace lanky {

namespace fs = std::filesystem;

fs::path program_path() {
  std::error_code error;
  // It knows the folder of a program that was replaced while it runs, too.
  fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (!error) return path;
  // The path that the kernel was given; the program has not changed its folder since.
  const auto* const started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (started == nullptr) return {};
  path = fs::canonical(started, error);
  return error ? fs::path() : path;
}

namespace {

/// The file that holds this code: the program, or the extension module of the Python package.
fs::path code_path() {
  Dl_info info;
  void* map = nullptr;
  const bool known =
      dladdr1(reinterpret_cast<const void*>(&code_path), &info, &map, RTLD_DL_LINKMAP) != 0;
  const std::string name = known ? static_cast<const link_map*>(map)->l_name : "";
  return name.empty() ? program_path() : fs::path(name);  // a program itself has no name there
}

}  // namespace

std::string module_path(const std::string& file) {
  const fs::path folder = code_path().parent_path();
  std::error_code ignored;
  for (const fs::path& path : {folder / file, folder / LANKY_MODULE_FOLDER / file}) {
    if (!folder.empty() && fs::exists(path, ignored)) return path.string();
  }
  return file;
}

}  // namespace lanky

#include "core/shared_library.hpp"

#include <dlfcn.h>

namespace lanky {

SharedLibrary::SharedLibrary(std::initializer_list<std::string> names) {
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    const char* message = dlerror();
    if (failure_.empty() && message != nullptr) failure_ = message;
  }
}

void* SharedLibrary::symbol(const char* name) const noexcept {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

}  // namespace lanky

// A vendor library opened when first needed, so that lanky itself loads without it.
#pragma once

#include <initializer_list>
#include <string>

namespace lanky {

class SharedLibrary {
 public:
  /// Opens the first of `names` that can be; loaded() tells whether one was.
  SharedLibrary(std::initializer_list<std::string> names);

  bool loaded() const noexcept { return handle_ != nullptr; }
  /// The loader's message where none could be opened.
  const std::string& failure() const noexcept { return failure_; }
  /// The function of that name; null where the library or the name is missing.
  template <class Function>
  Function* function(const char* name) const noexcept {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const noexcept;

  void* handle_ = nullptr;  // never closed: vendor libraries do not survive dlclose
  std::string failure_;
};

}  // namespace lanky

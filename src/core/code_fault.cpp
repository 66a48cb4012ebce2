#include "core/code_fault.hpp"

#include "core/text.hpp"

namespace lanky {

std::string cuda_version(int version) {
  return concat(version / 1000, '.', version % 1000 / 10);
}

std::string describe_fault(CodeFault fault, std::string_view device, const DeviceProperties& gpu,
                           std::string_view targets, int toolkit, int driver) {
  const int number = gpu.compute_capability;
  std::string has = concat("this lanky has code for ", targets, "; ", device, ", ", gpu.name,
                           ", is sm_", number, ": ");
  const std::string build =
      concat("-DCMAKE_CUDA_ARCHITECTURES=", number, number == 90 ? "a" : "", "-real");
  if (number < kLeastCapability)
    return concat(has, "lanky needs sm_", kLeastCapability, " or later; use the cpu device");
  switch (fault) {
    case CodeFault::no_code:
      return concat(has, "build lanky with ", build, ", or use the cpu device");
    case CodeFault::old_driver:
      return concat(has, "its driver, for CUDA ", cuda_version(driver),
                    ", cannot translate the PTX of CUDA ", cuda_version(toolkit),
                    ": update the driver, build lanky with ", build, ", or use the cpu device");
    case CodeFault::no_translator:
      return concat(has,
                    "its driver does not translate PTX here (CUDA_DISABLE_PTX_JIT, or "
                    "libnvidia-ptxjitcompiler is missing): allow it, build lanky with ",
                    build, ", or use the cpu device");
  }
  return has;
}

}  // namespace lanky

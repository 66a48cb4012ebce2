// Why a GPU that is there cannot be used, and what to do.
#pragma once

#include <lanky/device.hpp>
#include <string>
#include <string_view>

namespace lanky {

enum class CodeFault {
  no_code,       // none of the build's targets runs on the device
  old_driver,    // it does not know the PTX of this build's toolkit
  no_translator  // the device needs PTX, which the driver does not translate here
};

/// Code is compiled for sm_80 at least: asynchronous copies, and tensor cores of all types.
inline constexpr int kLeastCapability = 80;

/// `targets`: of the build, "sm_80, sm_90a, PTX for compute_90"; versions as 12040 for CUDA 12.4.
std::string describe_fault(CodeFault fault, std::string_view device, const DeviceProperties& gpu,
                           std::string_view targets, int toolkit, int driver);

/// "12.4" of 12040.
std::string cuda_version(int version);

}  // namespace lanky

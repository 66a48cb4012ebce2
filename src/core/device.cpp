#include <unistd.h>

#include <charconv>
#include <fstream>
#include <lanky/device.hpp>
#include <lanky/error.hpp>
#include <thread>

#include "core/runtime.hpp"
#include "core/text.hpp"

namespace lanky::inline v1 {

namespace {

/// The value of "model name" in /proc/cpuinfo; "cpu" where there is none.
std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  info.exceptions(std::ios::badbit);  // short memory throws, and cuts no name
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "cpu";
}

}  // namespace

Device Device::cuda(int index) {
  const auto& count = runtime::device_count();
  if (count.devices == 0) {
    throw Error(ErrorCode::no_device,
                concat("there is no CUDA device: ", count.absence, "; use the cpu device"));
  }
  if (index < 0 || index >= count.devices) {
    throw Error(ErrorCode::no_device,
                concat("there is no CUDA device ", index, ": this machine has ", count.devices,
                       ", numbered from 0"));
  }
  return Device(DeviceKind::cuda, index);
}

Device Device::best() {
  return cuda_absence().empty() ? Device(DeviceKind::cuda, 0) : Device(DeviceKind::cpu, 0);
}

std::vector<Device> Device::all() {
  std::vector<Device> devices = {cpu()};
  for (int i = 0; i < cuda_count(); ++i)
    devices.push_back(cuda(i));
  return devices;
}

Device Device::parse(std::string_view text) {
  if (text == "cpu") return cpu();
  if (text == "cuda") return cuda(0);
  int index = 0;
  if (text.starts_with("cuda:")) {
    const std::string_view digits = text.substr(5);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error == std::errc() && end == digits.data() + digits.size()) return cuda(index);
  }
  throw Error(ErrorCode::invalid_argument,
              concat("unknown device \"", text, "\"; use cpu, cuda or cuda:INDEX"));
}

int Device::cuda_count() noexcept {
  return runtime::device_count().devices;
}

std::string Device::cuda_absence() {
  if (cuda_count() == 0) return runtime::device_count().absence;
  try {
    runtime::code_target(0);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string Device::name() const {
  return is_cuda() ? concat("cuda:", index_) : "cpu";
}

DeviceProperties Device::properties() const {
  if (is_cuda()) return runtime::properties(index_);
  const auto pages = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  return {.name = processor_name(),
          .multiprocessors = static_cast<int>(std::thread::hardware_concurrency()),
          .memory_bytes = pages * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE))};
}

}  // namespace lanky::inline v1

// lanky info: what this build and this machine can do.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <lanky/lanky.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/harness/gpu.hpp"
#include "bench/records/environment.hpp"
#include "bench/records/journal.hpp"
#include "bench/records/record.hpp"
#include "bench/rivals/vendor.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"

namespace lanky::cli {

namespace {

void print(const char* label, const std::string& text) {
  std::printf("%-12s %s\n", label, text.c_str());
}

std::string gigabytes(std::size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (1 << 30));
  return text;
}

std::string describe(Device device) {
  const DeviceProperties properties = device.properties();
  std::string text = properties.name + ", " + gigabytes(properties.memory_bytes);
  if (!device.is_cuda())
    return text + ", " + std::to_string(properties.multiprocessors) + " hardware threads, " +
           std::to_string(bench::cpu_threads()) + " for products (OMP_NUM_THREADS)";
  return text + ", " + std::to_string(properties.multiprocessors) + " SMs, sm_" +
         std::to_string(properties.compute_capability) + ", L2 " +
         std::to_string(properties.l2_bytes >> 20) + " MiB";
}

void print_vendors() {
  try {
    bench::Vendor& vendor = bench::gpu_vendor();
    print("cuBLAS", vendor.cublas_version());
    print("cuSPARSE", vendor.cusparse_version());
  } catch (const Error& error) {
    print("cuBLAS", error.what());
  }
}

int print_info() {
  print("lanky", std::string(build_description()) + ", commit " + bench::build_commit());
  for (const Device device : Device::all())
    print(device.name().c_str(), describe(device));
  if (Device::cuda_count() == 0) {
    print("cuda", "no device: " + Device::cuda_absence());
  } else {
    const std::string absence = Device::cuda_absence();
    if (!absence.empty()) print("cuda:0", "is not used: " + absence);
    print("driver", bench::gpu::driver_version());
    print("CUDA", bench::gpu::runtime_version());
  }
  print_vendors();
  const std::string openblas = bench::openblas_version();
  print("OpenBLAS", openblas.empty() ? "not found (libopenblas.so.0)" : openblas);
  print("types", "f64 f32 f16 bf16 (half types accumulate in float)");
  print(
      "files",
      ".mtx, .rb, .rua and the like, plain, .gz, .xz, .zst, .bz2 or in SuiteSparse's NAME.tar.gz;\n"
      "             .mat (by way of libmatio), .lanky");
  std::printf("\ngenerators, for --generate:\n%s", io::generator_help().c_str());
  return kOk;
}

/// The line that files of results begin with.
int write_environment(const std::string& path, const std::vector<std::string>& argv) {
  bench::Session session(Device::best(), bench::MeasureOptions());
  bench::Journal(path).write(bench::to_json(bench::describe_environment(session, argv, true)));
  return kOk;
}

}  // namespace

void add_info(CLI::App& app, Action& action, int argc, char** argv) {
  CLI::App& command = *app.add_subcommand("info", "Devices, versions, libraries, generators");
  const auto json = std::make_shared<std::string>();
  command.add_option("--json", *json,
                     "append the env line of a run on the best device to this file instead; - is\n"
                     "standard output");
  command.callback([json, &action, argv = std::vector<std::string>(argv, argv + argc)] {
    if (json->empty()) {
      action = print_info;
    } else {
      action = [json, argv] { return write_environment(*json, argv); };
    }
  });
}

}  // namespace lanky::cli

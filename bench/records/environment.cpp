#include "bench/records/environment.hpp"

#include <omp.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <lanky/error.hpp>
#include <lanky/version.hpp>
#include <sstream>

#include "bench/harness/floor.hpp"
#include "bench/harness/gpu.hpp"
#include "bench/rivals/mkl.hpp"
#include "bench/rivals/vendor.hpp"
#include "core/machine.hpp"
#include "core/module_path.hpp"

namespace lanky::bench {

namespace {

constexpr double kFewestTbsOnH200 = 4.4;  // a healthy H200 reads at 4.6

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string joined(const std::vector<std::string>& argv) {
  std::string text;
  for (const std::string& word : argv) {
    const bool quoted = word.empty() || word.find_first_of(" \t\"'") != std::string::npos;
    text += (text.empty() ? "" : " ") + (quoted ? "'" + word + "'" : word);
  }
  return text;
}

void describe_gpu(Session& session, bool vendors, Environment& environment) {
  const DeviceProperties properties = session.stream.device().properties();
  const CodeTarget code = machine_of(session.stream.device()).code;
  environment.gpu = properties.name;
  environment.code = "compute_" + std::to_string(code.capability) + (code.warp_groups ? "a" : "");
  environment.l2_bytes = static_cast<std::int64_t>(properties.l2_bytes);
  environment.driver = gpu::driver_version();
  environment.cuda = gpu::runtime_version();
  environment.sm_clock_mhz = gpu::sm_clock_mhz(session.stream);
  if (!vendors) return;
  try {
    environment.cublas = gpu_vendor().cublas_version();
    environment.cusparse = gpu_vendor().cusparse_version();
  } catch (const Error&) {  // each contestant will say so
  }
}

}  // namespace

int cpu_threads() {
  return omp_get_max_threads();
}

std::string program_path() {
  return lanky::program_path().string();
}

std::string program_hash() {
  std::ifstream program("/proc/self/exe", std::ios::binary);  // also where its file was replaced
  if (!program) program.open(lanky::program_path(), std::ios::binary);
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  std::vector<char> block(1 << 16);
  while (program.read(block.data(), static_cast<std::streamsize>(block.size())) ||
         program.gcount() > 0) {
    for (std::streamsize i = 0; i < program.gcount(); ++i)
      hash = (hash ^ static_cast<unsigned char>(block[static_cast<std::size_t>(i)])) *
             0x100000001b3ULL;
  }
  std::ostringstream text;
  text << std::hex << std::setw(16) << std::setfill('0') << hash;
  return text.str();
}

bool floor_is_void(const std::string& gpu, double read_floor_tbs) {
  return gpu.find("H200") != std::string::npos && read_floor_tbs < kFewestTbsOnH200;
}

Environment describe_environment(Session& session, const std::vector<std::string>& argv,
                                 bool vendors) {
  Environment environment;
  environment.lanky = kVersion;
  const char* commit = std::getenv("LANKY_COMMIT");
  environment.commit = commit != nullptr ? commit : build_commit();
  environment.sources_hash = build_sources_hash();
  environment.binary_hash = program_hash();
  environment.argv = joined(argv);
  environment.utc = utc_now();
  environment.device = session.stream.device().name();
  environment.cpu = Device::cpu().properties().name;
  environment.threads = cpu_threads();
  environment.read_floor_tbs = read_floor_tbs(session);
  if (session.stream.device().is_cuda()) {
    describe_gpu(session, vendors, environment);
  } else if (vendors) {
    environment.openblas = openblas_version();
    environment.mkl = mkl_version();
  }
  environment.is_void = floor_is_void(environment.gpu, environment.read_floor_tbs);
  return environment;
}

}  // namespace lanky::bench

// lanky's part of bench/scripts/read_speed.py: writes a generated matrix or the cache of a file,
// reads a file again and again, its bytes alone, or gives its CSR arrays as raw bytes.
//   lanky_read_speed write SPEC FILE | cache FILE CACHE | read FILE TIMES | bytes FILE TIMES
//                    | dump FILE PREFIX
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Matrix = lanky::CsrMatrix<double>;

/// A figure of /proc/self/status in bytes: VmHWM is the peak of resident memory, VmRSS what is now.
std::int64_t memory(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return 1024 * std::stoll(line.substr(name.size() + 1));
  }
  return 0;
}

template <class Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void read(const char* path, int times) {
  const std::int64_t before = memory("VmRSS");
  std::vector<double> seconds;
  nlohmann::ordered_json result;
  for (int i = 0; i < times; ++i) {
    Matrix a;
    seconds.push_back(seconds_of([&] { a = lanky::io::read_csr<double>(path); }));
    result = {{"m", a.rows},
              {"n", a.cols},
              {"nnz", a.nnz()},
              {"csr_bytes", 8 * (a.rows + 1) + 12 * a.nnz()}};
  }
  result["seconds"] = seconds;
  result["peak_bytes"] = memory("VmHWM") - before;
  std::cout << result.dump() << "\n";
}

/// The bytes of a file into new memory by all threads, nothing looked at: what any reader takes.
void read_bytes(const std::filesystem::path& path, int times) {
  constexpr std::size_t kBlock = 1 << 20;
  const auto size = static_cast<std::size_t>(std::filesystem::file_size(path));
  const int file = open(path.c_str(), O_RDONLY);
  std::vector<double> seconds;
  for (int i = 0; i < times; ++i) {
    std::unique_ptr<std::byte[]> data;
    std::size_t count = 0;
    seconds.push_back(seconds_of([&] {
      data = std::make_unique_for_overwrite<std::byte[]>(size);
#pragma omp parallel for schedule(dynamic) reduction(+ : count)
      for (std::size_t at = 0; at < size; at += kBlock) {
        const auto wanted = std::min(kBlock, size - at);
        const ssize_t got = pread(file, data.get() + at, wanted, static_cast<off_t>(at));
        count += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
      }
    }));
    if (count != size) throw std::runtime_error(path.string() + " cannot be read");
  }
  close(file);
  std::cout << nlohmann::json{{"seconds", seconds}}.dump() << "\n";
}

template <class E>
void dump(const std::string& path, const std::vector<E>& array) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(array.data()),
             static_cast<std::streamsize>(array.size() * sizeof(E)));
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 3 && arguments[0] == "write") {
    const auto a = lanky::io::generate<double>(arguments[1]);
    lanky::io::write_matrix_market(arguments[2], a.view());
  } else if (arguments.size() == 3 && arguments[0] == "cache") {
    lanky::io::write_cache(arguments[2], lanky::io::read_csr<double>(arguments[1]).view());
  } else if (arguments.size() == 3 && arguments[0] == "read") {
    read(arguments[1].c_str(), std::stoi(arguments[2]));
  } else if (arguments.size() == 3 && arguments[0] == "bytes") {
    read_bytes(arguments[1], std::stoi(arguments[2]));
  } else if (arguments.size() == 3 && arguments[0] == "dump") {
    const auto a = lanky::io::read_csr<double>(arguments[1]);
    dump(arguments[2] + ".offsets", a.row_offsets);
    dump(arguments[2] + ".cols", a.col_indices);
    dump(arguments[2] + ".values", a.values);
  } else {
    std::cerr << "lanky_read_speed write SPEC FILE | cache FILE CACHE | read FILE TIMES | "
                 "bytes FILE TIMES | dump FILE PREFIX\n";
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}

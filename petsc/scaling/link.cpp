// Times what a message between two GPUs takes: ranks exchange with their neighbours in pairs, both
// ways at once, as an exchange of ghosts does: from GPU memory, where MPI takes that, and through
// pinned memory of the host. Then a sum over all ranks of one number on the host, alone, and after
// work of a GPU whose result the host waits for, where it includes the wait for the slowest rank.
// JSON lines, the slowest rank's; model.py takes its figures of a node from them.
//
//   mpirun -n 2 lanky_petsc_link OUT.jsonl [host]       host: not from GPU memory
#include <cuda_runtime.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "measuring.hpp"

namespace {

using namespace lanky_scaling;

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "lanky_petsc_link: %s\n", cudaGetErrorString(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Microseconds of one run: the median of batches, each as long as the slowest rank's.
double time_us(const std::function<void()>& run) {
  constexpr int kBatches = 9;
  const auto batch = [&](int runs) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = now_us();
    for (int i = 0; i < runs; ++i)
      run();
    double us = (now_us() - start) / runs;
    MPI_Allreduce(MPI_IN_PLACE, &us, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return us;
  };
  batch(5);
  const int runs = std::clamp(static_cast<int>(2e4 / batch(5)), 5, 5000);
  std::vector<double> times;
  for (int k = 0; k < kBatches; ++k)
    times.push_back(batch(runs));
  return median(times);
}

/// Messages of one length with one other rank.
class Pair {
 public:
  Pair(int other, std::size_t bytes, bool staged) : bytes_(bytes), staged_(staged) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 2; ++k) {
      check(cudaMalloc(&device_[k], bytes));
      check(cudaMemset(device_[k], k == 0 ? 0 : rank + 1, bytes));
      check(cudaMallocHost(&host_[k], bytes));
    }
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    void** memory = staged ? host_ : device_;
    const int count = static_cast<int>(bytes);
    MPI_Recv_init(memory[0], count, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests_[0]);
    MPI_Send_init(memory[1], count, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests_[1]);
    check(cudaDeviceSynchronize());
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() {
    for (int k = 0; k < 2; ++k) {
      MPI_Request_free(&requests_[k]);
      check(cudaFree(device_[k]));
      check(cudaFreeHost(host_[k]));
    }
    check(cudaStreamDestroy(stream_));
  }

  void exchange() {
    if (staged_) {
      check(cudaMemcpyAsync(host_[1], device_[1], bytes_, cudaMemcpyDeviceToHost, stream_));
      check(cudaStreamSynchronize(stream_));
    }
    MPI_Startall(2, requests_);
    MPI_Waitall(2, requests_, MPI_STATUSES_IGNORE);
    if (staged_) {
      check(cudaMemcpyAsync(device_[0], host_[0], bytes_, cudaMemcpyHostToDevice, stream_));
      check(cudaStreamSynchronize(stream_));
    }
  }

  /// Whether all that has come is the other rank's.
  bool is_right(int other) {
    std::vector<unsigned char> found(bytes_);
    check(cudaMemcpy(found.data(), device_[0], bytes_, cudaMemcpyDeviceToHost));
    return std::all_of(found.begin(), found.end(), [&](int byte) { return byte == other + 1; });
  }

 private:
  std::size_t bytes_;
  bool staged_;
  void* device_[2] = {};  // received, sent
  void* host_[2] = {};
  cudaStream_t stream_ = nullptr;
  MPI_Request requests_[2] = {};
};

/// Work of a GPU that ends with a number on the host, as an inner product does.
class Work {
 public:
  explicit Work(int copies) : copies_(copies) {
    for (void*& memory : memory_)
      check(cudaMalloc(&memory, kBytes));
    check(cudaMallocHost(&number_, sizeof(double)));
    *number_ = 0;
    check(cudaMemset(memory_[0], 0, kBytes));
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() {
    for (void* memory : memory_)
      check(cudaFree(memory));
    check(cudaFreeHost(number_));
  }

  double run() {
    for (int k = 0; k < copies_; ++k)
      check(cudaMemcpyAsync(memory_[1], memory_[0], kBytes, cudaMemcpyDeviceToDevice, nullptr));
    check(cudaMemcpyAsync(number_, memory_[1], sizeof(double), cudaMemcpyDeviceToHost, nullptr));
    check(cudaStreamSynchronize(nullptr));
    return *number_;
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{64} << 20;
  int copies_;
  void* memory_[2] = {};
  double* number_ = nullptr;
};

void write_environment(std::FILE* out) {
  cudaDeviceProp properties;
  int device = 0, ranks = 1, length = 0;
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
  check(cudaGetDevice(&device));
  check(cudaGetDeviceProperties(&properties, device));
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Get_library_version(mpi, &length);
  const char* transport = std::getenv("OMPI_MCA_btl");
  std::fprintf(out,
               "{\"kind\": \"env\", \"schema\": 1, \"gpu\": \"%s\", \"ranks\": %d, \"mpi\": "
               "\"%s\", \"transport\": \"%s\", \"commit\": \"%s\", \"utc\": \"%s\"}\n",
               properties.name, ranks, std::string(mpi, std::strcspn(mpi, ",\n")).c_str(),
               transport ? transport : "default", commit().c_str(), utc().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1, devices = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(cudaGetDeviceCount(&devices));
  check(cudaSetDevice(rank % devices));
  std::FILE* out = rank == 0 && argc > 1 ? std::fopen(argv[1], "w") : stdout;
  if (argc < 2 || !out || ranks % 2 != 0) {
    std::fputs("mpirun -n 2 lanky_petsc_link OUT.jsonl [host]: an even number of ranks\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (rank == 0) write_environment(out);
  const int other = rank ^ 1;
  int wrong = 0;
  for (const bool staged : {true, false}) {
    if (!staged && argc > 2) continue;
    for (std::size_t bytes = 8; bytes <= std::size_t{32} << 20; bytes *= 4) {
      Pair pair(other, bytes, staged);
      const double us = time_us([&] { pair.exchange(); });
      int bad = pair.is_right(other) ? 0 : 1;
      MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      wrong += bad;
      if (rank == 0) {
        std::fprintf(out,
                     "{\"kind\": \"scaling_link\", \"measured\": true, \"way\": \"%s\", \"bytes\": "
                     "%zu, \"status\": \"%s\", \"us\": %.3f}\n",
                     staged ? "host" : "device", bytes, bad ? "wrong" : "ok", us);
        std::fflush(out);
      }
    }
  }
  double value = 1;
  const auto sum = [&] {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  };
  const double sum_us = time_us(sum);
  if (rank == 0) {
    std::fprintf(out, "{\"kind\": \"scaling_allreduce\", \"measured\": true, \"us\": %.3f}\n",
                 sum_us);
  }
  for (const int copies : {1, 3, 8}) {
    Work work(copies);
    const double alone_us = time_us([&] { value = work.run(); });
    const double us = time_us([&] {
      value = work.run();
      sum();
    });
    if (rank == 0) {
      std::fprintf(out,
                   "{\"kind\": \"scaling_reduction\", \"measured\": true, \"work_us\": %.3f, "
                   "\"us\": %.3f}\n",
                   alone_us, us);
    }
  }
  MPI_Finalize();
  return wrong > 0;
}

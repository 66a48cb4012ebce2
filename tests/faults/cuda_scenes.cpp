// What a program does to the GPU beside lanky, and to lanky: errors that last, resets, contexts,
// streams that go early, no memory, captures.
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <lanky/cuda.hpp>
#include <lanky/lanky.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "faults/injection.hpp"
#include "faults/scene.hpp"
#include "faults/subjects.hpp"
#include "faults/user_kernels.hpp"

namespace lanky::faults {

namespace {

constexpr const char* kNotOurs = "an earlier error of this process's CUDA context, not of lanky";
constexpr const char* kUnknown = "lanky's or the program's own";

void check(cudaError_t status, const char* what) {
  require(status == cudaSuccess, std::string(what) + ": " + cudaGetErrorName(status));
}

Device gpu() {
  return Device::cuda(0);
}

/// Plans of each kind, on a stream, with the numbers that they give.
class Work {
 public:
  explicit Work(const Stream& stream) {
    for (const Subject& subject : subjects()) {
      for (const char* name : {"one_vector", "columns", "tiles", "sddmm", "panel", "update", "gram",
                               "gram_wide", "regular", "cholesky_qr", "cg", "lobpcg"}) {
        if (subject.name != name) continue;
        actions_.push_back(subject.prepare(stream, nullptr));
        names_.push_back(subject.name);
      }
    }
  }

  std::vector<Numbers> run() const {
    std::vector<Numbers> all;
    for (std::size_t i = 0; i < actions_.size(); ++i) {
      try {
        all.push_back(actions_[i]());
      } catch (const std::exception& error) {
        throw std::runtime_error(names_[i] + ": " + error.what());
      }
    }
    return all;
  }

 private:
  std::vector<Action> actions_;
  std::vector<std::string> names_;
};

void must_work(const std::string& when) {
  const Stream stream(gpu());
  const Work work(stream);
  require(work.run() == work.run(), when + ": the numbers differ from run to run");
}

/// A plan with operands.
struct Product {
  explicit Product(const Stream& on)
      : stream(on),
        a(io::generate<double>("huge:3000:2,span=8000")),
        plan(on, a.view()),
        x(Buffer<double>::from(on, std::vector<double>(static_cast<std::size_t>(a.cols), 0.5))),
        y(on, a.rows) {}

  void run() { plan.run(stream, x, y); }
  Numbers numbers() {
    run();
    return y.to_host();
  }

  Stream stream;
  CsrMatrix<double> a;
  SparsePlan<double> plan;
  Buffer<double> x;
  Buffer<double> y;
};

/// The user's kernel faults, and its error is seen by the user, before lanky's first call.
void error_before_the_first_use() {
  start_wild_store(nullptr);
  require(cudaDeviceSynchronize() == cudaErrorIllegalAddress, "the wild store did no harm");
  require_error([] { Stream{gpu()}; }, {kNotOurs, "cudaErrorIllegalAddress"}, "Stream");
}

/// Before lanky's next call, when all of lanky's work has ended.
void error_before_a_plan() {
  const Stream stream(gpu());
  auto product = std::make_unique<Product>(stream);
  product->numbers();
  start_wild_store(stream.native());
  cudaDeviceSynchronize();
  require_error([&] { product->run(); }, {kNotOurs, "cudaErrorIllegalAddress"}, "run");
  require_error([&] { stream.synchronize(); }, {kNotOurs}, "synchronize");
  require_error([&] { Product{stream}; }, {kNotOurs}, "a plan's constructor");
  require_error([&] { GemmPlan<double>(stream, {.m = 8, .n = 8, .k = 50'000, .op_a = Op::trans}); },
                {kNotOurs}, "a dense plan's constructor");
  require_error([&] { product->y.to_host(); }, {kNotOurs}, "to_host");
  require_error([&] { Buffer<double>(stream, 100); }, {kNotOurs}, "Buffer");
  require_error([&] { product->plan.update_values(product->a.values); }, {kNotOurs},
                "update_values");
  require(Device::cuda_count() > 0, "the devices are gone");
  product.reset();  // neither throws nor hangs
}

/// Under way when lanky's work is given: it is not known whose error it is, and that is said.
void error_under_way() {
  const Stream stream(gpu());
  Product product(stream);
  product.numbers();
  start_spin(20, stream.native());
  start_wild_store(stream.native());
  product.run();
  require_error([&] { stream.synchronize(); }, {"cudaErrorIllegalAddress", kUnknown},
                "synchronize");
}

/// Behind lanky's work.
void error_after_a_run() {
  const Stream stream(gpu());
  Product product(stream);
  product.run();
  start_wild_store(stream.native());
  require_error([&] { product.y.to_host(); }, {"cudaErrorIllegalAddress", kUnknown}, "to_host");
  require_error([&] { product.run(); }, {"cudaErrorIllegalAddress"}, "run");
  // An error that lasts is no failure of what is on the CPU.
  const Stream cpu(Device::cpu());
  Product on_cpu(cpu);
  on_cpu.numbers();
}

/// An error that does not last, left by the user, is not taken for ours.
void error_that_passes() {
  const Stream stream(gpu());
  Product product(stream);
  const Numbers expected = product.numbers();
  cudaSetDevice(1000);
  require(product.numbers() == expected, "other numbers after an error of the user's");
}

/// Plans, buffers and streams of before are dead, and may be destroyed; new ones work.
void reset_between_plans() {
  std::vector<Numbers> expected;
  {
    const Stream stream(gpu());
    expected = Work(stream).run();
  }
  auto stream = std::make_unique<Stream>(gpu());
  auto product = std::make_unique<Product>(*stream);
  product->numbers();
  check(cudaDeviceReset(), "cudaDeviceReset");
  product.reset();
  stream.reset();
  const Stream next(gpu());
  const Work work(next);
  require(work.run() == expected, "other numbers after cudaDeviceReset");
}

/// The same, destroyed when new ones are there.
void reset_and_late_ends() {
  auto stream = std::make_unique<Stream>(gpu());
  auto product = std::make_unique<Product>(*stream);
  auto event = std::make_unique<Event>(gpu());
  event->record(*stream);
  const Numbers expected = product->numbers();
  check(cudaDeviceReset(), "cudaDeviceReset");
  const Stream next(gpu());
  Product again(next);
  require(again.numbers() == expected, "other numbers after cudaDeviceReset");
  event.reset();
  product.reset();
  stream.reset();
  require(again.numbers() == expected, "other numbers after what was dead went");
  must_work("after what was dead went");
}

/// The child computes on the CPU, and its use of CUDA gives one Error.
void fork_after_use() {
  const Stream stream(gpu());
  Product product(stream);
  const Numbers expected = product.numbers();
  const Stream cpu(Device::cpu());
  Product on_cpu(cpu);
  const Numbers expected_of_cpu = on_cpu.numbers();
  const std::string end = end_in_a_child([&] {
    require(Device::cuda_count() == 0, "the child counts devices");
    require(!Device::best().is_cuda(), "the child's best device is a GPU");
    require(Device::cuda_absence().find("forked") != std::string::npos, Device::cuda_absence());
    require_error([] { Device::cuda(0); }, {"forked"}, "Device::cuda");
    require_error([&] { Stream{stream.device()}; }, {"forked"}, "Stream");
    require_error(
        [&] {
          product.run();
          product.stream.synchronize();
        },
        {"forked"}, "run");
    require_error([&] { Buffer<double>(stream, 10); }, {"forked"}, "Buffer");
    const Stream own(Device::cpu());
    require(Product(own).numbers() == expected_of_cpu, "other numbers on the child's CPU");
    { const Product moved = std::move(product); }  // destroyed here, too
  });
  require(product.numbers() == expected, "other numbers in the parent after fork");
  require(end.empty(), end);
}

/// Forked before CUDA is used at all, the child may use it.
void fork_before_use() {
  const std::string end = end_in_a_child([&] { must_work("in a child that was forked first"); });
  require(end.empty(), end);
}

/// Each thread has a stream and plans of its own.
void two_threads() {
  const Stream first(gpu());
  const std::vector<Numbers> expected = Work(first).run();
  play_in_two_threads([&] {
    const Stream own(gpu());
    const Work work(own);
    for (int round = 0; round < 5; ++round)
      require(work.run() == expected, "other numbers in a thread");
  });
}

template <class Function>
Function driver(const char* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  check(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found),
        name);
#else
  static_cast<void>(version);
  check(cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found), name);
#endif
  require(function != nullptr, std::string("the driver has no ") + name);
  return reinterpret_cast<Function>(function);
}

/// A context that the program made and pushed itself: lanky works in it and leaves it current, and
/// what is made in the primary one works when that is current.
void contexts_of_the_user() {
  const auto create = driver<PFN_cuCtxCreate_v3020>("cuCtxCreate", 3020);
  const auto current = driver<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 4000);
  const auto set = driver<PFN_cuCtxSetCurrent_v4000>("cuCtxSetCurrent", 4000);
  const Stream stream(gpu());
  const Work work(stream);
  const std::vector<Numbers> expected = work.run();
  CUcontext primary = nullptr;
  require(current(&primary) == CUDA_SUCCESS && primary != nullptr, "there is no primary context");

  CUcontext own = nullptr;
  require(create(&own, 0, 0) == CUDA_SUCCESS, "cuCtxCreate");  // and pushes it
  const auto require_own = [&](const char* after) {
    CUcontext now = nullptr;
    current(&now);
    require(now == own, std::string("another context is current after ") + after);
  };
  {
    const Stream there(gpu());
    require_own("Stream");
    const Work elsewhere(there);
    require_own("what is prepared");
    require(elsewhere.run() == expected, "other numbers in a context of the user's");
    require_own("run");
  }
  require_own("the end of plans");
  require(set(primary) == CUDA_SUCCESS, "cuCtxSetCurrent");
  require(work.run() == expected, "other numbers in the primary context afterwards");
  {
    // Made in one, run in the other: works, or says what is wrong.
    Product product(stream);
    const Numbers numbers = product.numbers();
    set(own);
    try {
      require(product.numbers() == numbers, "other numbers where another context is current");
    } catch (const Error& error) {
      require(std::string(error.what()).find("context") != std::string::npos, error.what());
    }
    require_own("a run of another context's plan");
    set(primary);
    require(product.numbers() == numbers, "other numbers when its context is back");
    set(own);
  }  // destroyed while the other one is current
  set(primary);
  must_work("after another context");
}

/// lanky's own stream lives as long as what was made on it.
void stream_handle_gone_early() {
  std::optional<Stream> stream(gpu());
  Product product(*stream);
  stream.reset();
  const Numbers once = product.numbers();
  require(product.numbers() == once, "other numbers without the handle");
}

class Capture {
 public:
  Capture(const Stream& stream, cudaStreamCaptureMode mode) : stream_(stream) {
    check(cudaStreamBeginCapture(stream.native(), mode), "cudaStreamBeginCapture");
  }
  /// Its graph, which must be valid.
  void end_and_launch(const std::string& what) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream_.native(), &graph), ("the capture after " + what).c_str());
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphLaunch(executable, stream_.native()), "cudaGraphLaunch");
    stream_.synchronize();
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  }

 private:
  Stream stream_;
};

/// All that waits refuses, and the capture goes on with a run; what may be captured is.
void captures() {
  const Stream stream(gpu());
  Product product(stream);
  const Numbers expected = product.numbers();
  const auto& a = product.a;
  const auto square = io::generate<double>("stencil5:20");
  const SparsePlan<double> for_solver(stream, square.view(), {.expected_columns = 2});
  Matrix<double> b(stream, square.rows, 2, Layout::row);
  Matrix<double> x(stream, square.rows, 2, Layout::row);
  b.buffer().fill_zero();
  x.buffer().fill_zero();
  Matrix<double> q(stream, 1000, 4);
  Matrix<double> g(stream, 4, 4);
  q.buffer().fill_zero();
  const LinearOperator<double> op(for_solver);
  GemmTuning tuning;
  const GemmShape gram{.m = 4, .n = 4, .k = 1000, .op_a = Op::trans};
  const std::vector<std::pair<std::string, std::function<void()>>> refused = {
      {"SparsePlan", [&] { SparsePlan<double>(stream, a.view()); }},
      {"SparsePlan with tune", [&] { SparsePlan<double>(stream, a.view(), {.tune = true}); }},
      {"SddmmPlan", [&] { SddmmPlan<double>(stream, a.view()); }},
      {"GemmPlan", [&] { GemmPlan<double>(stream, gram); }},
      {"CholeskyQr", [&] { CholeskyQr<double>(stream, 1000, 4); }},
      {"update_values from host memory", [&] { product.plan.update_values(a.values); }},
      {"Buffer::copy_from", [&] { product.x.copy_from(std::vector<double>(10)); }},
      {"Buffer::to_host", [&] { product.y.to_host(); }},
      {"synchronize", [&] { stream.synchronize(); }},
      {"spmv", [&] { spmv<double>(stream, 1, a.view(), product.x, 0, product.y.view()); }},
      {"gemm",
       [&] { gemm<double>(stream, Op::trans, Op::none, 1, q.view(), q.view(), 0, g.view()); }},
      {"jacobi", [&] { jacobi(stream, square.view()); }},
      {"block_jacobi", [&] { block_jacobi(stream, square.view(), 4); }},
      {"lobpcg", [&] { lobpcg<double>(stream, {.a = op}); }},
      {"cg", [&] { cg<double>(stream, op, b, x.view()); }},
      {"block_cg", [&] { block_cg<double>(stream, op, b, x.view()); }},
      {"minres", [&] { minres<double>(stream, op, b, x.view()); }},
      {"svds",
       [&] { svds<double>(stream, make_operator_with_adjoint<double>(stream, square.view(), 8)); }},
      {"measure_choices",
       [&] {
         measure_choices<double>(stream, gram, {.a = q.view(), .b = q.view(), .c = g.view()},
                                 tuning);
       }},
  };
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                          cudaStreamCaptureModeRelaxed}) {
    for (const auto& [what, call] : refused) {
      product.y.fill_zero();
      stream.synchronize();
      Capture capture(stream, mode);
      require(stream.is_capturing(), "the stream is not captured");
      const Error error = require_error(call, {"captured for a CUDA graph"}, what);
      require(error.code() == ErrorCode::invalid_argument, what + ": another code");
      product.run();
      capture.end_and_launch(what);
      require(product.y.to_host() == expected, "other numbers of the graph after " + what);
    }
  }

  // What may be captured: values of the device, also of a plan that takes memory for it; buffers
  // that come and go, whose memory is the graph's; fill_zero().
  const auto values = Buffer<double>::from(stream, a.values);
  SparsePlan<double> turned(stream, a.view(), {.op = Op::trans, .updates = true});
  const auto turned_x =
      Buffer<double>::from(stream, std::vector<double>(static_cast<std::size_t>(a.rows), 0.25));
  Buffer<double> turned_y(stream, a.cols);
  turned.run(stream, turned_x, turned_y);
  const Numbers expected_turned = turned_y.to_host();
  const Held before = held();
  {
    Capture capture(stream, cudaStreamCaptureModeThreadLocal);
    product.plan.update_values(stream, values.view());
    product.run();
    turned.update_values(stream, values.view());
    turned.run(stream, turned_x, turned_y);
    {
      Buffer<double> within(stream, 1000);
      within.fill_zero();
    }
    capture.end_and_launch("updates and runs");
  }
  require(product.y.to_host() == expected, "other numbers of a captured update");
  require(turned_y.to_host() == expected_turned, "other numbers of a captured turned update");
  require(held() == before, "a capture kept memory");

  // Memory of before a capture that goes in it, and the other way round.
  {
    auto early = std::make_unique<Buffer<double>>(stream, 1000);
    std::unique_ptr<Buffer<double>> late;
    Capture capture(stream, cudaStreamCaptureModeThreadLocal);
    early.reset();
    late = std::make_unique<Buffer<double>>(stream, 1000);
    late->fill_zero();
    product.run();
    capture.end_and_launch("buffers that go in it");
    late.reset();
  }
  require(product.numbers() == expected, "other numbers after buffers went in a capture");
  { const Buffer<double> next(stream, 10); }  // frees what waited
  stream.synchronize();
  require(held() == before, std::to_string(held().device - before.device) + " blocks are kept");
  must_work("after captures");
}

/// The first use of a process fails at each call of CUDA in turn, and then works.
void first_use() {
  const Device device = gpu();
  for (std::int64_t nth = 1; nth < 1000; ++nth) {
    Injection injection(Source::cuda, nth);
    try {
      const Stream stream(device);
      injection.end();
      if (injection.failed() == nullptr) {
        must_work("after a hard beginning");
        return;
      }
      require(injection.may_be_passed_over(), std::string(injection.failed()) + " told nobody");
    } catch (const Error& error) {
      injection.end();
      require(std::string(error.what()).size() > 10, "an empty message");
    }
  }
  require(false, "a thousand calls make a stream");
}

/// Holds all of the GPU's memory but some megabytes, in a process of its own, until it is told to
/// go. The first line says that it does.
void hog() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  constexpr std::size_t kLeft = std::size_t{1200} << 20;
  require(free_bytes > kLeft, "there is no memory to take");
  void* data = nullptr;
  check(cudaMalloc(&data, free_bytes - kLeft), "cudaMalloc");
  std::printf("holding\n");
  std::fflush(stdout);
  std::getchar();
}

void greedy_neighbour() {
  const Stream stream(gpu());
  Product product(stream);
  const Numbers expected = product.numbers();
  int to_hog[2];
  int from_hog[2];
  require(pipe(to_hog) == 0 && pipe(from_hog) == 0, "pipe");
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const pid_t child = fork();
  require(child >= 0, "fork");
  if (child == 0) {  // becomes another program at once
    dup2(to_hog[0], 0);
    dup2(from_hog[1], 1);
    close(to_hog[1]);
    execl(program.c_str(), program.c_str(), "--scene", "hog", nullptr);
    _exit(127);
  }
  close(from_hog[1]);
  close(to_hog[0]);
  char word[64] = {};
  require(read(from_hog[0], word, sizeof word - 1) > 0 && std::string(word) == "holding\n",
          std::string("the neighbour says ") + word);
  const auto no_memory = [&](const std::string& what, const std::function<void()>& call,
                             const std::vector<std::string>& fragments) {
    const Error error = require_error(call, fragments, what);
    require(error.code() == ErrorCode::out_of_memory, what + ": " + error.what());
  };
  constexpr std::int64_t kMany = std::int64_t{6} << 30;
  no_memory("Buffer", [&] { Buffer<std::byte>(stream, kMany); },
            {"cannot allocate " + std::to_string(kMany) + " bytes on cuda:0", "are free"});
  const auto large = io::generate<float>("band:1500000:20:20");  // 0.5 GB packed, as much copied
  no_memory("SparsePlan",
            [&] {
              std::vector<SparsePlan<float>> plans;
              for (int i = 0; i < 8; ++i)
                plans.emplace_back(stream, large.view(), SparseOptions{.expected_columns = 8});
            },
            {"cannot allocate", "are free"});
  no_memory("Matrix", [&] { Matrix<double>(stream, 1 << 20, 1 << 12); }, {"cannot allocate"});
  require(product.numbers() == expected, "other numbers beside a greedy neighbour");
  must_work("beside a greedy neighbour");
  close(to_hog[1]);  // it goes
  int status = 0;
  waitpid(child, &status, 0);
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the neighbour ended badly");
  { const Buffer<std::byte> now(stream, kMany); }
  { const SparsePlan<float> plan(stream, large.view(), {.expected_columns = 8}); }
  require(product.numbers() == expected, "other numbers after the neighbour");
}

/// Settings of the environment give the same numbers, or one Error: the program is started with
/// each of them, and tells the numbers of `witness`.
void tell_numbers() {
  const Stream stream(gpu());
  const std::vector<Numbers> numbers = Work(stream).run();
  std::uint64_t hash = 14695981039346656037U;
  for (const Numbers& some : numbers)
    for (const double number : some)
      hash = (hash ^ std::hash<double>()(number)) * 1099511628211U;
  std::printf("numbers %llx\n", static_cast<unsigned long long>(hash));
}

std::string told_with(const std::string& setting) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = setting + " '" + program + "' --scene tell_numbers 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  require(pipe != nullptr, "popen");
  std::string said;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
    said += static_cast<char>(c);
  pclose(pipe);
  return said;
}

void environments() {
  const std::string expected = told_with("");
  require(expected.starts_with("numbers "), expected);
  for (const char* setting :
       {"CUDA_LAUNCH_BLOCKING=1", "CUDA_MODULE_LOADING=EAGER", "CUDA_DEVICE_MAX_CONNECTIONS=1",
        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25", "CUDA_MPS_PIPE_DIRECTORY=/nonexistent",
        "CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_DISABLE_PTX_JIT=1"})
    require(told_with(setting) == expected, std::string(setting) + ": " + told_with(setting));
  for (const char* setting : {"CUDA_VISIBLE_DEVICES=", "CUDA_VISIBLE_DEVICES=7",
                              "CUDA_VISIBLE_DEVICES=MIG-00000000-0000-0000-0000-000000000000"}) {
    const std::string said = told_with(setting);
    require(said.starts_with("there is no CUDA device: "), std::string(setting) + ": " + said);
  }
}

}  // namespace

std::vector<Scene> cuda_scenes() {
  return {{"error_before_the_first_use", error_before_the_first_use},
          {"error_before_a_plan", error_before_a_plan},
          {"error_under_way", error_under_way},
          {"error_after_a_run", error_after_a_run},
          {"error_that_passes", error_that_passes},
          {"reset_between_plans", reset_between_plans},
          {"reset_and_late_ends", reset_and_late_ends},
          {"fork_after_use", fork_after_use},
          {"fork_before_use", fork_before_use},
          {"two_threads", two_threads},
          {"contexts_of_the_user", contexts_of_the_user},
          {"stream_handle_gone_early", stream_handle_gone_early},
          {"captures", captures},
          {"first_use", first_use},
          {"greedy_neighbour", greedy_neighbour},
          {"environments", environments}};
}

std::vector<Scene> cuda_parts() {
  return {{"hog", hog}, {"tell_numbers", tell_numbers}};
}

}  // namespace lanky::faults

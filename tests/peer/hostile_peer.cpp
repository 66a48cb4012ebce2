// A contestant that is right but for what its environment tells: LANKY_HOSTILE="FUNCTION DEED
// [CALLS]" has the function do the deed after so many calls, where the matrix has 66 rows. Deeds
// are those of deeds.hpp and, of run, the errors below. The file that LANKY_HOSTILE_MARK names is
// there as soon as something was done.
#include <fcntl.h>
#include <lanky/peer.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "deeds.hpp"

namespace {

constexpr std::int64_t kHostileRows = 66;

struct Order {
  std::string function;
  std::string deed;
  std::int64_t calls = 0;  // that are done as they should be
};

const Order& order() {
  static const Order told = [] {
    Order read;
    const char* text = std::getenv("LANKY_HOSTILE");
    std::istringstream(text != nullptr ? text : "") >> read.function >> read.deed >> read.calls;
    return read;
  }();
  return told;
}

void leave_mark() {
  static bool left = false;
  const char* path = std::getenv("LANKY_HOSTILE_MARK");
  if (left || path == nullptr) return;
  left = true;
  close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

/// Does the deed where this function is the one that is told to, and has been called often enough.
void obey(const char* function, std::int64_t call) {
  if (order().function != function || call < order().calls) return;
  leave_mark();
  lanky::testing::do_deed(order().deed);
}

struct Plan {
  lanky_peer_matrix matrix;
  bool hostile = false;
  std::int64_t calls = 0;
};

std::int64_t offset(const lanky_peer_matrix& a, std::int64_t row) {
  return a.offset_bytes == 4 ? static_cast<const std::int32_t*>(a.row_offsets)[row]
                             : static_cast<const std::int64_t*>(a.row_offsets)[row];
}

/// y = A x, of the first rows.
void multiply(const lanky_peer_matrix& a, std::int64_t rows, const double* x, double* y) {
  const auto* values = static_cast<const double*>(a.values);
  for (std::int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::int64_t k = offset(a, i); k < offset(a, i + 1); ++k)
      sum += values[k] * x[a.col_indices[k]];
    y[i] = sum;
  }
}

/// A product that is wrong in the way that `error` names; false where it names none.
bool multiply_wrongly(const std::string& error, const lanky_peer_matrix& a, const double* x,
                      double* y) {
  const std::int64_t rows = a.rows;
  if (error == "nothing") return true;
  if (error == "late") {
    std::thread([=] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      multiply(a, rows, x, y);
    }).detach();
    return true;
  }
  if (error == "zero-x")
    std::memset(const_cast<double*>(x), 0, sizeof(double) * static_cast<std::size_t>(a.cols));
  if (error == "zero-matrix")
    std::memset(const_cast<void*>(a.values), 0, sizeof(double) * static_cast<std::size_t>(a.nnz));
  multiply(a, error == "half" ? rows / 2 : rows, x, y);
  if (error == "beyond") y[rows] = 1e300;
  if (error == "before") y[-1] = 1e300;
  if (error == "nan") y[rows / 2] = std::numeric_limits<double>::quiet_NaN();
  if (error == "infinity") y[0] = std::numeric_limits<double>::infinity();
  if (error == "slightly") y[rows - 1] += 1e-9 * (1 + std::abs(y[rows - 1]));
  for (const char* known :
       {"half", "beyond", "before", "nan", "infinity", "slightly", "zero-x", "zero-matrix"})
    if (error == known) return true;
  return false;
}

}  // namespace

extern "C" {

const char* lanky_peer_name() {
  obey("name", 0);
  return "hostile";
}

const char* lanky_peer_version() {
  obey("version", 0);
  return "1";
}

int lanky_peer_setup(const lanky_peer_matrix* matrix, void** plan, lanky_peer_report* report) {
  if (std::strcmp(matrix->dtype, "f64") != 0 || matrix->device >= 0) {
    std::strcpy(report->message, "f64 on the host alone");
    return LANKY_PEER_UNSUPPORTED;
  }
  const bool hostile = matrix->rows == kHostileRows;
  if (hostile) obey("setup", 0);
  *plan = new Plan{*matrix, hostile};
  return LANKY_PEER_OK;
}

int lanky_peer_run(void* plan, const void* x_data, void* y_data) {
  Plan& made = *static_cast<Plan*>(plan);
  const auto* x = static_cast<const double*>(x_data);
  auto* y = static_cast<double*>(y_data);
  const std::int64_t call = made.calls++;
  const bool is_told = made.hostile && order().function == "run";
  // "every" errs at each seventh product, other errors at each one from a certain call on.
  const bool every = order().deed == "every";
  if (is_told && (every ? call % 7 == 6 : call >= order().calls) &&
      multiply_wrongly(every ? "nan" : order().deed, made.matrix, x, y)) {
    leave_mark();
    return LANKY_PEER_OK;
  }
  if (made.hostile) obey("run", call);
  multiply(made.matrix, made.matrix.rows, x, y);
  return LANKY_PEER_OK;
}

/// Column after column by lanky_peer_run, and as it is told.
int lanky_peer_run_columns(void* plan, int64_t columns, const void* x_data, int64_t ldx,
                           int32_t x_layout, void* y_data, int64_t ldy, int32_t y_layout) {
  const lanky_peer_matrix& a = static_cast<Plan*>(plan)->matrix;
  const auto* x = static_cast<const double*>(x_data);
  auto* y = static_cast<double*>(y_data);
  std::vector<double> of_x(static_cast<std::size_t>(a.cols));
  // Errors may write to one element on either side.
  std::vector<double> of_y(static_cast<std::size_t>(a.rows) + 2);
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < a.cols; ++i)
      of_x[static_cast<std::size_t>(i)] =
          x[x_layout == LANKY_PEER_BY_ROWS ? i * ldx + j : i + j * ldx];
    const int status = lanky_peer_run(plan, of_x.data(), of_y.data() + 1);
    if (status != LANKY_PEER_OK) return status;
    for (std::int64_t i = 0; i < a.rows; ++i)
      y[y_layout == LANKY_PEER_BY_ROWS ? i * ldy + j : i + j * ldy] =
          of_y[static_cast<std::size_t>(i) + 1];
  }
  return LANKY_PEER_OK;
}

void lanky_peer_teardown(void* plan) {
  const Plan* made = static_cast<Plan*>(plan);
  const bool hostile = made->hostile;
  delete made;
  if (hostile) obey("teardown", 0);
}
}

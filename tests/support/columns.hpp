// Dense operands of sparse products of several columns for tests: in every layout, with padding
// that must stay, and products whose columns must have given bits.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "support/sparse_oracle.hpp"

namespace lanky::testing {

inline constexpr double kQuietNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A dense matrix on the host whose lines have padding between them, but none behind the last.
template <class T>
struct Dense {
  Layout layout;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t ld;
  std::vector<T> data;

  Dense(Layout the_layout, std::int64_t the_rows, std::int64_t the_cols, std::int64_t padding,
        T fill)
      : layout(the_layout), rows(the_rows), cols(the_cols) {
    const std::int64_t line = layout == Layout::col ? rows : cols;
    const std::int64_t lines = layout == Layout::col ? cols : rows;
    ld = line + padding;
    if (lines > 0) data.assign((lines - 1) * ld + line, fill);
  }

  T& at(std::int64_t i, std::int64_t j) { return data[place(i, j)]; }
  const T& at(std::int64_t i, std::int64_t j) const { return data[place(i, j)]; }
  std::int64_t place(std::int64_t i, std::int64_t j) const {
    return layout == Layout::col ? i + j * ld : i * ld + j;
  }
  MatrixView<T> view(Buffer<T>& buffer) const { return {buffer.data(), rows, cols, ld, layout}; }
};

/// Which of the numbers of columns, layouts and paddings a test takes.
struct Form {
  std::int64_t columns;
  Layout of_x;
  Layout of_y;
  std::int64_t padding;
};

inline std::vector<Form> forms_of(const std::vector<std::int64_t>& columns) {
  std::vector<Form> forms;
  for (const std::int64_t n : columns) {
    for (const Layout of_x : {Layout::row, Layout::col}) {
      for (const Layout of_y : {Layout::row, Layout::col}) {
        for (const std::int64_t padding : {0, 3})
          forms.push_back({n, of_x, of_y, padding});
      }
    }
  }
  return forms;
}
inline std::string text_of(const Form& form) {
  const auto by = [](Layout layout) { return layout == Layout::row ? "rows" : "columns"; };
  return std::to_string(form.columns) + " columns, X by " + by(form.of_x) + ", Y by " +
         by(form.of_y) + ", padding " + std::to_string(form.padding);
}

template <class Case>
class ColumnsTest : public ::testing::Test {
 protected:
  using T = typename Case::Element;
  using TOut = typename Case::Result;
  using Sum = Accumulator<T>;
  using Plan = SparsePlan<T, TOut>;

  /// Columns of X and of the Y that is there before.
  struct Columns {
    std::vector<std::vector<T>> x;
    std::vector<std::vector<TOut>> y;
  };
  template <class Draw, class DrawOut>
  static Columns columns_of(std::int64_t rows, std::int64_t cols, std::int64_t count,
                            Random& random, Draw draw, DrawOut draw_out) {
    Columns columns;
    for (std::int64_t j = 0; j < count; ++j) {
      columns.x.push_back(vector_of<T>(cols, random, draw));
      columns.y.push_back(vector_of<TOut>(rows, random, draw_out));
    }
    return columns;
  }
  static Columns uniform_columns(const Plan& plan, std::int64_t count, Random& random) {
    return columns_of(plan.rows(), plan.cols(), count, random, uniform<T>, uniform<TOut>);
  }

  /// Y by columns, each a product of its own.
  static std::vector<std::vector<TOut>> one_by_one(const Stream& stream, const Plan& plan,
                                                   const Columns& columns, Sum alpha, Sum beta) {
    std::vector<std::vector<TOut>> y;
    for (std::size_t j = 0; j < columns.x.size(); ++j)
      y.push_back(
          run_plan(stream, plan, Operands<T, TOut>{alpha, beta, columns.x[j], columns.y[j]}));
    return y;
  }

  /// Y after one product of the form's columns. With `scalars` they are read from memory.
  static Dense<TOut> run_form(const Stream& stream, const Plan& plan, const Columns& columns,
                              const Form& form, Sum alpha, Sum beta, bool scalars = false) {
    Dense<T> x(form.of_x, plan.cols(), form.columns, form.padding, element<T>(kQuietNan));
    Dense<TOut> y(form.of_y, plan.rows(), form.columns, form.padding, padding_value());
    for (std::int64_t j = 0; j < form.columns; ++j) {
      for (std::int64_t i = 0; i < x.rows; ++i)
        x.at(i, j) = columns.x[j][i];
      for (std::int64_t i = 0; i < y.rows; ++i)
        y.at(i, j) = columns.y[j][i];
    }
    auto x_buffer = Buffer<T>::from(stream, x.data);
    auto y_buffer = Buffer<TOut>::from(stream, y.data);
    if (scalars) {
      const auto both = Buffer<Sum>::from(stream, std::vector<Sum>{alpha, beta});
      plan.run(stream, Scalar<Sum>::on_device(both.data()), x.view(x_buffer),
               Scalar<Sum>::on_device(both.data() + 1), y.view(y_buffer));
      stream.synchronize();
    } else {
      plan.run(stream, alpha, x.view(x_buffer), beta, y.view(y_buffer));
    }
    y.data = y_buffer.to_host();
    return y;
  }

  /// The bits of `expected`, a NaN for a NaN, and untouched padding.
  static void expect_bits(const Dense<TOut>& y, const std::vector<std::vector<TOut>>& expected) {
    std::vector<bool> seen(y.data.size());
    for (std::int64_t j = 0; j < y.cols; ++j) {
      for (std::int64_t i = 0; i < y.rows; ++i) {
        seen[y.place(i, j)] = true;
        ASSERT_TRUE(same_bits(y.at(i, j), expected[j][i]))
            << parts(y.at(i, j)) << " instead of " << parts(expected[j][i]) << " in row " << i
            << ", column " << j;
      }
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
      ASSERT_TRUE(seen[i] || same_bits(y.data[i], padding_value()))
          << "padding at " << i << " was written";
    }
  }

  /// Forms of a plan's product against products of one vector each.
  static void expect_forms(const Stream& stream, const Plan& plan, const Columns& columns,
                           const std::vector<Form>& forms, Sum alpha, Sum beta) {
    const auto expected = one_by_one(stream, plan, columns, alpha, beta);
    bool scalars = false;
    for (const Form& form : forms) {
      SCOPED_TRACE(::testing::Message()
                   << text_of(form) << ", alpha " << parts(alpha) << ", beta " << parts(beta));
      expect_bits(run_form(stream, plan, columns, form, alpha, beta, scalars), expected);
      if (::testing::Test::HasFatalFailure()) return;
      scalars = !scalars;
    }
  }

  static TOut padding_value() { return element<TOut>(-77.0); }

 private:
  static bool same_bits(TOut a, TOut b) {
    if (std::memcmp(&a, &b, sizeof(TOut)) == 0) return true;
    // NaNs have signs that the order of factors decides.
    const auto same = [](double first, double second) {
      return (std::isnan(first) && std::isnan(second)) ||
             std::memcmp(&first, &second, sizeof(double)) == 0;
    };
    return same(parts(a).real(), parts(b).real()) && same(parts(a).imag(), parts(b).imag());
  }
};

}  // namespace lanky::testing

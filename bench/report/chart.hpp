// The frame of a chart, and what is drawn in it, as inline SVG. Colours stand in report.css.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/report/axis.hpp"

namespace lanky::report {

struct ChartSize {
  double width = 560;
  double height = 330;
};

/// A place on a chart, in the units of its axes.
struct Place {
  double x;
  double y;
};

class Chart {
 public:
  Chart(Axis x, Axis y, ChartSize size = {});

  /// "Entries of the matrix", "GFLOP/s"
  void label(const std::string& x, const std::string& y);

  /// What follows is of one element type, or of the whole page's choice of one: see report.js.
  void begin_type(const std::string& dtype, const std::string& classes);
  void begin_choice(const std::string& dtype);
  void end();

  /// `row`: number of the case in the section's table.
  void point(Place place, std::size_t row);
  /// Points that nothing is told of, as one path.
  void faint_points(const std::vector<Place>& places, const std::string& classes);
  /// Cut off at the frame.
  void line(const std::vector<Place>& places, const std::string& classes);
  /// From each place to the right, then up or down to the next.
  void steps(const std::vector<Place>& places, const std::string& classes);
  /// `dx`, `dy`: pixels from the place, right and down. `anchor`: start, middle, end.
  void text(Place place, double dx, double dy, const std::string& anchor, const std::string& text);

  const Axis& x() const { return x_; }
  const Axis& y() const { return y_; }
  /// Of the drawing, in pixels: how finely curves need be told.
  double inner_width() const;

  /// The whole SVG element; `description` for those who cannot see it.
  std::string svg(const std::string& description) const;
  /// The same as a file of its own, with `style` in the place of report.css.
  std::string document(const std::string& description, const std::string& style) const;

 private:
  void draw_frame();
  std::string element(const std::string& description, const std::string& attributes,
                      const std::string& head) const;
  std::string spot(Place place) const;

  Axis x_;
  Axis y_;
  ChartSize size_;
  std::string frame_;
  std::string labels_;
  std::string body_;
};

/// "● f64 ● f32": what the colours mean.
std::string type_legend(const std::vector<std::string>& dtypes);
/// The class of report.css that has the colour of an element type.
std::string type_class(const std::string& dtype);
/// A figure with its heading, one sentence below it, and what stands in it. Heading and sentence
/// are HTML.
std::string figure(const std::string& id, const std::string& heading, const std::string& sentence,
                   const std::string& content);

}  // namespace lanky::report

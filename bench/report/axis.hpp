// An axis of a chart: from values to pixels, and where its ticks stand.
#pragma once

#include <string>
#include <vector>

namespace lanky::report {

struct Tick {
  double value;
  std::string label;  // "" for a line without one
};

class Axis {
 public:
  /// Of positive values. Equal or missing bounds (low >= high) are moved apart.
  static Axis logarithmic(double low, double high);
  /// From 0 to 1, labelled in per cent.
  static Axis share();
  /// From 0 to `high`, at least 1, labelled with whole numbers.
  static Axis count(double high);

  /// Where the axis lies on the page; `from` belongs to the low end.
  void place(double from, double to);

  /// Pixels; values beyond the ends are put there.
  double at(double value) const;
  bool holds(double value) const { return value >= low_ && value <= high_; }
  double low() const { return low_; }
  double high() const { return high_; }
  std::vector<Tick> ticks() const;

 private:
  enum class Scale : unsigned char { logarithmic, share, count };

  Axis(Scale scale, double low, double high) : scale_(scale), low_(low), high_(high) {}

  Scale scale_;
  double low_;
  double high_;
  double from_ = 0;
  double to_ = 1;
};

/// The smallest and the largest of what it is given.
class Range {
 public:
  void add(double value);
  bool empty() const { return !(low_ <= high_); }
  /// With a margin, so that nothing stands on the frame.
  Axis axis() const;

 private:
  double low_ = 1e300;
  double high_ = 0;
};

}  // namespace lanky::report

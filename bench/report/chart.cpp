#include "bench/report/chart.hpp"

#include <algorithm>

#include "bench/report/markup.hpp"
#include "bench/report/number_text.hpp"

namespace lanky::report {

namespace {

constexpr double kLeft = 56;
constexpr double kRight = 14;
constexpr double kTop = 12;
constexpr double kBottom = 44;

/// Tenths of a pixel.
std::string pixels(double value) {
  std::string text = fixed(value, 1);
  if (text.size() > 2 && text.substr(text.size() - 2) == ".0") text.resize(text.size() - 2);
  return text;
}

std::string attribute(const char* name, const std::string& value) {
  return std::string(" ") + name + "=\"" + html(value) + "\"";
}

std::string label_at(double x, double y, const std::string& attributes, const std::string& text) {
  return "<text x=\"" + pixels(x) + "\" y=\"" + pixels(y) + "\"" + attributes + ">" + html(text) +
         "</text>";
}

}  // namespace

Chart::Chart(Axis x, Axis y, ChartSize size) : x_(x), y_(y), size_(size) {
  x_.place(kLeft, size_.width - kRight);
  y_.place(size_.height - kBottom, kTop);
  draw_frame();
}

void Chart::draw_frame() {
  const double left = kLeft;
  const double right = size_.width - kRight;
  const double bottom = size_.height - kBottom;
  std::string grid;
  for (const Tick& tick : x_.ticks()) {
    const double at = x_.at(tick.value);
    grid += "M" + pixels(at) + " " + pixels(kTop) + "V" + pixels(bottom);
    labels_ += label_at(at, bottom + 17, " text-anchor=\"middle\"", tick.label);
  }
  for (const Tick& tick : y_.ticks()) {
    const double at = y_.at(tick.value);
    grid += "M" + pixels(left) + " " + pixels(at) + "H" + pixels(right);
    labels_ += label_at(left - 8, at + 3.8, " text-anchor=\"end\"", tick.label);
  }
  frame_ = "<path class=\"grid\" d=\"" + grid + "\"/><path class=\"axis\" d=\"M" + pixels(left) +
           " " + pixels(bottom) + "H" + pixels(right) + "\"/>";
}

void Chart::label(const std::string& x, const std::string& y) {
  const double middle = (kTop + size_.height - kBottom) / 2;
  labels_ += label_at((kLeft + size_.width - kRight) / 2, size_.height - 8,
                      " class=\"title\" text-anchor=\"middle\"", x);
  labels_ += label_at(0, 0,
                      " class=\"title\" text-anchor=\"middle\" transform=\"translate(12 " +
                          pixels(middle) + ") rotate(-90)\"",
                      y);
}

void Chart::begin_type(const std::string& dtype, const std::string& classes) {
  body_ += "<g" + attribute("class", type_class(dtype) + " " + classes) +
           attribute("data-type", dtype) + ">";
}

void Chart::begin_choice(const std::string& dtype) {
  body_ += dtype.empty() ? std::string("<g data-only=\"all\">")
                         : "<g class=\"off\"" + attribute("data-only", dtype) + ">";
}

void Chart::end() {
  body_ += "</g>";
}

std::string Chart::spot(Place place) const {
  return pixels(x_.at(place.x)) + " " + pixels(y_.at(place.y));
}

void Chart::point(Place place, std::size_t row) {
  body_ += "<circle cx=" + pixels(x_.at(place.x)) + " cy=" + pixels(y_.at(place.y)) +
           " data-i=" + std::to_string(row) + " />";
}

void Chart::faint_points(const std::vector<Place>& places, const std::string& classes) {
  if (places.empty()) return;
  std::string path;
  for (const Place& place : places)
    path += "M" + spot(place) + "h0";
  body_ += "<path" + attribute("class", classes) + " d=\"" + path + "\"/>";
}

void Chart::line(const std::vector<Place>& places, const std::string& classes) {
  if (places.empty()) return;
  std::string path;
  for (const Place& place : places)
    path += (path.empty() ? "M" : "L") + spot(place);
  body_ += "<path" + attribute("class", classes) + " d=\"" + path + "\"/>";
}

void Chart::steps(const std::vector<Place>& places, const std::string& classes) {
  if (places.empty()) return;
  std::string path = "M" + spot(places.front());
  double height = places.front().y;
  for (const Place& place : places) {
    if (place.y == height) continue;
    path.append("H").append(pixels(x_.at(place.x)));
    path.append("V").append(pixels(y_.at(place.y)));
    height = place.y;
  }
  path += "H" + pixels(x_.at(places.back().x));
  body_ += "<path" + attribute("class", classes) + " d=\"" + path + "\"/>";
}

void Chart::text(Place place, double dx, double dy, const std::string& anchor,
                 const std::string& text) {
  body_ += label_at(x_.at(place.x) + dx, y_.at(place.y) + dy,
                    " class=\"note\" text-anchor=\"" + anchor + "\"", text);
}

double Chart::inner_width() const {
  return size_.width - kLeft - kRight;
}

std::string Chart::element(const std::string& description, const std::string& attributes,
                           const std::string& head) const {
  return "<svg" + attributes + " viewBox=\"0 0 " + pixels(size_.width) + " " +
         pixels(size_.height) + "\" role=\"img\"" + attribute("aria-label", description) + ">" +
         head + frame_ + body_ + "<g class=\"labels\">" + labels_ + "</g></svg>";
}

std::string Chart::svg(const std::string& description) const {
  return element(description, "", "");
}

std::string Chart::document(const std::string& description, const std::string& style) const {
  return element(description, " xmlns=\"http://www.w3.org/2000/svg\"",
                 "<style>" + style + "</style>") +
         "\n";
}

std::string type_class(const std::string& dtype) {
  static constexpr const char* kTypes[] = {"f64", "f32",  "tf32x3", "tf32",
                                           "f16", "bf16", "c64",    "c128"};
  const bool known = std::find(std::begin(kTypes), std::end(kTypes), dtype) != std::end(kTypes);
  return "type " + (known ? "type-" + dtype : std::string("type-other"));
}

std::string type_legend(const std::vector<std::string>& dtypes) {
  std::string legend = "<p class=\"legend\">";
  for (const std::string& dtype : dtypes)
    legend += "<span" + attribute("class", type_class(dtype)) + attribute("data-type", dtype) +
              "><i></i>" + html(dtype) + "</span> ";
  return legend + "</p>";
}

std::string figure(const std::string& id, const std::string& heading, const std::string& sentence,
                   const std::string& content) {
  return "<figure id=\"" + id + "\">\n<figcaption><h3>" + heading + "</h3><p>" + sentence +
         "</p></figcaption>\n" + content + "</figure>\n";
}

}  // namespace lanky::report

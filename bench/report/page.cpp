#include "bench/report/page.hpp"

#include <algorithm>
#include <set>

#include "bench/report/chart.hpp"
#include "bench/report/markup.hpp"
#include "bench/report/number_text.hpp"
#include "bench/report/section.hpp"
#include "bench/report/unmeasured.hpp"

namespace lanky::report {

namespace {

constexpr std::size_t kShortCommit = 12;
constexpr std::size_t kDate = 10;             // of 2026-01-02T03:04:05Z
constexpr std::size_t kOpenEnvironments = 2;  // more of them are folded away

constexpr char kHowToRead[] =
    "<section id=\"reading\"><h2>How to read this</h2>\n"
    "<p>Every result was checked before it was timed; a wrong one has no time and never counts. "
    "lanky’s counted line is what a user gets (variant auto). A rival is every other contestant; "
    "the one that is fastest on a case is named and compared. Times of sparse products are those "
    "of replayed CUDA graphs where both sides have them, else of batches; those of dense products "
    "are of batches. Means are geometric; intervals hold 95 % of 2000 bootstrap resamples of the "
    "cases, a case in several types drawn as one. A case is within the noise where its speed-up is "
    "no farther from 1 than the noise of both times. Break-even is the number of products after "
    "which lanky’s longer setup has paid: at once where it is no longer, never where lanky is "
    "slower.</p></section>\n";

std::string listed(const std::vector<std::string>& names, const char* separator) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "" : separator) + html(name);
  return text;
}

std::string title_of(const Results& results) {
  std::vector<std::string> devices;
  for (const std::string& device : results.devices())
    if (!device.empty()) devices.push_back(device);
  return "lanky" + (devices.empty() ? std::string() : " on " + listed(devices, ", "));
}

/// Value of a fact in the first environment that tells it.
std::string fact(const Results& results, const std::string& label) {
  for (const Environment& environment : results.environments)
    for (const auto& [name, value] : environment.facts)
      if (name == label) return value;
  return "";
}

/// As git shows it; "+dirty" stays.
std::string short_commit(const std::string& commit) {
  const bool dirty = commit.size() > kShortCommit && commit.find("+dirty") != std::string::npos;
  return commit.substr(0, kShortCommit) + (dirty ? "+dirty" : "");
}

std::string type_switch(const std::vector<std::string>& dtypes) {
  std::string buttons =
      "<nav class=\"types\" aria-label=\"Element type\">"
      "<button type=\"button\" data-choose=\"all\" aria-pressed=\"true\">all "
      "types</button>";
  for (const std::string& dtype : dtypes)
    buttons += "<button type=\"button\" data-choose=\"" + html(dtype) +
               "\" aria-pressed=\"false\" " + "class=\"" + type_class(dtype) + "\"><i></i>" +
               html(dtype) + "</button>";
  return buttons + "</nav>\n";
}

std::string header(const Results& results, const std::vector<std::string>& dtypes) {
  std::vector<std::string> facts;
  const std::string version = fact(results, "lanky");
  const std::string commit = fact(results, "Commit");
  const std::string begun = fact(results, "Begun (UTC)");
  if (!version.empty()) facts.push_back("lanky " + version);
  if (!commit.empty()) facts.push_back("commit " + short_commit(commit));
  if (!begun.empty()) facts.push_back("measured " + begun.substr(0, kDate));
  std::string text =
      "<header><div><h1>" + title_of(results) + "</h1><p>" + listed(facts, " · ") + "</p></div>\n";
  return text + (dtypes.empty() ? "" : type_switch(dtypes)) + "</header>\n";
}

std::string notes(const Results& results) {
  if (results.notes.empty()) return "";
  std::string list = "<aside class=\"notes\"><ul>";
  for (const std::string& note : results.notes)
    list += "<li>" + html(note) + "</li>";
  return list + "</ul></aside>\n";
}

/// "652 cases: 163 matrices in 4 types"
std::string extent(const Section& section) {
  std::set<std::string> identities;
  for (const Measured& each : section.cases)
    identities.insert(each.product->identity);
  const std::size_t cases = section.cases.size();
  const std::size_t types = section.dtypes.size();
  return grouped(static_cast<double>(cases)) + (cases == 1 ? " case: " : " cases: ") +
         grouped(static_cast<double>(identities.size())) +
         (section.product == Product::spmv ? (identities.size() == 1 ? " matrix" : " matrices")
                                           : (identities.size() == 1 ? " product" : " products")) +
         " in " + std::to_string(types) + (types == 1 ? " type" : " types");
}

const char* heading_of(Product product) {
  switch (product) {
    case Product::spmv:
      return "Sparse products, <i>y</i> = <i>A</i> <i>x</i>";
    case Product::spmm:
      return "Sparse products of several columns, <i>Y</i> = <i>A</i> <i>X</i>";
    case Product::sddmm:
      return "Sampled dense products (SDDMM), <i>X Y</i><sup>T</sup> at the entries of <i>A</i>";
    case Product::gemm:
      break;
  }
  return "Dense products, <i>C</i> = <i>α A B</i> + <i>β C</i>";
}

std::string section_html(const Results& results, Product product) {
  const Section section(results, product);
  if (section.cases.empty()) return "";
  std::vector<std::string> rivals;
  for (const Profile& profile : performance_profiles(results, product, ""))
    if (profile.contestant != kLanky) rivals.push_back(profile.contestant);
  std::string text = "<section id=\"" + section.id + "\"><h2>" + heading_of(product) +
                     "</h2>\n<p class=\"lead\">" + extent(section) +
                     (rivals.empty() ? "" : " against " + listed(rivals, ", ")) +
                     ".</p>\n<p class=\"none off\">There is none of this type.</p>\n";
  text += cards(section) + "<div class=\"charts\">\n";
  const bool compared = !rivals.empty();
  if (compared) text += speedup_chart(section) + profile_chart(section);
  text += rate_chart(section) + floor_chart(section) + setup_chart(section);
  if (compared) text += break_even_chart(section);
  return text + "</div>\n" + roofline_charts(section) + case_table(section) + "</section>\n";
}

std::string unmeasured_html(const Results& results) {
  const auto cases = unmeasured_cases(results);
  const auto rivals = rival_failures(results);
  if (cases.empty() && rivals.empty()) return "";
  std::string text = "<section id=\"unmeasured\"><h2>Not measured</h2>\n";
  if (!cases.empty()) {
    text +=
        "<div class=\"wide\"><table><thead><tr><th>Case</th><th>Type</th><th>Status</th>"
        "<th>Reason</th><th class=\"n\">Seconds</th><th class=\"n\">Memory</th></tr></thead>"
        "<tbody>\n";
    for (const Unmeasured& each : cases)
      text += "<tr><th scope=\"row\">" + html(each.name) + "</th><td>" + html(each.dtype) +
              "</td><td>" + html(each.status) + "</td><td class=\"reason\">" + html(each.reason) +
              "</td><td class=\"n\">" + (each.seconds ? significant(*each.seconds, 3) : "") +
              "</td><td class=\"n\">" + (each.memory_bytes ? byte_text(*each.memory_bytes) : "") +
              "</td></tr>\n";
    text += "</tbody></table></div>\n";
  }
  if (!rivals.empty()) {
    text +=
        "<h3>Rivals without a time</h3><div class=\"wide\"><table><thead><tr><th>Rival</th>"
        "<th>Status</th><th class=\"n\">Cases</th><th>The first says</th></tr></thead><tbody>\n";
    for (const RivalFailure& each : rivals)
      text += "<tr><th scope=\"row\">" + html(each.rival) + "</th><td>" + html(each.status) +
              "</td><td class=\"n\">" + grouped(static_cast<double>(each.cases)) +
              "</td><td class=\"reason\">" + html(each.example) + "</td></tr>\n";
    text += "</tbody></table></div>\n";
  }
  return text + "</section>\n";
}

std::string environment_html(const Environment& environment) {
  std::string text = "<div class=\"environment\"><h3>" + html(environment.file) + " <small>" +
                     grouped(static_cast<double>(environment.lines)) + " lines</small></h3><dl>";
  for (const auto& [label, value] : environment.facts)
    text += "<div><dt>" + html(label) + "</dt><dd>" + html(value) + "</dd></div>";
  text += "</dl>";
  if (!environment.argv.empty()) text += "<pre>" + html(environment.argv) + "</pre>";
  return text + "</div>\n";
}

std::string environments_html(const Results& results) {
  if (results.environments.empty())
    return "<section id=\"environment\"><h2>Environment</h2><p>The files do not tell it.</p>"
           "</section>\n";
  std::string text = "<section id=\"environment\"><h2>Environment and command line</h2>\n";
  const auto& all = results.environments;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == kOpenEnvironments)
      text += "<details><summary>" + std::to_string(all.size() - i) + " more</summary>\n";
    text += environment_html(all[i]);
  }
  return text + (all.size() > kOpenEnvironments ? "</details>" : "") + "</section>\n";
}

/// Types of what was measured, of all products together.
std::vector<std::string> measured_dtypes(const Results& results) {
  std::set<std::string> measured;
  for (const Product product : kProducts) {
    const Section section(results, product);
    measured.insert(section.dtypes.begin(), section.dtypes.end());
  }
  std::vector<std::string> found = dtypes_of(results);
  std::erase_if(found, [&](const std::string& dtype) { return measured.count(dtype) == 0; });
  return found;
}

}  // namespace

std::string html_page(const Results& results) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
      title_of(results) + "</title>\n<style>\n" + style_sheet() +
      "</style>\n<script>document.documentElement.className = \"js "
      "loading\"</script>\n</head>\n<body>\n";
  page += header(results, measured_dtypes(results)) + "<main>\n" + notes(results);
  for (const Product product : kProducts)
    page += section_html(results, product);
  page += unmeasured_html(results) + kHowToRead + environments_html(results);
  return page + "</main>\n<div id=\"tip\" role=\"status\" hidden></div>\n<script>\n" + script() +
         "</script>\n</body>\n</html>\n";
}

}  // namespace lanky::report

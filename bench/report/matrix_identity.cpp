#include "bench/report/matrix_identity.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

namespace lanky::report {

namespace {

using Naming = std::function<std::string(const MatrixIdentity& matrix)>;

/// `last`, below so many of the folders that the source stands in.
std::string below(const std::string& source, std::size_t folders, const std::string& last) {
  std::string text = last;
  std::filesystem::path folder = std::filesystem::path(source).parent_path();
  for (std::size_t i = 0; i < folders && folder.has_filename(); ++i) {
    text.insert(0, folder.filename().string() + "/");
    folder = folder.parent_path();
  }
  return text;
}

/// From the shortest way to name a matrix to the one that always tells.
std::vector<Naming> namings(std::size_t deepest) {
  std::vector<Naming> all = {[](const MatrixIdentity& matrix) { return matrix.collection; }};
  for (std::size_t folders = 1; folders <= deepest; ++folders)
    all.emplace_back([folders](const MatrixIdentity& matrix) {
      return matrix.source.empty() ? "" : below(matrix.source, folders, matrix.name);
    });
  for (std::size_t folders = 0; folders <= deepest; ++folders)
    all.emplace_back([folders](const MatrixIdentity& matrix) {
      const std::string file = std::filesystem::path(matrix.source).filename().string();
      return file.empty() ? "" : below(matrix.source, folders, file);
    });
  all.emplace_back([](const MatrixIdentity& matrix) {
    constexpr std::size_t kDigits = 8;
    const std::size_t colon = matrix.content.find(':');
    return colon == std::string::npos
               ? ""
               : matrix.name + " (" + matrix.content.substr(colon + 1, kDigits) + ")";
  });
  all.emplace_back([](const MatrixIdentity& matrix) {
    return matrix.name + " (" +
           (matrix.content.empty() ? matrix.source.empty() ? "unknown" : matrix.source
                                   : matrix.content) +
           ")";
  });
  return all;
}

std::size_t depth_of(const std::string& source) {
  const std::filesystem::path path(source);
  return static_cast<std::size_t>(std::distance(path.begin(), path.end()));
}

/// Names for matrices of one name that differ, none of them empty.
std::vector<std::string> told_apart(const std::vector<const MatrixIdentity*>& namesakes) {
  std::size_t deepest = 0;
  for (const MatrixIdentity* each : namesakes)
    deepest = std::max(deepest, depth_of(each->source));
  std::vector<std::string> names;
  for (const Naming& naming : namings(deepest)) {
    names.clear();
    for (const MatrixIdentity* each : namesakes)
      names.push_back(naming(*each));
    const std::set<std::string> distinct(names.begin(), names.end());
    if (distinct.size() == names.size() && distinct.count("") == 0) break;
  }
  return names;
}

}  // namespace

std::string MatrixIdentity::key() const {
  return (collection.empty() ? name : collection) + "\n" + (content.empty() ? source : content);
}

std::map<std::string, std::string> shown_names(const std::vector<MatrixIdentity>& matrices) {
  std::map<std::string, std::map<std::string, const MatrixIdentity*>> by_name;  // and key()
  for (const MatrixIdentity& matrix : matrices)
    by_name[matrix.name].emplace(matrix.key(), &matrix);
  std::map<std::string, std::string> shown;
  for (const auto& [name, by_key] : by_name) {
    std::vector<const MatrixIdentity*> namesakes;
    for (const auto& [key, matrix] : by_key)
      namesakes.push_back(matrix);
    const std::vector<std::string> names =
        namesakes.size() == 1 ? std::vector{name} : told_apart(namesakes);
    for (std::size_t i = 0; i < namesakes.size(); ++i)
      shown[namesakes[i]->key()] = names[i];
  }
  return shown;
}

}  // namespace lanky::report

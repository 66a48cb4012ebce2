// Which matrix a line of results is of, and what people see it called.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lanky::report {

/// As lines of kind spmv and matrix tell it (docs/batch.md, "Identity").
struct MatrixIdentity {
  std::string name;        // "case"
  std::string collection;  // "GROUP/NAME" of SuiteSparse; "" for any other matrix
  std::string source;      // path or spec; "" where the line does not tell
  std::string content;     // hash of the file, or "spec:..."; "" where the line does not tell

  /// Equal for equal matrices: the name and the content, the source where there is no content.
  std::string key() const;
};

/// Names by key(). A matrix whose name others have, too, is shown by its collection, the shortest
/// tail of its source ("A/twin") or the first digits of its content, whichever tells them apart.
std::map<std::string, std::string> shown_names(const std::vector<MatrixIdentity>& matrices);

}  // namespace lanky::report

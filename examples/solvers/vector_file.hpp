// A vector as a file: NumPy's .npy (format 1.0), or text of a number a line.
#pragma once

#include <string>
#include <vector>

namespace lanky::examples::solvers {

/// As .npy where the name ends so, as text otherwise. T: double, float. Throws Error(io).
template <class T>
void write_vector(const std::string& path, const std::vector<T>& x);

}  // namespace lanky::examples::solvers

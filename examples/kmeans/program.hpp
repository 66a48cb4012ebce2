// What the program kmeans does once its options are known.
#pragma once

#include <cstdint>
#include <string>

#include "examples/kmeans/blobs.hpp"
#include "examples/kmeans/kmeans.hpp"

namespace lanky::examples {

struct ProgramOptions {
  std::string input;  // .npy or .csv; "": blobs are generated
  Blobs blobs;
  KMeansOptions kmeans;
  std::string dtype = "f64";      // f64 or f32
  std::string device;             // "": the best
  std::string product = "lanky";  // or cublas
  bool compare = false;           // both products, in turn
  int rounds = 5;                 // of a comparison, and of the times of parts
  bool quiet = false;             // no line for each iteration
  std::string labels;             // files to write; "": none
  std::string centers;
  std::string json;
};

/// Runs and prints; false where a result did not pass its check. Throws Error.
bool run_kmeans(const ProgramOptions& options);

}  // namespace lanky::examples

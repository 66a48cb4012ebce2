// For the programs of this folder, which the guide shows and a test runs: a condition that does not
// hold ends the program with status 1 and names its line.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>

inline void expect(bool holds, std::source_location where = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%u: not as the guide says\n", where.file_name(), where.line());
  std::exit(1);
}

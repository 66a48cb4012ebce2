// What the programs' command lines have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <lanky/error.hpp>

namespace lanky::examples {

/// Parses and runs. 0: run() found all right, 1: it did not, 2: wrong usage, 3: input that cannot
/// be read or is not supported, 4: no such device, 5: out of memory, or an error of the device or
/// the system. Errors are printed.
inline int run_program(CLI::App& app, int argc, char** argv, const std::function<bool()>& run) {
  const auto complain = [&app](const std::exception& error, int code) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return code;
  };
  try {
    app.parse(argc, argv);
    return run() ? 0 : 1;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const Error& error) {
    switch (error.code()) {
      case ErrorCode::no_device:
        return complain(error, 4);
      case ErrorCode::out_of_memory:
      case ErrorCode::device:
        return complain(error, 5);
      default:
        return complain(error, 3);
    }
  } catch (const std::exception& error) {
    return complain(error, 5);
  }
}

}  // namespace lanky::examples

// Where the running program stands, and the modules that it opens when it needs them. A chroot or a
// container without /proc is no obstacle.
#pragma once

#include <filesystem>
#include <string>

namespace lanky {

/// The file of the running program, links resolved; empty where the system does not tell.
std::filesystem::path program_path();

/// Where a module of lanky's own ("liblanky_vendor.so") stands: beside the code that asks, as in a
/// build tree or a wheel, or in LIBDIR/lanky, as of an installed program. Else its bare name, for
/// the loader to look up.
std::string module_path(const std::string& file);

}  // namespace lanky

# cmake -DSOURCE=<tree> -DOUTPUT=<file.cpp> -P provenance.cmake: the commit and a hash of the sources
# as two constants. The file is only touched where they changed, so that nothing else is rebuilt.
set(commit unknown)
find_program(git git)
if(git AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${git} rev-parse HEAD WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(commit unknown)
  else()
    execute_process(COMMAND ${git} status --porcelain -uno WORKING_DIRECTORY ${SOURCE}
      OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
      string(APPEND commit +dirty)
    endif()
  endif()
endif()

set(patterns)
foreach(folder include src dense sparse io bench cmake)
  foreach(ending hpp cuh cpp cu cmake txt)
    list(APPEND patterns ${SOURCE}/${folder}/*.${ending})
  endforeach()
endforeach()
file(GLOB_RECURSE sources RELATIVE ${SOURCE} ${patterns})
list(SORT sources)
set(digest)
foreach(source ${sources})
  file(SHA256 ${SOURCE}/${source} hash)
  string(APPEND digest "${source} ${hash}\n")
endforeach()
string(SHA256 sources_hash "${digest}")

file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "bench/records/environment.hpp"

namespace lanky::bench {

const char* build_commit() noexcept {
  return "@commit@";
}
const char* build_sources_hash() noexcept {
  return "@sources_hash@";
}

}  // namespace lanky::bench
]])

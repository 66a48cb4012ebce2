# Warnings and sanitizers, alike for every target of the project.
function(lanky_compile_options target)
  set(warnings -Wall -Wextra -Wshadow -Wnon-virtual-dtor)
  if(LANKY_WARNINGS_AS_ERRORS)
    list(APPEND warnings -Werror)
  endif()
  list(JOIN warnings "," host_warnings)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:${warnings} -Wpedantic>
    # It takes the sources of a unit for headers.
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${host_warnings}>
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${LANKY_WARNINGS_AS_ERRORS}>>:-Werror=all-warnings>)
endfunction()

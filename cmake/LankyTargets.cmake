# Warnings, and what hardens the built files, alike for every target of the project (docs/releasing.md#hardening).
include(CheckCXXCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

# Not beside a sanitizer, which watches what these watch; the flags follow the machine that is compiled for.
set(lanky_hardening "")
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
    string(MAKE_C_IDENTIFIER LANKY_HAS${flag} known)
    check_cxx_compiler_flag(${flag} ${known})
    if(${known})
      list(APPEND lanky_hardening ${flag})
    endif()
  endforeach()
endif()

add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)

function(lanky_compile_options target)
  set(warnings -Wall -Wextra -Wshadow -Wnon-virtual-dtor)
  if(LANKY_WARNINGS_AS_ERRORS)
    list(APPEND warnings -Werror)
  endif()
  list(JOIN warnings "," host_warnings)
  list(JOIN lanky_hardening "," host_hardening)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:${warnings} -Wconversion -Wpedantic>
    # It takes the sources of a unit for headers.
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>
    # Clang counts changes of sign as conversions, GCC does not.
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-sign-conversion>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${host_warnings}>
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${LANKY_WARNINGS_AS_ERRORS}>>:-Werror=all-warnings>
    $<$<COMPILE_LANGUAGE:CXX>:${lanky_hardening}>)
  if(lanky_hardening)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${host_hardening}>)
    # It works on optimized code alone, and says so elsewhere: a target with -O0 takes it back.
    if(CMAKE_BUILD_TYPE MATCHES "Rel" AND NOT lanky_fortified)
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>)
    endif()
  endif()
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# lanky_export_only(<target> <symbols...>): of a module, all other names stay inside, but for the types of exceptions.
function(lanky_export_only target)
  list(JOIN ARGN "; " symbols)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
  file(CONFIGURE OUTPUT ${map} CONTENT "{\n  global: ${symbols}; _ZT[IS]N5lanky*;\n  local: *;\n};\n" @ONLY)
  target_link_options(${target} PRIVATE LINKER:--version-script=${map})
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
endfunction()

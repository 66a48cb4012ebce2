# `cmake --install` and find_package(lanky).
include(CMakePackageConfigHelpers)

install(TARGETS lanky EXPORT lanky-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/lanky DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT lanky-targets NAMESPACE lanky::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lanky)

configure_package_config_file(cmake/lanky-config.cmake.in
  ${PROJECT_BINARY_DIR}/lanky-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lanky)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lanky-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lanky-config.cmake
  ${PROJECT_BINARY_DIR}/lanky-config-version.cmake cmake/LankyArchive.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lanky)

# pkg-config, for programs in C, Fortran and others. Paths are relative to the file, so that the tree can be moved.
# Libs.private is what a program linked with the static library needs.
file(RELATIVE_PATH lanky_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" lanky_pc_prefix ${lanky_pc_prefix})
set(lanky_pc_names stdc++ m ${OpenMP_CXX_LIB_NAMES} ${CMAKE_DL_LIBS})
if(lanky_archive_libraries MATCHES "NOTFOUND")
  list(APPEND lanky_pc_names archive z)
else()
  foreach(library ${lanky_archive_libraries})
    cmake_path(GET library STEM name)
    string(REGEX REPLACE "^lib" "" name ${name})
    list(APPEND lanky_pc_names ${name})
  endforeach()
endif()
list(TRANSFORM lanky_pc_names PREPEND -l)
if(LANKY_HAS_CUDA)
  list(APPEND lanky_pc_names -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt)
endif()
list(JOIN lanky_pc_names " " lanky_pc_libraries)
configure_file(cmake/lanky.pc.in ${PROJECT_BINARY_DIR}/lanky.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lanky.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

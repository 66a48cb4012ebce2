# `cmake --install` and find_package(lanky), in three components: the shared library (runtime), what programs are built with
# (development), and the program (program). Without arguments all are installed.
include(CMakePackageConfigHelpers)
set(lanky_package ${CMAKE_INSTALL_LIBDIR}/cmake/lanky)

install(TARGETS lanky EXPORT lanky-static-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT lanky-static-targets NAMESPACE lanky:: DESTINATION ${lanky_package} COMPONENT development)
if(LANKY_SHARED)
  install(TARGETS lanky_shared EXPORT lanky-shared-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
  install(EXPORT lanky-shared-targets NAMESPACE lanky:: DESTINATION ${lanky_package} COMPONENT development)
endif()
install(DIRECTORY include/lanky DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

configure_package_config_file(cmake/lanky-config.cmake.in
  ${PROJECT_BINARY_DIR}/lanky-config.cmake
  INSTALL_DESTINATION ${lanky_package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lanky-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lanky-config.cmake
  ${PROJECT_BINARY_DIR}/lanky-config-version.cmake cmake/LankyArchive.cmake
  DESTINATION ${lanky_package} COMPONENT development)

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

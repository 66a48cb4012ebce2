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

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

# CMake package and pkg-config export; tried by scripts/consumer-build.
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/vacantConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/vacantConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/vacant)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/vacantConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/vacantConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/vacantConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/vacant)
install(EXPORT vacantTargets NAMESPACE vacant:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/vacant)
# Relative to the file itself, so that the package works under whatever prefix it is installed.
file(RELATIVE_PATH VACANT_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/vacant.pc.in ${CMAKE_CURRENT_BINARY_DIR}/vacant.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/vacant.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES docs/man/vacant.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES completions/vacant.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME vacant)

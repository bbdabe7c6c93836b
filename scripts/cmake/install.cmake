# cmake --install: headers, the library, and a package config that finds its own dependencies.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(FOVEA_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/fovea")

foreach(folder IN LISTS FOVEA_FOLDERS)
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}")
    install(DIRECTORY "${folder}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/fovea"
      FILES_MATCHING PATTERN "*.h"
      PATTERN "*-inl.h" EXCLUDE
      PATTERN "kernels" EXCLUDE)
  endif()
endforeach()
install(FILES "${FOVEA_INCLUDE_DIR}/fovea/fovea.h" "${FOVEA_INCLUDE_DIR}/fovea/version.h"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/fovea")

install(TARGETS fovea EXPORT foveaTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT foveaTargets NAMESPACE fovea:: DESTINATION "${FOVEA_CMAKE_DIR}")

configure_package_config_file(scripts/cmake/foveaConfig.cmake.in "${PROJECT_BINARY_DIR}/foveaConfig.cmake"
  INSTALL_DESTINATION "${FOVEA_CMAKE_DIR}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/foveaConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/foveaConfig.cmake"
  "${PROJECT_BINARY_DIR}/foveaConfigVersion.cmake"
  DESTINATION "${FOVEA_CMAKE_DIR}")
install(FILES scripts/cmake/dependencies.cmake DESTINATION "${FOVEA_CMAKE_DIR}"
  RENAME foveaDependencies.cmake)
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")

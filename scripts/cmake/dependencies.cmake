# What the library links against, found the same way in the tree and by the installed package.
# Nothing is downloaded. Defines fovea::openblas and fovea::hwy beside the packages' own targets.

find_package(Threads REQUIRED)
find_package(TBB CONFIG REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)

# OpenBLAS by name: a generic libblas is up to a hundred times slower and cannot be held at one
# thread. Debian keeps its flavours in folders of their own; the pthread flavour is preferred.
if(NOT TARGET fovea::openblas)
  find_path(FOVEA_OPENBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-pthread openblas)
  find_library(FOVEA_OPENBLAS_LIBRARY openblas PATH_SUFFIXES openblas-pthread)
  mark_as_advanced(FOVEA_OPENBLAS_INCLUDE_DIR FOVEA_OPENBLAS_LIBRARY)
  if(NOT FOVEA_OPENBLAS_INCLUDE_DIR OR NOT FOVEA_OPENBLAS_LIBRARY)
    message(FATAL_ERROR "fovea: OpenBLAS not found (cblas.h and libopenblas): "
      "on Debian, install libopenblas-dev")
  endif()
  file(STRINGS "${FOVEA_OPENBLAS_INCLUDE_DIR}/cblas.h" fovea_openblas_marker
    REGEX "openblas_set_num_threads" LIMIT_COUNT 1)
  if(NOT fovea_openblas_marker)
    message(FATAL_ERROR "fovea: ${FOVEA_OPENBLAS_INCLUDE_DIR}/cblas.h is not OpenBLAS's; "
      "set FOVEA_OPENBLAS_INCLUDE_DIR to the folder of OpenBLAS's cblas.h")
  endif()
  add_library(fovea::openblas UNKNOWN IMPORTED GLOBAL)
  set_target_properties(fovea::openblas PROPERTIES
    IMPORTED_LOCATION "${FOVEA_OPENBLAS_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${FOVEA_OPENBLAS_INCLUDE_DIR}")
endif()

# Highway: only the core library (run-time dispatch); its contrib headers are header-only.
if(NOT TARGET fovea::hwy)
  find_path(FOVEA_HWY_INCLUDE_DIR hwy/highway.h)
  find_library(FOVEA_HWY_LIBRARY hwy)
  mark_as_advanced(FOVEA_HWY_INCLUDE_DIR FOVEA_HWY_LIBRARY)
  if(NOT FOVEA_HWY_INCLUDE_DIR OR NOT FOVEA_HWY_LIBRARY)
    message(FATAL_ERROR "fovea: Highway not found (hwy/highway.h and libhwy): "
      "on Debian, install libhwy-dev")
  endif()
  add_library(fovea::hwy UNKNOWN IMPORTED GLOBAL)
  set_target_properties(fovea::hwy PROPERTIES
    IMPORTED_LOCATION "${FOVEA_HWY_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${FOVEA_HWY_INCLUDE_DIR}")
  if(FOVEA_HWY_LIBRARY MATCHES "\\.(so|dylib)$")
    set_property(TARGET fovea::hwy PROPERTY INTERFACE_COMPILE_DEFINITIONS HWY_SHARED_DEFINE)
  endif()
endif()

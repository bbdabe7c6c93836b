# Settings of a build of Fovea itself, kept out of the way of projects that embed it.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()
if(CMAKE_CXX_FLAGS_RELEASE STREQUAL "-O3 -DNDEBUG")
  # The kernels are vectorised by hand, so -O3 buys compile time and nothing else.
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_COLOR_DIAGNOSTICS ON)

find_program(FOVEA_CCACHE ccache)
if(FOVEA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The two sloppiness flags let ccache see through the tests' precompiled header. By the files that
  # were read, not by the preprocessor's output: a precompiled header knows its headers by their
  # bytes, and must not be one from before a comment was changed.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1
    "${FOVEA_CCACHE}")
endif()

find_program(FOVEA_MOLD mold)
if(FOVEA_MOLD)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=mold FOVEA_LINKS_WITH_MOLD)
  if(FOVEA_LINKS_WITH_MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
endif()

# Reading the headers of a small source costs more than compiling what it adds to them. Sources of
# one folder are therefore compiled several at a time, unless FOVEA_UNITY is off: a tool that looks
# a file up in compile_commands.json wants each by itself.

# fovea_unity(LIST SIZE [EXCEPT REGEX])   replaces the sources in LIST, absolute paths, by files that
# include SIZE of one folder each; those that match REGEX stay. CMake's own UNITY_BUILD would write
# absolute paths, on which the objects would depend: two trees could not share a compiler cache.
function(fovea_unity list size)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "EXCEPT" "")
  if(NOT FOVEA_UNITY)
    return()
  endif()
  set(alone ${${list}})
  set(sources ${${list}})
  if(arg_EXCEPT)
    list(FILTER alone INCLUDE REGEX "${arg_EXCEPT}")
    list(FILTER sources EXCLUDE REGEX "${arg_EXCEPT}")
  else()
    set(alone "")
  endif()

  set(units "")
  set(unit_dir "${PROJECT_BINARY_DIR}/unity")
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${unit_dir}" OUTPUT_VARIABLE include)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR number "${count_${folder}} / ${size}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set(unit "${unit_dir}/${folder}_${number}.cpp")
    list(APPEND units "${unit}")
    string(APPEND text_${folder}_${number} "#include \"${include}\"\n")
  endforeach()
  list(REMOVE_DUPLICATES units)
  foreach(unit IN LISTS units)
    cmake_path(GET unit STEM name)
    file(CONFIGURE OUTPUT "${unit}" CONTENT "${text_${name}}" @ONLY)
  endforeach()
  set(${list} ${alone} ${units} PARENT_SCOPE)
endfunction()

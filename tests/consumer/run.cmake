# Installs the library into a fresh prefix, then configures, builds and runs the project beside this
# file against it, as a user would.

set(work_dir "${FOVEA_BINARY_DIR}/consumer")
file(REMOVE_RECURSE "${work_dir}")

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run("${CMAKE_COMMAND}" --install "${FOVEA_BINARY_DIR}" --config "${CONFIG}"
  --prefix "${work_dir}/prefix")
run("${CMAKE_COMMAND}" -S "${CONSUMER_SOURCE_DIR}" -B "${work_dir}/build" -G "${GENERATOR}"
  "-DCMAKE_BUILD_TYPE=${CONFIG}"
  "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
  "-DCMAKE_PREFIX_PATH=${work_dir}/prefix")
run("${CMAKE_COMMAND}" --build "${work_dir}/build" --config "${CONFIG}")
run("${work_dir}/build/bin/consumer")

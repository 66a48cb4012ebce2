# Installs BUILD_DIR into WORK_DIR and builds and runs the consumer project against it.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
foreach(static ON OFF)
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK_DIR}/build_${static} -G Ninja
    -DLANKY_STATIC=${static} -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
    "-DCMAKE_CUDA_COMPILER=${CUDA_COMPILER}")
  run(${CMAKE_COMMAND} --build ${WORK_DIR}/build_${static})
  run(${WORK_DIR}/build_${static}/consumer)
endforeach()

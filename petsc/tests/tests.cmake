# Tests of the plug-ins. lanky_petsc_tests(<folder>): for the PETSc of that folder; CTest calls them
# petsc_<folder>.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# lanky_petsc_program(<folder> <name> <source> <libraries...>)
function(lanky_petsc_program folder name source)
  set(target petsc_test_${folder}_${name})
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE ${ARGN} MPI::MPI_C MPI::MPI_CXX)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${folder}
    UNITY_BUILD OFF)
  add_dependencies(${target} lankypetsc_${folder})
endfunction()

function(lanky_petsc_tests folder)
  set(tests ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  lanky_petsc_program(${folder} matrix_test ${tests}/matrix_test.cpp PkgConfig::PETSC_${folder})
  if(SLEPC_${folder}_FOUND)
    lanky_petsc_program(${folder} solver_test ${tests}/solver_test.cpp
      PkgConfig::SLEPC_${folder} PkgConfig::PETSC_${folder})
  endif()
  foreach(name matrix_test solver_test)
    if(TARGET petsc_test_${folder}_${name})
      lanky_compile_options(petsc_test_${folder}_${name})
      target_compile_options(petsc_test_${folder}_${name} PRIVATE -Wno-pedantic -O0)
    endif()
  endforeach()
endfunction()

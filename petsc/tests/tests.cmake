# Tests of the plug-ins. lanky_petsc_tests(<folder>): for the PETSc of that folder; CTest calls them
# petsc_<folder>.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# lanky_petsc_program(<folder> <name> <source>): a program of the tests, or an example of PETSc or
# SLEPc as it was installed, in <folder>/tests of the output.
function(lanky_petsc_program folder name source)
  set(target petsc_test_${folder}_${name})
  add_executable(${target} ${source})
  if(SLEPC_${folder}_FOUND)
    target_link_libraries(${target} PRIVATE PkgConfig::SLEPC_${folder})
  endif()
  target_link_libraries(${target} PRIVATE PkgConfig::PETSC_${folder} MPI::MPI_C MPI::MPI_CXX m)
  target_compile_options(${target} PRIVATE -O0)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${folder}/tests
    UNITY_BUILD OFF)
endfunction()

function(lanky_petsc_tests folder)
  set(tests ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set(programs matrix_test)
  if(SLEPC_${folder}_FOUND)
    list(APPEND programs solver_test)
  endif()
  foreach(name ${programs})
    lanky_petsc_program(${folder} ${name} ${tests}/${name}.cpp)
    lanky_compile_options(petsc_test_${folder}_${name})
    target_compile_options(petsc_test_${folder}_${name} PRIVATE -Wno-pedantic)
  endforeach()

  # PETSc's own programs know nothing of lanky.
  string(REGEX MATCH "^[0-9]+[.][0-9]+" version ${PETSC_${folder}_VERSION})
  set(petsc_sources /usr/share/petsc/${version}/share/petsc/examples/src)
  set(slepc_sources /usr/share/slepc/${version}/share/slepc/examples/src)
  if(DEFINED ENV{PETSC_DIR})
    set(petsc_sources $ENV{PETSC_DIR}/src $ENV{PETSC_DIR}/share/petsc/examples/src)
  endif()
  if(DEFINED ENV{SLEPC_DIR})
    set(slepc_sources $ENV{SLEPC_DIR}/src $ENV{SLEPC_DIR}/share/slepc/examples/src)
  endif()
  foreach(example
      ksp/ksp/tutorials/ex2 ksp/ksp/tutorials/ex23 snes/tutorials/ex19 eps/tutorials/ex2 eps/tutorials/ex3
      eps/tutorials/ex13)
    get_filename_component(number ${example} NAME)
    string(REGEX MATCH "^[a-z]+" part ${example})
    foreach(folder_of_sources ${petsc_sources} ${slepc_sources})
      if(EXISTS ${folder_of_sources}/${example}.c AND NOT TARGET petsc_test_${folder}_${part}_${number})
        if(part STREQUAL eps AND NOT SLEPC_${folder}_FOUND)
          continue()
        endif()
        lanky_petsc_program(${folder} ${part}_${number} ${folder_of_sources}/${example}.c)
      endif()
    endforeach()
  endforeach()

  foreach(part programs examples errors memory)
    add_test(NAME petsc_${folder}_${part} COMMAND Python3::Interpreter ${tests}/plugin_test.py
      ${part} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${folder} ${MPIEXEC_EXECUTABLE})
  endforeach()
  # They take both cores of a small machine.
  set_tests_properties(petsc_${folder}_programs PROPERTIES PROCESSORS 2 COST 20)
  set_tests_properties(petsc_${folder}_memory PROPERTIES COST 35)
endfunction()

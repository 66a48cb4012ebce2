function(lanky_petsc_tests folder)
endfunction()

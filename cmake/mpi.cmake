# Finds the MPI to build with and offers it as octant_mpi; programs find the wheel's library by a relative path.
set(flavour "$ENV{OCTANT_MPI}")
if(NOT flavour)
  set(flavour mpich)
endif()
if(NOT OCTANT_MPI_CXX)
  if(flavour STREQUAL "mpich")
    find_program(OCTANT_MPI_CXX NAMES mpicxx_abi mpicxx REQUIRED)
  else()
    find_program(OCTANT_MPI_CXX NAMES mpicxx mpic++ REQUIRED)
  endif()
endif()
set(MPI_CXX_COMPILER "${OCTANT_MPI_CXX}" CACHE FILEPATH "" FORCE)
set(MPI_CXX_SKIP_MPICXX ON CACHE BOOL "" FORCE)
find_package(MPI REQUIRED COMPONENTS CXX)
add_library(octant_mpi INTERFACE)
target_link_libraries(octant_mpi INTERFACE MPI::MPI_CXX)
target_compile_definitions(octant_mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
message(STATUS "Octant builds with MPI flavour '${flavour}': ${OCTANT_MPI_CXX}")

# Installed programs live in <env>/lib/pythonX.Y/site-packages/octant/bin; the wheel's libmpi lives in <env>/lib.
function(octant_install_program target)
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin"
    BUILD_RPATH_USE_ORIGIN OFF
    INSTALL_RPATH "$ORIGIN/../../../..;$<$<STREQUAL:$ENV{OCTANT_MPI},site>:${OCTANT_SITE_MPI_DIR}>")
  install(TARGETS ${target} RUNTIME DESTINATION octant/bin)
endfunction()
if(flavour STREQUAL "site")
  list(GET MPI_CXX_LIBRARIES 0 library)
  cmake_path(GET library PARENT_PATH OCTANT_SITE_MPI_DIR)
endif()

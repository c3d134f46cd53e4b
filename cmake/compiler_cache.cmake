# ccache, if it is installed, makes a repeated build of the same sources fast; nothing depends on it. It does not know what
# -march=native means on this processor, so each kind of processor has a name space of its own.
find_program(OCTANT_CCACHE ccache)
if(OCTANT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" "-march=${OCTANT_ARCH}" -E -v -x c++ /dev/null
    OUTPUT_QUIET ERROR_VARIABLE resolved)
  string(REGEX MATCHALL " -(m|-param )[^ \n]+[^\n]*" resolved "${resolved}")
  string(MD5 processor "${resolved}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_NAMESPACE=octant-${processor}" "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
    CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime "${OCTANT_CCACHE}")
endif()

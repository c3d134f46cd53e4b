// Names of the functions of MPI by their number.
#include "calls.h"

char const* const octant_function_names[octant_functions] = {
    [octant_call_none] = "",
#define OCTANT_CALL(number, name, arguments, timed) [number] = #name,
#define OCTANT_LARGE(name, arguments) [octant_large_##name] = #name "_c",
#include "calls.inc"
};

// Numbers of the calls of MPI, as they are in files of profiles, and of the functions of the library. The large-count
// variant of a call has the number of the call, and is a function of its own.
#pragma once

enum octant_call {
    octant_call_none = 0,
#define OCTANT_CALL(number, name, arguments, timed) octant_call_##name = (number),
#include "calls.inc"
    octant_calls  // numbers are below
};

enum octant_function_number {  // further functions: the numbers of calls are numbers of functions as well
    octant_before_large = octant_calls - 1,
#define OCTANT_CALL(number, name, arguments, timed)
#define OCTANT_LARGE(name, arguments) octant_large_##name,
#include "calls.inc"
    octant_functions
};

// Name in the library without its prefix MPI_ or PMPI_, by number of the function: "Send", "Send_c". calls_table.c has
// the table.
extern char const* const octant_function_names[octant_functions];

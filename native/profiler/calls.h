// Numbers of the calls of MPI, as they are in files of profiles. The large-count variant of a call has the same number;
// its function has the number + octant_large.
#pragma once

enum octant_call {
    octant_call_none = 0,
#define OCTANT_CALL(number, name, arguments, timed) octant_call_##name = (number),
#include "calls.inc"
    octant_calls  // numbers are below
};

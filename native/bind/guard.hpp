// Starts the program as a child, waits for it, and appends a line about it to a file.
#pragma once

#include "plan.hpp"

namespace octant::bind {

// Ends this process with the exit status of the program, or with the signal that ended this process. No descendant of
// the program outlives it. Throws Refusal if no process can be started, or the file of the whole command cannot be
// opened.
[[noreturn]] void guard(Plan const& plan);

}  // namespace octant::bind

// Starts the program as a child, waits for it, and appends a line about it to a file.
#pragma once

#include "plan.hpp"

namespace octant::bind {

// Ends this process as the program ended, or with the signal that it was told to end with. Nothing that the program
// started outlives it. Throws Refusal if no process can be started, or the file of the whole command cannot be opened.
[[noreturn]] void guard(Plan const& plan);

}  // namespace octant::bind

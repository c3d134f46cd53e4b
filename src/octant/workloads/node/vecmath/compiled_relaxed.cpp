// Compiled with relaxed rules: no special values, no errno, vector forms of functions, divisions by estimates.
#include "libraries.hpp"

#include "compiled.hpp"

vecmath::Loop<double> vecmath::relaxed_double(std::string_view name) { return found(doubles, name); }
vecmath::Loop<float> vecmath::relaxed_single(std::string_view name) { return found(singles, name); }

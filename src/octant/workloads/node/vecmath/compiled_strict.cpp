// Compiled with the rules of the language: errors are noted in errno, every special value is kept.
#include "libraries.hpp"

#include "compiled.hpp"

vecmath::Loop<double> vecmath::strict_double(std::string_view name) { return found(doubles, name); }
vecmath::Loop<float> vecmath::strict_single(std::string_view name) { return found(singles, name); }

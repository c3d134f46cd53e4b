// The instruction set of a library, selected by the means of the library before its first call.
#pragma once

#include "blas/symbols.hpp"

#include <string>
#include <vector>

namespace octant::blas {

[[nodiscard]] std::vector<std::string> instruction_sets();

// Sets the environment variables that the library reads when it is loaded.
void announce(std::string const& isa);
// Selects the instruction set after loading. Throws Refusal if the library has no such choice.
void choose(Symbols const& symbols, std::string const& isa, std::string const& path);
// Reads back what can be: throws Refusal where the library has chosen kernels for another core.
void check_choice(Symbols const& symbols, std::string const& isa, std::string const& path);

// The core type whose kernels the library uses; empty if not known.
[[nodiscard]] std::string core_of(Symbols const& symbols);

}  // namespace octant::blas

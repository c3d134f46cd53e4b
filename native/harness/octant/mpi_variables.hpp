// The control variables of the MPI library in use, read through MPI_T (MPI 4.1, chapter 15.3).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace octant {

struct MpiVariable {
    std::string name;
    std::string type;       // "integer", "real", "text"; "" where values of its type are not read
    std::string value;      // "" where it cannot be read
    std::string word = {};  // the value's name in the variable's enumeration
    std::vector<std::string> words = {};
};

class MpiVariables {  // a session with MPI_T; before or after MPI_Init
  public:
    MpiVariables();
    MpiVariables(MpiVariables const&) = delete;
    MpiVariables& operator=(MpiVariables const&) = delete;
    ~MpiVariables();
    [[nodiscard]] std::vector<MpiVariable> all() const;
    // That which an environment variable sets; nothing where the library lists none.
    [[nodiscard]] std::optional<MpiVariable> of(std::string const& environment_name) const;
};

// Returns the settings in OCTANT_MPI_SETTINGS (separated by commas) as the library reports them: each environment
// variable with the spellings of its value. Variables that the library does not list are omitted, and text values of
// MPICH from before the environment was read.
[[nodiscard]] std::vector<std::pair<std::string, std::vector<std::string>>> settings_in_force();

}  // namespace octant

// Which file a library with FFTW 3's interface is, and its functions.
#pragma once

#include "octant/shared_library.hpp"

#include <string>
#include <vector>

namespace octant::fftw {

// The names that `library=` accepts in addition to paths.
[[nodiscard]] std::vector<std::string> names();

class Symbols {  // of a library that stays loaded, as plans are in it
  public:
    // `library`: a name or a path. Of files that it may be, the first that has functions of this precision; those that
    // the environment variables OCTANT_FFTW and OCTANT_BLAS name come first. Throws Refusal, which
    // names `ours`, what else `library` may be.
    Symbols(std::string const& library, bool single, std::string const& ours);
    // Function by its name after "fftw_" or "fftwf_"; null if it does not exist.
    template <class Function>
    [[nodiscard]] Function find(std::string const& name) const {
        return reinterpret_cast<Function>(address((single_ ? "fftwf_" : "fftw_") + name));
    }
    // The same of any name.
    template <class Function>
    [[nodiscard]] Function other(std::string const& name) const {
        return reinterpret_cast<Function>(address(name));
    }
    [[nodiscard]] std::string const& file() const noexcept { return file_; }

  private:
    [[nodiscard]] void* address(std::string const& name) const;
    SharedLibrary library_;
    bool single_;
    std::string file_;
};

}  // namespace octant::fftw

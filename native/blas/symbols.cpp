#include "blas/symbols.hpp"

#include "octant/failure.hpp"

#include <array>

namespace octant::blas {

Symbols::Symbols(std::string const& path) {
    std::string reason;
    library_ = SharedLibrary(path, reason);
    if (!library_.loaded())
        throw Refusal(
            "cannot load the library " + path + " (" + reason + "); try library=openblas or the path of a BLAS library",
            Exit::not_supported);
}

void* Symbols::address(std::string_view name) const {
    for (std::string const prefix : {"", "scipy_"})
        for (std::string_view const suffix : {"", "64_", "_64"})
            if (void* const found = library_.address(prefix + std::string(name) + std::string(suffix));
                found != nullptr)
                return found;
    return nullptr;
}

// A vector is scaled whose length is 1 in 32 bits and, with the sentinel behind them, negative in 64: then the
// definition is to do nothing. Neither reading harms, so that no process is lost by it.
bool Symbols::wide_integers() const {
    auto const scale = find<void (*)(void const*, double const*, double*, void const*)>("dscal_");
    if (scale == nullptr) return false;
    std::array<std::int32_t, 2> const length{1, -1}, stride{1, 0};
    double const factor = 2;
    double value = 1;
    scale(length.data(), &factor, &value, stride.data());
    return value == 1;
}

std::string Symbols::file_of(std::string_view name) const { return octant::file_of(address(name)); }

}  // namespace octant::blas

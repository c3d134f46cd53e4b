// Functions of a library that is loaded at run time, under the names of its different builds.
#pragma once

#include "octant/shared_library.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace octant::blas {

class Symbols {
  public:
    Symbols() = default;
    // Stays loaded, as libraries keep threads of their own. Throws Refusal.
    explicit Symbols(std::string const& path);
    // By the plain name of a function, or with the prefix of SciPy's builds and the suffix of those with 64-bit
    // integers.
    template <class Function>
    [[nodiscard]] Function find(std::string_view name) const {
        return reinterpret_cast<Function>(address(name));
    }
    // Whether its integers have 64 bits: tested by a call, since the names of some libraries do not show it.
    [[nodiscard]] bool wide_integers() const;
    // The file that a function of this library is in; empty where it has none of that name.
    [[nodiscard]] std::string file_of(std::string_view name) const;

  private:
    [[nodiscard]] void* address(std::string_view name) const;
    SharedLibrary library_;
};

// An integer as Fortran passes it: behind an address, with the width that the library reads and writes.
class Integer {
  public:
    Integer(std::int64_t value, bool wide) : wide_(wide) {
        auto const narrow = static_cast<std::int32_t>(value);
        std::memcpy(&bits_, wide ? static_cast<void const*>(&value) : &narrow, wide ? sizeof value : sizeof narrow);
    }
    [[nodiscard]] void* address() noexcept { return &bits_; }
    [[nodiscard]] std::int64_t value() const noexcept {
        std::int32_t narrow = 0;
        std::memcpy(&narrow, &bits_, sizeof narrow);
        return wide_ ? bits_ : narrow;
    }

  private:
    std::int64_t bits_ = 0;
    bool wide_;
};

}  // namespace octant::blas

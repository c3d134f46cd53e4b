// Shared library that is loaded at run time.
#pragma once

#include <string>

namespace octant {

class SharedLibrary {  // never unloaded: it may have threads and tables
  public:
    SharedLibrary() = default;  // none, in which nothing is found
    // If the file cannot be loaded, `reason` is set and the object is empty.
    SharedLibrary(std::string const& file, std::string& reason);
    [[nodiscard]] bool loaded() const noexcept { return handle_ != nullptr; }
    [[nodiscard]] void* address(std::string const& symbol) const;  // a null pointer: it has no such symbol

  private:
    void* handle_ = nullptr;
};

// Returns the file that a function was loaded from; empty if unknown.
[[nodiscard]] std::string file_of(void const* function);

}  // namespace octant

// A library that is loaded while the program runs, and what is in it.
#pragma once

#include <string>

namespace octant {

class SharedLibrary {  // stays loaded: it may keep threads and tables of its own
  public:
    SharedLibrary() = default;  // none, in which nothing is found
    // Where the file cannot be loaded, `reason` is set and there is none.
    SharedLibrary(std::string const& file, std::string& reason);
    [[nodiscard]] bool loaded() const noexcept { return handle_ != nullptr; }
    [[nodiscard]] void* address(std::string const& symbol) const;  // a null pointer: it has no such symbol

  private:
    void* handle_ = nullptr;
};

// The file that a function was loaded from; empty where the system does not say.
[[nodiscard]] std::string file_of(void const* function);

}  // namespace octant

// The files of a point, with unique names. A marker lists the files, so that those of a killed process can be removed.
#pragma once

#include "octant/context.hpp"

#include <cstdint>
#include <string>

namespace mpiio {

class Folder {
  public:
    // Throws Refusal: the folder is none that files may be written to, or has too little room for `bytes` more.
    Folder(octant::Context& context, std::int64_t bytes);
    Folder(Folder const&) = delete;
    Folder& operator=(Folder const&) = delete;
    ~Folder();
    void set_up();  // the name, which the group's ranks share; collective
    [[nodiscard]] std::string path(int number) const { return folder_ + "/" + name_ + "." + std::to_string(number); }
    [[nodiscard]] bool in_memory() const noexcept { return in_memory_; }

  private:
    octant::Context& context_;
    std::string folder_, name_, marker_;
    bool in_memory_ = false;
};

}  // namespace mpiio

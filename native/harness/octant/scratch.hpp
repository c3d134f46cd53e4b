// The folder for files of a kernel.
#pragma once

#include <string>

namespace octant {

// A folder for files of a kernel, created on first use; the owner that `removes` it deletes it on destruction.
class Scratch {
  public:
    explicit Scratch(std::string path = "", bool removes = false);
    Scratch(Scratch const&) = delete;
    Scratch& operator=(Scratch const&) = delete;
    ~Scratch();
    [[nodiscard]] std::string const& folder() const;  // throws Refusal: cannot create it

  private:
    std::string path_;
    bool removes_;
};

}  // namespace octant

#pragma once

namespace octant::link {

// Ends every process on the emulated hosts when the process that made them ends, however it ends: a daemon whose
// link is gone would never learn that its launcher is.
class Reaper {
  public:
    Reaper();  // throws Refusal
    Reaper(Reaper const&) = delete;
    Reaper& operator=(Reaper const&) = delete;
    ~Reaper();  // ends what is left now, and waits for it

  private:
    int alive_ = -1;  // the writing end of a pipe, of which the kernel closes the last copy with this process
    int child_ = -1;
};

}  // namespace octant::link

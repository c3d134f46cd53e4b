// Profile of the MPI calls of a program: the node-local folder in which the profiler (native/profiler) keeps a file for
// each process while it runs, and its collection.
#pragma once

#include "plan.hpp"

#include <string>

namespace octant::bind {

// Use of the node-local folder of a launch by this process, from before the program's start until after its end.
class ProfileFolder {
  public:
    // Creates the folder or joins the other guards of this node, and sets the variables of the program: OCTANT_PROFILE
    // and LD_PRELOAD. If this is not possible, the program runs without a profile, and a file in the launch's folder
    // states why.
    explicit ProfileFolder(Plan const& plan);

    // The descriptor that holds the lock of the folder, which must stay open; -1: there is no profile.
    [[nodiscard]] int lock() const { return lock_; }
    void moved_to(int lock) { lock_ = lock; }

    // The last guard of a node writes the profiles of all processes of this node to the launch's folder, and removes
    // the node-local one.
    void leave();

  private:
    Plan const& plan_;
    std::string folder_;
    int lock_ = -1;
};

// `--collect NAME --to FOLDER`: what is left of a launch whose guards were killed. The node-local files are removed,
// also if they cannot be written to the folder. Returns the exit code.
int collect(Plan const& plan);

}  // namespace octant::bind

// The line of a report: what one program was given and what it used (src/octant/launch/guard.py reads it).
#pragma once

#include "energy.hpp"
#include "plan.hpp"
#include "process_sampler.hpp"

#include <sys/resource.h>

#include <cstdint>
#include <string>
#include <vector>

namespace octant::bind {

struct Survivor {
    pid_t pid;
    std::string name;
};

struct Lost {  // between two readings; -1: not known
    std::int64_t elapsed_ns = 0, stolen_ns = -1, pressure_us = -1;
    std::int64_t throttled_ns = 0;
    std::string throttled_group;  // that was throttled most; "": there is no quota
};

struct ProgramResult {
    pid_t pid = 0;
    double started_s = 0;  // after the epoch
    std::int64_t wall_ns = 0;
    bool known = false;       // it ended; false: the system could not end it
    int status = 0;           // as wait(2) reports it
    int stop_signal = 0;      // that ended the guard; 0: none
    std::string start_error;  // why, if the program was not started
    std::vector<Survivor> survivors;
    std::size_t left = 0;  // of them that could not be ended
    rusage used{};         // by all that was waited for
    Numbers mask;          // that the program was started with
    std::string memory_policy;
    Lost lost;
    ProcessRecord record;
};

[[nodiscard]] std::string line_of(Plan const& plan, ProgramResult const& ended,
                                  std::vector<EnergyDomain> const& energy);

}  // namespace octant::bind

// Records: JSON lines, each on disk before the next point starts, each ended by a check sum. Raw data only.
// docs/records.md describes them.
#pragma once

#include "octant/json_text.hpp"
#include "octant/kept_files.hpp"
#include "octant/measure.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace octant {

inline constexpr int record_format = 2;

struct Limits {  // of a record, in bytes of text; larger records use the reduced form
    std::int64_t record = std::int64_t{4} << 20;
    std::int64_t lists = std::int64_t{1} << 20;  // in the reduced form, the slowest ranks' times all together
};

struct Outcome {  // result of a point on this rank
    Settings settings;
    Measurement measured;
    std::vector<Counts> work = {};  // by role; empty for roles that this rank does not have
    Results checks = {}, results = {};
    std::vector<PageResidency> pages = {};  // this rank's watched buffers
    std::map<std::string, double> spent_s = {};
};

class Recorder {  // collective: rank 0 writes points; a failure is written by the calling rank
  public:
    // Writes the line of the launch. Throws Refusal: cannot open `path`; "-" is standard output.
    Recorder(Session const& session, std::string workload, std::string path, std::string launch);

    // Returns whether every check of every group passed.
    bool write(KernelInfo const& info, Context const& context, Groups const& groups, Outcome const& outcome);
    void write_failure(Knobs const& knobs, std::string const& reason, Exit code,
                       std::string const& progress = "") const;

    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    [[nodiscard]] std::string const& launch() const noexcept { return launch_; }
    [[nodiscard]] double mark_ns() const noexcept { return marks_.mark_ns; }

  private:
    void write_launch(Session const& session) const;
    [[nodiscard]] JsonText start(char const* kind) const;
    void finish(JsonText text) const;
    void append(std::string line) const;
    Comm const& world_;
    std::string workload_, path_, launch_;
    ClockQuality clock_;
    MarkQuality marks_;
    bool polls_;      // a rank that waits for another uses its CPU
    int places_ = 0;  // points so far
    FileWriter files_;
};

// Records why a launch ends before it has a Recorder, with its knobs as given. Every rank may call this: a repeated
// last line is not written again. Errors of writing are ignored; the reason is also on standard error.
void record_early_end(std::string const& path, std::string const& workload, std::string const& launch,
                      std::span<std::string const> words, std::string const& reason, Exit code);

[[nodiscard]] std::string build_text();  // compiler, …: as JSON

}  // namespace octant

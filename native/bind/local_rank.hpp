// The local rank of this process, from the environment variable of the launcher.
#pragma once

#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace octant::bind {

struct RankVariable {
    char const* name;
    char const* launcher;
};

// In the order of precedence. Variables of `mpiexec` come before those of the resource manager: inside an allocation,
// the latter number the tasks that the resource manager started itself.
inline constexpr std::array rank_variables{
    RankVariable{"MPI_LOCALRANKID", "MPICH and Intel MPI (Hydra)"},
    RankVariable{"OMPI_COMM_WORLD_LOCAL_RANK", "Open MPI, and PRRTE for its programs"},
    RankVariable{"MV2_COMM_WORLD_LOCAL_RANK", "MVAPICH"},
    RankVariable{"PALS_LOCAL_RANKID", "PALS (HPE Cray, also under PBS)"},
    RankVariable{"PMI_LOCAL_RANK", "PALS and Cray PMI"},
    RankVariable{"PMIX_LOCAL_RANK", "PMIx launchers that set it"},
    RankVariable{"JSM_NAMESPACE_LOCAL_RANK", "jsrun (LSF)"},
    RankVariable{"FLUX_TASK_LOCAL_ID", "Flux"},
    RankVariable{"SLURM_LOCALID", "Slurm (srun)"},
};

// Variables of the launchers that contain the global rank, in the same order.
inline constexpr std::array global_rank_variables{
    "PMI_RANK",  "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PALS_RANKID",
    "PMIX_RANK", "JSM_NAMESPACE_RANK",   "FLUX_TASK_RANK",      "SLURM_PROCID",
};

inline std::optional<std::size_t> whole_number(std::string_view text) {
    std::size_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// The first variable that contains a number, or null.
inline RankVariable const* local_rank_variable() {
    for (auto const& variable : rank_variables) {
        char const* const text = std::getenv(variable.name);
        if (text != nullptr && whole_number(text)) return &variable;
    }
    return nullptr;
}

// The global rank that the launcher has set, if any.
inline std::optional<std::size_t> global_rank() {
    for (char const* const name : global_rank_variables)
        if (char const* const text = std::getenv(name))
            if (auto const number = whole_number(text)) return number;
    return std::nullopt;
}

}  // namespace octant::bind

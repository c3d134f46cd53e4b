// Verification with a regenerated matrix: HPL's residual, and checks of errors that the residual does not detect.
#pragma once

#include "factors.hpp"
#include "layout.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace hpl {

struct Norms {  // as HPL prints them: of vectors the largest magnitude and their sum, of A the largest sum of each
    double residual, row_sum, column_sum, right_side, unknown, unknowns;
};

struct Errors {
    double residual;    // HPL's: |A x - b| / (eps (|A| |x| + |b|) n), largest row sums and largest numbers
    double factors;     // |A z - P' L U z| / (eps |A| |z| n) for random signs z: the same of the factors alone
    double multiplier;  // the largest magnitude in L below the diagonal: at most 1 if pivots were the largest
    Norms norms{};
};

// Collective over all processes.
[[nodiscard]] Errors errors(Process const& process, std::uint64_t seed, std::span<double const> matrix,
                            std::vector<std::int64_t> const& pivots, std::vector<double> const& x);

}  // namespace hpl

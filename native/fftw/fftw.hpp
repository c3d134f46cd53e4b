// Transforms by FFTW 3, or by what offers its interface.
#pragma once

#include "fftw/files.hpp"
#include "kernels/fft/transform.hpp"

#include <string>
#include <utility>
#include <vector>

namespace octant::fftw {

struct Wish {
    std::string library;          // a name or a path
    std::string effort;           // of planning: estimate, measure, patient
    double patience_s = 1e9;      // that planning may take; it ends somewhat later, with the best plan until then
    bool vectors = true;          // false: FFTW plans without them; refused of other libraries
    bool forgets = true;          // what was learnt from plans before
    std::string ours = "octant";  // what else `library` may be in this workload, for refusals
};

template <class Real>
class Plan {  // of `shape` from `in` to `out`, both of which planning may overwrite. Planning is not for several
              // threads.
  public:
    // Throws Refusal: not found, another interface, too long for it, or it makes no plan.
    Plan(Wish const& wish, fft::Shape const& shape, Real* in, Real* out);
    Plan(Plan&& other) noexcept;
    Plan(Plan const&) = delete;
    Plan& operator=(Plan const&) = delete;
    Plan& operator=(Plan&&) = delete;
    ~Plan();

    void execute() const { execute_(plan_); }
    [[nodiscard]] double planning_s() const noexcept { return planning_s_; }
    // library, library_version and, of FFTW, instructions: those of the pieces of code that the plan consists of.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> const& facts() const noexcept { return facts_; }

  private:
    void* plan_ = nullptr;
    void (*execute_)(void*) = nullptr;
    void (*destroy_)(void*) = nullptr;
    double planning_s_ = 0;
    std::vector<std::pair<std::string, std::string>> facts_;
};

extern template class Plan<double>;
extern template class Plan<float>;

// Instructions in the text of a plan, whose pieces are called n1_16, n1fv_16_avx2, hc2cfdftv_8_sse2, …: "avx2, none".
[[nodiscard]] std::string instructions(std::string const& plan);

}  // namespace octant::fftw

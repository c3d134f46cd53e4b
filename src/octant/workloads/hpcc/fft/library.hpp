// FFTW 3, or what offers its interface, loaded while the program runs.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string>

namespace fft {

class Fftw {  // owns the plan of one transform from `in` to `out`, both of which planning may overwrite
  public:
    // `library`: "fftw" or a path. `effort`: estimate, measure, patient. Throws octant::Refusal: not found, not FFTW 3,
    // too long for it, or it makes no plan. Not for several threads at once.
    Fftw(std::string const& library, std::string const& effort, std::span<std::complex<double>> in,
         std::span<std::complex<double>> out);
    Fftw(Fftw&& other) noexcept;
    Fftw(Fftw const&) = delete;
    Fftw& operator=(Fftw const&) = delete;
    Fftw& operator=(Fftw&&) = delete;
    ~Fftw();

    void execute() const { execute_(plan_); }
    void forget() const { forget_(); }  // what planning has learnt: the next plan is made anew
    [[nodiscard]] std::string const& version() const noexcept { return version_; }

  private:
    void* plan_ = nullptr;
    void (*execute_)(void*) = nullptr;
    void (*destroy_)(void*) = nullptr;
    void (*forget_)() = nullptr;
    std::string version_;
};

}  // namespace fft

#include "library.hpp"

#include "octant/failure.hpp"

#include <dlfcn.h>

#include <limits>
#include <utility>

namespace fft {
namespace {

using octant::Exit;
using octant::Refusal;

void* loaded(std::string const& library) {
    if (library != "fftw" && library.find('/') == std::string::npos && library.find(".so") == std::string::npos)
        throw Refusal("cannot use library=" + library + " (no such choice); try own, fftw or the path of an FFTW 3");
    std::string const file = library == "fftw" ? "libfftw3.so.3" : library;
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays loaded: plans are in it
    if (handle == nullptr) {
        char const* const why = dlerror();
        throw Refusal("cannot load " + file + " (" + (why == nullptr ? "no reason given" : why) +
                          "); try library=own, or the path of libfftw3.so.3",
                      Exit::not_supported);
    }
    return handle;
}

template <class Function>
Function found(void* handle, std::string const& name, std::string const& library) {
    void* const symbol = dlsym(handle, name.c_str());
    if (symbol == nullptr)
        throw Refusal("cannot use library=" + library + " (it has no " + name + "); try library=own",
                      Exit::not_supported);
    return reinterpret_cast<Function>(symbol);
}

unsigned flags_of(std::string const& effort) {  // of fftw3.h
    return effort == "estimate" ? 1U << 6U : effort == "patient" ? 1U << 5U : 0U;
}

}  // namespace

Fftw::Fftw(std::string const& library, std::string const& effort, std::span<std::complex<double>> in,
           std::span<std::complex<double>> out) {
    if (in.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw Refusal("cannot plan a transform of " + std::to_string(in.size()) +
                      " numbers (FFTW's interface has 32-bit lengths); try library=own");
    void* const handle = loaded(library);
    using Make = void* (*)(int n, std::complex<double>*, std::complex<double>*, int sign, unsigned flags);
    auto const make = found<Make>(handle, "fftw_plan_dft_1d", library);
    execute_ = found<void (*)(void*)>(handle, "fftw_execute", library);
    destroy_ = found<void (*)(void*)>(handle, "fftw_destroy_plan", library);
    forget_ = found<void (*)()>(handle, "fftw_forget_wisdom", library);
    auto const* const version = static_cast<char const*>(dlsym(handle, "fftw_version"));
    version_ = version == nullptr ? "unknown" : version;
    constexpr int forward = -1;
    plan_ = make(static_cast<int>(in.size()), in.data(), out.data(), forward, flags_of(effort));
    if (plan_ == nullptr)
        throw Refusal("cannot plan a transform of " + std::to_string(in.size()) + " numbers (" + library +
                          " made no plan); try library=own",
                      Exit::not_supported);
}

Fftw::Fftw(Fftw&& other) noexcept
    : plan_(std::exchange(other.plan_, nullptr)),
      execute_(other.execute_),
      destroy_(other.destroy_),
      forget_(other.forget_),
      version_(std::move(other.version_)) {}

Fftw::~Fftw() {
    if (plan_ != nullptr) destroy_(plan_);
}

}  // namespace fft

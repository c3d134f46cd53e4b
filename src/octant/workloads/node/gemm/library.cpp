#include "library.hpp"

#include "octant/failure.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace gemm {
namespace {

using octant::Exit;
using octant::Refusal;

// The oracle: the definition, its loops ordered so that all accesses are contiguous.
template <class Real>
void plain(int, int, int, int m, int n, int k, Real alpha, Real const* a, int lda, Real const* b, int ldb, Real beta,
           Real* c, int ldc) {
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        for (std::ptrdiff_t j = 0; j < n; ++j) c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
        for (std::ptrdiff_t l = 0; l < k; ++l)
            for (std::ptrdiff_t j = 0; j < n; ++j) c[i * ldc + j] += alpha * a[i * lda + l] * b[l * ldb + j];
    }
}

class Symbols {
  public:
    explicit Symbols(std::string const& path) : path_(path), handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (handle_ == nullptr)
            throw Refusal("cannot load the library " + path + " (" + dlerror() +
                              "); try library=openblas or the path of a CBLAS library",
                          Exit::not_supported);
    }
    // By its plain name or with the prefix that SciPy's builds carry.
    template <class Function>
    [[nodiscard]] Function find(std::string const& name) const {
        for (std::string const prefix : {"", "scipy_"})
            if (void* const symbol = dlsym(handle_, (prefix + name).c_str()); symbol != nullptr)
                return reinterpret_cast<Function>(symbol);
        return nullptr;
    }

  private:
    std::string path_;
    void* handle_;  // stays loaded: libraries keep threads of their own
};

std::string path_of(std::string const& name) {
    if (name.find('/') != std::string::npos || name.find(".so") != std::string::npos) return name;
    if (name != "openblas")
        throw Refusal("cannot use library=" + name +
                      " (no such choice); try plain, openblas or the path of a CBLAS library");
    char const* const path = std::getenv("OCTANT_BLAS");
    if (path == nullptr)
        throw Refusal(
            "cannot find OpenBLAS (the environment variable OCTANT_BLAS is not set); try `octant run gemm`, which sets "
            "it, "
            "or library=/path/to/libopenblas.so",
            Exit::not_supported);
    return path;
}

// True when the library took the number.
bool set_threads(Symbols const& symbols, int threads) {
    using Set = void (*)(int);
    for (char const* name :
         {"openblas_set_num_threads", "MKL_Set_Num_Threads", "bli_thread_set_num_threads", "armpl_set_num_threads"})
        if (auto const set = symbols.find<Set>(name)) {
            set(threads);
            auto const get = symbols.find<int (*)()>("openblas_get_num_threads");
            return get == nullptr || get() == threads;
        }
    return threads == 1;
}

}  // namespace

Library load(std::string const& name, int threads) {
    if (name == "plain") {
        if (threads != 1)
            throw Refusal("cannot use library=plain with threads=" + std::to_string(threads) +
                          " (it has one); try threads=1");
        return {plain<double>, plain<float>, {{"library", "plain"}}};
    }
    std::string const path = path_of(name);
    Symbols const symbols(path);
    Library found{symbols.find<Dgemm>("cblas_dgemm"), symbols.find<Sgemm>("cblas_sgemm"), {{"library", path}}};
    if (found.dgemm == nullptr || found.sgemm == nullptr)
        throw Refusal("cannot use " + path +
                          " (it has no cblas_dgemm and cblas_sgemm with 32-bit integers); try library=openblas",
                      Exit::not_supported);
    if (!set_threads(symbols, threads))
        throw Refusal(
            "cannot set " + std::to_string(threads) + " threads in " + path + "; try threads=1, or OMP_NUM_THREADS",
            Exit::not_supported);
    using Text = char* (*)();
    if (auto const config = symbols.find<Text>("openblas_get_config"))
        found.facts.emplace_back("library_version", config());
    if (auto const core = symbols.find<Text>("openblas_get_corename")) found.facts.emplace_back("library_core", core());
    return found;
}

}  // namespace gemm

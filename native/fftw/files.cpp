#include "fftw/files.hpp"

#include "blas/blas.hpp"
#include "octant/failure.hpp"

#include <algorithm>
#include <string_view>

namespace octant::fftw {
namespace {

struct Known {
    std::string_view name;
    std::vector<std::string> doubles, singles;  // files
    std::string_view get;
};

std::vector<Known> known() {
    std::vector<std::string> const mkl{"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"};
    return {{"fftw", {"libfftw3.so.3"}, {"libfftw3f.so.3"}, "apt-get install libfftw3-double3 libfftw3-single3"},
            {"pyfftw", {}, {}, "pip install pyfftw"},
            {"mkl", mkl, mkl, "pip install mkl"},
            {"armpl", {"libarmpl_lp64.so"}, {"libarmpl_lp64.so"}, "load the module of Arm Performance Libraries"},
            {"nvpl", {"libnvpl_fftw.so.0"}, {"libnvpl_fftw.so.0"}, "pip install nvpl-fft"}};
}

bool is_path(std::string const& library) {
    return library.find('/') != std::string::npos || library.find(".so") != std::string::npos;
}

std::vector<std::string> files_of(std::string const& library, bool single, std::string const& ours, std::string& get) {
    if (is_path(library)) return {library};
    auto const all = known();
    auto const found = std::ranges::find(all, std::string_view(library), &Known::name);
    if (found == all.end()) {
        std::string text;
        for (auto const& name : names()) text += name + ", ";
        throw Refusal("cannot use library=" + library + " (no such choice); try " + ours + ", " + text +
                          "or the path of a library with the FFTW 3 interface",
                      Exit::wrong_word);
    }
    get = found->get;
    std::vector<std::string> files;
    for (char const* const variable : {"OCTANT_FFTW", "OCTANT_BLAS"})
        for (auto const& one : blas::available(variable))
            if (one.name == library || (single && one.name == library + "-single")) files.push_back(one.path);
    auto const& usual = single ? found->singles : found->doubles;
    files.insert(files.end(), usual.begin(), usual.end());
    return files;
}

}  // namespace

std::vector<std::string> names() {
    std::vector<std::string> found;
    for (auto const& one : known()) found.emplace_back(one.name);
    return found;
}

Symbols::Symbols(std::string const& library, bool single, std::string const& ours) : single_(single) {
    std::string get, reason;
    for (auto const& file : files_of(library, single, ours, get)) {
        library_ = SharedLibrary(file, reason);
        if (!library_.loaded()) continue;
        void* const plan = find<void*>("plan_many_dft");
        if (plan == nullptr) {
            reason = file + " has no " + (single ? "fftwf" : "fftw") + "_plan_many_dft";
            continue;
        }
        file_ = file_of(plan);
        if (file_.empty()) file_ = file;
        return;
    }
    throw Refusal("cannot load library=" + library + " (" + (reason.empty() ? "it was not found" : reason) + "); try " +
                      (get.empty() ? "" : get + ", ") + "library=" + ours + ", or the path of a library of " +
                      (single ? "single" : "double") + " precision",
                  Exit::not_supported);
}

void* Symbols::address(std::string const& name) const { return library_.address(name); }

}  // namespace octant::fftw

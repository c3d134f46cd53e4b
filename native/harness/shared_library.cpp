#include "octant/shared_library.hpp"

#include <dlfcn.h>

namespace octant {

SharedLibrary::SharedLibrary(std::string const& file, std::string& reason)
    : handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ != nullptr) return;
    char const* const why = dlerror();
    reason = why == nullptr ? "no reason given" : why;
}

void* SharedLibrary::address(std::string const& symbol) const {
    return handle_ == nullptr ? nullptr : dlsym(handle_, symbol.c_str());
}

std::string file_of(void const* function) {
    Dl_info info{};
    return function != nullptr && dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace octant

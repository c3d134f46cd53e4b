// Start of threads outside of OpenMP.
#pragma once

#include "octant/failure.hpp"

#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace octant {

// Starts a thread that runs `body`. Throws Refusal: refused by the system; `remedy` is a further suggestion.
template <class Body>
[[nodiscard]] std::thread start_thread(Body&& body, std::string const& remedy) {
    try {
        return std::thread(std::forward<Body>(body));
    } catch (std::system_error const& error) {
        throw Refusal("cannot start a thread (" + error.code().message() + "); try " + remedy +
                          ", or higher limits (ulimit -u, ulimit -v)",
                      Exit::not_supported);
    }
}

}  // namespace octant

// Exit codes of our programs. Each has one meaning, in both languages: src/octant/failure.py has the same names and
// numbers.
#pragma once

#include <algorithm>
#include <array>

namespace octant {

enum class Exit : int {
    ok = 0,
    cannot_run = 1,     // a launch failed, or the system refused something
    wrong_word = 2,     // usage error
    not_supported = 3,  // not available on this machine or in this library
    wrong_answer = 4,   // verification failed
    regression = 5,     // `octant compare --gate`
    not_decided = 6,    // `octant compare --gate`
    unfit = 7,          // `octant doctor`
    interrupted = 130
};

// Precedence of codes.
inline constexpr std::array precedence{Exit::interrupted, Exit::wrong_answer,  Exit::regression,
                                       Exit::not_decided, Exit::unfit,         Exit::cannot_run,
                                       Exit::wrong_word,  Exit::not_supported, Exit::ok};

// Returns the code of two outcomes together.
constexpr Exit worst(Exit a, Exit b) {
    return *std::ranges::find_if(precedence, [&](Exit one) { return one == a || one == b; });
}

// Returns the name of a code in records.
constexpr char const* name_of(Exit code) {
    switch (code) {
        case Exit::ok:
            return "ok";
        case Exit::cannot_run:
            return "cannot_run";
        case Exit::wrong_word:
            return "wrong_word";
        case Exit::not_supported:
            return "not_supported";
        case Exit::wrong_answer:
            return "wrong_answer";
        case Exit::regression:
            return "regression";
        case Exit::not_decided:
            return "not_decided";
        case Exit::unfit:
            return "unfit";
        case Exit::interrupted:
            return "interrupted";
    }
    return "";
}

}  // namespace octant

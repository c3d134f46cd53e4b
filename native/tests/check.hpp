// Checks that continue after a failure and print its location. A test program returns `checks.result()` from main.
#pragma once

#include "octant/failure.hpp"

#include <cmath>
#include <cstdio>
#include <source_location>
#include <string>

namespace octant {

class Checks {
  public:
    void that(bool held, std::string const& what, std::source_location at = std::source_location::current()) {
        ++done_;
        if (held) return;
        ++failed_;
        std::fprintf(stderr, "%s:%u: not so: %s\n", at.file_name(), static_cast<unsigned>(at.line()), what.c_str());
    }
    void near(double got, double expected, double tolerance,
              std::source_location at = std::source_location::current()) {
        that(std::abs(got - expected) <= tolerance,
             "got " + std::to_string(got) + ", expected " + std::to_string(expected) + " to " +
                 std::to_string(tolerance),
             at);
    }
    // `body` must be refused with a text that contains `part`.
    template <class Body>
    void refused(Body const& body, std::string const& part, std::source_location at = std::source_location::current()) {
        try {
            body();
            that(false, "nothing was refused, expected: " + part, at);
        } catch (Refusal const& refusal) {
            that(std::string(refusal.what()).find(part) != std::string::npos,
                 "'" + std::string(refusal.what()) + "' does not contain '" + part + "'", at);
        }
    }
    [[nodiscard]] int result() const {
        std::fprintf(stderr, "%d checks, %d failed\n", done_, failed_);
        return failed_ == 0 && done_ > 0 ? 0 : 1;
    }

  private:
    int done_ = 0, failed_ = 0;
};

}  // namespace octant

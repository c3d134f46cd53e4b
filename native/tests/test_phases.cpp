// Marks count and time the parts of a sample; switched off they leave nothing.
#include "octant/phases.hpp"

#include "check.hpp"

namespace {

using octant::Marks;

void pass(std::int64_t ns) { octant::spin_until(octant::now_ns() + ns); }

void nested(octant::Checks& checks) {
    Marks marks({"solve", "solve/part"}, 10);
    marks.switch_on(true);
    for (int sample = 0; sample < 2; ++sample) {
        marks.start();
        {
            auto const solve = marks.mark(0);
            checks.that(marks.current() == "solve", "the phase that is open");
            for (int i = 0; i < 3; ++i) {
                auto const part = marks.mark(1);
                checks.that(marks.current() == "solve/part", "the inner one");
                pass(100'000);
            }
            checks.that(marks.current() == "solve", "and the outer one again");
            std::int64_t const begin = octant::now_ns();
            pass(5'000'000);
            marks.exclude(octant::now_ns() - begin);
        }
        marks.keep(6'000'000);
    }
    auto const& solve = marks.series()[0];
    auto const& part = marks.series()[1];
    checks.that(solve.entries == std::vector<std::int64_t>{1, 1}, "entries of each sample");
    checks.that(part.entries == std::vector<std::int64_t>{3, 3}, "also of what was entered thrice");
    checks.that(part.ns[0] >= 300'000 && solve.ns[0] >= part.ns[0], "times include nested phases");
    checks.that(solve.ns[0] - part.ns[0] < 5'000'000, "what is excluded is in no phase");
    checks.near(marks.share(60), 4 * 60 / 6e6, 1e-12);  // four marks in the quickest sample, of 6 ms
}

void off(octant::Checks& checks) {
    Marks marks({"solve"}, 10);
    marks.start();
    { auto const mark = marks.mark(0); }
    marks.keep(1000);
    checks.that(marks.series()[0].ns.empty() && marks.current().empty(), "switched off: no sample");
    marks.switch_on(true);
    marks.start();
    marks.keep(1000);
    checks.that(marks.series()[0].entries == std::vector<std::int64_t>{0}, "a phase that was not entered");
}

}  // namespace

int main() {
    octant::Checks checks;
    nested(checks);
    off(checks);
    auto const quality = octant::measure_marks();
    checks.that(quality.empty_ns > 0 && quality.mark_ns > quality.empty_ns, "a mark costs more than it reads");
    return checks.result();
}

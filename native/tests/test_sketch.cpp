// Bins against values worked out by hand; the error; addition.
#include "octant/sketch.hpp"

#include "check.hpp"
#include "json.hpp"

#include <cmath>

namespace {

using octant::Json;
using octant::Sketch;

Json written(Sketch const& sketch) {
    octant::JsonText text;
    sketch.write(text);
    return Json::parse(text.text());
}

double middle(std::size_t bin) {
    return std::ldexp(1 + (static_cast<double>(bin % 256) + 0.5) / 256, static_cast<int>(bin / 256));
}

}  // namespace

int main() {
    octant::Checks checks;
    checks.that(Sketch::bin(1) == 0 && Sketch::bin(2) == 256 && Sketch::bin(3) == 256 + 128, "small values");
    checks.that(Sketch::bin(257) == 8 * 256 + 1 && Sketch::bin(514) == 9 * 256 + 1, "8 bits of mantissa");
    checks.that(Sketch::bin(515) == Sketch::bin(514) && Sketch::bin(516) == Sketch::bin(514) + 1, "and no more");
    checks.that(Sketch::bin(INT64_MAX) == Sketch::bins - 1, "the largest");
    for (std::int64_t value = 300; value < (std::int64_t{1} << 50); value = value * 5 / 3 + 7) {
        double const exact = static_cast<double>(value);
        checks.that(std::abs(middle(Sketch::bin(value)) - exact) <= 0.002 * exact, "within 0.2 %");
    }
    Sketch one, other;
    for (std::int64_t const value : {0, 2, 2, 3}) one.insert(value);
    checks.that(written(one) == Json::parse(R"({"bits":8,"count":4,"zero":1,"bins":[[256,[2]],[384,[1]]]})"), "runs");
    for (std::int64_t const value : {1024, 1028}) other.insert(value);
    auto const more = other.counts();
    for (std::size_t i = 0; i < more.size(); ++i) one.counts()[i] += more[i];
    checks.that(written(one)["count"] == 6, "merged by addition");
    checks.that(written(one)["bins"][2] == Json::parse("[2560,[1,1]]"), "neighbours are one run");
    return checks.result();
}

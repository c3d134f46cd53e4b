#include "setting.hpp"

#include <algorithm>

namespace hpcc {

Division::Division(unsigned bits, int places)
    : bits_(bits),
      places_(static_cast<Word>(places)),
      each_((Word{1} << bits) / places_),
      rest_((Word{1} << bits) % places_) {}

int Teams::of(int place) const noexcept {
    return static_cast<int>(std::ranges::upper_bound(first, place) - first.begin()) - 1;
}

}  // namespace hpcc

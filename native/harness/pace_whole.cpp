// Whole repetitions: each lasts long, or cannot be repeated at once; each is verified.
#include "octant/noise.hpp"
#include "pace.hpp"

#include <algorithm>

namespace octant {

void Whole::burst(Window const& window) {
    Lane& lane = found_.lanes[0];
    lane.cpu = current_cpu();
    pause_until(window.start_ns, job_.settings.share_cores);
    std::int64_t const begin = now_ns();
    watch_.begin();
    restart_intervals();
    sample();
    lane.taken = watch_.end();
    collect(1);
    keep_greatest(found_.checks, verified(job_.kernel, job_.context.world.rank()));
    longest_ns_ = std::max(longest_ns_, now_ns() - begin);
}

}  // namespace octant

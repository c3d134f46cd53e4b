#include "octant/context.hpp"

#include "octant/clock.hpp"
#include "octant/failure.hpp"

#include <omp.h>

namespace octant {

void Context::claim(double bytes) {
    if (pages.pool_page_bytes > 0) return;  // pools are not part of what is available, and refuse by themselves
    if (bytes > static_cast<double>(memory_left_bytes))
        throw Refusal("cannot use " + std::to_string(static_cast<std::int64_t>(bytes / (1 << 20))) +
                          " MiB more memory (" + std::to_string(memory_left_bytes >> 20) +
                          " MiB are left of this rank's share of what is available); try a smaller size",
                      Exit::not_supported);
    memory_left_bytes -= static_cast<std::int64_t>(bytes);
}

void Context::on_each_thread(std::function<void(int)> const& body) const {
    std::string failure;
#pragma omp parallel num_threads(threads)
    {
        try {
            body(omp_get_thread_num());
        } catch (std::exception const& error) {
#pragma omp critical
            failure = error.what();
        }
    }
    if (!failure.empty()) throw Refusal(failure);
}

void Context::progress(double share) {
    if (progress_file != nullptr) progress_file->write(share, marks.current());
}

double Context::seconds_of(std::function<void()> const& body) const {
    std::int64_t const begin = now_ns();
    body();
    return static_cast<double>(now_ns() - begin) * 1e-9;
}

void Context::synchronise() {
    std::int64_t const begin = now_ns();
    octant::synchronise(group, sync == Sync::none ? Sync::dissemination : sync);
    marks.exclude(now_ns() - begin);
}

std::string const& Context::scratch() const {
    expects(scratch_folder != nullptr);
    return scratch_folder->folder();
}

void synchronise(Comm const& comm, Sync method) {
    switch (method) {
        case Sync::none:
            return;
        case Sync::barrier:
            comm.barrier();
            return;
        case Sync::dissemination:
            comm.dissemination_barrier();
            return;
        case Sync::clock:
            spin_until(comm.broadcast(now_ns() + slack_ns(comm)));
            return;
    }
}

}  // namespace octant

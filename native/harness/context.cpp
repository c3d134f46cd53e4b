#include "octant/context.hpp"

#include "octant/clock.hpp"
#include "octant/failure.hpp"

#include <omp.h>

#include <cmath>
#include <exception>
#include <random>

namespace octant {

namespace {

void take(std::int64_t& left, double bytes, char const* what) {
    if (bytes > static_cast<double>(left))
        throw Refusal("cannot use " + std::to_string(static_cast<std::int64_t>(bytes / (1 << 20))) + " MiB more " +
                          what + " (" + std::to_string(left >> 20) +
                          " MiB are left of this rank's share of what is available); try a smaller size",
                      Exit::not_supported);
    left -= static_cast<std::int64_t>(bytes);
}

}  // namespace

void Context::claim(double bytes) {
    if (pages.pool_page_bytes == 0) return claim_outside(bytes);
    auto const page = static_cast<double>(pages.pool_page_bytes);
    take(pool_left_bytes, std::ceil(bytes / page) * page, "memory of this huge-page pool");
}

void Context::claim_outside(double bytes) { take(memory_left_bytes, bytes, "memory"); }

bool Context::draws(std::size_t bytes) const {
    if (layout == Layout::given || bytes == 0) return false;
    auto const whole = static_cast<std::int64_t>(bytes), each = whole / threads, l2 = cache_bytes(2);
    bool const fits = each <= l2, enough = whole <= memory_left_bytes / static_cast<std::int64_t>(Mapping::pool_factor);
    if (layout == Layout::random && !(fits && enough))
        throw Refusal("cannot select random pages for " + std::to_string(each) + " B per thread (" +
                          (fits     ? "it takes " + std::to_string(Mapping::pool_factor) + " times the memory"
                           : l2 > 0 ? "L2 has " + std::to_string(l2) + " B"
                                    : "the size of the L2 cache is unknown") +
                          "); try a smaller size, or layout=given",
                      Exit::not_supported);
    return fits && enough;
}

// Each thread touches its part: equal parts in a row, as kernels divide their buffers.
void Context::draw(Mapping const& mapping) {
    auto const parts = static_cast<std::size_t>(threads);
    std::size_t const bytes = mapping.size();
    on_each_thread([&](int lane) {
        auto const part = static_cast<std::size_t>(lane);
        mapping.draw_pages(bytes * part / parts, bytes * (part + 1) / parts, std::random_device{}());
    });
    drawn = true;
}

void Context::note_rounded(std::int64_t asked_bytes, std::int64_t used_bytes) {
    if (asked_bytes != used_bytes)
        notes.emplace_back("rounded", std::to_string(asked_bytes) + " B to " + std::to_string(used_bytes) + " B");
}

void Context::on_each_thread(std::function<void(int)> const& body) const {
    std::exception_ptr failure;  // of the thread that failed first, with its type and its exit code
#pragma omp parallel num_threads(threads)
    {
        try {
            body(omp_get_thread_num());
        } catch (...) {  // an exception must not leave the parallel region
#pragma omp critical
            if (!failure) failure = std::current_exception();
        }
    }
    if (failure) std::rethrow_exception(failure);
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

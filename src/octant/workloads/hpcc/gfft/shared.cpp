#include "part.hpp"

#include "octant/failure.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

namespace gfft {
namespace {

// Numbers of a ticket are few enough that the last rank is not waited for long, and whole groups of lines.
constexpr std::int64_t tickets_of_rank = 16;

constexpr std::size_t line_bytes = 64;

}  // namespace

Shared::Shared(Share& share) : share_(share), dynamic_(share.context.knobs.word("lines") == "dynamic") {
    share.context.claim_outside(static_cast<double>((2 * share.in() + share.out()) * sizeof(Number)) + 4 * line_bytes);
}

void Shared::set_up() {
    octant::Comm const& group = share_.context.group;
    std::size_t const more = share_.rank == 0 ? line_bytes : 0;
    for (auto* window : {&x_, &work_, &y_}) {
        bool const last = window == &y_;
        window->emplace(group, (last ? share_.out() : share_.in()) * sizeof(Number) + more, true);
        (*window)->touch(group);
        std::span<Number> const mine{all(**window) + (last ? share_.first_out() : share_.first_in()),
                                     last ? share_.out() : share_.in()};
        std::ranges::fill(mine, Number(0));  // each page where the rank is that owns it
        share_.context.watched.emplace_back(std::as_bytes(mine));
    }
    counters_.emplace(group, line_bytes);
    counters_->touch(group);
    std::ranges::fill(counters_->mine(), std::byte{0});
    counters_->publish(group);
}

Number* Shared::all(octant::NodeWindow const& window) {
    void* at = window.of(0).data();  // aligned to a page; but MPICH takes the window of a rank alone from the heap
    std::size_t room = window.of(0).size();
    return static_cast<Number*>(std::align(line_bytes, 1, at, room));
}

std::int64_t& Shared::counter(std::size_t which) const {
    return reinterpret_cast<std::int64_t*>(counters_->of(0).data())[which];
}

template <class Body>
void Shared::each(Split const& split, std::size_t which, Body const& body) const {
    if (!dynamic_) return body(split.first(share_.rank), split.size(share_.rank));
    std::int64_t const lines = split.first(share_.ranks), mine = lines / share_.ranks;
    std::int64_t const lanes = share_.plan.lanes();
    std::int64_t const ticket = std::max<std::int64_t>(1, mine / tickets_of_rank / lanes) * lanes;
    std::atomic_ref<std::int64_t> const next(counter(which));
    for (std::int64_t first = next.fetch_add(ticket); first < lines; first = next.fetch_add(ticket))
        body(first, std::min(ticket, lines - first));
}

void Shared::columns(std::int64_t first, std::int64_t lines) const {
    std::int64_t const pitch = share_.plan.columns();
    share_.plan.transform_columns({doubles(all(*x_) + first), pitch, doubles(all(*work_) + first), pitch}, first, lines,
                                  share_.streaming, share_.scratch.data());
}

void Shared::rows(std::int64_t first, std::int64_t lines) const {
    std::int64_t const pitch = share_.plan.columns();
    share_.plan.transform_rows(
        {doubles(all(*work_) + first * pitch), pitch, doubles(all(*y_) + first), share_.plan.rows()}, lines,
        share_.streaming, share_.scratch.data());
}

// The first rank resets each counter while no rank uses it.
void Shared::forward() {
    octant::Context& context = share_.context;
    {
        auto const mark = context.phase(pass_columns);
        if (share_.rank == 0) std::atomic_ref(counter(1)).store(0);
        each(share_.columns, 0, [this](std::int64_t first, std::int64_t lines) { columns(first, lines); });
    }
    {
        auto const mark = context.phase(exchange);
        work_->publish(context.group);
    }
    {
        auto const mark = context.phase(pass_rows);
        if (share_.rank == 0) std::atomic_ref(counter(0)).store(0);
        each(share_.rows, 1, [this](std::int64_t first, std::int64_t lines) { rows(first, lines); });
    }
    auto const mark = context.phase(exchange);
    y_->publish(context.group);
}

}  // namespace gfft

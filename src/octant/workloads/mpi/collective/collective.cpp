#include "collective.hpp"

#include "algorithms.hpp"
#include "kernels/random.hpp"
#include "octant/mpi_features.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

namespace collective {
namespace {

constexpr std::int64_t max_requests = 4096;
constexpr std::size_t line_bytes = 64;

octant::Refusal combination_refusal(Pattern const& pattern, std::string const& form, std::string const& hint) {
    return octant::Refusal(
        "cannot run " + std::string(pattern.name) + " with " + form + " (no such combination); try " + hint,
        octant::Exit::not_supported);
}

std::vector<std::string> algorithm_names() {
    std::vector<std::string> names = {"library"};
    for (auto const& one : algorithms())
        if (std::ranges::find(names, one.name) == names.end()) names.emplace_back(one.name);
    return names;
}

CallForm call_form_of(octant::Knobs const& knobs) {
    std::string const& word = knobs.word("call");
    return word == "blocking"     ? CallForm::blocking
           : word == "persistent" ? CallForm::persistent
                                  : CallForm::nonblocking;
}

// nullptr: the library. Throws Refusal where the pattern has no such algorithm.
octant::Algorithm const* algorithm_of(octant::Knobs const& knobs, Pattern const& pattern, bool in_order) {
    std::string const& name = knobs.word("algorithm");
    if (name == "library") return nullptr;
    if (call_form_of(knobs) != CallForm::blocking)
        throw combination_refusal(pattern, "algorithm=" + name + " call=" + knobs.word("call"), "call=blocking");
    for (auto const& one : algorithms())
        if (one.pattern == pattern.name && one.name == name) {
            if (in_order && !one.ordered)
                throw octant::Refusal(
                    "cannot reduce matrices with algorithm=" + name + " (it changes the order of operands); try op=sum",
                    octant::Exit::not_supported);
            return &one;
        }
    std::string known = "library";
    for (auto const& one : algorithms())
        if (one.pattern == pattern.name) known += " or " + std::string(one.name);
    throw combination_refusal(pattern, "algorithm=" + name, "algorithm=" + known);
}

// Number of elements in `bytes`; if the ranks divide them evenly, a multiple of the number of ranks.
std::size_t count_of(octant::Context& context, Pattern const& pattern, std::size_t element_bytes) {
    if (&pattern == &barrier) return 0;
    auto const asked = context.knobs.integer("bytes");
    std::size_t count = static_cast<std::size_t>(asked) / element_bytes;
    if (pattern.divides && !pattern.uneven) count -= count % place(context.group.size());
    context.note_rounded(asked, many(count * element_bytes));
    return count;
}

std::vector<int> as_int(std::vector<std::size_t> const& counts, std::size_t factor) {
    std::vector<int> result;
    for (std::size_t const count : counts) result.push_back(static_cast<int>(count * factor));
    return result;
}

std::vector<std::size_t> begins(std::vector<std::size_t> const& counts) {
    std::vector<std::size_t> result;
    for (std::size_t i = 0, at = 0; i < counts.size(); at += counts[i++]) result.push_back(at);
    return result;
}

}  // namespace

std::vector<std::size_t> block_counts(std::string const& kind, std::size_t total, std::size_t size,
                                      std::uint64_t seed) {
    std::vector<std::size_t> counts(size, total / size);
    if (kind == "equal" || size == 1) {
        for (std::size_t i = 0; i < total % size; ++i) ++counts[i];
        return counts;
    }
    octant::Random random(seed);
    if (kind == "linear") {
        for (std::size_t i = 0; i < size; ++i) counts[i] = total / size * 2 * i / (size - 1);
        counts[size - 1] += total - sum(counts);
        for (std::size_t i = size - 1; i > 0; --i) std::swap(counts[i], counts[random.below(i + 1)]);
        return counts;
    }
    std::ranges::fill(counts, total / size / 2);
    counts[random.below(size)] += total - sum(counts);
    return counts;
}

octant::KernelInfo Collective::info() {
    using octant::KnobKind;
    return {
        .knobs = {{"bytes",
                   KnobKind::bytes,
                   "8",
                   "block size per rank (mean if counts differ), or size of the reduced vector",
                   {},
                   0,
                   std::int64_t{1} << 50},
                  {"type", KnobKind::word, "float", "element type", {"float", "double", "int", "byte"}},
                  {"op",
                   KnobKind::word,
                   "sum",
                   "reduction operation; matrix: product of 2 x 2 matrices modulo 1000000007 (not commutative)",
                   {"sum", "max", "matrix"}},
                  {"root",
                   KnobKind::word,
                   "0",
                   "root of rooted operations; rotating: a different root in each call",
                   {"0", "rotating"}},
                  {"inplace", KnobKind::word, "no", "MPI_IN_PLACE", {"no", "yes"}},
                  {"call",
                   KnobKind::word,
                   "blocking",
                   "nonblocking: alone and overlapped with computation of the same duration; persistent: initialised "
                   "once, started in each step",
                   {"blocking", "nonblocking", "persistent"}},
                  {"test",
                   KnobKind::word,
                   "none",
                   "interval of MPI_Test during the overlapped computation",
                   {"none", "10us", "50us", "200us"}},
                  {"counts",
                   KnobKind::word,
                   "equal",
                   "block sizes of v and w variants and reduce-scatter: linear: 0 to twice the mean; one-heavy: half "
                   "the mean on all ranks but one",
                   {"equal", "linear", "one-heavy"}},
                  {"seed", KnobKind::integer, "1", "seed of the assignment of counts to ranks"},
                  {"neighbours",
                   KnobKind::word,
                   "grid",
                   "neighbourhood: grid: periodic Cartesian grid; graph: receive from the previous three ranks, send "
                   "to the next three",
                   {"grid", "graph"}},
                  {"algorithm", KnobKind::word, "library",
                   "library: the MPI library's algorithm; others: built on point-to-point messages", algorithm_names()},
                  {"buffers",
                   KnobKind::word,
                   "hot",
                   "hot: the same buffer in each call; rotating: a buffer that is not in the caches",
                   {"hot", "rotating"}},
                  {"rotation", KnobKind::bytes, "64MiB", "memory size of rotating buffers", {}, 4096}},
        .pace = octant::Pace::steps,
        .phases = {"pure", "compute", "overlapped", "overlapped/compute", "overlapped/wait"}};
}

std::optional<octant::Refusal> Collective::refusal(Pattern const& pattern, int ranks, octant::Knobs const& knobs) {
    if (pattern.reduces)
        if (auto const refusal = Contents::refusal(knobs, ranks)) return refusal;
    return octant::refusal_of([&] {
        auto const* const chosen = algorithm_of(knobs, pattern, pattern.reduces && knobs.word("op") == "matrix");
        int const power = own::power_below(ranks);
        if (chosen != nullptr && chosen->power_of_two && power != ranks)
            throw octant::Refusal("cannot use algorithm=" + std::string(chosen->name) + " on " + std::to_string(ranks) +
                                      " ranks (it needs a power of two); try groups=first:" + std::to_string(power),
                                  octant::Exit::not_supported);
    });
}

Collective::Collective(octant::Context& context, Pattern const& pattern)
    : context_(context),
      group_(context.group),
      pattern_(pattern),
      contents_(context.knobs, pattern.reduces, context.group.size()),
      call_form_(call_form_of(context.knobs)),
      algorithm_(algorithm_of(context.knobs, pattern, pattern.reduces && context.knobs.word("op") == "matrix")),
      in_place_(context.knobs.word("inplace") == "yes"),
      count_(count_of(context, pattern, contents_.bytes())),
      counts_(block_counts(context.knobs.word("counts"), pattern.divides ? count_ : count_ * place(group_.size()),
                           place(group_.size()), static_cast<std::uint64_t>(context.knobs.integer("seed")))),
      in_stride_(stride(&Layout::in)),
      out_stride_(stride(&Layout::out)),
      slots_(context.knobs.word("buffers") == "hot"
                 ? 1
                 : std::max<std::size_t>(
                       2, static_cast<std::size_t>(context.knobs.integer("rotation")) / (in_stride_ + out_stride_))),
      in_(context.buffer<std::byte>(slots_ * in_stride_)),
      out_(context.buffer<std::byte>(slots_ * out_stride_)) {
    constexpr double max_scratch = 3;  // copies of a buffer
    if (algorithm_ != nullptr)
        context.claim_outside(max_scratch * static_cast<double>(std::max(in_stride_, out_stride_)));
    if (pattern.large && OCTANT_HAS_LARGE_COUNTS == 0)
        throw octant::not_in_library(&pattern == &bcast_c ? "MPI_Bcast_c" : "MPI_Allreduce_c");
    if (in_place_ && !may_be_in_place()) throw combination_refusal(pattern, "inplace=yes", "inplace=no");
    if ((call_form_ == CallForm::nonblocking && pattern.start == nullptr) ||
        (call_form_ == CallForm::persistent && pattern.set_up == nullptr))
        throw combination_refusal(pattern, "call=" + context.knobs.word("call"), "call=blocking");
    if (call_form_ != CallForm::nonblocking) context.without_phases();
    // Sums of zeros stay what they are, however often they are added up in place.
    std::byte const content{pattern.reduces ? std::uint8_t{0} : std::uint8_t{1}};
    std::ranges::fill(in_.span(), content);
    std::ranges::fill(out_.span(), content);
    context.watched = {in_.mapping().bytes(), out_.mapping().bytes()};
    as_root_ = lists(layout(group_.rank(), in_place_));
    as_another_ = lists(layout(another(), in_place_));
}

Collective::~Collective() {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
}

bool Collective::may_be_in_place() const { return pattern_.in_place != InPlace::never; }

Shape Collective::shape(int root, bool in_place) const {
    bool const graph = context_.knobs.word("neighbours") == "graph";
    return {group_.rank(), group_.size(), root, count_, counts_, in_place, graph ? graph_neighbours : grid_neighbours};
}

// Bytes from one buffer to the next: the longest that any root, in place or not, asks for, and a line to tell what is
// written beyond it.
std::size_t Collective::stride(std::size_t Layout::*length) const {
    std::size_t most = 0;
    for (int const root : {group_.rank(), another()}) {
        most = std::max(most, layout(root, false).*length);
        if (may_be_in_place()) most = std::max(most, layout(root, true).*length);
    }
    std::size_t const bytes = most * contents_.bytes();
    if (!pattern_.large && (pattern_.by_type ? bytes : most) > INT_MAX)
        throw octant::Refusal("cannot count " + std::to_string(most) + " elements (the limit of this call is " +
                                  std::to_string(INT_MAX) + "); try fewer bytes, pattern=bcast-c or allreduce-c",
                              octant::Exit::not_supported);
    return (bytes + line_bytes - 1) / line_bytes * line_bytes + line_bytes;
}

// The calls of one step have one root.
int Collective::root_of(std::int64_t turn) const {
    return rotates() ? static_cast<int>(turn / calls() % group_.size()) : 0;
}

std::int64_t Collective::turns() const { return many(slots_) * (rotates() ? calls() * group_.size() : 1); }

void Collective::set_up() {
    if (pattern_.neighbours) make_topology();
    if (call_form_ == CallForm::persistent) make_requests();
    choose(0);
    if (algorithm_ != nullptr) scratch_.resize(algorithm_->scratch_bytes(call_));
    if (algorithm_ != nullptr && algorithm_->set_up != nullptr) algorithm_->set_up(call_, scratch_);
    if (call_form_ == CallForm::nonblocking)
        overlap_.emplace(context_, context_.knobs.word("test"), [this] { execute_run(); });
}

void Collective::make_topology() {
    Shape const mine = shape(0, false);
    Neighbours const found = mine.neighbours(mine.rank, mine.size);
    MPI_Comm made = MPI_COMM_NULL;
    if (found.dims.empty()) {
        octant::check(MPI_Dist_graph_create_adjacent(
            group_.get(), static_cast<int>(found.sources.size()), found.sources.data(), MPI_UNWEIGHTED,
            static_cast<int>(found.targets.size()), found.targets.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
    } else {
        std::vector<int> const periodic(found.dims.size(), 1);
        octant::check(MPI_Cart_create(group_.get(), static_cast<int>(found.dims.size()), found.dims.data(),
                                      periodic.data(), 0, &made));
        std::string text;
        for (int const length : found.dims) text += (text.empty() ? "" : " x ") + std::to_string(length);
        context_.notes.emplace_back("grid", text);
    }
    topology_.emplace(made);
}

// One for each buffer and root: a persistent request is bound to its arguments.
void Collective::make_requests() {
    slots_ = static_cast<std::size_t>(-group_.max(-many(slots_)));
    if (turns() > max_requests)
        throw octant::Refusal("cannot keep " + std::to_string(turns()) + " persistent requests (at most " +
                                  std::to_string(max_requests) + "); try more bytes, or buffers=hot",
                              octant::Exit::not_supported);
    for (std::int64_t turn = 0; turn < turns(); ++turn) {
        bool const root = root_of(turn) == group_.rank();
        MPI_Request request = MPI_REQUEST_NULL;
        octant::check(pattern_.set_up(call_of(root ? as_root_ : as_another_, turn, in_place_), &request));
        requests_.push_back(request);
    }
}

Lists Collective::lists(Layout const& layout) const {
    std::size_t const unit = pattern_.by_type ? contents_.bytes() : 1;
    Lists made{.in_counts = as_int(layout.in_counts, 1),
               .in_at = as_int(begins(layout.in_counts), unit),
               .out_counts = as_int(layout.out_counts, 1),
               .out_at = as_int(begins(layout.out_counts), unit)};
    if (!pattern_.by_type) return made;
    made.in_bytes_at.assign(made.in_at.begin(), made.in_at.end());
    made.out_bytes_at.assign(made.out_at.begin(), made.out_at.end());
    made.types.assign(std::max(made.in_at.size(), made.out_at.size()), contents_.type());
    return made;
}

Call Collective::call_of(Lists const& lists, std::int64_t turn, bool in_place) const {
    std::size_t const slot = static_cast<std::size_t>(turn) % slots_;
    int const root = root_of(turn);
    bool const is_root = root == group_.rank();
    bool const own_block = pattern_.uneven && !pattern_.reduces;
    std::size_t const count = own_block ? counts_[place(group_.rank())] : count_;
    Call call{.comm = topology_ ? topology_->get() : group_.get(),
              .in = in_.data() + slot * in_stride_,
              .out = out_.data() + slot * out_stride_,
              .count = static_cast<int>(std::min<std::size_t>(count, INT_MAX)),
              .large_count = static_cast<MPI_Count>(count),
              .type = contents_.type(),
              .op = contents_.op(),
              .root = root,
              .in_counts = lists.in_counts,
              .in_at = lists.in_at,
              .out_counts = lists.out_counts,
              .out_at = lists.out_at,
              .types = lists.types,
              .in_bytes_at = lists.in_bytes_at,
              .out_bytes_at = lists.out_bytes_at};
    if (!in_place) return call;
    if (pattern_.in_place == InPlace::everywhere || (pattern_.in_place == InPlace::at_root && is_root))
        call.in = MPI_IN_PLACE;
    if (pattern_.in_place == InPlace::out_at_root && is_root) call.out = MPI_IN_PLACE;
    return call;
}

void Collective::choose(std::int64_t turn) {
    call_ = call_of(root_of(turn) == group_.rank() ? as_root_ : as_another_, turn, in_place_);
    if (call_form_ == CallForm::persistent) request_ = requests_[static_cast<std::size_t>(turn % turns())];
}

void Collective::start() { octant::check(pattern_.start(call_, &request_)); }

// The operation alone.
void Collective::execute_run() {
    switch (call_form_) {
        case CallForm::blocking:
            if (algorithm_ != nullptr)
                algorithm_->run(call_, scratch_);
            else
                octant::check(pattern_.run(call_));
            return;
        case CallForm::nonblocking:
            start();
            break;
        case CallForm::persistent:
            octant::check(MPI_Start(&request_));
            break;
    }
    octant::check(MPI_Wait(&request_, MPI_STATUS_IGNORE));
}

void Collective::step() {
    if (call_form_ != CallForm::nonblocking) return execute_run();
    {
        auto const mark = context_.phase(pure);
        execute_run();
    }
    context_.synchronise();
    {
        auto const mark = context_.phase(computing);
        overlap_->compute();
    }
    choose(turn_++);
    context_.synchronise();
    auto const mark = context_.phase(whole);
    start();
    {
        auto const inner = context_.phase(whole_computing);
        overlap_->compute_and_test(request_);
    }
    auto const inner = context_.phase(whole_wait);
    octant::check(MPI_Wait(&request_, MPI_STATUS_IGNORE));
}

// Bytes of each rank, as the mean over the roots.
octant::Counts Collective::work(std::size_t) const {
    if (&pattern_ == &barrier) return {};
    auto const bytes = static_cast<std::int64_t>(contents_.bytes());
    std::int64_t const others = group_.size() - 1, roots = rotates() ? group_.size() : 1;
    auto const mean = [&](std::int64_t Layout::*elements) {
        std::int64_t const as_first = layout(0, in_place_).*elements;
        if (roots == 1) return bytes * as_first;
        std::int64_t const all =
            bytes * (layout(group_.rank(), in_place_).*elements + others * (layout(another(), in_place_).*elements));
        return all / roots + (group_.rank() < all % roots ? 1 : 0);
    };
    return {{"bytes_sent", mean(&Layout::sent)},
            {"bytes_read", mean(&Layout::read)},
            {"bytes_written", mean(&Layout::written)}};
}

}  // namespace collective

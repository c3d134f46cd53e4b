// One collective operation, called, timed and verified: what all rows of this program share.
#pragma once

#include "contents.hpp"
#include "kernels/pattern.hpp"
#include "octant/kernel.hpp"
#include "overlap.hpp"
#include "pattern.hpp"

#include <optional>
#include <string>
#include <vector>

namespace collective {

// Octant's algorithms over point-to-point messages, by pattern and name: the choices of the knob `algorithm` in
// addition to `library`.
[[nodiscard]] std::span<octant::Algorithm const> algorithms();

// Elements of each rank's block, `total` together: "equal"; "linear", from 0 to twice the mean in an order that the
// seed draws; "one-heavy", half the mean for all but one, which the seed draws.
[[nodiscard]] std::vector<std::size_t> block_counts(std::string const& kind, std::size_t total, std::size_t size,
                                                    std::uint64_t seed);

// Errors of a library, injected by tests: the contribution of a rank is missing, a block is replaced by another one,
// all data are those of the first rank, the order of the operands is reversed.
enum class Spoilt { not_at_all, without_last, other_block, only_first, reversed };

enum class CallForm { blocking, nonblocking, persistent };

// The lists of one call, which must outlive it.
struct Lists {
    std::vector<int> in_counts, in_at, out_counts, out_at;
    std::vector<MPI_Aint> in_bytes_at = {}, out_bytes_at = {};
    std::vector<MPI_Datatype> types = {};
};

class Collective {
  public:
    Collective(octant::Context& context, Pattern const& pattern);
    Collective(Collective const&) = delete;
    Collective& operator=(Collective const&) = delete;
    ~Collective();

    static octant::KernelInfo info();
    // Why a group of so many ranks cannot carry out the pattern with these knobs; nothing where it can.
    static std::optional<octant::Refusal> refusal(Pattern const& pattern, int ranks, octant::Knobs const& knobs);
    void set_up();
    void prepare() { choose(turn_++); }
    void step();
    [[nodiscard]] octant::Counts work(std::size_t role) const;
    octant::Results verify();
    // Checks 0 to 3 spoil the result. From 4 on, blocks of 16 KiB are already too long to be looked at from end to end:
    // 4 spoils nothing, 5 to 8 spoil as 0 to 3 do.
    void corrupt(std::size_t check) {
        spoilt_ = static_cast<Spoilt>((1 + check) % 5);
        if (check > 3) max_whole_ = std::size_t{16} << 10U;
    }

  private:
    [[nodiscard]] Shape shape(int root, bool in_place) const;
    [[nodiscard]] Layout layout(int root, bool in_place) const { return pattern_.layout(shape(root, in_place)); }
    [[nodiscard]] int another() const { return group_.rank() == 0 ? group_.size() - 1 : 0; }  // rank, if there is one
    [[nodiscard]] bool may_be_in_place() const;
    [[nodiscard]] std::size_t stride(std::size_t Layout::*length) const;
    [[nodiscard]] bool rotates() const { return pattern_.rooted && context_.knobs.word("root") == "rotating"; }
    [[nodiscard]] std::int64_t calls() const { return call_form_ == CallForm::nonblocking ? 2 : 1; }  // of one step
    [[nodiscard]] int root_of(std::int64_t turn) const;
    [[nodiscard]] std::int64_t turns() const;  // before buffers and root are the same again
    void make_topology();
    void make_requests();
    [[nodiscard]] Lists lists(Layout const& layout) const;
    [[nodiscard]] Call call_of(Lists const& lists, std::int64_t turn, bool in_place) const;
    void choose(std::int64_t turn);
    void start();
    void execute_run();
    void check_pass(int pass, octant::Mismatch& found, std::int64_t& compared);
    void check_barrier(octant::Mismatch& found);
    void spoil(Layout const& layout, std::byte* out, int pass) const;
    void poison(Layout const& layout, std::byte* out, int pass) const;
    void compare(Layout const& layout, std::byte const* out, int pass, octant::Mismatch& found) const;
    void compare_piece(Block const& piece, std::size_t length, std::byte const* out, int pass,
                       octant::Mismatch& found) const;
    [[nodiscard]] std::vector<Block> checked_parts(Block const& block) const;
    void fill_input(std::byte* to, Block const& input, std::vector<std::size_t> const& counts, int pass) const;

    octant::Context& context_;
    octant::Comm const& group_;
    Pattern const& pattern_;
    Contents contents_;
    CallForm call_form_;
    octant::Algorithm const* algorithm_;
    bool in_place_;
    std::size_t count_;
    std::vector<std::size_t> counts_;
    std::size_t in_stride_, out_stride_, slots_;
    octant::Buffer<std::byte> in_, out_;
    std::vector<std::byte> scratch_;
    std::optional<octant::Comm> topology_;
    Lists as_root_{}, as_another_{};
    std::vector<MPI_Request> requests_;  // persistent ones, by turn
    Call call_{};
    MPI_Request request_ = MPI_REQUEST_NULL;
    std::int64_t turn_ = 0;
    std::optional<Overlap> overlap_;
    Spoilt spoilt_ = Spoilt::not_at_all;
    std::size_t max_whole_ = std::size_t{1} << 30U;  // longest block that is compared completely, bytes
};

}  // namespace collective

// Rows whose step is the operations of a pattern and their completion.
#include "rows.hpp"

#include "transfers.hpp"

namespace onesided {
namespace {

template <Pattern pattern>
class Transfer {
  public:
    static octant::KernelInfo info() { return common_info(); }
    explicit Transfer(octant::Context& context) : transfers_(context, pattern) {}
    void set_up() { transfers_.set_up(); }
    void step() { transfers_.step(); }
    [[nodiscard]] std::size_t role(int) const { return transfers_.role(); }
    [[nodiscard]] octant::Counts work(std::size_t role) const { return transfers_.work(role); }
    octant::Results verify() { return transfers_.verify(); }
    void corrupt(std::size_t fault) { transfers_.corrupt(fault); }

  private:
    Transfers transfers_;
};

template <Pattern pattern>
octant::Row row(char const* name) {
    return octant::row<Transfer<pattern>>(name);
}

}  // namespace

std::vector<octant::Row> transfer_rows() {
    using enum Shape;
    using enum Operation;
    return {row<Pattern{pair, put}>("put"),
            row<Pattern{pair, get}>("get"),
            row<Pattern{both, put}>("bidirectional-put"),
            row<Pattern{both, get}>("bidirectional-get"),
            row<Pattern{pair, put, true}>("put-local"),
            row<Pattern{pair, get, true}>("get-local"),
            row<Pattern{one_to_all, put, true}>("put-all-local"),
            row<Pattern{one_to_all, get, true}>("get-all-local"),
            row<Pattern{one_to_all, put}>("one-put-all"),
            row<Pattern{one_to_all, get}>("one-get-all"),
            row<Pattern{all_to_all, put}>("all-put-all"),
            row<Pattern{all_to_all, get}>("all-get-all"),
            row<Pattern{neighbours, put}>("exchange-put"),
            row<Pattern{neighbours, get}>("exchange-get"),
            row<Pattern{pair, accumulate}>("accumulate"),
            row<Pattern{all_to_one, accumulate}>("all-accumulate"),
            row<Pattern{pair, get_accumulate}>("get-accumulate"),
            row<Pattern{pair, fetch_and_op}>("fetch-and-op"),
            row<Pattern{pair, compare_and_swap}>("compare-and-swap"),
            row<Pattern{all_to_one, fetch_and_op}>("counter")};
}

}  // namespace onesided

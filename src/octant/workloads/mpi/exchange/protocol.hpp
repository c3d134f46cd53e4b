// An exchange between two processes, and the table of all ways to write it.
#pragma once

#include "octant/context.hpp"
#include "octant/mpi.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace exchange {

struct Pair {  // one side of two ranks, both of which send and receive `bytes`
    MPI_Comm comm;
    int me, peer;
    int bytes;
    int sent;                // bytes, unless a fault makes messages shorter
    std::uint8_t *out, *in;  // `bytes` of each
    std::uint8_t* other;     // a second `in`, for a receive that is posted while the first is read
    bool silent = false;     // a fault: no notification
};

class Protocol {  // opened and closed by both sides together
  public:
    explicit Protocol(Pair const& pair) : pair_(pair) {}
    Protocol(Protocol const&) = delete;
    Protocol& operator=(Protocol const&) = delete;
    virtual ~Protocol() = default;
    // Returns when what the other side sends in this exchange has arrived.
    virtual void exchange() = 0;
    [[nodiscard]] virtual std::uint8_t* outgoing() const { return pair_.out; }
    [[nodiscard]] virtual std::uint8_t* arrived() const { return pair_.in; }  // in the last exchange
    virtual void settle() {}  // between own reads or writes of a window and those of the other side

  protected:
    Pair const pair_;
};

struct Way {
    std::string name;
    std::unique_ptr<Protocol> (*open)(Pair const& pair);
    char const* missing_call = "";  // that the library does not have
};

template <class Kind>
std::unique_ptr<Protocol> open(Pair const& pair) {
    return std::make_unique<Kind>(pair);
}

// Two-sided calls that leave nothing behind; requests that are made once; puts and gets into windows.
[[nodiscard]] std::vector<Way> two_sided();
[[nodiscard]] std::vector<Way> with_requests();
[[nodiscard]] std::vector<Way> one_sided();

// Empty messages both ways: what each side did before is done when the other goes on.
void notify(Pair const& pair);

// The first rank of a group and its last; the others are idle.
class Partners {
  public:
    explicit Partners(octant::Context const& context);
    [[nodiscard]] bool play() const noexcept { return group_.rank() == 0 || group_.rank() == group_.size() - 1; }
    [[nodiscard]] bool first() const noexcept { return group_.rank() == 0; }
    [[nodiscard]] int world() const noexcept { return world_; }      // rank of this side
    [[nodiscard]] int world_peer() const noexcept { return peer_; }  // rank of the other side
    // A communicator of the two, in the order of the group; both call it.
    [[nodiscard]] octant::Comm communicator() const;

  private:
    octant::Comm const& group_;
    int world_, peer_;
};

[[nodiscard]] octant::KernelInfo common_info();

}  // namespace exchange

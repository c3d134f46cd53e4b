// Puts and gets into a window of the other side. An exchange ends when both sides have what was meant for them, so
// locks, which only the origin knows of, need a notification: after a put, before a get.
#include "octant/failure.hpp"
#include "protocol.hpp"

#include <algorithm>
#include <cstring>

namespace exchange {
namespace {

using octant::check;

enum class Moves { puts, gets };

template <Moves moves>
class OneSided : public Protocol {
  public:
    explicit OneSided(Pair const& pair) : Protocol(pair) {
        check(MPI_Win_allocate(pair.bytes, 1, MPI_INFO_NULL, pair.comm, static_cast<void*>(&base_), &window_));
        std::fill_n(base_, pair.bytes, std::uint8_t{0});  // by its owner
    }
    ~OneSided() override { MPI_Win_free(&window_); }
    [[nodiscard]] std::uint8_t* outgoing() const override { return moves == Moves::gets ? base_ : pair_.out; }
    [[nodiscard]] std::uint8_t* arrived() const override { return moves == Moves::puts ? base_ : pair_.in; }

  protected:
    void move() const {
        if constexpr (moves == Moves::puts)
            check(MPI_Put(pair_.out, pair_.sent, MPI_BYTE, pair_.peer, 0, pair_.sent, MPI_BYTE, window_));
        else
            check(MPI_Get(pair_.in, pair_.sent, MPI_BYTE, pair_.peer, 0, pair_.sent, MPI_BYTE, window_));
    }
    void notify_before() const {
        if (moves == Moves::gets) notify(pair_);
    }
    void notify_after() const {
        if (moves == Moves::puts) notify(pair_);
    }
    std::uint8_t* base_ = nullptr;
    MPI_Win window_ = MPI_WIN_NULL;
};

template <Moves moves>
class Fence final : public OneSided<moves> {
  public:
    using OneSided<moves>::OneSided;
    void exchange() override {
        check(MPI_Win_fence(MPI_MODE_NOPRECEDE, this->window_));
        this->move();
        check(MPI_Win_fence(MPI_MODE_NOSUCCEED, this->window_));
    }
};

template <Moves moves>
class Pscw final : public OneSided<moves> {
  public:
    explicit Pscw(Pair const& pair) : OneSided<moves>(pair) {
        MPI_Group both = MPI_GROUP_NULL;
        check(MPI_Comm_group(pair.comm, &both));
        check(MPI_Group_incl(both, 1, &pair.peer, &other_));
        check(MPI_Group_free(&both));
    }
    ~Pscw() override { MPI_Group_free(&other_); }
    void exchange() override {
        check(MPI_Win_post(other_, 0, this->window_));
        check(MPI_Win_start(other_, 0, this->window_));
        this->move();
        check(MPI_Win_complete(this->window_));
        check(MPI_Win_wait(this->window_));
    }

  private:
    MPI_Group other_ = MPI_GROUP_NULL;
};

template <Moves moves>
class Lock final : public OneSided<moves> {
  public:
    using OneSided<moves>::OneSided;
    void exchange() override {
        this->notify_before();
        check(MPI_Win_lock(MPI_LOCK_SHARED, this->pair_.peer, 0, this->window_));
        this->move();
        check(MPI_Win_unlock(this->pair_.peer, this->window_));
        this->notify_after();
    }
    void settle() override {
        check(MPI_Win_lock(MPI_LOCK_SHARED, this->pair_.me, 0, this->window_));
        check(MPI_Win_sync(this->window_));
        check(MPI_Win_unlock(this->pair_.me, this->window_));
    }
};

template <Moves moves>
class Flush final : public OneSided<moves> {
  public:
    explicit Flush(Pair const& pair) : OneSided<moves>(pair) { check(MPI_Win_lock_all(0, this->window_)); }
    ~Flush() override { MPI_Win_unlock_all(this->window_); }
    void exchange() override {
        this->notify_before();
        this->move();
        check(MPI_Win_flush(this->pair_.peer, this->window_));
        this->notify_after();
    }
    void settle() override { check(MPI_Win_sync(this->window_)); }
};

// No call of MPI moves the message: each side stores it into the other's part of shared memory.
class SharedStore final : public Protocol {
  public:
    explicit SharedStore(Pair const& pair) : Protocol(pair) {
        MPI_Comm node = MPI_COMM_NULL;
        check(MPI_Comm_split_type(pair.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
        if (octant::Comm(node).size() != 2)
            throw octant::Refusal(
                "cannot use protocol=shared-store (the two ranks are on different nodes); try protocol=put-flush",
                octant::Exit::not_supported);
        MPI_Info info = MPI_INFO_NULL;
        check(MPI_Info_create(&info));
        check(MPI_Info_set(info, "alloc_shared_noncontig", "true"));  // pages of its own for each side
        check(
            MPI_Win_allocate_shared(std::max(pair.bytes, 1), 1, info, pair.comm, static_cast<void*>(&base_), &window_));
        check(MPI_Info_free(&info));
        MPI_Aint size = 0;
        int unit = 1;
        check(MPI_Win_shared_query(window_, pair.peer, &size, &unit, static_cast<void*>(&theirs_)));
        std::fill_n(base_, pair.bytes, std::uint8_t{0});
        check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_));
    }
    ~SharedStore() override {
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }
    [[nodiscard]] std::uint8_t* arrived() const override { return base_; }
    void exchange() override {
        std::memcpy(theirs_, pair_.out, static_cast<std::size_t>(pair_.sent));
        check(MPI_Win_sync(window_));
        notify(pair_);
        check(MPI_Win_sync(window_));
    }
    void settle() override { check(MPI_Win_sync(window_)); }

  private:
    std::uint8_t *base_ = nullptr, *theirs_ = nullptr;
    MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace

std::vector<Way> one_sided() {
    return {{"put-fence", open<Fence<Moves::puts>>}, {"put-pscw", open<Pscw<Moves::puts>>},
            {"put-lock", open<Lock<Moves::puts>>},   {"put-flush", open<Flush<Moves::puts>>},
            {"get-fence", open<Fence<Moves::gets>>}, {"get-pscw", open<Pscw<Moves::gets>>},
            {"get-lock", open<Lock<Moves::gets>>},   {"get-flush", open<Flush<Moves::gets>>},
            {"shared-store", open<SharedStore>}};
}

}  // namespace exchange

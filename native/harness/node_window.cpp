#include "octant/node_window.hpp"

#include "octant/failure.hpp"

namespace octant {

NodeWindow::NodeWindow(Comm const& comm, std::size_t bytes, bool contiguous) : rank_(comm.rank()) {
    if (comm.max(static_cast<std::int64_t>(comm.size() - comm.node().size())) > 0)
        throw Refusal("cannot share memory between the ranks (they are on several nodes); try transport=messages",
                      Exit::not_supported);
    MPI_Info info = MPI_INFO_NULL;
    check(MPI_Info_create(&info));
    check(MPI_Info_set(info, "alloc_shared_noncontig", contiguous ? "false" : "true"));
    std::byte* data = nullptr;
    int const code =
        MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, info, comm.get(), static_cast<void*>(&data), &handle_);
    check(MPI_Info_free(&info));
    check(code);
    for (int rank = 0; rank < comm.size(); ++rank) {
        MPI_Aint size = 0;
        int unit = 0;
        std::byte* begin = nullptr;
        check(MPI_Win_shared_query(handle_, rank, &size, &unit, static_cast<void*>(&begin)));
        parts_.emplace_back(begin, static_cast<std::size_t>(size));
    }
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, handle_));
}

void NodeWindow::publish(Comm const& comm) const {
    check(MPI_Win_sync(handle_));
    comm.barrier();
    check(MPI_Win_sync(handle_));
}

NodeWindow::~NodeWindow() {
    if (handle_ == MPI_WIN_NULL) return;
    MPI_Win_unlock_all(handle_);
    MPI_Win_free(&handle_);
}

}  // namespace octant

#include "window.hpp"

#include "octant/failure.hpp"

namespace onesided {

void check_ranks(octant::Comm const& comm, std::string const& kind) {
    if (kind == "shared" && comm.node().size() != comm.size())
        throw octant::Refusal("cannot create a shared window (the ranks are on several nodes); try win=allocate",
                              octant::Exit::not_supported);
}

Window::Window(octant::Comm const& comm, std::string const& kind, std::byte* memory, std::size_t bytes)
    : data_(memory), begins_(static_cast<std::size_t>(comm.size())) {
    auto const size = static_cast<MPI_Aint>(bytes);
    if (kind == "create")
        octant::check(MPI_Win_create(memory, size, 1, MPI_INFO_NULL, comm.get(), &handle_));
    else if (kind == "allocate")
        octant::check(MPI_Win_allocate(size, 1, MPI_INFO_NULL, comm.get(), static_cast<void*>(&data_), &handle_));
    else if (kind == "shared")
        make_shared(comm, bytes);
    else
        make_dynamic(comm, bytes);
}

// Each rank's part on pages of its own, which it touches first.
void Window::make_shared(octant::Comm const& comm, std::size_t bytes) {
    MPI_Info info = MPI_INFO_NULL;
    octant::check(MPI_Info_create(&info));
    octant::check(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
    int const code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, info, comm.get(),
                                             static_cast<void*>(&data_), &handle_);
    octant::check(MPI_Info_free(&info));
    octant::check(code);
}

void Window::make_dynamic(octant::Comm const& comm, std::size_t bytes) {
    octant::check(MPI_Win_create_dynamic(MPI_INFO_NULL, comm.get(), &handle_));
    octant::check(MPI_Win_attach(handle_, data_, static_cast<MPI_Aint>(bytes)));
    MPI_Aint mine = 0;
    octant::check(MPI_Get_address(data_, &mine));
    octant::check(MPI_Allgather(&mine, 1, MPI_AINT, begins_.data(), 1, MPI_AINT, comm.get()));
}

void Window::free() {
    if (handle_ != MPI_WIN_NULL) octant::check(MPI_Win_free(&handle_));
}

Window::~Window() {
    if (handle_ != MPI_WIN_NULL) MPI_Win_free(&handle_);
}

}  // namespace onesided

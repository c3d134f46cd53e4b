! The same program for the three Fortran bindings: -DMPIF, -DUSE_MPI, or -DUSE_F08.
#ifdef USE_F08
#define COMMUNICATOR type(MPI_Comm)
#define REQUEST_TYPE type(MPI_Request)
#define DATATYPE_TYPE type(MPI_Datatype)
#define WINDOW_TYPE type(MPI_Win)
#define STATUS_TYPE type(MPI_Status)
#else
#define COMMUNICATOR integer
#define REQUEST_TYPE integer
#define DATATYPE_TYPE integer
#define WINDOW_TYPE integer
#define STATUS_TYPE integer, dimension(MPI_STATUS_SIZE)
#endif

module truth
  implicit none
  integer :: unit = -1
contains
  subroutine open_truth(rank)
    integer, intent(in) :: rank
    character(len=1024) :: folder
    character(len=16) :: name
    integer :: length
    call get_environment_variable("TRUTH", folder, length)
    if (length == 0) return
    write (name, "(a,i0)") "rank-", rank
    open (newunit=unit, file=trim(folder)//"/"//trim(name), status="replace", action="write")
  end subroutine
  subroutine note(name, bytes, line)
    character(len=*), intent(in) :: name
    integer, intent(in) :: bytes, line
    if (unit == -1) return
    write (unit, "(3a,i0,a,i0,a)") '{"call": "MPI_', name, '", "bytes": ', bytes, ', "line": ', line, &
      ', "function": "", "file": "fortran.F90", "communicator": "", "region": ""}'
  end subroutine
  subroutine message(kind, peer, bytes)
    character(len=*), intent(in) :: kind
    integer, intent(in) :: peer, bytes
    if (unit == -1) return
    write (unit, "(a,i0,3a,i0,a)") '{"peer": ', peer, ', "kind": "', kind, '", "bytes": ', bytes, '}'
  end subroutine
end module

program fortran
#ifdef USE_F08
  use mpi_f08
#endif
#ifdef USE_MPI
  use mpi
#endif
  use truth
  implicit none
#ifdef MPIF
  include "mpif.h"
#endif
  integer :: rank, ranks, partner, i, error, length, extent, first
  integer, parameter :: tag = 7
  double precision :: values(100), others(1600)
  integer :: counts(16), places(16), outcome(2)
  logical :: flag
  COMMUNICATOR :: copy
  REQUEST_TYPE :: requests(2)
  DATATYPE_TYPE :: pair
  WINDOW_TYPE :: window
  STATUS_TYPE :: status
  character(len=MPI_MAX_OBJECT_NAME) :: name
  integer(kind=MPI_ADDRESS_KIND) :: displacement

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call open_truth(rank)
  call note("Init", 0, __LINE__ - 3)
  call note("Comm_rank", 0, __LINE__ - 3)
  call note("Comm_size", 0, __LINE__ + 1)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  partner = ieor(rank, 1)
  values = 1
  do i = 1, 10
    if (mod(rank, 2) == 0) then
      call message("sent", partner, 800)
      call note("Send", 800, __LINE__ + 1)
      call MPI_Send(values, 100, MPI_DOUBLE_PRECISION, partner, tag, MPI_COMM_WORLD, error)
      call message("received", partner, 80)
      call note("Recv", 80, __LINE__ + 1)
      call MPI_Recv(others, 100, MPI_DOUBLE_PRECISION, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    else
      call message("received", partner, 800)
      call note("Recv", 800, __LINE__ + 1)
      call MPI_Recv(others, 100, MPI_DOUBLE_PRECISION, partner, tag, MPI_COMM_WORLD, status, error)
      call message("sent", partner, 80)
      call note("Ssend", 80, __LINE__ + 1)
      call MPI_Ssend(values, 10, MPI_DOUBLE_PRECISION, partner, tag, MPI_COMM_WORLD, error)
    end if
  end do
  call note("Send", 0, __LINE__ + 1)
  call MPI_Send(values, 100, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, tag, MPI_COMM_WORLD, error)
  do i = 1, 20
    call message("received", partner, 40)
    call note("Irecv", 40, __LINE__ + 1)
    call MPI_Irecv(others, 10, MPI_INTEGER, partner, tag, MPI_COMM_WORLD, requests(1), error)
    call message("sent", partner, 40)
    call note("Isend", 40, __LINE__ + 1)
    call MPI_Isend(values, 10, MPI_INTEGER, partner, tag, MPI_COMM_WORLD, requests(2), error)
    if (mod(i, 2) == 0) then
      call note("Waitall", 0, __LINE__ + 1)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    else
      call note("Wait", 0, __LINE__ + 1)
      call MPI_Wait(requests(1), status, error)
      flag = .false.
      do while (.not. flag)
        call note("Test", 0, __LINE__ + 1)
        call MPI_Test(requests(2), flag, MPI_STATUS_IGNORE, error)
      end do
    end if
  end do
  call message("sent", partner, 16)
  call message("received", partner, 16)
  call note("Sendrecv", 16, __LINE__ + 1)
  call MPI_Sendrecv(values, 2, MPI_DOUBLE_PRECISION, partner, tag, others, 2, MPI_DOUBLE_PRECISION, partner, tag, MPI_COMM_WORLD, status, error)
  call note("Bcast", merge(8, 0, rank == 0), __LINE__ + 1)
  call MPI_Bcast(values, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
  call note("Allreduce", 24, __LINE__ + 1)
  call MPI_Allreduce(MPI_IN_PLACE, values, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call note("Allgather", 8, __LINE__ + 1)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, others, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error)
  do i = 1, ranks
    counts(i) = 2
    places(i) = 2 * (i - 1)
  end do
  call note("Alltoallv", 16 * ranks, __LINE__ + 1)
  call MPI_Alltoallv(values, counts, places, MPI_DOUBLE_PRECISION, others, counts, places, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error)
  call note("Alltoallv", 16 * ranks, __LINE__ + 1)
  call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_DATATYPE_NULL, others, counts, places, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error)
  call note("Comm_dup", 0, __LINE__ + 1)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, error)
  call note("Comm_set_name", 0, __LINE__ + 1)
  call MPI_Comm_set_name(copy, "copy of all", error)
  call note("Comm_get_name", 0, __LINE__ + 1)
  call MPI_Comm_get_name(copy, name, length, error)
  if (name(1:length) /= "copy of all") stop 1
  call note("Barrier", 0, __LINE__ + 1)
  call MPI_Barrier(copy, error)
  call note("Comm_free", 0, __LINE__ + 1)
  call MPI_Comm_free(copy, error)
  call note("Type_contiguous", 0, __LINE__ + 1)
  call MPI_Type_contiguous(2, MPI_INTEGER, pair, error)
  call note("Type_commit", 0, __LINE__ + 1)
  call MPI_Type_commit(pair, error)
  call note("Type_size", 0, __LINE__ + 1)
  call MPI_Type_size(pair, extent, error)
  call note("Allreduce", 4, __LINE__ + 1)
  call MPI_Allreduce(extent, first, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
  if (first /= 8) stop 2
  call note("Gather", 8, __LINE__ + 1)
  call MPI_Gather(counts, 1, pair, places, 1, pair, 0, MPI_COMM_WORLD, error)
  call note("Type_free", 0, __LINE__ + 1)
  call MPI_Type_free(pair, error)
  displacement = 16
  call note("Win_create", 0, __LINE__ + 1)
  call MPI_Win_create(outcome, displacement / 2, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, error)
  call note("Win_fence", 0, __LINE__ + 1)
  call MPI_Win_fence(0, window, error)
  call message("put", partner, 4)
  call note("Put", 4, __LINE__ + 2)
  displacement = 1
  call MPI_Put(rank, 1, MPI_INTEGER, partner, displacement, 1, MPI_INTEGER, window, error)
  call note("Win_fence", 0, __LINE__ + 1)
  call MPI_Win_fence(0, window, error)
  if (outcome(2) /= partner) stop 3
  call note("Win_free", 0, __LINE__ + 1)
  call MPI_Win_free(window, error)
  if (rank == 0) print "(a)", "done"
  call note("Finalize", 0, __LINE__ + 1)
  call MPI_Finalize(error)
end program

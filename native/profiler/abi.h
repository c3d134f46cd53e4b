// What the profiler knows about the MPI library of this process: its entry points, and the representation of handles,
// statuses and constants. Three binary interfaces are supported: the standard ABI of MPI 5.0, MPICH and Open MPI. The
// interface is selected at the first call of MPI; libmpi is not linked.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// An argument of any MPI call in C: an integer, a pointer or a handle. Each occupies one register or one 8-byte slot of
// the stack on all supported processors, and is passed on without interpretation.
typedef intptr_t octant_slot;

// Returns the profiling entry point (PMPI_…) of a call, and selects the interface at the first use. Ends the process
// with a message if the library has no such function.
void* octant_function(int call);

// Size of a datatype in bytes; 0 for MPI_DATATYPE_NULL.
uint64_t octant_type_bytes(octant_slot datatype);

// Number of a communicator, window or file in the table of the profile; 0 is MPI_COMM_WORLD, 1 MPI_COMM_SELF.
int octant_communicator(octant_slot handle);
int octant_window(octant_slot handle);
int octant_file(octant_slot handle);
// The handle was freed, or made by a call: `parent` is the communicator that it was made from.
void octant_communicator_freed(octant_slot handle);
void octant_communicator_made(octant_slot handle, int parent);

// Rank in MPI_COMM_WORLD of a rank of the communicator (of the remote group of an intercommunicator); -1 for
// MPI_PROC_NULL, MPI_ANY_SOURCE, MPI_ROOT, and if it is not known.
int octant_world_rank(int communicator, int rank);
int octant_communicator_size(int communicator);  // ranks that an element of a vector collective has
int octant_communicator_rank(int communicator);  // of this process

bool octant_is_proc_null(int rank);
bool octant_is_in_place(void const* buffer);  // also of the Fortran bindings
bool octant_is_null_request(octant_slot request);
octant_slot octant_load_handle(void const* handles, int index);  // element of an array of handles

enum { octant_status_bytes_max = 64 };
bool octant_ignores_status(void const* status);  // MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE
int octant_status_size(void);
int octant_status_source(void const* status);
uint64_t octant_received_bytes(void const* status);  // PMPI_Get_count of MPI_BYTE; 0 if it is undefined or cancelled
bool octant_is_undefined(int value);                 // MPI_UNDEFINED

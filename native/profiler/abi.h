// What the profiler knows about the MPI library of this process: its entry points, and the representation of handles,
// statuses and constants. Three binary interfaces are supported: the standard ABI of MPI 5.0, MPICH and Open MPI. The
// interface is selected at the first call of MPI; libmpi is not linked.
#pragma once

#include "calls.h"
#include "profile_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// An argument of any MPI call in C: an integer, a pointer or a handle. Each occupies one register or one 8-byte slot of
// the stack on all supported processors, and is passed on without interpretation.
typedef intptr_t octant_slot;

enum { octant_status_bytes_max = 64 };

// Constants of the selected interface. Handles are compared after `& handle_mask`, because the upper half of a slot
// with an `int` is undefined.
struct octant_interface {
    enum octant_abi abi;
    uintptr_t handle_mask;            // of all handles except MPI_File
    unsigned handle_bytes;            // of all handles except MPI_File
    int status_bytes, status_source;  // size of MPI_Status, offset of MPI_SOURCE
    int proc_null, any_source, root, undefined;
    uintptr_t world, self, comm_null, request_null, byte, datatype_null, win_null, file_null;
    uintptr_t in_place, status_ignore, statuses_ignore;
    uintptr_t fortran_in_place[4], fortran_status_ignore[4];  // addresses of variables of the Fortran bindings; 0: none
};
extern struct octant_interface octant_interface;

// Added to the number of a call, it denotes the function of the large-count variant: MPI_Send_c.
enum { octant_large = 512 };

extern char const* const octant_call_names[octant_large];  // "MPI_Send", by number (calls.inc); null: no such number
extern void* octant_functions[octant_max_calls];
void* octant_find_function(int number);

// Returns the function to which a call of the program is passed on: that of the next loaded library (another tool, or
// libmpi), else PMPI_…. Selects the interface at the first use. Ends the process with a message if there is none.
static inline void* octant_function(int number) {
    void* const function = __atomic_load_n(&octant_functions[number], __ATOMIC_ACQUIRE);
    return __builtin_expect(function != NULL, 1) ? function : octant_find_function(number);
}
bool octant_has_library(void);               // a library of MPI is loaded
void octant_restore_weak_references(void);   // weak.c
void octant_select_interface(void);          // idempotent; done by octant_find_function as well
// After the selection: whether the handles and constants of the library are known. If not, all calls are passed on.
extern int octant_splits_waits;  // a barrier precedes blocking collectives: the same in all processes of a program
static inline bool octant_is_supported(void) { return octant_interface.abi != octant_abi_unknown; }
void* octant_find_symbol(char const* name);  // in the MPI library, or in a library that is loaded after the profiler
// Function of the MPI library for calls by the profiler itself (name: "PMPI_Comm_size"); null: the library has none.
void* octant_own_function(char const* name);

// Size of a datatype in bytes; 0 for MPI_DATATYPE_NULL. Call it after the MPI call has succeeded, or not at all if the
// count is 0: an invalid datatype would be reported a second time.
uint64_t octant_find_type_bytes(uintptr_t datatype);
struct octant_type_size {
    uintptr_t datatype;  // 0: not in use
    uint64_t bytes;
};
enum { octant_type_sizes = 512 };
extern struct octant_type_size octant_type_table[octant_type_sizes];
static inline unsigned octant_hash(uintptr_t key, unsigned bits) {
    return (unsigned)(((uint64_t)key * 0x9E3779B97F4A7C15u) >> (64 - bits));
}
static inline uint64_t octant_type_bytes(octant_slot datatype) {
    uintptr_t const key = (uintptr_t)datatype & octant_interface.handle_mask;
    struct octant_type_size const* const entry = &octant_type_table[octant_hash(key, 9)];
    if (__builtin_expect(__atomic_load_n(&entry->datatype, __ATOMIC_ACQUIRE) == key, 1)) {
        uint64_t const bytes = __atomic_load_n(&entry->bytes, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&entry->datatype, __ATOMIC_RELAXED) == key) return bytes;
    }
    return octant_find_type_bytes(key);
}
// MPI_Type_free: call it before the handle is freed, also while recording is disabled. A later type may have the
// handle.
void octant_type_freed(octant_slot datatype);

// Number of a communicator, window or file in the table of the profile; 0 is MPI_COMM_WORLD, 1 MPI_COMM_SELF.
int octant_find_communicator(uintptr_t handle);
static inline int octant_communicator(octant_slot handle) {
    uintptr_t const key = (uintptr_t)handle & octant_interface.handle_mask;
    return __builtin_expect(key == octant_interface.world, 1) ? 0 : octant_find_communicator(key);
}
int octant_window(octant_slot handle);
int octant_file(octant_slot handle);

// The following are called by the wrappers also while recording is disabled: the identity of a communicator is the
// number of those of the same group that were made before it, which has to be equal in all processes. Null handles are
// ignored. `parent` is the number of the communicator that it was made from; -1: none.
void octant_communicator_made(octant_slot handle, int parent);
void octant_communicator_duplicated(octant_slot handle, int parent);  // MPI_Comm_dup and MPI_Comm_idup: same group
void octant_window_made(octant_slot handle, int parent);
void octant_file_made(octant_slot handle, int parent, char const* name);
// Before the handle is freed.
void octant_communicator_freed(octant_slot handle);
void octant_window_freed(octant_slot handle);
void octant_file_freed(octant_slot handle);
void octant_set_name(int number, char const* name);  // MPI_Comm_set_name, MPI_Win_set_name
void octant_session_made(octant_slot session);       // gives the ranks of programs without MPI_COMM_WORLD

// lifetime.c calls it after MPI_Init: the entries of MPI_COMM_WORLD and MPI_COMM_SELF.
void octant_number_predefined(void);
void octant_read_world(int* rank, int* ranks, int* thread_level);  // -1, 0, 0: not known

// Rank in MPI_COMM_WORLD of a rank of the communicator (of the remote group of an intercommunicator); -1 for
// MPI_PROC_NULL, MPI_ANY_SOURCE, MPI_ROOT, and if it is not known.
int octant_find_world_rank(int communicator, int rank);
static inline int octant_world_rank(int communicator, int rank) {
    if (rank < 0) return -1;  // so are all of these constants in all interfaces
    return communicator == 0 ? rank : octant_find_world_rank(communicator, rank);
}
int octant_communicator_size(int communicator);  // ranks that an element of a vector collective has
int octant_communicator_rank(int communicator);  // of this process

static inline bool octant_is_proc_null(int rank) { return rank == octant_interface.proc_null; }
static inline bool octant_is_undefined(int value) { return value == octant_interface.undefined; }
bool octant_is_fortran_in_place(void const* buffer);
static inline bool octant_is_in_place(void const* buffer) {  // also of the Fortran bindings
    if ((uintptr_t)buffer == octant_interface.in_place) return true;
    return octant_interface.fortran_in_place[0] != 0 && octant_is_fortran_in_place(buffer);
}
static inline bool octant_is_null_request(octant_slot request) {
    return ((uintptr_t)request & octant_interface.handle_mask) == octant_interface.request_null;
}
static inline octant_slot octant_load_handle(void const* handles, int index) {  // element of an array of handles
    if (octant_interface.handle_bytes == 4) return ((int32_t const*)handles)[index];
    return ((octant_slot const*)handles)[index];
}

static inline bool octant_ignores_status(void const* status) {  // MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE
    return (uintptr_t)status == octant_interface.status_ignore || status == NULL;
}
static inline int octant_status_size(void) { return octant_interface.status_bytes; }
static inline int octant_status_source(void const* status) {
    return *(int const*)((char const*)status + octant_interface.status_source);
}
uint64_t octant_received_bytes(void const* status);  // PMPI_Get_count of MPI_BYTE; 0 if it is undefined

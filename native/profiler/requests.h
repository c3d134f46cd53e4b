// Requests between the call that starts them and the call that completes them.
#pragma once

#include "record.h"

enum octant_request_flag {
    octant_request_receives = 1,     // a message: its sender is in the status
    octant_request_counts = 2,       // bytes of the status are charged to the call that started it
    octant_request_persistent = 4,   // remains after completion
    octant_request_sized = 8,        // a receive whose sender and bytes are known in advance
    octant_request_cancelled = 16,   // MPI_Cancel was called
    octant_request_sends = 32,       // persistent: each start sends a message to `peer`
    octant_request_untracked = 64,   // generalised requests: no call started it
};

struct octant_request {
    uintptr_t handle;    // 0: not in use
    uint64_t sequence;   // of all requests of the process
    struct octant_entry* entry;  // of the call that started it; null: there was no room for one
    uint64_t start;      // ticks; 0: inactive
    uint64_t polled;     // ticks of Test calls that did not complete it
    uint64_t bytes;      // persistent: of each start
    int peer;            // rank in MPI_COMM_WORLD that a persistent send or a sized receive has; -1: none
    int communicator;
    unsigned flags;
    unsigned further;    // requests with this handle that the same call site has started: MPICH shares one for complete sends
};

// Numbers of requests. They are read without a lock.
struct octant_request_state {
    uint64_t sequence;  // of the latest request
    uint64_t count;     // in the table
    uint64_t statuses;  // of these, that need the status of their completion
    int is_locked;      // several threads may call MPI at the same time
};
extern struct octant_request_state octant_request_state;

// Adds a request that a call has returned; `template` has entry, start, bytes, peer, communicator and flags.
void octant_add_request(octant_slot handle, struct octant_request const* template);
void octant_forget_request(octant_slot handle);  // MPI_Request_free: before the call
void octant_cancel_request(octant_slot handle);
// Bytes and peer of the next start of a persistent request; false: it is not known.
bool octant_find_persistent(octant_slot handle, struct octant_request* copy);
void octant_start_request(octant_slot handle, struct octant_entry* entry, uint64_t start);

// Removes a request that has completed, or makes it inactive; false: it is not known.
bool octant_take_request(octant_slot handle, uint64_t before, struct octant_request* taken);
void octant_poll_request(octant_slot handle, uint64_t before, uint64_t ticks);

// Adds to an entry, which may belong to the table of another thread.
static inline void octant_charge(uint64_t* value, uint64_t amount) {
    if (OCTANT_UNLIKELY(octant_request_state.is_locked)) {
        __atomic_fetch_add(value, amount, __ATOMIC_RELAXED);
    } else {
        *value += amount;
    }
}

// Communicator of a message of MPI_Mprobe, until MPI_Mrecv has received it; -1: not known.
void octant_add_message(octant_slot message, int communicator);
int octant_take_message(octant_slot message);

enum { octant_small_requests = 128, octant_small_statuses = 64 };

// The requests of a Wait or Test call. Handles are copied before the call, because it sets them to MPI_REQUEST_NULL.
struct octant_completion {
    uint64_t before;  // latest request when the call began: the library may use a handle again while the call returns
    octant_slot const* handles;
    int count;
    int active;      // that are not MPI_REQUEST_NULL
    void* statuses;  // that the library stores; null: none
    void* allocated_handles;
    void* allocated_statuses;
    octant_slot small[octant_small_requests];
    _Alignas(16) char small_statuses[octant_small_statuses * 32];
};
// Returns whether the call has requests that are tracked.
bool octant_begin_completion(struct octant_completion* completion, void const* handles, octant_slot count);
// Returns the statuses to pass on: the program's, or own memory if it ignores them and they are needed.
octant_slot octant_choose_statuses(struct octant_completion* completion, octant_slot statuses, int count);
void octant_complete_all(struct octant_completion const* completion, struct octant_mark const* mark);
// `statuses` has the elements of `indices`, in the same order.
void octant_complete_some(struct octant_completion const* completion, struct octant_mark const* mark, int const* indices, int count);
// Those that a call which failed has set to MPI_REQUEST_NULL.
void octant_complete_freed(struct octant_completion const* completion, struct octant_mark const* mark, void const* handles);
void octant_add_polling(struct octant_completion const* completion, struct octant_mark const* mark);
void octant_end_completion(struct octant_completion* completion);

// One request: MPI_Wait, MPI_Test. `status` is null if the call failed.
void octant_complete_one(struct octant_mark const* mark, octant_slot handle, uint64_t before, void const* status);
void octant_poll_one(struct octant_mark const* mark, octant_slot handle, uint64_t before);

static inline uint64_t octant_latest_request(void) { return __atomic_load_n(&octant_request_state.sequence, __ATOMIC_ACQUIRE); }

// The calls of MPI, as the program sees them. wrappers.inc, which generate.py writes, has a function for each; what is
// recorded about a call after it has returned is below.
#include "bytes.h"
#include "requests.h"

#define OCTANT_EXPORT __attribute__((visibility("default")))
#define OCTANT_INLINE static inline __attribute__((always_inline))

OCTANT_INLINE bool is_tracking(void) { return __atomic_load_n(&octant_request_state.count, __ATOMIC_RELAXED) != 0; }

// --- Point-to-point ---------------------------------------------------------

// Returns the bytes of a message that was sent: 0 to MPI_PROC_NULL, the only negative rank of a call that succeeded.
OCTANT_INLINE uint64_t note_sent(struct octant_mark const* mark, int number, uint64_t count, octant_slot datatype, int dest) {
    if (dest < 0) return 0;
    uint64_t const bytes = octant_bytes(count, datatype);
    octant_add_peer(mark->thread->slab, octant_sent, octant_world_rank(number, dest), bytes);
    return bytes;
}

OCTANT_INLINE uint64_t note_received(struct octant_mark const* mark, int number, void const* status) {
    int const source = octant_status_source(status);
    if (source < 0) return 0;
    uint64_t const bytes = octant_received_bytes(status);
    octant_add_peer(mark->thread->slab, octant_received, octant_world_rank(number, source), bytes);
    return bytes;
}

OCTANT_INLINE void after_send(struct octant_mark const* mark, uint64_t count, octant_slot datatype, int dest, octant_slot comm) {
    int number = octant_no_communicator;
    uint64_t bytes = 0;
    if (OCTANT_LIKELY(mark->succeeded)) {
        number = octant_communicator_number(comm);
        bytes = note_sent(mark, number, count, datatype, dest);
    }
    octant_record(mark, number, bytes);
}

OCTANT_INLINE void add_request(struct octant_mark const* mark, struct octant_entry* entry, int number, unsigned flags, octant_slot request) {
    struct octant_request const started = {
        .entry = entry, .start = mark->start, .peer = -1, .communicator = number, .flags = flags};
    octant_add_request(octant_load_handle((void const*)request, 0), &started);
}

OCTANT_INLINE void after_isend(struct octant_mark const* mark, uint64_t count, octant_slot datatype, int dest, octant_slot comm,
                               octant_slot request) {
    int number = octant_no_communicator;
    uint64_t bytes = 0;
    if (OCTANT_LIKELY(mark->succeeded)) {
        number = octant_communicator_number(comm);
        bytes = note_sent(mark, number, count, datatype, dest);
    }
    struct octant_entry* const entry = octant_record(mark, number, bytes);
    if (OCTANT_LIKELY(mark->succeeded)) add_request(mark, entry, number, 0, request);
}

OCTANT_INLINE void after_recv(struct octant_mark const* mark, octant_slot comm, octant_slot status) {
    int number = octant_no_communicator;
    uint64_t bytes = 0;
    if (OCTANT_LIKELY(mark->succeeded)) {
        number = octant_communicator_number(comm);
        bytes = note_received(mark, number, (void const*)status);
    }
    octant_record(mark, number, bytes);
}

// The bytes are known when the receive is complete; the size class is that of the receive buffer.
OCTANT_INLINE void after_irecv(struct octant_mark const* mark, uint64_t count, octant_slot datatype, int source, octant_slot comm,
                               octant_slot request) {
    int number = octant_no_communicator;
    uint64_t size = 0;
    if (OCTANT_LIKELY(mark->succeeded)) {
        number = octant_communicator_number(comm);
        if (!octant_is_proc_null(source)) size = octant_bytes(count, datatype);
    }
    struct octant_entry* const entry = octant_record_sized(mark, number, 0, size);
    if (OCTANT_LIKELY(mark->succeeded)) {
        // Nothing comes from MPI_PROC_NULL; the status of MPICH 4.0 names rank 0.
        unsigned const flags = octant_is_proc_null(source) ? 0 : octant_request_receives | octant_request_counts;
        add_request(mark, entry, number, flags, request);
    }
}

OCTANT_INLINE void after_mprobe(struct octant_mark const* mark, octant_slot comm, bool is_matched, octant_slot message) {
    int number = octant_no_communicator;
    if (mark->succeeded) {
        number = octant_communicator_number(comm);
        if (is_matched) octant_add_message(octant_load_handle((void const*)message, 0), number);
    }
    octant_record(mark, number, 0);
}

OCTANT_INLINE void after_mrecv(struct octant_mark const* mark, octant_slot message, octant_slot status) {
    int const number = octant_take_message(message);
    octant_record(mark, number, mark->succeeded ? note_received(mark, number, (void const*)status) : 0);
}

OCTANT_INLINE void after_imrecv(struct octant_mark const* mark, uint64_t count, octant_slot datatype, octant_slot message, octant_slot request) {
    int const number = octant_take_message(message);
    struct octant_entry* const entry = octant_record_sized(mark, number, 0, mark->succeeded ? octant_bytes(count, datatype) : 0);
    if (mark->succeeded) add_request(mark, entry, number, octant_request_receives | octant_request_counts, request);
}

OCTANT_INLINE void after_sendrecv(struct octant_mark const* mark, uint64_t count, octant_slot datatype, int dest, octant_slot comm,
                                  octant_slot status) {
    int number = octant_no_communicator;
    uint64_t bytes = 0;
    if (OCTANT_LIKELY(mark->succeeded)) {
        number = octant_communicator_number(comm);
        bytes = note_sent(mark, number, count, datatype, dest);
        note_received(mark, number, (void const*)status);
    }
    octant_record(mark, number, bytes);
}

// The status of a nonblocking MPI_Sendrecv is undefined in MPICH: its receive is taken to fill the buffer.
OCTANT_INLINE void after_isendrecv(struct octant_mark const* mark, uint64_t count, octant_slot datatype, int dest, uint64_t recvcount,
                                   octant_slot recvtype, int source, octant_slot comm, octant_slot request) {
    int number = octant_no_communicator;
    uint64_t bytes = 0;
    if (OCTANT_LIKELY(mark->succeeded)) {
        number = octant_communicator_number(comm);
        bytes = note_sent(mark, number, count, datatype, dest);
    }
    struct octant_request started = {
        .entry = octant_record(mark, number, bytes), .start = mark->start, .peer = -1, .communicator = number};
    if (!mark->succeeded) return;
    if (!octant_is_proc_null(source)) started.flags = octant_request_receives;
    if (source >= 0) {
        started.flags |= octant_request_sized;
        started.bytes = octant_bytes(recvcount, recvtype);
        started.peer = octant_world_rank(number, source);
    }
    octant_add_request(octant_load_handle((void const*)request, 0), &started);
}

// --- Persistent and partitioned operations ------------------------------------

static void add_persistent(int number, unsigned flags, uint64_t bytes, int peer, octant_slot request) {
    struct octant_request const made = {
        .bytes = bytes, .peer = peer, .communicator = number, .flags = flags | octant_request_persistent};
    octant_add_request(octant_load_handle((void const*)request, 0), &made);
}

OCTANT_INLINE void after_send_init(struct octant_mark const* mark, uint64_t count, octant_slot datatype, int dest, octant_slot comm,
                                   octant_slot request) {
    int const number = mark->succeeded ? octant_communicator_number(comm) : octant_no_communicator;
    octant_record(mark, number, 0);
    if (!mark->succeeded) return;
    bool const is_sent = dest >= 0;
    add_persistent(number, octant_request_sends, is_sent ? octant_bytes(count, datatype) : 0,
                   is_sent ? octant_world_rank(number, dest) : -1, request);
}

OCTANT_INLINE void after_recv_init(struct octant_mark const* mark, octant_slot comm, octant_slot request) {
    int const number = mark->succeeded ? octant_communicator_number(comm) : octant_no_communicator;
    octant_record(mark, number, 0);
    if (mark->succeeded) add_persistent(number, octant_request_receives | octant_request_counts, 0, -1, request);
}

// The sender's total is the receiver's: the status of a partitioned receive has no count in all libraries.
OCTANT_INLINE void after_precv_init(struct octant_mark const* mark, uint64_t count, octant_slot datatype, int source, octant_slot comm,
                                    octant_slot request) {
    int const number = mark->succeeded ? octant_communicator_number(comm) : octant_no_communicator;
    octant_record(mark, number, 0);
    if (!mark->succeeded) return;
    unsigned const flags = source < 0 ? 0 : octant_request_receives | octant_request_counts | octant_request_sized;
    add_persistent(number, flags, source < 0 ? 0 : octant_bytes(count, datatype), octant_world_rank(number, source), request);
}

// The call that starts persistent operations has their bytes and messages.
static void after_start(struct octant_mark const* mark, void const* requests, int count) {
    uint64_t bytes = 0;
    int number = octant_no_communicator;
    for (int index = 0; mark->succeeded && index < count; ++index) {
        struct octant_request request;
        if (!octant_find_persistent(octant_load_handle(requests, index), &request)) continue;
        number = count == 1 ? request.communicator : octant_no_communicator;
        if ((request.flags & octant_request_receives) != 0) continue;
        bytes += request.bytes;
        if ((request.flags & octant_request_sends) != 0) octant_add_peer(mark->thread->slab, octant_sent, request.peer, request.bytes);
    }
    struct octant_entry* const entry = octant_record_sized(mark, number, 0, bytes);
    for (int index = 0; mark->succeeded && index < count; ++index) {
        octant_start_request(octant_load_handle(requests, index), entry, mark->start);
    }
}

// --- Completion -----------------------------------------------------------------

// A request that MPI_Wait or MPI_Test completes.
struct single {
    octant_slot handle;
    uint64_t before;
    bool is_tracked;
};

OCTANT_INLINE struct single begin_single(octant_slot request) {
    struct single single = {0, 0, false};
    if (!is_tracking() || request == 0) return single;
    single.handle = octant_load_handle((void const*)request, 0);
    single.before = octant_latest_request();
    single.is_tracked = !octant_is_null_request(single.handle);
    return single;
}

OCTANT_INLINE octant_slot choose_status(octant_slot status, bool is_needed, void* own) {
    return is_needed && octant_ignores_status((void const*)status) ? (octant_slot)own : status;
}

OCTANT_INLINE bool needs_statuses(void) { return __atomic_load_n(&octant_request_state.statuses, __ATOMIC_RELAXED) != 0; }

OCTANT_INLINE void end_single(struct octant_mark const* mark, struct single single, bool is_complete, octant_slot status, bool is_recorded) {
    if (is_recorded) octant_record(mark, octant_no_communicator, 0);
    if (!single.is_tracked) return;
    if (!is_complete) {
        octant_poll_one(mark, single.handle, single.before);
        return;
    }
    void const* const usable = mark->succeeded && !octant_ignores_status((void const*)status) ? (void const*)status : NULL;
    octant_complete_one(mark, single.handle, single.before, usable);
}

// Wait and Test calls of several requests. `indices` is null if all are complete, or none: `count` is 0.
static void end_several(struct octant_mark const* mark, struct octant_completion* completion, void const* requests, int const* indices,
                        int count) {
    if (!mark->succeeded) {
        octant_complete_freed(completion, mark, requests);
    } else if (count <= 0) {
        octant_add_polling(completion, mark);
    } else if (indices == NULL) {
        octant_complete_all(completion, mark);
    } else {
        octant_complete_some(completion, mark, indices, count);
    }
}

OCTANT_INLINE int defined_or_zero(int value) { return octant_is_undefined(value) ? 0 : value; }

// --- One-sided and files ----------------------------------------------------------

enum { puts_data = 1, gets_data = 2 };

OCTANT_INLINE struct octant_entry* after_rma(struct octant_mark const* mark, unsigned directions, uint64_t count, octant_slot datatype, int target,
                                             octant_slot win) {
    int number = octant_no_communicator;
    uint64_t bytes = 0;
    if (mark->succeeded) {
        number = octant_number(win, octant_window);
        if (target >= 0) {
            bytes = octant_bytes(count, datatype);
            int const peer = octant_world_rank(number, target);
            if ((directions & puts_data) != 0) octant_add_peer(mark->thread->slab, octant_put, peer, bytes);
            if ((directions & gets_data) != 0) octant_add_peer(mark->thread->slab, octant_got, peer, bytes);
        }
    }
    return octant_record(mark, number, bytes);
}

// MPI_NO_OP reads only, and its origin is ignored.
static unsigned directions_of(octant_slot operation) {
    uintptr_t no_op = 0x3d;
    if (octant_interface.abi == octant_abi_mpich) no_op = 0x5800000e;
    if (octant_interface.abi == octant_abi_openmpi) no_op = (uintptr_t)octant_find_symbol("ompi_mpi_op_no_op");
    bool const is_read_only = ((uintptr_t)operation & octant_interface.handle_mask) == no_op;
    return is_read_only ? gets_data : puts_data | gets_data;
}

OCTANT_INLINE void after_transfer(struct octant_mark const* mark, octant_slot file, octant_slot status) {
    int const number = mark->succeeded ? octant_number(file, octant_file) : octant_no_communicator;
    octant_record(mark, number, mark->succeeded ? octant_received_bytes((void const*)status) : 0);
}

OCTANT_INLINE void after_itransfer(struct octant_mark const* mark, uint64_t count, octant_slot datatype, octant_slot file, octant_slot request) {
    int const number = mark->succeeded ? octant_number(file, octant_file) : octant_no_communicator;
    struct octant_entry* const entry = octant_record_sized(mark, number, 0, mark->succeeded ? octant_bytes(count, datatype) : 0);
    if (mark->succeeded) add_request(mark, entry, number, octant_request_counts, request);
}

// --- Objects: also while recording is disabled ------------------------------------

static void note_freed(void) { __atomic_fetch_add(&octant_recording.freed, 1, __ATOMIC_RELEASE); }

static octant_slot load_pointer(octant_slot pointer) { return pointer == 0 ? 0 : *(octant_slot const*)pointer; }
static octant_slot load_object(octant_slot pointer) { return pointer == 0 ? 0 : octant_load_handle((void const*)pointer, 0); }

static void free_communicator(octant_slot comm) {
    octant_communicator_freed(load_object(comm));
    note_freed();
}
static void free_window(octant_slot win) {
    octant_window_freed(load_object(win));
    note_freed();
}
static void free_file(octant_slot file) {
    octant_file_freed(load_pointer(file));
    note_freed();
}

static void initialized(void) {
    octant_initialized();
    if (octant_profile != NULL && octant_profile->thread_level >= 3) octant_request_state.is_locked = 1;
}

static void session_made(octant_slot session) {
    octant_session_made(load_object(session));
    initialized();
    octant_request_state.is_locked = 1;  // the thread level of a session is not known here
}

// --- Waiting in collectives -----------------------------------------------------------

// A barrier before a blocking collective separates the waiting for the last process from the call itself. It is executed
// by every process that makes the call, also where recording is disabled or there is no room for a table. A program
// that is correct does not depend on whether its collectives synchronise (MPI 5.0, section 6.14).
static uint64_t wait_for_others(struct octant_thread* thread, octant_slot comm) {
    static int (*barrier)(octant_slot);
    if (thread->depth != 0 || octant_costs_unknown) return 0;  // costs are measured with a call that is not passed on
    int (*function)(octant_slot) = __atomic_load_n(&barrier, __ATOMIC_RELAXED);
    if (function == NULL) {
        *(void**)&function = octant_own_function("PMPI_Barrier");
        __atomic_store_n(&barrier, function, __ATOMIC_RELAXED);
    }
    if (function == NULL) return 0;
    uint64_t const start = octant_ticks();
    thread->depth = 1;
    function(comm);
    thread->depth = 0;
    return octant_ticks() - start;
}

// --- Bodies of the wrappers ---------------------------------------------------------

// `invocation` calls the MPI library. It occurs several times, so that calls which are not recorded are tail calls.
#define OCTANT_COUNTED(number, address, invocation)              \
    struct octant_thread* const thread = &octant_thread;         \
    if (OCTANT_UNLIKELY(octant_skips(thread))) return invocation; \
    octant_count(thread, number, octant_site(address));          \
    thread->depth = 1;                                           \
    octant_slot const returned = invocation;                       \
    thread->depth = 0;                                           \
    return returned;

// The rest of the body of a timed call: without times, or from `begin` on.
#define OCTANT_MEASURED(is_recorded, number, address, invocation, before, begin, after) \
    struct octant_mark mark = {.thread = thread, .site = octant_site(address), .call = (number)}; \
    if (OCTANT_UNLIKELY(octant_recording.counts_only)) {          \
        if (is_recorded) octant_count(thread, number, mark.site); \
        thread->depth = 1;                                        \
        octant_slot const counted = invocation;                   \
        thread->depth = 0;                                        \
        return counted;                                           \
    }                                                             \
    before thread->depth = 1;                                     \
    mark.start = (begin);                                         \
    octant_slot const returned = invocation;                        \
    mark.end = octant_ticks();                                    \
    mark.succeeded = (int)returned == 0;                            \
    after thread->depth = 0;                                      \
    return returned;

#define OCTANT_TIMED(number, address, invocation, before, after)  \
    struct octant_thread* const thread = &octant_thread;          \
    if (OCTANT_UNLIKELY(octant_skips(thread))) return invocation; \
    OCTANT_MEASURED(true, number, address, invocation, before, octant_ticks(), after)

// Blocking collectives. The waiting is a part of the time of the call.
#define OCTANT_COLLECTIVE(number, address, invocation, after)      \
    struct octant_thread* const thread = &octant_thread;           \
    bool const is_recorded = OCTANT_LIKELY(!octant_skips(thread)); \
    uint64_t const waited = OCTANT_UNLIKELY(octant_splits_waits != 0) ? wait_for_others(thread, comm) : 0; \
    if (OCTANT_UNLIKELY(!is_recorded)) return invocation;          \
    OCTANT_MEASURED(true, number, address, invocation, , octant_ticks() - waited, after)

// Requests that were started while recording was enabled are completed also while it is disabled.
#define OCTANT_COMPLETING(number, address, invocation, before, after) \
    struct octant_thread* const thread = &octant_thread;              \
    bool const is_recorded = OCTANT_LIKELY(!octant_skips(thread));    \
    if (OCTANT_UNLIKELY(!is_recorded) && (thread->depth != 0 || !is_tracking())) return invocation; \
    OCTANT_MEASURED(is_recorded, number, address, invocation, before, octant_ticks(), after)

// Calls that make, change or free objects: `first` and `last` are executed also while recording is disabled.
#define OCTANT_CHANGING(number, address, invocation, is_timed, first, after, last) \
    struct octant_thread* const thread = &octant_thread;                           \
    bool const is_recorded = !octant_skips(thread);                                \
    if (thread->depth != 0 || !octant_is_supported()) return invocation;           \
    struct octant_mark mark = {.thread = thread, .site = octant_site(address), .call = (number)}; \
    bool const has_time = is_recorded && (is_timed) && !octant_recording.counts_only; \
    if (is_recorded && !has_time) octant_count(thread, number, mark.site);         \
    thread->depth = 1;                                                             \
    first mark.start = has_time ? octant_ticks() : 0;                              \
    octant_slot const returned = invocation;                                         \
    mark.end = has_time ? octant_ticks() : 0;                                      \
    mark.succeeded = (int)returned == 0;                                             \
    if (mark.succeeded) {                                                          \
        last                                                                       \
    }                                                                              \
    if (has_time) {                                                                \
        after                                                                      \
    }                                                                              \
    thread->depth = 0;                                                             \
    return returned;

typedef octant_slot octant_runner(void const* address, octant_slot* arguments, octant_invocation* octant_invoke, void* context);
#define OCTANT_RUNNER(name) \
    static octant_slot run_##name(void const* address, octant_slot* arguments, octant_invocation* octant_invoke, void* context)
#define OCTANT_ARGUMENT(index, name)     \
    octant_slot name = arguments[index]; \
    (void)name;
#define OCTANT_NEXT(count, number) octant_call_##count* const next = __extension__(octant_call_##count*)octant_function(number);

#define SLOT octant_slot
typedef SLOT octant_call_0(void);
typedef SLOT octant_call_1(SLOT);
typedef SLOT octant_call_2(SLOT, SLOT);
typedef SLOT octant_call_3(SLOT, SLOT, SLOT);
typedef SLOT octant_call_4(SLOT, SLOT, SLOT, SLOT);
typedef SLOT octant_call_5(SLOT, SLOT, SLOT, SLOT, SLOT);
typedef SLOT octant_call_6(SLOT, SLOT, SLOT, SLOT, SLOT, SLOT);
typedef SLOT octant_call_7(SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT);
typedef SLOT octant_call_8(SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT);
typedef SLOT octant_call_9(SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT);
typedef SLOT octant_call_10(SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT);
typedef SLOT octant_call_11(SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT);
typedef SLOT octant_call_12(SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT);
typedef SLOT octant_call_13(SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT);
#undef SLOT

#include "wrappers.inc"

// The linker of programs binds references to a symbol with an old version, but dlsym() does not return it: mpi4py, which
// looks whether the process has functions of MPI and which kind, must find those of the library only.
#define OCTANT_CALL(number, name, arguments, timed) __asm__(".symver MPI_" #name ", MPI_" #name "@OCTANT_1");
#define OCTANT_LARGE(name, arguments) __asm__(".symver MPI_" #name "_c, MPI_" #name "_c@OCTANT_1");
#include "calls.inc"

// --- Calls from Fortran -----------------------------------------------------------

static octant_slot run_counted(unsigned call, void const* address, octant_invocation* invoke, void* context) {
    OCTANT_COUNTED(call, address, invoke(context))
}

octant_slot octant_run(int function, void const* address, octant_slot* arguments, octant_invocation* invoke, void* context) {
    octant_runner* const runner = octant_runners[function];
    if (runner == NULL) return run_counted((unsigned)function % octant_large, address, invoke, context);
    return runner(address, arguments, invoke, context);
}

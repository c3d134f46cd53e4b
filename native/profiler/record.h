// Recording of one call: what is executed in every call of MPI, and therefore inline.
#pragma once

#include "calls.h"
#include "profiler.h"

#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

// State of the process that each call reads.
struct octant_recording {
    int is_started;     // octant_first_call has returned
    int counts_only;    // calls are counted and not timed
    int has_no_sites;   // calls are not separated by call site
    int uses_os_clock;  // the processor's counter does not have a constant rate
    unsigned freed;     // communicators, windows and files that were freed: handles may be used again
};
extern struct octant_recording octant_recording;

enum { octant_recent_numbers = 8 };

// Communicators, windows and files that a thread has used recently.
struct octant_recent {
    unsigned freed;  // value of octant_recording.freed that the entries belong to
    struct {
        octant_slot handle;  // 0: none
        int number;
    } numbers[octant_recent_numbers];
};
extern _Thread_local struct octant_recent octant_recent __attribute__((tls_model("initial-exec")));

// One call that is being recorded.
struct octant_mark {
    struct octant_thread* thread;
    uint64_t site;
    unsigned call;
    uint64_t start, end;  // ticks
    bool succeeded;
};

struct octant_entry* octant_find_or_add_entry(struct octant_slab* slab, uint64_t site, uint64_t key);  // null: no room
struct octant_peer* octant_find_or_add_peer(struct octant_slab* slab, uint64_t key);
void octant_lose_call(unsigned call, uint64_t ticks);
bool octant_skips_first(struct octant_thread* thread);  // likewise if recording may not have started
bool octant_begin_thread(struct octant_thread* thread);
int octant_find_number(octant_slot handle, int (*find)(octant_slot));

#if defined(__x86_64__)
#define OCTANT_HAS_COUNTER 1
static inline uint64_t octant_counter(void) { return __rdtsc(); }
#elif defined(__aarch64__)
#define OCTANT_HAS_COUNTER 1
static inline uint64_t octant_counter(void) {
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#elif defined(__powerpc64__)
#define OCTANT_HAS_COUNTER 1
static inline uint64_t octant_counter(void) { return __builtin_ppc_get_timebase(); }
#else
#define OCTANT_HAS_COUNTER 0
static inline uint64_t octant_counter(void) { return 0; }
#endif

static inline uint64_t octant_read_os_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t octant_ticks(void) {
    if (!OCTANT_HAS_COUNTER || OCTANT_UNLIKELY(octant_recording.uses_os_clock)) return octant_read_os_clock();
    return octant_counter();
}

// Whether the call of this thread is passed on without being recorded: a call inside another one, or recording is disabled.
static inline __attribute__((always_inline)) bool octant_skips(struct octant_thread* thread) {
    int const enabled = __atomic_load_n(&octant_enabled, __ATOMIC_RELAXED);
    if (OCTANT_LIKELY((thread->depth | thread->disabled) == 0 && enabled != 0 && thread->slab != NULL)) return false;
    if (OCTANT_LIKELY((thread->depth | thread->disabled) != 0 || (enabled == 0 && octant_recording.is_started != 0))) return true;
    return octant_skips_first(thread);
}

static inline uint64_t octant_site(void const* address) {
    return OCTANT_UNLIKELY(octant_recording.has_no_sites) ? 1 : (uint64_t)(uintptr_t)address;
}

static inline unsigned octant_bucket(uint64_t bytes) { return bytes == 0 ? 0 : 64u - (unsigned)__builtin_clzll(bytes); }

static inline uint64_t octant_key(struct octant_thread const* thread, unsigned call, unsigned bucket, int communicator) {
    return call | (uint64_t)bucket << 16 | (uint64_t)(uint16_t)communicator << 32 | (uint64_t)(unsigned)thread->region << 48;
}

static inline uint64_t octant_entry_hash(uint64_t site, uint64_t key) {
    return (site + key * 0xD6E8FEB86659FD93u) * 0x9E3779B97F4A7C15u >> (64 - 13);
}
_Static_assert(octant_entries == 1 << 13, "octant_entry_hash");

static inline struct octant_entry* octant_find_entry(struct octant_slab* slab, uint64_t site, uint64_t key) {
    struct octant_entry* const entry = &slab->table[octant_entry_hash(site, key)];
    if (OCTANT_LIKELY(entry->site == site && entry->key == key)) return entry;
    return octant_find_or_add_entry(slab, site, key);
}

// Counters of two processors may differ a little after the system has moved the thread.
static inline uint64_t octant_interval(uint64_t start, uint64_t end) { return OCTANT_LIKELY(end > start) ? end - start : 0; }

// Adds a call that takes part in `communicator`, with `bytes` that are charged now and the size class of `size`.
static inline struct octant_entry* octant_record_sized(struct octant_mark const* mark, int communicator, uint64_t bytes, uint64_t size) {
    struct octant_thread* const thread = mark->thread;
    struct octant_slab* const slab = thread->slab;
    uint64_t const ticks = octant_interval(mark->start, mark->end);
    slab->mpi_ticks += ticks;
    ++slab->mpi_calls;
    slab->last_ticks = mark->end;
    uint64_t const key = octant_key(thread, mark->call, octant_bucket(size), communicator);
    struct octant_entry* const entry = octant_find_entry(slab, mark->site, key);
    if (OCTANT_UNLIKELY(entry == NULL)) {
        octant_lose_call(mark->call, ticks);
        return NULL;
    }
    ++entry->calls;
    if (bytes != 0) entry->bytes += bytes;  // other threads may add to entries of receives
    entry->ticks += ticks;
    float const duration = (float)(int64_t)ticks;
    if (duration < entry->min_ticks) entry->min_ticks = duration;
    if (duration > entry->max_ticks) entry->max_ticks = duration;
    return entry;
}

static inline struct octant_entry* octant_record(struct octant_mark const* mark, int communicator, uint64_t bytes) {
    return octant_record_sized(mark, communicator, bytes, bytes);
}

static inline void octant_count(struct octant_thread* thread, unsigned call, uint64_t site) {
    struct octant_slab* const slab = thread->slab;
    ++slab->mpi_calls;
    struct octant_entry* const entry = octant_find_entry(slab, site, octant_key(thread, call, 0, octant_no_communicator));
    if (OCTANT_LIKELY(entry != NULL)) {
        if (OCTANT_UNLIKELY(entry->calls++ == 0)) entry->min_ticks = 0;
    } else {
        octant_lose_call(call, 0);
    }
}

static inline void octant_add_peer(struct octant_slab* slab, enum octant_peer_kind kind, int world_rank, uint64_t bytes) {
    if (world_rank < 0) return;
    uint64_t const key = (uint64_t)((uint32_t)world_rank + 1u) << 8 | (uint64_t)kind;
    uint64_t const hash = key * 0x9E3779B97F4A7C15u >> (64 - 12);
    struct octant_peer* peer = &slab->peer_table[hash];
    if (OCTANT_UNLIKELY(peer->key != key)) peer = octant_find_or_add_peer(slab, key);
    ++peer->messages;
    peer->bytes += bytes;
}
_Static_assert(octant_peers == 1 << 12, "octant_add_peer");

// Number of a communicator, window or file whose handle is valid.
static inline int octant_number(octant_slot handle, int (*find)(octant_slot)) {
    struct octant_recent const* const recent = &octant_recent;
    unsigned const at = octant_hash((uintptr_t)handle, 3);
    if (OCTANT_LIKELY(recent->numbers[at].handle == handle &&
                      recent->freed == __atomic_load_n(&octant_recording.freed, __ATOMIC_RELAXED))) {
        return recent->numbers[at].number;
    }
    return octant_find_number(handle, find);
}
static inline int octant_communicator_number(octant_slot handle) {
    if (OCTANT_LIKELY(((uintptr_t)handle & octant_interface.handle_mask) == octant_interface.world)) return 0;
    return octant_number(handle, octant_communicator);
}

// A call whose arguments were converted from Fortran. `arguments` are those of the call in C (the large-count variant if
// `function` has octant_large), with handles, requests and statuses in variables of C; none of them is an ignored status.
// `invoke` calls the Fortran procedure and then stores requests, indices, flags and statuses in these variables.
typedef octant_slot octant_invocation(void* context);
octant_slot octant_run(int function, void const* return_address, octant_slot* arguments, octant_invocation* invoke, void* context);

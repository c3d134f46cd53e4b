// Table of the requests of the process.
//
// With MPI_THREAD_MULTIPLE a library gives the handle of a completed request to another thread before the thread that
// completed it has returned from MPI_Wait. A handle may therefore have several entries for a short time. Each has a
// sequence number; a call completes the newest one that existed when the call began. The program has synchronised the
// start of a request with its completion, so that its entry exists then, and the entry of the next use does not.
#include "requests.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct octant_request_state octant_request_state __attribute__((aligned(64)));

static struct octant_request* table;
static uint64_t capacity;  // a power of two; at most half of it is used
static int lock_word;

enum { max_same_handle = 64 };  // entries of one handle, of different call sites

static void take_lock(void) {
    if (!octant_request_state.is_locked) return;
    for (int attempt = 0; __atomic_exchange_n(&lock_word, 1, __ATOMIC_ACQUIRE) != 0; ++attempt) {
        while (__atomic_load_n(&lock_word, __ATOMIC_RELAXED) != 0 && ++attempt % 128 != 0) {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
        if (attempt % 128 == 0) sched_yield();
    }
}

static void release_lock(void) {
    if (octant_request_state.is_locked) __atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE);
}

static uintptr_t mask(octant_slot handle) { return (uintptr_t)handle & octant_interface.handle_mask; }

static uint64_t home(uintptr_t handle) { return (uint64_t)handle * 0x9E3779B97F4A7C15u >> 20 & (capacity - 1); }

static void place(struct octant_request const* request) {
    uint64_t at = home(request->handle);
    while (table[at].handle != 0) at = (at + 1) & (capacity - 1);
    table[at] = *request;
}

static bool grow(void) {
    uint64_t const previous = capacity;
    struct octant_request* const old = table;
    uint64_t const wanted = previous == 0 ? 512 : 2 * previous;
    struct octant_request* const larger = calloc(wanted, sizeof *larger);
    if (larger == NULL) return false;
    table = larger;
    capacity = wanted;
    for (uint64_t at = 0; at < previous; ++at) {
        if (old[at].handle != 0) place(&old[at]);
    }
    free(old);
    return true;
}

static void lose_request(void) {
    if (octant_profile != NULL) __atomic_fetch_add(&octant_profile->lost_requests, 1, __ATOMIC_RELAXED);
}

static bool needs_status(struct octant_request const* request) {
    return (request->flags & (octant_request_receives | octant_request_counts)) != 0;
}

static void set_count(int64_t change, bool statuses) {
    __atomic_store_n(&octant_request_state.count, octant_request_state.count + (uint64_t)change, __ATOMIC_RELAXED);
    if (!statuses) return;
    __atomic_store_n(&octant_request_state.statuses, octant_request_state.statuses + (uint64_t)change, __ATOMIC_RELAXED);
}

// Newest entry of the handle that is not newer than `before`.
static struct octant_request* find(uintptr_t handle, uint64_t before) {
    if (capacity == 0) return NULL;
    struct octant_request* found = NULL;
    for (uint64_t at = home(handle); table[at].handle != 0; at = (at + 1) & (capacity - 1)) {
        struct octant_request* const request = &table[at];
        if (request->handle != handle || request->sequence > before) continue;
        if (found == NULL || request->sequence > found->sequence) found = request;
    }
    return found;
}

// Entries behind the gap move up, so that searches need no marks of removed entries.
static void erase(struct octant_request* request) {
    set_count(-1, needs_status(request));
    uint64_t gap = (uint64_t)(request - table);
    for (uint64_t at = (gap + 1) & (capacity - 1); table[at].handle != 0; at = (at + 1) & (capacity - 1)) {
        if (((at - home(table[at].handle)) & (capacity - 1)) < ((at - gap) & (capacity - 1))) continue;
        table[gap] = table[at];
        gap = at;
    }
    table[gap].handle = 0;
}

// Several active requests have one handle if a library shares it between sends that are complete from the start. Those of
// one call site share an entry, with the mean of their starts: the sum of their times is exact. Entries of messages, and
// of requests that are not active, are those of uses that have ended without a call that was seen.
static bool joins(uintptr_t handle, struct octant_request const* started) {
    if (capacity == 0) return false;
    int found = 0;
    struct octant_request* oldest = NULL;
    for (uint64_t at = home(handle); table[at].handle != 0; at = (at + 1) & (capacity - 1)) {
        struct octant_request* const request = &table[at];
        if (request->handle != handle) continue;
        if (started->start != 0 && request->start != 0 && request->entry == started->entry && started->entry != NULL &&
            request->flags == started->flags && request->bytes == started->bytes && request->peer == started->peer &&
            (request->flags & octant_request_persistent) == 0) {
            ++request->further;
            request->start += (started->start - request->start) / (request->further + 1);
            return true;
        }
        ++found;
        if (oldest == NULL || request->sequence < oldest->sequence) oldest = request;
    }
    if (oldest == NULL) return false;
    bool const is_over = oldest->start == 0 && !octant_request_state.is_locked;
    if (!is_over && found < max_same_handle) return false;
    if (oldest->start != 0) lose_request();
    erase(oldest);
    return false;
}

static void add(uintptr_t key, struct octant_request const* template) {
    take_lock();
    if (joins(key, template)) {
        release_lock();
        return;
    }
    if (2 * (octant_request_state.count + 1) > capacity && !grow()) {
        release_lock();
        lose_request();
        return;
    }
    uint64_t const sequence = octant_request_state.sequence + 1;
    __atomic_store_n(&octant_request_state.sequence, sequence, __ATOMIC_RELEASE);
    struct octant_request request = *template;
    request.handle = key;
    request.sequence = sequence;
    place(&request);
    set_count(1, needs_status(&request));
    release_lock();
}

void octant_add_request(octant_slot handle, struct octant_request const* template) {
    uintptr_t const key = mask(handle);
    if (key != octant_interface.request_null && key != 0) add(key, template);
}

void octant_forget_request(octant_slot handle) {
    if (octant_request_state.count == 0) return;
    take_lock();
    struct octant_request* const request = find(mask(handle), UINT64_MAX);
    if (request != NULL && request->further > 0) {
        --request->further;
    } else if (request != NULL) {
        erase(request);
    }
    release_lock();
}

void octant_cancel_request(octant_slot handle) {
    if (octant_request_state.count == 0) return;
    take_lock();
    struct octant_request* const request = find(mask(handle), UINT64_MAX);
    if (request != NULL) request->flags |= octant_request_cancelled;
    release_lock();
}

bool octant_find_persistent(octant_slot handle, struct octant_request* copy) {
    take_lock();
    struct octant_request const* const request = find(mask(handle), UINT64_MAX);
    bool const is_known = request != NULL && (request->flags & octant_request_persistent) != 0;
    if (is_known) *copy = *request;
    release_lock();
    return is_known;
}

void octant_start_request(octant_slot handle, struct octant_entry* entry, uint64_t start) {
    take_lock();
    struct octant_request* const request = find(mask(handle), UINT64_MAX);
    if (request != NULL && (request->flags & octant_request_persistent) != 0) {
        request->entry = entry;
        request->start = start;
        request->polled = 0;
        request->flags &= ~(unsigned)octant_request_cancelled;
        if (entry != NULL && (request->flags & octant_request_receives) == 0) octant_charge(&entry->bytes, request->bytes);
    }
    release_lock();
}

bool octant_take_request(octant_slot handle, uint64_t before, struct octant_request* taken) {
    if (octant_request_state.count == 0) return false;
    take_lock();
    struct octant_request* const request = find(mask(handle), before);
    bool const is_found = request != NULL;
    if (is_found) *taken = *request;
    if (is_found && request->further > 0) {
        --request->further;
    } else if (is_found && (request->flags & octant_request_persistent) == 0) {
        erase(request);
    } else if (is_found) {
        request->start = 0;
        request->entry = NULL;
    }
    release_lock();
    return is_found;
}

void octant_poll_request(octant_slot handle, uint64_t before, uint64_t ticks) {
    take_lock();
    struct octant_request* const request = find(mask(handle), before);
    if (request != NULL) request->polled += ticks;
    release_lock();
}

// Handles of messages and of requests may be equal.
static uintptr_t mask_message(octant_slot message) { return mask(message) ^ UINT64_C(0x4d00000000000000); }

void octant_add_message(octant_slot message, int communicator) {
    add(mask_message(message), &(struct octant_request){.communicator = communicator});
}

int octant_take_message(octant_slot message) {
    if (octant_request_state.count == 0) return -1;
    take_lock();
    struct octant_request* const request = find(mask_message(message), UINT64_MAX);
    int const communicator = request != NULL ? request->communicator : -1;
    if (request != NULL) erase(request);
    release_lock();
    return communicator;
}

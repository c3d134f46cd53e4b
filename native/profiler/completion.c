// Wait and Test calls: the time that they take is charged to the calls that started the completed requests as well.
#include "requests.h"

#include <stdlib.h>
#include <string.h>

enum { max_polled = 16 };  // requests of a Test call without completion that its time is divided among

static bool is_cancelled(struct octant_request const* request, void const* status) {
    if ((request->flags & octant_request_cancelled) == 0) return false;
    int (*test)(void const*, int*) = NULL;
    *(void**)&test = octant_own_function("PMPI_Test_cancelled");
    int flag = 0;
    return test != NULL && test(status, &flag) == 0 && flag != 0;
}

// Charges received bytes, and notes the sender.
static void receive(struct octant_mark const* mark, struct octant_request const* request, void const* status) {
    if (is_cancelled(request, status)) return;
    bool const is_sized = (request->flags & octant_request_sized) != 0;
    uint64_t const bytes = is_sized ? request->bytes : octant_received_bytes(status);
    if ((request->flags & octant_request_receives) != 0) {
        int const source = octant_status_source(status);
        if (!is_sized && source < 0) return;
        int const sender = is_sized ? request->peer : octant_world_rank(request->communicator, source);
        if (mark->thread->slab != NULL) octant_add_peer(mark->thread->slab, octant_received, sender, bytes);
    }
    if ((request->flags & octant_request_counts) != 0 && request->entry != NULL) octant_charge(&request->entry->bytes, bytes);
}

static void complete(struct octant_mark const* mark, octant_slot handle, uint64_t before, void const* status, uint64_t share) {
    struct octant_request request;
    if (!octant_take_request(handle, before, &request) || request.start == 0) return;
    if (status != NULL && (request.flags & (octant_request_receives | octant_request_counts)) != 0) receive(mark, &request, status);
    if (request.entry == NULL) return;
    octant_charge(&request.entry->waited, share + request.polled);
    octant_charge(&request.entry->in_flight, octant_interval(request.start, mark->end));
}

void octant_complete_one(struct octant_mark const* mark, octant_slot handle, uint64_t before, void const* status) {
    complete(mark, handle, before, status, octant_interval(mark->start, mark->end));
}

void octant_poll_one(struct octant_mark const* mark, octant_slot handle, uint64_t before) {
    octant_poll_request(handle, before, octant_interval(mark->start, mark->end));
}

bool octant_begin_completion(struct octant_completion* completion, void const* handles, octant_slot count) {
    completion->count = (int)count;
    completion->active = 0;
    completion->statuses = NULL;
    completion->allocated_handles = NULL;
    completion->allocated_statuses = NULL;
    if (completion->count <= 0 || octant_request_state.count == 0) return false;
    octant_slot* copies = completion->small;
    if (completion->count > octant_small_requests) {
        copies = malloc((size_t)completion->count * sizeof *copies);
        if (copies == NULL) return false;
        completion->allocated_handles = copies;
    }
    for (int index = 0; index < completion->count; ++index) {
        copies[index] = octant_load_handle(handles, index);
        completion->active += !octant_is_null_request(copies[index]);
    }
    completion->handles = copies;
    completion->before = octant_latest_request();
    return completion->active > 0;
}

octant_slot octant_choose_statuses(struct octant_completion* completion, octant_slot statuses, int count) {
    completion->statuses = (void*)statuses;
    if (!octant_ignores_status(completion->statuses)) return statuses;
    completion->statuses = NULL;
    if (__atomic_load_n(&octant_request_state.statuses, __ATOMIC_RELAXED) == 0) return statuses;
    size_t const bytes = (size_t)count * (size_t)octant_status_size();
    if (bytes <= sizeof completion->small_statuses) {
        completion->statuses = completion->small_statuses;
    } else {
        completion->statuses = completion->allocated_statuses = malloc(bytes);
    }
    return completion->statuses != NULL ? (octant_slot)completion->statuses : statuses;
}

static void const* status_of(struct octant_completion const* completion, int index) {
    if (completion->statuses == NULL) return NULL;
    return (char const*)completion->statuses + (size_t)index * (size_t)octant_status_size();
}

void octant_complete_all(struct octant_completion const* completion, struct octant_mark const* mark) {
    uint64_t const share = octant_interval(mark->start, mark->end) / (uint64_t)completion->active;
    for (int index = 0; index < completion->count; ++index) {
        octant_slot const handle = completion->handles[index];
        if (!octant_is_null_request(handle)) complete(mark, handle, completion->before, status_of(completion, index), share);
    }
}

void octant_complete_some(struct octant_completion const* completion, struct octant_mark const* mark, int const* indices, int count) {
    if (count <= 0) return;
    uint64_t const share = octant_interval(mark->start, mark->end) / (uint64_t)count;
    for (int at = 0; at < count; ++at) {
        int const index = indices[at];
        if (index < 0 || index >= completion->count) continue;
        complete(mark, completion->handles[index], completion->before, status_of(completion, at), share);
    }
}

void octant_complete_freed(struct octant_completion const* completion, struct octant_mark const* mark, void const* handles) {
    for (int index = 0; index < completion->count; ++index) {
        octant_slot const handle = completion->handles[index];
        if (octant_is_null_request(handle) || !octant_is_null_request(octant_load_handle(handles, index))) continue;
        complete(mark, handle, completion->before, NULL, octant_interval(mark->start, mark->end) / (uint64_t)completion->active);
    }
}

void octant_add_polling(struct octant_completion const* completion, struct octant_mark const* mark) {
    int const divisor = completion->active < max_polled ? completion->active : max_polled;
    int polled = 0;
    for (int index = 0; index < completion->count && polled < divisor; ++index) {
        octant_slot const handle = completion->handles[index];
        if (octant_is_null_request(handle)) continue;
        octant_poll_request(handle, completion->before, octant_interval(mark->start, mark->end) / (uint64_t)divisor);
        ++polled;
    }
}

void octant_end_completion(struct octant_completion* completion) {
    free(completion->allocated_handles);
    free(completion->allocated_statuses);
}

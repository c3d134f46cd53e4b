// Tables of a thread: entries of calls and peers, their insertion, and the slab of the thread.
#define _GNU_SOURCE
#include "record.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

_Thread_local struct octant_thread octant_thread __attribute__((tls_model("initial-exec")));
_Thread_local struct octant_recent octant_recent __attribute__((tls_model("initial-exec")));
struct octant_recording octant_recording __attribute__((aligned(64)));
int octant_enabled;

static pthread_once_t started = PTHREAD_ONCE_INIT;
static pthread_key_t ends_thread;

uint64_t octant_clock(void) { return octant_ticks(); }

static bool is_kernel_clock_tsc(void) {
    char name[4] = "";
    int const file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t const length = read(file, name, sizeof name);
    close(file);
    return length >= 3 && memcmp(name, "tsc", 3) == 0;
}

// The time stamp counter of a virtual machine may have a constant rate without saying so.
static bool has_constant_counter(void) {
#if defined(__x86_64__)
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    if (__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & 1u << 8) != 0) return true;
    return is_kernel_clock_tsc();
#else
    (void)is_kernel_clock_tsc;
    return OCTANT_HAS_COUNTER;
#endif
}

static void end_thread(void* slab) {
    octant_thread.slab = NULL;
    __atomic_store_n(&((struct octant_slab*)slab)->used, 2, __ATOMIC_RELEASE);
}

static void start(void) {
    octant_recording.uses_os_clock = !has_constant_counter();
    octant_select_interface();
    octant_first_call();
    if (octant_profile != NULL && pthread_key_create(&ends_thread, end_thread) != 0) octant_profile = NULL;
    if (octant_profile != NULL) {
        octant_recording.counts_only = (octant_profile->flags & octant_flag_counts_only) != 0;
        octant_recording.has_no_sites = (octant_profile->flags & octant_flag_no_sites) != 0;
    }
    __atomic_store_n(&octant_recording.is_started, 1, __ATOMIC_RELEASE);
}

bool octant_begin_thread(struct octant_thread* thread) {
    if (thread->slab != NULL) return true;
    struct octant_slab* const slab = octant_new_slab();
    if (slab == NULL) return false;
    uint64_t const now = octant_ticks();
    if (slab->first_ticks == 0) slab->first_ticks = now;
    if (slab->last_ticks == 0) slab->last_ticks = now;
    pthread_setspecific(ends_thread, slab);
    thread->slab = slab;
    return true;
}

bool octant_skips_first(struct octant_thread* thread) {
    pthread_once(&started, start);
    if (__atomic_load_n(&octant_enabled, __ATOMIC_ACQUIRE) == 0 || octant_profile == NULL) return true;
    return !octant_begin_thread(thread);
}

static void add_flag(uint32_t flag) { __atomic_fetch_or(&octant_profile->flags, flag, __ATOMIC_RELAXED); }

void octant_lose_call(unsigned call, uint64_t ticks) {
    __atomic_fetch_add(&octant_total_table[call].calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&octant_total_table[call].ticks, ticks, __ATOMIC_RELAXED);
    __atomic_fetch_add(&octant_profile->lost_calls, 1, __ATOMIC_RELAXED);
    add_flag(octant_flag_lost_entries);
}

struct octant_entry* octant_find_or_add_entry(struct octant_slab* slab, uint64_t site, uint64_t key) {
    uint64_t at = octant_entry_hash(site, key);
    for (; slab->table[at].site != 0; at = (at + 1) % octant_entries) {
        if (slab->table[at].site == site && slab->table[at].key == key) return &slab->table[at];
    }
    if (slab->entries >= octant_entries / 4 * 3) return NULL;
    struct octant_entry* const entry = &slab->table[at];
    entry->key = key;
    entry->min_ticks = 3e38F;
    ++slab->entries;
    __atomic_store_n(&entry->site, site, __ATOMIC_RELEASE);
    if (site != 1) octant_note_site(site);
    return entry;
}

struct octant_peer* octant_find_or_add_peer(struct octant_slab* slab, uint64_t key) {
    uint64_t at = key * 0x9E3779B97F4A7C15u >> (64 - 12);
    for (; slab->peer_table[at].key != 0; at = (at + 1) % octant_peers) {
        if (slab->peer_table[at].key == key) return &slab->peer_table[at];
    }
    uint64_t const further = UINT64_C(0x100000000);
    if (slab->peers >= octant_peers / 4 * 3 && key >> 8 != further) {
        return octant_find_or_add_peer(slab, further << 8 | (key & 0xff));
    }
    ++slab->peers;
    slab->peer_table[at].key = key;
    return &slab->peer_table[at];
}

int octant_find_number(octant_slot handle, int (*find)(octant_slot)) {
    struct octant_recent* const recent = &octant_recent;
    unsigned const freed = __atomic_load_n(&octant_recording.freed, __ATOMIC_ACQUIRE);
    if (recent->freed != freed) {
        memset(recent->numbers, 0, sizeof recent->numbers);
        recent->freed = freed;
    }
    int const number = find(handle);
    unsigned const at = octant_hash((uintptr_t)handle, 3);
    recent->numbers[at].handle = handle;
    recent->numbers[at].number = number;
    return number;
}

// Regions of the program, and the calls with which programs control the profiler: those of octant_profile.h, those of
// IBM's mpitrace (summary_start, trace_start and their counterparts, in C and Fortran), and MPI_Pcontrol.
#define _GNU_SOURCE
#include "record.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

enum { name_bytes = sizeof(((struct octant_region*)0)->name), table_bits = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int numbers[2 << table_bits];  // hash table of regions; 0: not in use, the whole program is not in it
static _Thread_local uint64_t mpi_ticks_before[octant_max_regions];
static _Thread_local int uncounted;  // visits of regions that the table has no room for

static bool is_recorded(struct octant_thread* thread) {
    if (!octant_recording.is_started) {
        // The program may use these calls without MPI, or before it loads MPI.
        if (!octant_has_library()) return false;
        octant_skips_first(thread);
    }
    return octant_profile != NULL && octant_begin_thread(thread);
}

static unsigned hash_name(int parent, char const* name, size_t length) {
    uint64_t hash = 0xcbf29ce484222325u ^ (uint64_t)parent;
    for (size_t index = 0; index < length; ++index) hash = (hash ^ (unsigned char)name[index]) * 0x100000001b3u;
    return octant_hash((uintptr_t)hash, table_bits + 1);
}

// Returns the number of the region, or the place in the hash table at which it is missing, as a negative number.
static int look_up(unsigned hash, int parent, char const* name, size_t length) {
    for (unsigned at = hash;; at = (at + 1) % (2u << table_bits)) {
        int const number = __atomic_load_n(&numbers[at], __ATOMIC_ACQUIRE);
        if (number == 0) return -(int)at - 1;
        struct octant_region const* const region = &octant_region_table[number];
        if (region->parent == parent && memcmp(region->name, name, length) == 0 && region->name[length] == '\0')
            return number;
    }
}

// Returns -1 if there is no room.
static int find_or_add(int parent, char const* name, size_t length) {
    unsigned const hash = hash_name(parent, name, length);
    int const known = look_up(hash, parent, name, length);
    if (known > 0) return known;
    pthread_mutex_lock(&lock);
    int found = look_up(hash, parent, name, length);
    if (found < 0) {
        uint32_t const used = octant_profile->regions;
        if (used < octant_max_regions) {
            struct octant_region* const region = &octant_region_table[used];
            region->parent = parent;
            memcpy(region->name, name, length);
            region->name[length] = '\0';
            __atomic_store_n(&octant_profile->regions, used + 1, __ATOMIC_RELEASE);
            __atomic_store_n(&numbers[-found - 1], (int)used, __ATOMIC_RELEASE);
            found = (int)used;
        } else {
            found = -1;
        }
    }
    pthread_mutex_unlock(&lock);
    return found > 0 ? found : -1;
}

static int begin(char const* name, size_t length) {
    struct octant_thread* const thread = &octant_thread;
    if (name == NULL || !is_recorded(thread)) return 0;
    if (length > name_bytes - 1) length = name_bytes - 1;
    int const number = uncounted > 0 ? -1 : find_or_add(thread->region, name, length);
    if (number < 0) {
        ++uncounted;
        return thread->region;
    }
    thread->region = number;
    mpi_ticks_before[number] = thread->slab->mpi_ticks;
    thread->slab->region_times[number].open_ticks = octant_ticks();
    return number;
}

int octant_begin_region(char const* name) { return begin(name, name != NULL ? strlen(name) : 0); }

void octant_end_region(void) {
    struct octant_thread* const thread = &octant_thread;
    if (octant_profile == NULL || thread->slab == NULL) return;
    if (uncounted > 0) {
        --uncounted;
        return;
    }
    int const number = thread->region;
    if (number == 0) return;
    struct octant_region_time* const time = &thread->slab->region_times[number];
    uint64_t const mpi_ticks = thread->slab->mpi_ticks;
    ++time->visits;
    time->ticks += octant_ticks() - time->open_ticks;
    // After a reset, the time in MPI starts from 0.
    time->mpi_ticks += mpi_ticks < mpi_ticks_before[number] ? mpi_ticks : mpi_ticks - mpi_ticks_before[number];
    time->open_ticks = 0;
    thread->region = octant_region_table[number].parent;
}

static bool is_innermost(char const* name) {
    struct octant_thread const* const thread = &octant_thread;
    if (octant_profile == NULL || thread->region == 0 || uncounted > 0) return false;
    return strcmp(octant_region_table[thread->region].name, name) == 0;
}

static void start_summary(void) {
    octant_set_recording(true);
    octant_begin_region("summary");
}

static void stop_summary(void) {
    if (is_innermost("summary")) octant_end_region();
    octant_set_recording(false);
}

static void start_trace(void) { octant_begin_region("trace"); }

static void stop_trace(void) {
    if (is_innermost("trace")) octant_end_region();
}

void octant_pcontrol(int level) {
    switch (level) {
        case 0:
            octant_set_recording(false);
            break;
        case 1:
            octant_set_recording(true);
            break;
        case 2:
            octant_reset();
            break;
        case 100:
            stop_trace();
            break;
        case 101:
            start_trace();
            break;
        default:
            break;
    }
}

// A Fortran string has no terminator, and is padded with blanks.
static size_t trimmed(char const* name, octant_slot length) {
    size_t bytes = (size_t)((uintptr_t)length & 0x7fffffffu);  // some compilers pass an integer of 32 bits
    if (bytes > name_bytes - 1) bytes = name_bytes - 1;
    while (name != NULL && bytes > 0 && name[bytes - 1] == ' ') --bytes;
    return bytes;
}

EXPORTED int octant_region_begin(char const* name) { return octant_begin_region(name); }
EXPORTED void octant_region_end(void) { octant_end_region(); }
EXPORTED int octant_profiler_region_begin(char const* name) { return octant_begin_region(name); }
EXPORTED void octant_profiler_region_end(void) { octant_end_region(); }
EXPORTED void octant_profiler_enable(int is_on) {
    if (is_recorded(&octant_thread)) octant_set_recording(is_on != 0);
}
EXPORTED int octant_profiler_is_active(void) { return is_recorded(&octant_thread); }

#define REGION_OF_FORTRAN(suffix)                                                     \
    EXPORTED void octant_region_begin##suffix(char const* name, octant_slot length);  \
    EXPORTED void octant_region_begin##suffix(char const* name, octant_slot length) { \
        begin(name, trimmed(name, length));                                           \
    }                                                                                 \
    EXPORTED void octant_region_end##suffix(void);                                    \
    EXPORTED void octant_region_end##suffix(void) { octant_end_region(); }
REGION_OF_FORTRAN(_)
REGION_OF_FORTRAN(__)

typedef octant_slot other_function(octant_slot, octant_slot, octant_slot, octant_slot, octant_slot, octant_slot);

// The program may have a function of its own with the name of one of mpitrace's; it is called as well.
static other_function* find_other(char const* name, void const* caller) {
    other_function* other = NULL;
    *(void**)&other = dlsym(RTLD_NEXT, name);
    Dl_info place;
    struct link_map* object = NULL;
    if (other != NULL || dladdr1(caller, &place, (void**)&object, RTLD_DL_LINKMAP) == 0 || object == NULL) return other;
    if (object->l_name[0] == '\0') return NULL;
    void* const library = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) return NULL;
    *(void**)&other = dlsym(library, name);
    dlclose(library);
    return other;
}

#define CONTROL(name, action)                                                                                \
    EXPORTED octant_slot name(octant_slot, octant_slot, octant_slot, octant_slot, octant_slot, octant_slot); \
    EXPORTED octant_slot name(octant_slot a, octant_slot b, octant_slot c, octant_slot d, octant_slot e,     \
                              octant_slot f) {                                                               \
        other_function* const other = find_other(#name, __builtin_return_address(0));                        \
        if (is_recorded(&octant_thread)) action();                                                           \
        return other != NULL ? other(a, b, c, d, e, f) : 0;                                                  \
    }
#define CONTROLS(name, action) CONTROL(name, action) CONTROL(name##_, action) CONTROL(name##__, action)
CONTROLS(summary_start, start_summary)
CONTROLS(summary_stop, stop_summary)
CONTROLS(trace_start, start_trace)
CONTROLS(trace_stop, stop_trace)

/* Regions of a program that `octant profile` reports separately. The functions do nothing if the program runs without
   the profiler; nothing has to be linked except libdl of old systems.

       #include "octant_profile.h"

       octant_begin("solver");      // regions may be nested; each thread has its own
       solve();
       octant_end();

       octant_record(0);            // no calls are recorded in this process
       write_output();
       octant_record(1);

   C++ programs can use `octant_scope scope("solver");`. octant_profile.c and octant_profile.f90 are for Fortran. */
#ifndef OCTANT_PROFILE_H
#define OCTANT_PROFILE_H

#include <dlfcn.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The profiler is loaded before the program; its functions are found at the first use. */
static inline void* octant_find_in_profiler(char const* name) { return dlsym(dlopen(NULL, RTLD_LAZY), name); }

static inline void octant_begin(char const* name) {
    static int (*begin)(char const*);
    static int is_searched;
    if (!is_searched) {
        void* const found = octant_find_in_profiler("octant_profiler_region_begin");
        *(void**)(void*)&begin = found;
        is_searched = 1;
    }
    if (begin) begin(name);
}

static inline void octant_end(void) {
    static void (*end)(void);
    static int is_searched;
    if (!is_searched) {
        void* const found = octant_find_in_profiler("octant_profiler_region_end");
        *(void**)(void*)&end = found;
        is_searched = 1;
    }
    if (end) end();
}

static inline void octant_record(int is_on) {
    void (*enable)(int) = NULL;
    void* const found = octant_find_in_profiler("octant_profiler_enable");
    *(void**)(void*)&enable = found;
    if (enable) enable(is_on);
}

#ifdef __cplusplus
}

struct octant_scope {
    explicit octant_scope(char const* name) { octant_begin(name); }
    ~octant_scope() { octant_end(); }
    octant_scope(octant_scope const&) = delete;
    octant_scope& operator=(octant_scope const&) = delete;
};
#endif

#endif

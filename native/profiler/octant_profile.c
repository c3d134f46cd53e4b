/* Functions of octant_profile.h with external linkage, for programs in Fortran (octant_profile.f90) and other
   languages. Programs that also call mpitrace's functions need no libmpitrace: the definitions here are weak. */
#include "octant_profile.h"

void octant_program_begin(char const* name);
void octant_program_end(void);
void octant_program_record(int is_on);

void octant_program_begin(char const* name) { octant_begin(name); }
void octant_program_end(void) { octant_end(); }
void octant_program_record(int is_on) { octant_record(is_on); }

static void call_profiler(char const* name) {
    void (*function)(long, long, long, long, long, long) = NULL;
    /* The first definition after that of the program itself: of the profiler, which is loaded first. */
    void* const found = dlsym((void*)-1L, name); /* RTLD_NEXT */
    *(void**)(void*)&function = found;
    if (function) function(0, 0, 0, 0, 0, 0);
}

#define CONTROL(name)                      \
    __attribute__((weak)) void name(void); \
    __attribute__((weak)) void name(void) { call_profiler(#name); }
CONTROL(summary_start)
CONTROL(summary_stop)
CONTROL(trace_start)
CONTROL(trace_stop)
CONTROL(summary_start_)
CONTROL(summary_stop_)
CONTROL(trace_start_)
CONTROL(trace_stop_)

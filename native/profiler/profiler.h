// Internal interface of the profiler: recording of calls, requests, regions, and the life of the process.
#pragma once

#include "abi.h"
#include "profile_format.h"

#include <stddef.h>

#define OCTANT_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define OCTANT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

// lifetime.c: the file of this process. It exists only if the environment variable OCTANT_PROFILE names a folder for it
// and MPI was called; a child of fork() records nothing.
extern struct octant_header* octant_profile;                 // null: nothing is recorded
extern struct octant_total* octant_total_table;              // by number of the call
extern struct octant_communicator* octant_communicator_table;
extern struct octant_region* octant_region_table;
extern struct octant_module* octant_module_table;
struct octant_slab* octant_new_slab(void);                   // null: no room; also counts the threads
void octant_first_call(void);                                // opens the file before anything is recorded; idempotent
void octant_initialized(void);                               // MPI_Init or MPI_Session_init has returned
void octant_finalizing(void);                                // MPI_Finalize is entered: writes clocks and resources
void octant_session_finalizing(void);                        // MPI_Session_finalize is entered
void octant_note_module(uint64_t address);                   // modules.c
void octant_measure_costs(void);                             // costs.c
void octant_note_site(uint64_t site);                        // a new call site: is its module known?
void octant_reset(void);                                     // sets everything that was recorded to 0
void octant_set_recording(bool is_on);                       // by the program; octant_enabled is also 0 after the end
extern bool octant_costs_unknown;                            // the costs of recording are being measured

// table.c: what a thread records.
struct octant_thread {
    struct octant_slab* slab;  // null: none yet
    int depth;                 // calls of MPI that are being executed: only the outermost is recorded
    int disabled;              // recording is disabled in this thread
    int region;                // innermost region
};
extern _Thread_local struct octant_thread octant_thread __attribute__((tls_model("initial-exec")));
extern int octant_enabled;  // 0: recording is disabled in all threads (MPI_Pcontrol, summary_stop, after MPI_Finalize)

uint64_t octant_clock(void);

// regions.c
int octant_begin_region(char const* name);  // returns the number of the region
void octant_end_region(void);
void octant_pcontrol(int level);  // 0 and 1: recording off and on; 2: reset; 100 and 101: end and begin of the region "trace"
// Exported for programs: octant_profile.h.
int octant_region_begin(char const* name);
void octant_region_end(void);
int octant_profiler_region_begin(char const* name);
void octant_profiler_region_end(void);
void octant_profiler_enable(int is_on);
int octant_profiler_is_active(void);

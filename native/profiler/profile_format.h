// Layout of the file in which the profiler records one process, in the byte order of the host. It is mapped into the
// process and therefore complete up to the moment at which the process ends, however it ends.
//
//   header | totals by call | communicators | regions | modules | one slab per thread
//
// Sizes of the structures are part of the format: src/octant/profile/layout.py declares the same fields.
#pragma once

#include <stdint.h>

#define OCTANT_PROFILE_MAGIC "OCTPROF1"
#define OCTANT_PROFILE_VERSION 1

enum {
    octant_max_calls = 1024,          // identifiers of calls: calls.inc
    octant_max_communicators = 1024,  // further ones share the last entry
    octant_max_regions = 512,         // nodes of the tree of nested regions; further ones count for their parent
    octant_max_modules = 256,
    octant_max_threads = 1024,  // slabs; the slab of a thread that has ended is used again
    octant_entries = 8192,      // of a slab, a power of two; at most 3/4 are used
    octant_peers = 4096,        // likewise
};

enum octant_abi { octant_abi_unknown = 0, octant_abi_standard = 1, octant_abi_mpich = 2, octant_abi_openmpi = 3 };

enum octant_state {
    octant_state_loaded = 0,     // no call of MPI yet
    octant_state_running = 1,    // after the first call
    octant_state_finalized = 2,  // MPI_Finalize, or the end of the last session
    octant_state_exited = 3,     // without MPI_Finalize
};

enum octant_flag {
    octant_flag_counts_only = 1,   // calls are counted and not timed
    octant_flag_no_sites = 2,      // calls are not separated by call site
    octant_flag_lost_entries = 4,  // a table was full; the totals by call are complete
    octant_flag_lost_slab = 8,     // there was no room for the table of a thread
    octant_flag_mpi_threads = 16,  // MPI_THREAD_MULTIPLE was provided
    octant_flag_no_rank = 32,      // `rank` comes from the launcher's variables, not from MPI_COMM_WORLD
    octant_flag_waits = 128,       // collectives are preceded by a barrier, whose time is `waited` of their entries
    octant_flag_spawned = 64,      // by MPI_Comm_spawn: `rank` is in another MPI_COMM_WORLD than that of the first processes
};

struct octant_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;
    uint32_t entry_bytes, peer_bytes, slab_bytes, page_bytes;
    uint32_t abi;    // enum octant_abi; unknown: the MPI library is not supported, nothing was recorded
    uint32_t state;  // enum octant_state
    uint32_t flags;  // enum octant_flag
    int32_t pid;
    int32_t rank;    // in MPI_COMM_WORLD; -1: not known
    int32_t ranks;   // size of MPI_COMM_WORLD; 0: not known
    uint32_t thread_level;  // that MPI provides, 0 to 3
    uint32_t slabs;         // number of slabs in the file
    uint32_t communicators, regions, modules;  // entries in use
    uint32_t threads;                          // that called MPI
    uint64_t slabs_at;      // offset of the first slab
    // Two readings of both clocks give the ticks per second.
    uint64_t first_ticks, first_ns, first_epoch_ns;
    uint64_t last_ticks, last_ns, last_epoch_ns;
    uint64_t begin_ticks;  // MPI_Init has returned; 0: not seen
    uint64_t end_ticks;    // MPI_Finalize is entered; 0: not seen
    double clock_ticks;    // that two consecutive readings of the clock differ by: was NOT subtracted from the times
    double timed_ticks, counted_ticks, disabled_ticks;  // cost of one call of each kind, measured on this host
    uint64_t lost_calls;    // calls whose entry did not fit into a table
    uint64_t lost_requests;  // requests whose completion could not be assigned to their start
    // Of the process, at the last update (MPI_Finalize or exit); 0: not known.
    uint64_t peak_memory_bytes, user_ns, system_ns, voluntary_switches, involuntary_switches, minor_faults, major_faults;
    uint64_t unused[24];
    char host[64];
    char library[256];     // MPI_Get_library_version, its first line
    char executable[512];  // /proc/self/exe
};

// Totals by call, for all threads. They are complete only for calls whose entries did not fit (`lost_calls`).
struct octant_total {
    uint64_t calls, ticks;
};

struct octant_communicator {
    int32_t parent;    // number of the communicator that it was made from; -1: none or not known
    int32_t size;      // of its local group
    int32_t rank;      // of this process in it
    uint32_t kind;     // 0 other, 1 MPI_COMM_WORLD, 2 MPI_COMM_SELF, 3 window, 4 file, 5 intercommunicator
    uint64_t digest;   // of the world ranks of its group: equal in all of its processes
    uint32_t sequence;  // number of the communicators of this group and size that were made before it
    uint32_t unused;
    char name[96];  // MPI_Comm_set_name
};

struct octant_region {
    int32_t parent;  // -1: the whole program, which is region 0
    uint32_t unused;
    char name[120];
};

struct octant_module {
    uint64_t begin, end, bias;  // addresses; a symbol's address in the file is the address minus the bias
    char build_id[40];          // hexadecimal
    char path[960];
};

// One combination of call, call site, communicator, region and message size. Times are in ticks.
struct octant_entry {
    uint64_t site;  // return address; 0: not in use, 1: sites are not recorded
    uint64_t key;   // see below
    uint64_t calls;
    uint64_t bytes;
    uint64_t ticks;      // inside the call
    uint64_t waited;     // spent in Wait and Test calls, of any site, for requests that this call started; see octant_flag_waits
    uint64_t in_flight;  // from the start to the completion of these requests
    float min_ticks, max_ticks;  // of one call
};

// key: call | bucket << 16 | communicator << 32 | region << 48. Bucket 0: no bytes; b: 2^(b-1) ≤ bytes < 2^b. For
// receives and transfers that a Wait or Test call completes, it is the bucket of the posted size.
enum { octant_no_communicator = 0xffff };  // of calls without communicator, window or file: Wait, Test

enum octant_peer_kind { octant_sent = 0, octant_received = 1, octant_put = 2, octant_got = 3 };

struct octant_peer {
    uint64_t key;  // (world rank + 1) << 8 | kind; 0: not in use; world rank 0xffffffff: further peers
    uint64_t messages;
    uint64_t bytes;
    uint64_t unused;
};

struct octant_region_time {
    uint64_t visits;
    uint64_t ticks;      // inside the region, nested regions included; of completed visits
    uint64_t mpi_ticks;  // of it inside MPI
    uint64_t open_ticks;  // clock at the beginning of a visit that has not ended; 0: none
};

struct octant_slab {
    uint32_t used;     // 1: its thread runs, 2: it has ended
    int32_t tid;       // of its last thread
    uint32_t threads;  // that used it
    uint32_t entries, peers;  // in use
    uint32_t unused;
    uint64_t mpi_ticks;   // in timed calls, outermost only
    uint64_t mpi_calls;   // timed and counted
    uint64_t first_ticks, last_ticks;  // of the first and after the last timed call
    struct octant_region_time region_times[octant_max_regions];
    struct octant_entry table[octant_entries];
    struct octant_peer peer_table[octant_peers];
};

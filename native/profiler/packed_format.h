// Packed form of the file of one process (profile_format.h): only what is in use. octant-bind writes it, and Python reads
// it (src/octant/profile/layout.py declares the same fields). All structures are written without gaps, in this order:
//
//   packed head | header | totals | communicators | regions | modules | for each slab: its head, region times, entries, peers
//
// A file may contain several packed profiles, one after the other: those of all processes of a node.
#pragma once

#include "profile_format.h"

#define OCTANT_PACKED_MAGIC "OCTPACK1"
#define OCTANT_PACKED_VERSION 1

struct octant_packed {
    char magic[8];
    uint64_t bytes;         // of this packed profile, from the magic to the last peer
    uint32_t version;
    uint32_t head_bytes;    // of this structure
    uint32_t header_bytes;  // of octant_header, copied unchanged
    // Numbers of structures that follow: those that were written, which may be less than the header says.
    uint32_t totals, communicators, regions, modules, slabs;
};

// Those of octant_total with calls.
struct octant_packed_total {
    uint32_t call, unused;
    struct octant_total total;
};

// Communicators, regions and modules are copied unchanged: the first ones of their tables, up to the number in the header.

// Those of octant_slab with `used` not 0.
struct octant_packed_slab {
    uint32_t number;  // of the slab in the file of the process
    uint32_t used;
    int32_t tid;
    uint32_t threads;
    uint32_t region_times, entries, peers;  // that follow
    uint32_t unused;
    uint64_t mpi_ticks, mpi_calls, first_ticks, last_ticks;
};

// Those of octant_region_time with visits or open_ticks.
struct octant_packed_region_time {
    uint32_t region, unused;
    struct octant_region_time time;
};

// Entries: those with `site` not 0; peers: those with `key` not 0; both copied unchanged, in the order of their tables.

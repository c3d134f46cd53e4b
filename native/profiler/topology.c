// Shapes of communicators that are not in the table, and destinations of neighbourhood collectives.
#include "bytes.h"

#include <pthread.h>
#include <stdlib.h>

typedef int octant_query(octant_slot, int*);

static int query(char const* name, octant_slot communicator) {
    octant_query* function = NULL;
    *(void**)&function = octant_own_function(name);
    int value = 0;
    return function != NULL && function(communicator, &value) == 0 ? value : 0;
}

struct octant_shape octant_find_shape(octant_slot communicator) {
    struct octant_shape shape = {0, query("PMPI_Comm_size", communicator), query("PMPI_Comm_rank", communicator), false};
    shape.is_inter = query("PMPI_Comm_test_inter", communicator) != 0;
    shape.size = shape.is_inter ? query("PMPI_Comm_remote_size", communicator) : shape.local_size;
    return shape;
}

// Entries of freed communicators are found again and replaced, because their handle or number of frees differs.
struct known {
    octant_slot communicator;
    unsigned freed;
    struct octant_destinations destinations;
    struct known* next;
};
static struct known* known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct octant_destinations find_cartesian(octant_slot communicator) {
    int const dimensions = query("PMPI_Cartdim_get", communicator);
    struct octant_destinations found = {.count = 2 * dimensions};
    int (*shift)(octant_slot, int, int, int*, int*) = NULL;
    *(void**)&shift = octant_own_function("PMPI_Cart_shift");
    for (int dimension = 0; dimension < dimensions; ++dimension) {
        int ranks[2] = {0, 0};
        if (shift != NULL) shift(communicator, dimension, 1, &ranks[0], &ranks[1]);
        for (int side = 0; side < 2; ++side) {
            int const index = 2 * dimension + side;
            if (ranks[side] >= 0) ++found.existing;
            if (ranks[side] < 0 && index < 64) found.missing |= UINT64_C(1) << index;
        }
    }
    return found;
}

static struct octant_destinations find_graph(octant_slot communicator) {
    int (*count)(octant_slot, int, int*) = NULL;
    *(void**)&count = octant_own_function("PMPI_Graph_neighbors_count");
    int neighbors = 0;
    if (count != NULL) count(communicator, query("PMPI_Comm_rank", communicator), &neighbors);
    return (struct octant_destinations){neighbors, neighbors, 0};
}

static struct octant_destinations find_distributed(octant_slot communicator) {
    int (*count)(octant_slot, int*, int*, int*) = NULL;
    *(void**)&count = octant_own_function("PMPI_Dist_graph_neighbors_count");
    int in = 0;
    int out = 0;
    int weighted = 0;
    if (count != NULL) count(communicator, &in, &out, &weighted);
    return (struct octant_destinations){out, out, 0};
}

static struct octant_destinations find(octant_slot communicator) {
    static int const kinds[][3] = {  // MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH
        [octant_abi_standard] = {211, 212, 213}, [octant_abi_mpich] = {2, 1, 3}, [octant_abi_openmpi] = {1, 2, 3}};
    int const kind = query("PMPI_Topo_test", communicator);
    int const* const numbers = kinds[octant_interface.abi];
    if (kind == numbers[0]) return find_cartesian(communicator);
    if (kind == numbers[1]) return find_graph(communicator);
    if (kind == numbers[2]) return find_distributed(communicator);
    return (struct octant_destinations){0, 0, 0};
}

struct octant_destinations octant_find_destinations(octant_slot communicator) {
    pthread_mutex_lock(&lock);
    unsigned const freed = __atomic_load_n(&octant_recording.freed, __ATOMIC_ACQUIRE);
    struct known* one = known;
    while (one != NULL && one->communicator != communicator) one = one->next;
    if (one == NULL) {
        one = calloc(1, sizeof *one);
        if (one != NULL) {
            one->communicator = communicator;
            one->freed = freed - 1;
            one->next = known;
            known = one;
        }
    }
    struct octant_destinations result = {0, 0, 0};
    if (one != NULL && one->freed != freed) {
        one->destinations = find(communicator);
        one->freed = freed;
    }
    if (one != NULL) result = one->destinations;
    pthread_mutex_unlock(&lock);
    return result;
}

// Numbers and identities of communicators, windows and files, and the ranks in MPI_COMM_WORLD of their members.
#define _GNU_SOURCE
#include "profiler.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { kind_other = 0, kind_world = 1, kind_self = 2, kind_window = 3, kind_file = 4, kind_inter = 5 };
enum {
    buckets = 1024,
    // A program may make and free communicators for ever: after so many of one group, a new one takes the entry of one
    // that was freed. All processes of the group make and free them in the same order, and therefore agree.
    max_of_group = 128,
};

struct node {
    uintptr_t handle;  // 0: was freed
    uint32_t kind;     // other, window or file
    int number;
    struct node* next;
};

struct group {
    int* world_ranks;  // null: the ranks are those in MPI_COMM_WORLD
    int members;       // ranks that a vector collective has: of the remote group of an intercommunicator
    int translated;    // elements of world_ranks, or of MPI_COMM_WORLD
    bool is_freed;
};

static struct node* nodes[buckets];
static struct group groups[octant_max_communicators];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static octant_slot world_group;
static bool has_world_group;
static int world_size;
static octant_slot first_session;
static bool has_session;

static struct {
    int (*comm_group)(octant_slot, octant_slot*);
    int (*comm_remote_group)(octant_slot, octant_slot*);
    int (*comm_test_inter)(octant_slot, int*);
    int (*comm_rank)(octant_slot, int*);
    int (*comm_size)(octant_slot, int*);
    int (*win_get_group)(octant_slot, octant_slot*);
    int (*file_get_group)(octant_slot, octant_slot*);
    int (*group_size)(octant_slot, int*);
    int (*group_rank)(octant_slot, int*);
    int (*group_translate_ranks)(octant_slot, int, int const*, octant_slot, int*);
    int (*group_free)(octant_slot*);
    int (*initialized)(int*);
    int (*query_thread)(int*);
    int (*group_from_session_pset)(octant_slot, char const*, octant_slot*);
} mpi;
static pthread_once_t mpi_found = PTHREAD_ONCE_INIT;

static void find_functions(void) {
    octant_select_interface();
#define FIND(member, name) *(void**)&mpi.member = octant_own_function(name)
    FIND(comm_group, "PMPI_Comm_group");
    FIND(comm_remote_group, "PMPI_Comm_remote_group");
    FIND(comm_test_inter, "PMPI_Comm_test_inter");
    FIND(comm_rank, "PMPI_Comm_rank");
    FIND(comm_size, "PMPI_Comm_size");
    FIND(win_get_group, "PMPI_Win_get_group");
    FIND(file_get_group, "PMPI_File_get_group");
    FIND(group_size, "PMPI_Group_size");
    FIND(group_rank, "PMPI_Group_rank");
    FIND(group_translate_ranks, "PMPI_Group_translate_ranks");
    FIND(group_free, "PMPI_Group_free");
    FIND(initialized, "PMPI_Initialized");
    FIND(query_thread, "PMPI_Query_thread");
    FIND(group_from_session_pset, "PMPI_Group_from_session_pset");  // may be missing
#undef FIND
}

static uintptr_t mask_handle(octant_slot handle, uint32_t kind) {
    // MPI_File is a pointer in all interfaces.
    return kind == kind_file ? (uintptr_t)handle : (uintptr_t)handle & octant_interface.handle_mask;
}

static bool is_null(uintptr_t handle, uint32_t kind) {
    if (handle == 0) return true;
    if (kind == kind_window) return handle == octant_interface.win_null;
    if (kind == kind_file) return handle == octant_interface.file_null;
    return handle == octant_interface.comm_null;
}

static struct node* find_node(uintptr_t handle, uint32_t kind) {
    struct node* node = __atomic_load_n(&nodes[octant_hash(handle, 10)], __ATOMIC_ACQUIRE);
    for (; node != NULL; node = __atomic_load_n(&node->next, __ATOMIC_ACQUIRE)) {
        if (__atomic_load_n(&node->handle, __ATOMIC_ACQUIRE) == handle && node->kind == kind) return node;
    }
    return NULL;
}

static void add_node(uintptr_t handle, uint32_t kind, int number) {
    struct node** const bucket = &nodes[octant_hash(handle, 10)];
    for (struct node* node = *bucket; node != NULL; node = node->next) {
        if (node->handle == 0 && node->kind == kind) {
            node->number = number;
            __atomic_store_n(&node->handle, handle, __ATOMIC_RELEASE);
            return;
        }
    }
    struct node* const node = calloc(1, sizeof *node);
    if (node == NULL) return;
    *node = (struct node){handle, kind, number, *bucket};
    __atomic_store_n(bucket, node, __ATOMIC_RELEASE);
}

static bool find_world_group(void) {
    if (has_world_group) return true;
    int is_initialized = 0;
    mpi.initialized(&is_initialized);
    if (is_initialized) {
        has_world_group = mpi.comm_group((octant_slot)octant_interface.world, &world_group) == 0;
    } else if (has_session && mpi.group_from_session_pset != NULL) {
        has_world_group = mpi.group_from_session_pset(first_session, "mpi://WORLD", &world_group) == 0;
    }
    if (has_world_group) mpi.group_size(world_group, &world_size);
    return has_world_group;
}

// Returns the ranks in MPI_COMM_WORLD, -1 if one is not known; null without memory.
static int* translate(octant_slot group, int size) {
    int* const ranks = malloc(2 * sizeof(int) * (size_t)(size > 0 ? size : 1));
    if (ranks == NULL) return NULL;
    int* const world_ranks = ranks + size;
    for (int rank = 0; rank < size; ++rank) {
        ranks[rank] = rank;
        world_ranks[rank] = -1;
    }
    if (size > 0 && find_world_group()) mpi.group_translate_ranks(group, size, ranks, world_group, world_ranks);
    for (int rank = 0; rank < size; ++rank) ranks[rank] = world_ranks[rank] < 0 ? -1 : world_ranks[rank];
    return ranks;
}

static uint64_t digest(int const* ranks, int size) {
    uint64_t hash = 0xcbf29ce484222325u ^ (uint64_t)size;
    for (int rank = 0; rank < size; ++rank) {
        hash = (hash ^ (uint32_t)ranks[rank]) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return hash;
}

static bool is_identity(int const* ranks, int size) {
    if (size != world_size) return false;
    for (int rank = 0; rank < size; ++rank) {
        if (ranks[rank] != rank) return false;
    }
    return true;
}

static uint32_t class_of(uint32_t kind) { return kind <= kind_self ? kind_other : kind; }

// Returns the number of a new entry, or of a freed one of the same group, with its sequence; the last one if the table
// is full.
static int reserve_entry(uint32_t kind, uint64_t group_digest) {
    uint32_t const used = octant_profile->communicators;
    uint32_t sequence = 0;
    int freed = -1;
    for (uint32_t number = 0; number < used; ++number) {
        struct octant_communicator const* const other = &octant_communicator_table[number];
        if (class_of(other->kind) != class_of(kind) || other->digest != group_digest || number == 1) continue;
        ++sequence;
        if (freed < 0 && groups[number].is_freed && other->name[0] == '\0') freed = (int)number;
    }
    if (sequence >= max_of_group && freed >= 0) return freed;
    if (used >= octant_max_communicators) return octant_max_communicators - 1;
    octant_communicator_table[used].sequence = sequence;
    __atomic_store_n(&octant_profile->communicators, used + 1, __ATOMIC_RELEASE);
    return (int)used;
}

// Other communicators of the same group share its array.
static int* share_ranks(uint64_t group_digest, int* ranks, int size) {
    for (int other = 0; other < (int)octant_profile->communicators; ++other) {
        struct group const* const group = &groups[other];
        if (group->world_ranks == NULL || group->translated != size) continue;
        if (octant_communicator_table[other].digest != group_digest) continue;
        if (memcmp(group->world_ranks, ranks, sizeof(int) * (size_t)size) != 0) continue;
        free(ranks);
        return group->world_ranks;
    }
    return ranks;
}

static int fill_entry(uint32_t kind, int parent, int size, int rank, int* peers, int members, uint64_t group_digest) {
    int const number = reserve_entry(kind, group_digest);
    struct octant_communicator* const entry = &octant_communicator_table[number];
    entry->parent = parent;
    entry->size = size;
    entry->rank = rank;
    entry->kind = kind;
    entry->digest = group_digest;
    struct group* const group = &groups[number];
    int* ranks = peers;
    if (is_identity(peers, members)) {
        free(peers);
        ranks = NULL;
    } else {
        ranks = share_ranks(group_digest, peers, members);
    }
    group->members = members;
    group->translated = members;
    group->is_freed = false;
    __atomic_store_n(&group->world_ranks, ranks, __ATOMIC_RELEASE);  // an array is never freed: readers have no lock
    return number;
}

static int make(octant_slot handle, uint32_t kind, int parent) {
    octant_slot group = 0;
    octant_slot remote_group = 0;
    int is_inter = 0;
    if (kind == kind_window) {
        if (mpi.win_get_group(handle, &group) != 0) return 0;
    } else if (kind == kind_file) {
        if (mpi.file_get_group(handle, &group) != 0) return 0;
    } else {
        mpi.comm_test_inter(handle, &is_inter);
        if (mpi.comm_group(handle, &group) != 0) return 0;
        if (is_inter) mpi.comm_remote_group(handle, &remote_group);
    }
    int size = 0;
    int rank = 0;
    mpi.group_size(group, &size);
    mpi.group_rank(group, &rank);
    int* peers = translate(group, size);
    int members = size;
    uint64_t group_digest = peers != NULL ? digest(peers, size) : 0;
    if (is_inter) {
        free(peers);
        mpi.group_size(remote_group, &members);
        peers = translate(remote_group, members);
        group_digest += peers != NULL ? digest(peers, members) : 0;  // equal on both sides
        mpi.group_free(&remote_group);
    }
    mpi.group_free(&group);
    if (peers == NULL) return 0;
    return fill_entry(is_inter ? kind_inter : kind, parent, size, rank, peers, members, group_digest);
}

static int find_or_make(octant_slot handle, uint32_t kind, int parent) {
    if (octant_profile == NULL) return 0;
    pthread_once(&mpi_found, find_functions);
    uintptr_t const key = mask_handle(handle, kind);
    if (is_null(key, kind)) return 0;
    struct node const* const known = find_node(key, kind);
    if (known != NULL) return known->number;
    pthread_mutex_lock(&lock);
    struct node const* const meanwhile = find_node(key, kind);
    int number = meanwhile != NULL ? meanwhile->number : -1;
    if (number < 0) {
        number = key == octant_interface.world && kind == kind_other ? 0 : make(handle, kind, parent);
        add_node(key, kind, number);
    }
    pthread_mutex_unlock(&lock);
    return number;
}

int octant_find_communicator(uintptr_t handle) { return find_or_make((octant_slot)handle, kind_other, -1); }
int octant_window(octant_slot handle) { return find_or_make(handle, kind_window, -1); }
int octant_file(octant_slot handle) { return find_or_make(handle, kind_file, -1); }

void octant_communicator_made(octant_slot handle, int parent) { find_or_make(handle, kind_other, parent); }
void octant_window_made(octant_slot handle, int parent) { find_or_make(handle, kind_window, parent); }
void octant_file_made(octant_slot handle, int parent, char const* name) {
    int const number = find_or_make(handle, kind_file, parent);
    if (number > 1) octant_set_name(number, name);
}

// MPI_Comm_idup returns a handle that may not be used before its request has completed: the parent has the same group.
void octant_communicator_duplicated(octant_slot handle, int parent) {
    if (octant_profile == NULL || parent < 0) return;
    uintptr_t const key = mask_handle(handle, kind_other);
    if (is_null(key, kind_other)) return;
    pthread_mutex_lock(&lock);
    if (find_node(key, kind_other) == NULL) {
        struct octant_communicator const original = octant_communicator_table[parent];
        struct group const group = groups[parent];
        uint32_t const kind = original.kind == kind_inter ? kind_inter : kind_other;
        int const number = reserve_entry(kind, original.digest);
        struct octant_communicator* const entry = &octant_communicator_table[number];
        entry->parent = parent;
        entry->size = original.size;
        entry->rank = original.rank;
        entry->kind = kind;
        entry->digest = original.digest;
        groups[number] = group;
        groups[number].is_freed = false;
        add_node(key, kind_other, number);
    }
    pthread_mutex_unlock(&lock);
}

static void free_handle(octant_slot handle, uint32_t kind) {
    if (octant_profile == NULL) return;
    uintptr_t const key = mask_handle(handle, kind);
    if (is_null(key, kind)) return;
    pthread_mutex_lock(&lock);
    struct node* const node = find_node(key, kind);
    if (node != NULL && node->number > 1) {
        if (node->number < octant_max_communicators - 1) groups[node->number].is_freed = true;
        __atomic_store_n(&node->handle, 0, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
}

void octant_communicator_freed(octant_slot handle) { free_handle(handle, kind_other); }
void octant_window_freed(octant_slot handle) { free_handle(handle, kind_window); }
void octant_file_freed(octant_slot handle) { free_handle(handle, kind_file); }

void octant_set_name(int number, char const* name) {
    if (octant_profile == NULL || number < 0 || number >= octant_max_communicators || name == NULL) return;
    char* const text = octant_communicator_table[number].name;
    size_t const room = sizeof octant_communicator_table[number].name - 1;
    size_t const length = strnlen(name, room);
    memcpy(text, name, length);
    memset(text + length, 0, room + 1 - length);
}

void octant_session_made(octant_slot session) {
    pthread_once(&mpi_found, find_functions);
    pthread_mutex_lock(&lock);
    if (!has_session) first_session = session;
    has_session = true;
    pthread_mutex_unlock(&lock);
}

static void fill_predefined(int number, uint32_t kind, uintptr_t handle, char const* name) {
    struct octant_communicator* const entry = &octant_communicator_table[number];
    int size = 0;
    int rank = 0;
    mpi.comm_size((octant_slot)handle, &size);
    mpi.comm_rank((octant_slot)handle, &rank);
    *entry = (struct octant_communicator){.parent = -1, .size = size, .rank = rank, .kind = kind};
    groups[number].members = size;
    octant_set_name(number, name);
}

void octant_number_predefined(void) {
    if (octant_profile == NULL) return;
    pthread_once(&mpi_found, find_functions);
    int is_initialized = 0;
    mpi.initialized(&is_initialized);
    if (!is_initialized) return;
    pthread_mutex_lock(&lock);
    fill_predefined(0, kind_world, octant_interface.world, "MPI_COMM_WORLD");
    fill_predefined(1, kind_self, octant_interface.self, "MPI_COMM_SELF");
    if (find_world_group()) {
        int* const ranks = translate(world_group, world_size);
        if (ranks != NULL) octant_communicator_table[0].digest = digest(ranks, world_size);
        free(ranks);
        groups[0].translated = world_size;
    }
    int* const self = malloc(sizeof(int));
    if (self != NULL) {
        *self = octant_communicator_table[0].rank;
        octant_communicator_table[1].digest = digest(self, 1);
        groups[1].translated = 1;
        groups[1].world_ranks = self;
    }
    if (find_node(octant_interface.self, kind_other) == NULL) add_node(octant_interface.self, kind_other, 1);
    pthread_mutex_unlock(&lock);
}

static int thread_level(int provided) {
    if (octant_interface.abi != octant_abi_standard) return provided;
    return provided / 1024 > 2 ? 3 : provided / 1024;  // 0, 1024, 2048, 4096
}

void octant_read_world(int* rank, int* ranks, int* level) {
    pthread_once(&mpi_found, find_functions);
    *rank = -1;
    *ranks = 0;
    *level = 0;
    int provided = 0;
    int is_initialized = 0;
    mpi.initialized(&is_initialized);
    if (is_initialized) {
        mpi.comm_rank((octant_slot)octant_interface.world, rank);
        mpi.comm_size((octant_slot)octant_interface.world, ranks);
        if (mpi.query_thread(&provided) == 0) *level = thread_level(provided);
        return;
    }
    pthread_mutex_lock(&lock);
    if (find_world_group()) {
        int own = -1;
        mpi.group_rank(world_group, &own);
        *rank = own < 0 ? -1 : own;
        *ranks = world_size;
    }
    pthread_mutex_unlock(&lock);
}

int octant_find_world_rank(int communicator, int rank) {
    if (communicator < 0 || communicator >= octant_max_communicators - 1 || rank < 0) return -1;
    struct group const* const group = &groups[communicator];
    int const* const ranks = __atomic_load_n(&group->world_ranks, __ATOMIC_ACQUIRE);
    if (rank >= group->translated) return -1;
    return ranks != NULL ? ranks[rank] : rank;
}

int octant_communicator_size(int communicator) {
    return communicator < 0 || communicator >= octant_max_communicators ? 0 : groups[communicator].members;
}

int octant_communicator_rank(int communicator) {
    if (octant_profile == NULL || communicator < 0 || communicator >= octant_max_communicators) return -1;
    return octant_communicator_table[communicator].rank;
}

// The file of this process, from the first call of MPI to the end, and what describes the process in it.
#define _GNU_SOURCE
#include "profiler.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct octant_header* octant_profile;
struct octant_total* octant_total_table;
struct octant_communicator* octant_communicator_table;
struct octant_region* octant_region_table;
struct octant_module* octant_module_table;
bool octant_costs_unknown;

static pthread_once_t opened = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char path[4096];
static dev_t device;
static ino_t inode;
static bool is_alive;      // the file exists and MPI has not ended
static bool is_on = true;  // as the program wants it
static bool has_world;     // between MPI_Init and MPI_Finalize
static int sessions;
static struct octant_slab* slabs[octant_max_threads];

// Slabs begin this many bytes behind the start of a page, so that each entry of a call is one cache line.
enum { cache_line = 64, slab_shift = (cache_line - offsetof(struct octant_slab, table) % cache_line) % cache_line };

static size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

static void apply_recording(void) { __atomic_store_n(&octant_enabled, is_alive && is_on, __ATOMIC_RELEASE); }

void octant_set_recording(bool on) {
    is_on = on;
    apply_recording();
}

static uint64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Of several readings, the one during which least time passed.
static void read_clocks(uint64_t* ticks, uint64_t* ns, uint64_t* epoch_ns) {
    uint64_t shortest = UINT64_MAX;
    for (int attempt = 0; attempt < 5; ++attempt) {
        uint64_t const before = octant_clock();
        uint64_t const between = read_clock(CLOCK_MONOTONIC);
        uint64_t const after = octant_clock();
        if (after - before >= shortest) continue;
        shortest = after - before;
        *ticks = before + (after - before) / 2;
        *ns = between;
    }
    *epoch_ns = read_clock(CLOCK_REALTIME);
}

static void update_clocks(void) {
    read_clocks(&octant_profile->last_ticks, &octant_profile->last_ns, &octant_profile->last_epoch_ns);
}

static uint64_t nanoseconds(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static void update_resources(void) {
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) != 0) return;
    octant_profile->peak_memory_bytes = (uint64_t)used.ru_maxrss * 1024u;
    octant_profile->user_ns = nanoseconds(used.ru_utime);
    octant_profile->system_ns = nanoseconds(used.ru_stime);
    octant_profile->voluntary_switches = (uint64_t)used.ru_nvcsw;
    octant_profile->involuntary_switches = (uint64_t)used.ru_nivcsw;
    octant_profile->minor_faults = (uint64_t)used.ru_minflt;
    octant_profile->major_faults = (uint64_t)used.ru_majflt;
}

// Space is reserved, because a store into a mapping of a full file system ends the process.
static bool reserve(int file, size_t begin, size_t bytes) {
    struct rlimit limit;  // exceeding it would send a signal
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < begin + bytes)
        return false;
    int error = 0;
    do {
        error = posix_fallocate(file, (off_t)begin, (off_t)bytes);
    } while (error == EINTR);
    return error == 0;
}

static void* map(int file, size_t begin, size_t bytes) {
    void* const address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)begin);
    return address == MAP_FAILED ? NULL : address;
}

static int create_file(void) {
    char const* const folder = getenv("OCTANT_PROFILE");
    if (folder == NULL || folder[0] != '/') return -1;
    char host[sizeof octant_profile->host];
    if (gethostname(host, sizeof host) != 0) strcpy(host, "host");
    host[sizeof host - 1] = '\0';
    for (int number = 0; number < 1000; ++number) {
        int const length = snprintf(path, sizeof path, "%s/%s.%d.%d", folder, host, (int)getpid(), number);
        if (length < 0 || (size_t)length >= sizeof path) return -1;
        int const file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

// The file is not kept open: programs may close all descriptors, or expect the next one to have a certain number.
static int open_again(void) {
    int const file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    if (file >= 0 && fstat(file, &status) == 0 && status.st_dev == device && status.st_ino == inode) return file;
    if (file >= 0) close(file);
    return -1;
}

static void read_rank_of_launcher(void) {
    static char const* const ranks[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"};
    static char const* const sizes[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"};
    octant_profile->rank = -1;
    octant_profile->flags |= octant_flag_no_rank;
    for (size_t index = 0; index < sizeof ranks / sizeof *ranks && octant_profile->rank < 0; ++index) {
        char const* const text = getenv(ranks[index]);
        if (text != NULL && *text >= '0' && *text <= '9') octant_profile->rank = (int32_t)strtol(text, NULL, 10);
    }
    for (size_t index = 0; index < sizeof sizes / sizeof *sizes && octant_profile->ranks == 0; ++index) {
        char const* const text = getenv(sizes[index]);
        if (text != NULL && *text >= '0' && *text <= '9') octant_profile->ranks = (int32_t)strtol(text, NULL, 10);
    }
}

static void read_library_version(void) {
    int (*get_version)(char*, int*) = NULL;
    *(void**)&get_version = octant_own_function("PMPI_Get_library_version");
    char* const text = calloc(1, 1 << 16);
    int length = 0;
    if (get_version != NULL && text != NULL && get_version(text, &length) == 0) {
        size_t const line = strcspn(text, "\n");
        size_t const room = sizeof octant_profile->library - 1;
        memcpy(octant_profile->library, text, line < room ? line : room);
    }
    free(text);
}

static void fill_header(struct octant_header* header, size_t slabs_at, size_t page) {
    header->version = OCTANT_PROFILE_VERSION;
    header->header_bytes = sizeof *header;
    header->entry_bytes = sizeof(struct octant_entry);
    header->peer_bytes = sizeof(struct octant_peer);
    header->slab_bytes = (uint32_t)round_up(slab_shift + sizeof(struct octant_slab), page);
    header->page_bytes = (uint32_t)page;
    header->slabs_at = slabs_at + slab_shift;
    header->pid = (int32_t)getpid();
    header->communicators = 2;
    header->regions = 1;
    header->state = octant_state_running;
    gethostname(header->host, sizeof header->host - 1);
    ssize_t const length = readlink("/proc/self/exe", header->executable, sizeof header->executable - 1);
    if (length < 0) header->executable[0] = '\0';
    char const* const mode = getenv("OCTANT_PROFILE_MODE");
    if (mode != NULL && strcmp(mode, "counts") == 0) header->flags |= octant_flag_counts_only;
    if (mode != NULL && strcmp(mode, "off") == 0) is_on = false;
    if (mode != NULL && strcmp(mode, "waits") == 0) header->flags |= octant_flag_waits;
    char const* const sites = getenv("OCTANT_PROFILE_SITES");
    if (sites != NULL && strcmp(sites, "0") == 0) header->flags |= octant_flag_no_sites;
}

static void create_profile(void) {
    int const file = create_file();
    if (file < 0) return;
    struct stat status;
    size_t const page = (size_t)sysconf(_SC_PAGESIZE);
    size_t const totals_at = sizeof(struct octant_header);
    size_t const communicators_at = totals_at + octant_max_calls * sizeof(struct octant_total);
    size_t const regions_at = communicators_at + octant_max_communicators * sizeof(struct octant_communicator);
    size_t const modules_at = regions_at + octant_max_regions * sizeof(struct octant_region);
    size_t const slabs_at = round_up(modules_at + octant_max_modules * sizeof(struct octant_module), page);
    char* start = NULL;
    if (fstat(file, &status) == 0 && reserve(file, 0, slabs_at)) start = map(file, 0, slabs_at);
    close(file);
    if (start == NULL) {
        unlink(path);
        return;
    }
    device = status.st_dev;
    inode = status.st_ino;
    struct octant_header* const header = (struct octant_header*)start;
    fill_header(header, slabs_at, page);
    octant_total_table = (struct octant_total*)(start + totals_at);
    octant_communicator_table = (struct octant_communicator*)(start + communicators_at);
    octant_region_table = (struct octant_region*)(start + regions_at);
    octant_module_table = (struct octant_module*)(start + modules_at);
    octant_region_table[0] = (struct octant_region){.parent = -1};
    for (int number = 0; number < 2; ++number) octant_communicator_table[number].parent = -1;
    octant_profile = header;
    read_clocks(&header->first_ticks, &header->first_ns, &header->first_epoch_ns);
    memcpy(header->magic, OCTANT_PROFILE_MAGIC, sizeof header->magic);  // from here on the file is valid
}

static struct octant_slab* reuse_slab(void) {
    size_t const bytes = octant_profile->slab_bytes;
    for (uint32_t index = 0; index < octant_profile->slabs; ++index) {
        struct octant_slab* const slab = slabs[index];
        uint32_t ended = 2;
        if (slab != NULL && bytes != 0 &&
            __atomic_compare_exchange_n(&slab->used, &ended, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            return slab;
        }
    }
    return NULL;
}

static struct octant_slab* append_slab(void) {
    uint32_t const index = octant_profile->slabs;
    if (index >= octant_max_threads) return NULL;
    int const file = open_again();
    if (file < 0) return NULL;
    size_t const begin = octant_profile->slabs_at - slab_shift + (size_t)index * octant_profile->slab_bytes;
    char* start = NULL;
    if (reserve(file, begin, octant_profile->slab_bytes)) start = map(file, begin, octant_profile->slab_bytes);
    close(file);
    if (start == NULL) return NULL;
    struct octant_slab* const slab = (struct octant_slab*)(start + slab_shift);
    slabs[index] = slab;
    slab->used = 1;
    __atomic_store_n(&octant_profile->slabs, index + 1, __ATOMIC_RELEASE);
    return slab;
}

struct octant_slab* octant_new_slab(void) {
    static _Thread_local bool is_refused;
    if (octant_profile == NULL || is_refused) return NULL;
    int const error = errno;
    pthread_mutex_lock(&lock);
    struct octant_slab* slab = NULL;
    if (octant_profile != NULL) {
        slab = reuse_slab();
        if (slab == NULL) slab = append_slab();
        if (slab == NULL) {
            octant_profile->flags |= octant_flag_lost_slab;
        } else {
            slab->tid = (int32_t)syscall(SYS_gettid);
            ++slab->threads;
        }
        ++octant_profile->threads;
    }
    pthread_mutex_unlock(&lock);
    is_refused = slab == NULL;
    errno = error;
    return slab;
}

static void reset_slab(struct octant_slab* slab, uint64_t now) {
    slab->mpi_ticks = 0;
    slab->mpi_calls = 0;
    slab->first_ticks = now;
    slab->last_ticks = now;
    for (int number = 0; number < octant_max_regions; ++number) {
        struct octant_region_time* const time = &slab->region_times[number];
        if (time->visits == 0 && time->open_ticks == 0) continue;  // pages that were not used stay so
        *time = (struct octant_region_time){.open_ticks = time->open_ticks != 0 ? now : 0};
    }
    for (int index = 0; index < octant_entries; ++index) {  // keys stay: requests refer to entries
        struct octant_entry* const entry = &slab->table[index];
        if (entry->site == 0) continue;
        entry->calls = entry->bytes = entry->ticks = entry->waited = entry->in_flight = 0;
        entry->min_ticks = 3e38F;
        entry->max_ticks = 0;
    }
    for (int index = 0; index < octant_peers; ++index) {
        if (slab->peer_table[index].key != 0) slab->peer_table[index].messages = slab->peer_table[index].bytes = 0;
    }
}

void octant_reset(void) {
    if (octant_profile == NULL || !is_alive) return;
    pthread_mutex_lock(&lock);
    uint64_t const now = octant_clock();
    for (uint32_t index = 0; index < octant_profile->slabs; ++index) reset_slab(slabs[index], now);
    memset(octant_total_table, 0, octant_max_calls * sizeof *octant_total_table);
    octant_profile->lost_calls = 0;
    octant_profile->lost_requests = 0;
    octant_profile->begin_ticks = now;
    pthread_mutex_unlock(&lock);
}

// A child of fork() has the mapping of its parent, and is no process of MPI.
static void forget_parent(void) {
    is_alive = false;
    octant_profile = NULL;
    octant_thread.slab = NULL;
    apply_recording();
}

static void open_profile(void) {
    int const error = errno;
    create_profile();
    if (octant_profile == NULL) {
        apply_recording();
        errno = error;
        return;
    }
    octant_select_interface();
    octant_profile->abi = (uint32_t)octant_interface.abi;
    read_library_version();
    read_rank_of_launcher();
    if (!octant_is_supported()) {  // the file states this rank and its library
        update_clocks();
        octant_profile = NULL;
        errno = error;
        return;
    }
    pthread_atfork(NULL, NULL, forget_parent);
    is_alive = true;
    octant_costs_unknown = true;
    octant_measure_costs();
    octant_costs_unknown = false;
    apply_recording();
    update_clocks();
    // The program called MPI_Init in a way that was not seen: a library that was loaded before, for example.
    int is_initialized = 0;
    int (*initialized)(int*) = NULL;
    *(void**)&initialized = octant_own_function("PMPI_Initialized");
    if (initialized != NULL && initialized(&is_initialized) == 0 && is_initialized) octant_initialized();
    octant_profile->begin_ticks = 0;
    errno = error;
}

void octant_first_call(void) { pthread_once(&opened, open_profile); }

// MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else.
static int end_with_self(octant_slot communicator, octant_slot key, void* value, void* state) {
    (void)communicator, (void)key, (void)value, (void)state;
    octant_finalizing();
    return 0;
}

static int copy_nothing(octant_slot communicator, octant_slot key, void* state, void* in, void* out, int* flag) {
    (void)communicator, (void)key, (void)state, (void)in, (void)out;
    *flag = 0;
    return 0;
}

static void watch_finalize(void) {
    int (*create)(int (*)(octant_slot, octant_slot, void*, void*, void*, int*),
                  int (*)(octant_slot, octant_slot, void*, void*), int*, void*) = NULL;
    int (*set)(octant_slot, octant_slot, void*) = NULL;
    int (*free_key)(int*) = NULL;
    *(void**)&create = octant_own_function("PMPI_Comm_create_keyval");
    *(void**)&set = octant_own_function("PMPI_Comm_set_attr");
    *(void**)&free_key = octant_own_function("PMPI_Comm_free_keyval");
    int key = 0;
    if (create == NULL || set == NULL || free_key == NULL || create(copy_nothing, end_with_self, &key, NULL) != 0)
        return;
    set((octant_slot)octant_interface.self, key, NULL);
    free_key(&key);  // it exists as long as the attribute
}

static bool has_parent_world(void) {
    int (*get_parent)(octant_slot*) = NULL;
    *(void**)&get_parent = octant_own_function("PMPI_Comm_get_parent");
    octant_slot parent = 0;
    if (get_parent == NULL || get_parent(&parent) != 0) return false;
    uintptr_t const handle = (uintptr_t)parent & octant_interface.handle_mask;
    return handle != 0 && handle != octant_interface.comm_null;
}

static void enter_world(void) {
    has_world = true;
    octant_number_predefined();
    watch_finalize();
    if (has_parent_world()) octant_profile->flags |= octant_flag_spawned;
}

void octant_initialized(void) {
    if (octant_profile == NULL) return;
    int const error = errno;
    int is_initialized = 0;
    int (*initialized)(int*) = NULL;
    *(void**)&initialized = octant_own_function("PMPI_Initialized");
    if (initialized != NULL) initialized(&is_initialized);
    if (is_initialized && !has_world && octant_profile->end_ticks == 0) {
        enter_world();
    } else {
        ++sessions;
    }
    int rank = -1;
    int ranks = 0;
    int level = 0;
    octant_read_world(&rank, &ranks, &level);
    if (rank >= 0) {
        octant_profile->rank = rank;
        octant_profile->ranks = ranks;
        octant_profile->flags &= ~(uint32_t)octant_flag_no_rank;
    }
    octant_profile->thread_level = (uint32_t)level;
    if (level == 3) octant_profile->flags |= octant_flag_mpi_threads;
    octant_profile->state = octant_state_running;
    is_alive = true;
    apply_recording();
    update_clocks();
    if (octant_profile->begin_ticks == 0) octant_profile->begin_ticks = octant_clock();
    errno = error;
}

static void end_recording(enum octant_state state) {
    int const error = errno;
    is_alive = false;
    apply_recording();
    octant_profile->end_ticks = octant_clock();
    update_clocks();
    update_resources();
    octant_profile->state = (uint32_t)state;
    errno = error;
}

void octant_finalizing(void) {
    if (octant_profile == NULL || !has_world) return;
    has_world = false;
    if (sessions == 0) end_recording(octant_state_finalized);
}

void octant_session_finalizing(void) {
    if (octant_profile == NULL || sessions == 0) return;
    --sessions;
    if (sessions == 0 && !has_world) end_recording(octant_state_finalized);
}

__attribute__((destructor)) static void end_process(void) {
    if (octant_profile == NULL) return;
    if (octant_profile->state == octant_state_finalized) {
        update_resources();
        return;
    }
    update_clocks();
    update_resources();
    octant_profile->state = octant_state_exited;
}

static int sites_since_clocks;

void octant_note_site(uint64_t site) {
    if (octant_profile == NULL || octant_costs_unknown) return;
    int const error = errno;
    octant_note_module(site);
    // A process that is killed has the clocks of the last update; powers of two keep their number small.
    int const sites = __atomic_add_fetch(&sites_since_clocks, 1, __ATOMIC_RELAXED);
    if ((sites & (sites - 1)) == 0 && octant_profile->state == octant_state_running) {
        pthread_mutex_lock(&lock);
        update_clocks();
        pthread_mutex_unlock(&lock);
    }
    errno = error;
}

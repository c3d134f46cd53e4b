/* Answers of the kernel and of libnuma about a machine that does not exist, for slurmd and slurmstepd (LD_PRELOAD).
 *
 * OCTANT_PRETENDED names a file with one line "CPU NODE" for each CPU of that machine. Masks that a program sets are
 * not applied: the mask of process PID is written to the folder OCTANT_MASKS, as the file PID (CPU numbers, separated by
 * spaces), its memory nodes as PID.bind or PID.preferred.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 1024
static int node_of[MOST], last_node = -1, loaded;

struct bitmask {
    unsigned long size;
    unsigned long* maskp;
};

static void load(void) {
    if (loaded) return;
    loaded = 1;
    for (int i = 0; i < MOST; ++i) node_of[i] = -1;
    const char* name = getenv("OCTANT_PRETENDED");
    FILE* file = name ? fopen(name, "r") : NULL;
    int cpu, node;
    while (file && fscanf(file, "%d %d", &cpu, &node) == 2) {
        if (cpu >= 0 && cpu < MOST) node_of[cpu] = node;
        if (node > last_node) last_node = node;
    }
    if (file) fclose(file);
}

static FILE* record(int pid, const char* suffix) {
    char name[4096];
    const char* folder = getenv("OCTANT_MASKS");
    if (!folder) return NULL;
    snprintf(name, sizeof name, "%s/%d%s", folder, pid, suffix);
    return fopen(name, "w");
}

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t* set) {
    (void)pid;
    load();
    memset(set, 0, bytes);
    for (int i = 0; i < MOST; ++i)
        if (node_of[i] >= 0) CPU_SET_S(i, bytes, set);
    return 0;
}

int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t* set) {
    FILE* file = record(pid ? pid : getpid(), "");
    for (int i = 0; file && i < MOST; ++i)
        if (CPU_ISSET_S(i, bytes, set)) fprintf(file, "%d ", i);
    if (file) fclose(file);
    return 0;
}

int numa_available(void) { return 0; }

int numa_max_node(void) {
    load();
    return last_node < 0 ? 0 : last_node;
}

static struct bitmask* bitmask(void) {
    struct bitmask* mask = malloc(sizeof *mask);
    mask->size = MOST;
    mask->maskp = calloc(MOST / 8 / sizeof(unsigned long), sizeof(unsigned long));
    return mask;
}

static void set(struct bitmask* mask, unsigned bit) {
    const unsigned wide = 8 * sizeof(unsigned long);
    if (bit < mask->size) mask->maskp[bit / wide] |= 1UL << (bit % wide);
}

struct bitmask* numa_allocate_cpumask(void) { return bitmask(); }

int numa_node_to_cpus(int node, struct bitmask* mask) {
    load();
    memset(mask->maskp, 0, mask->size / 8);
    for (unsigned i = 0; i < MOST; ++i)
        if (node_of[i] == node) set(mask, i);
    return 0;
}

static struct bitmask* every_node(void) {
    struct bitmask* mask = bitmask();
    for (int i = 0; i <= numa_max_node(); ++i) set(mask, (unsigned)i);
    return mask;
}

struct bitmask* numa_get_membind(void) { return every_node(); }
struct bitmask* numa_get_run_node_mask(void) { return every_node(); }

void numa_set_membind(struct bitmask* mask) {
    const unsigned wide = 8 * sizeof(unsigned long);
    FILE* file = record(getpid(), ".bind");
    for (unsigned i = 0; file && i < mask->size; ++i)
        if (mask->maskp[i / wide] >> (i % wide) & 1) fprintf(file, "%u ", i);
    if (file) fclose(file);
}

void numa_set_preferred(int node) {
    FILE* file = record(getpid(), ".preferred");
    if (file) fprintf(file, "%d ", node);
    if (file) fclose(file);
}

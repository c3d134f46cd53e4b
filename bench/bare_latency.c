/* The peer of octant's latency: a bare chase over one random cycle of lines. Arguments: bytes, seconds, seed. Prints ns a
   load of each sample of about 100 us, one per line. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

struct line {
    struct line* next;
    char rest[64 - sizeof(struct line*)];
};

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t random_below(uint64_t* state, uint64_t n) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (*state >> 33) % n;
}

static struct line* follow(struct line* at, long loads) {
    for (long i = 0; i < loads; i += 8) {
        at = at->next; at = at->next; at = at->next; at = at->next;
        at = at->next; at = at->next; at = at->next; at = at->next;
    }
    return at;
}

int main(int argc, char** argv) {
    if (argc != 4) return 1;
    size_t const bytes = strtoull(argv[1], NULL, 10), count = bytes / sizeof(struct line);
    size_t const huge = (size_t)2 << 20;
    uint64_t state = strtoull(argv[3], NULL, 10);
    struct line* const lines = aligned_alloc(huge, (bytes + huge - 1) / huge * huge);
    uint32_t* const order = malloc(count * sizeof *order);
    if (lines == NULL || order == NULL || count < 2) return 1;
    madvise(lines, (bytes + huge - 1) / huge * huge, MADV_HUGEPAGE);
    for (size_t i = 0; i < count; ++i) order[i] = (uint32_t)i, lines[i].next = NULL;
    for (size_t i = count - 1; i > 0; --i) {
        size_t const j = random_below(&state, i + 1);
        uint32_t const kept = order[i];
        order[i] = order[j], order[j] = kept;
    }
    for (size_t i = 0; i < count; ++i) lines[order[i]].next = lines + order[i + 1 < count ? i + 1 : 0];
    struct line* at = lines + order[0];
    long loads = 1024;
    for (double took = 0; took < 1e-4; loads *= 2) {
        double const begin = seconds();
        at = follow(at, loads);
        took = seconds() - begin;
    }
    double const end = seconds() + atof(argv[2]);
    for (double begin = seconds(); begin < end;) {
        at = follow(at, loads);
        double const now = seconds();
        printf("%g\n", 1e9 * (now - begin) / (double)loads);
        begin = now;
    }
    return at == NULL;
}

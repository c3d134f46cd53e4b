/* The peer of hpcc/randomaccess: the algorithm of HPCC's default build as it is described, one update at a time, in a
 * table from malloc. Arguments: log2 of the words of the table of all ranks, updates of each rank. Prints updates per
 * second of all ranks, of the third of three repetitions. The number of ranks is a power of two. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 1024, updates_tag = 1, end_tag = 2 };

static uint64_t next(uint64_t a) { return (a << 1) ^ ((int64_t)a < 0 ? 7 : 0); }

static uint64_t jump(uint64_t n) {
    uint64_t power = 1, square = 2;
    for (; n != 0; n >>= 1) {
        uint64_t product = 0, a = square;
        if (n & 1) {
            uint64_t b = power, p = 0;
            for (uint64_t s = square; b != 0; b >>= 1, s = next(s))
                if (b & 1) p ^= s;
            power = p;
        }
        for (uint64_t b = square; b != 0; b >>= 1, a = next(a))
            if (b & 1) product ^= a;
        square = product;
    }
    return power;
}

struct state {
    uint64_t *table, words, in[most], out[most], (*buckets)[most];
    int *counts, ranks, me, senders, waiting;
    MPI_Request receive, send;
};

static void post(struct state *s) {
    MPI_Irecv(s->in, most, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s->receive);
}

static void receive(struct state *s) {
    int come = 1, count;
    MPI_Status status;
    while (s->senders > 0) {
        MPI_Test(&s->receive, &come, &status);
        if (!come) return;
        MPI_Get_count(&status, MPI_UINT64_T, &count);
        for (int i = 0; i < count; ++i) s->table[s->in[i] & (s->words - 1)] ^= s->in[i];
        if (status.MPI_TAG == end_tag) --s->senders;
        if (s->senders > 0) post(s);
    }
}

static void send(struct state *s) {
    int over, fullest = 0;
    MPI_Test(&s->send, &over, MPI_STATUS_IGNORE);
    if (!over) return;
    for (int rank = 1; rank < s->ranks; ++rank)
        if (s->counts[rank] > s->counts[fullest]) fullest = rank;
    for (int i = 0; i < s->counts[fullest]; ++i) s->out[i] = s->buckets[fullest][i];
    MPI_Isend(s->out, s->counts[fullest], MPI_UINT64_T, fullest, updates_tag, MPI_COMM_WORLD, &s->send);
    s->waiting -= s->counts[fullest];
    s->counts[fullest] = 0;
}

static void repetition(struct state *s, uint64_t updates, int bits) {
    uint64_t a = jump(updates * (uint64_t)s->me);
    int shift = 0, over = 0;
    while (1 << shift < s->ranks) ++shift;
    s->senders = s->ranks - 1;
    s->waiting = 0;
    if (s->senders > 0) post(s);
    for (uint64_t i = 0; i < updates;) {
        receive(s);
        if (s->waiting == most) {
            send(s);
            continue;
        }
        a = next(a);
        int owner = shift == 0 ? 0 : (int)((a >> (bits - shift)) & (uint64_t)(s->ranks - 1));
        if (owner == s->me)
            s->table[a & (s->words - 1)] ^= a;
        else {
            s->buckets[owner][s->counts[owner]++] = a;
            ++s->waiting;
        }
        ++i;
    }
    while (s->waiting > 0) {
        receive(s);
        send(s);
    }
    while (!over) {
        receive(s);
        MPI_Test(&s->send, &over, MPI_STATUS_IGNORE);
    }
    for (int rank = 0; rank < s->ranks; ++rank)
        if (rank != s->me) MPI_Send(NULL, 0, MPI_UINT64_T, rank, end_tag, MPI_COMM_WORLD);
    while (s->senders > 0) receive(s);
}

int main(int argc, char **argv) {
    struct state s = {0};
    MPI_Init(&argc, &argv);
    int bits = atoi(argv[1]);
    uint64_t updates = strtoull(argv[2], NULL, 10);
    MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &s.me);
    s.words = ((uint64_t)1 << bits) / (uint64_t)s.ranks;
    s.table = malloc(s.words * 8);
    s.buckets = malloc(sizeof(*s.buckets) * (size_t)s.ranks);
    s.counts = calloc((size_t)s.ranks, sizeof(int));
    s.receive = s.send = MPI_REQUEST_NULL;
    for (uint64_t i = 0; i < s.words; ++i) s.table[i] = i;
    for (int i = 0; i < 3; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        repetition(&s, updates, bits);
        MPI_Barrier(MPI_COMM_WORLD);
        double seconds = MPI_Wtime() - begin;
        if (i == 2 && s.me == 0) printf("%.9g\n", (double)updates * s.ranks / seconds);
    }
    MPI_Finalize();
    return 0;
}

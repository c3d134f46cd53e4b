// Runs the cases that are named by the arguments, or all of them.
#include "special.h"

static struct {
    char const* name;
    void (*run)(void);
} const cases[] = {
    {"blocking", blocking},
    {"buffered", buffered},
    {"exchanges", exchanges},
    {"without_peer", without_peer},
    {"completions", completions},
    {"shared_handles", shared_handles},
    {"cancelled", cancelled},
    {"probes", probes},
    {"persistent", persistent},
    {"partitioned", partitioned},
    {"types", types},
    {"rooted", rooted},
    {"all_to_all", all_to_all},
    {"in_place", in_place},
    {"nonblocking", nonblocking},
    {"neighbours", neighbours},
    {"between_groups", between_groups},
    {"communicators", communicators},
    {"one_sided", one_sided},
    {"files", files},
    {"nested", nested},
    {"large_counts", large_counts},
    {"regions", regions},
    {"switched_off", switched_off},
    {"requests_switched_off", requests_switched_off},
    {"errors", errors},
    {"sites", sites},
    {"at_the_end", at_the_end},
};

int main(int argc, char** argv) {
    T(Init, 0, &argc, &argv);
    T(Comm_rank, 0, MPI_COMM_WORLD, &rank);
    T(Comm_size, 0, MPI_COMM_WORLD, &size);
    partner = rank ^ 1;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; ++i) {
        int wanted = argc == 1;
        for (int j = 1; j < argc; ++j) wanted |= !strcmp(argv[j], cases[i].name);
        if (!wanted) continue;
        truth_case = cases[i].name;
        cases[i].run();
        truth_case = "";
    }
    if (rank == 0) printf("done\n");
    T(Finalize, 0);
    return 0;
}

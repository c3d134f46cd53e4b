// Is not linked to MPI: loads a module that is, or asks the MPI library itself for its functions.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
    if (argc < 2) return 1;
    // Programs look whether MPI is loaded already, and load it otherwise, as mpi4py does.
    void* const all = dlopen(NULL, RTLD_NOW);
    printf("MPI is loaded: %s\n", dlsym(all, "MPI_Get_version") ? "yes" : "no");
    void* const module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!module) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*run)(void) = (int (*)(void))dlsym(module, "run");
    if (run) return run();
    int (*init)(int*, char***) = (int (*)(int*, char***))dlsym(module, "MPI_Init");
    int (*finalize)(void) = (int (*)(void))dlsym(module, "MPI_Finalize");
    puts(init && finalize && !init(NULL, NULL) && !finalize() ? "used" : "failed");
    return 9;
}

// What happens to processes: each case prints to both streams and ends with a status that must not change.
#define _GNU_SOURCE
#include "truth.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

static int rank, size;

static void start(int* argc, char*** argv) {
    T(Init, 0, argc, argv);
    T(Comm_rank, 0, MPI_COMM_WORLD, &rank);
    T(Comm_size, 0, MPI_COMM_WORLD, &size);
}

static void work(int times) {
    for (int i = 0; i < times; ++i) T(Barrier, 0, MPI_COMM_WORLD);
}

static int is(char** argv, char const* name) { return !strcmp(argv[1], name); }

// Writes lines that contain the rank, in the order of the ranks.
static void speak(char const* what) {
    if (rank == 0) {
        printf("%s: %d ranks\n", what, size);
        fflush(stdout);
        fprintf(stderr, "%s: to standard error\n", what);
    }
}

static int forks(char** argv) {
    pid_t const child = fork();
    if (child == 0) {
        char folder[64];
        printf("child: %s\n", getcwd(folder, sizeof folder) ? "works" : "fails");
        fflush(stdout);
        _exit(7);
    }
    int status;
    waitpid(child, &status, 0);
    work(5);
    pid_t const other = fork();
    if (other == 0) {
        execl("/bin/sh", "sh", "-c", "echo from a shell", (char*)NULL);
        _exit(1);
    }
    waitpid(other, &status, 0);
    if (system("exit 3") < 0) return 1;
    T(Finalize, 0);
    (void)argv;
    return WEXITSTATUS(status) == 0 ? 5 : 6;
}

static int ends(char** argv) {
    if (is(argv, "finalize")) {
        T(Finalize, 0);
        if (rank == 0) puts("after the end");
        return 11;
    }
    if (is(argv, "exit")) exit(0);  // without MPI_Finalize
    if (is(argv, "_exit")) {
        if (truth_file) fflush(truth_file);
        _exit(4);
    }
    if (is(argv, "abort")) {
        fflush(stdout);
        T(Abort, 0, MPI_COMM_WORLD, 9);
    }
    if (is(argv, "error")) {  // ends the program with a message of the library; a call that does not return is not recorded
        fflush(stdout);
        MPI_Send(&rank, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    }
    if (is(argv, "killed")) {
        fflush(stdout);
        if (truth_file) fflush(truth_file);
        kill(getpid(), SIGKILL);
    }
    if (is(argv, "segv")) {
        fflush(stdout);
        if (truth_file) fflush(truth_file);
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (is(argv, "hangs")) {
        if (truth_file) fflush(truth_file);
        printf("ready\n");
        fflush(stdout);
        for (;;) pause();
    }
    return 99;
}

// Descriptors are numbered as without profiling.
static int looks(void) {
    int free_number = open("/dev/null", O_RDONLY);
    printf("descriptor %d\n", free_number);
    return free_number >= 0 ? 0 : 1;
}

int main(int argc, char** argv) {
    if (argc < 2) return 1;
    if (is(argv, "never")) {
        puts("no call of MPI");
        return 6;
    }
    if (is(argv, "exec")) {
        execl(argv[0], argv[0], "finalize", (char*)NULL);
        return 1;
    }
    if (is(argv, "before")) {  // calls that are allowed before MPI_Init
        int flag, version, subversion;
        T(Initialized, 0, &flag);
        T(Get_version, 0, &version, &subversion);
        T(Finalized, 0, &flag);
    }
    start(&argc, &argv);
    speak(argv[1]);
    work(10);
    if (is(argv, "forks")) return forks(argv);
    if (is(argv, "looks")) {
        int const status = looks();
        T(Finalize, 0);
        return status;
    }
    if (is(argv, "some")) {  // only one rank sends, to nobody
        if (rank == 1) T(Send, 0, &rank, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
        T(Finalize, 0);
        return 0;
    }
    if (is(argv, "partly")) {  // recording is disabled in one rank
        if (rank == 0) MPI_Pcontrol(0);
        for (int i = 0; i < 3; ++i) MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        return 0;
    }
    if (is(argv, "before")) {
        T(Finalize, 0);
        int flag;
        MPI_Finalized(&flag);
        return flag ? 12 : 13;
    }
    return ends(argv);
}

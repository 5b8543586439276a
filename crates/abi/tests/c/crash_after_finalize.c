/* A rank that crashes when it has finalized, in a destructor say, is told of like any other: which
 * one, by which signal, and that it had left the world. One that only exits with a code has said
 * what there is to say.
 *
 * ranks: 3
 * seconds: 30
 * case: crash
 * status: 139
 * once: motet: rank 1 (process
 * stderr: was killed by signal 11 (SIGSEGV) after leaving the world
 * case: crash_while_others_run
 * status: 139
 * once: motet: rank 1 (process
 * stderr: was killed by signal 11 (SIGSEGV) after leaving the world; the other 2 ranks were ended
 * case: code
 * status: 7
 * never: motet:
 */

#include "check.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const struct rlimit no_core = {0, 0};
    int rank;
    CHECK_EQ(argc, 2);
    setrlimit(RLIMIT_CORE, &no_core);
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Finalize());
    if (rank == 1) {
        if (strcmp(argv[1], "code") == 0)
            return 7;
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (strcmp(argv[1], "crash_while_others_run") == 0)
        pause();
    return 0;
}

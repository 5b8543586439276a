/* MPI_Init that fails ends the job, as any fatal error does: one line in all says why, not one of
 * each rank, and none of the launcher beside it.
 *
 * spec: 67
 * ranks: 2 3
 * seconds: 30
 * status: failure
 * stdout: written before
 * never: goes on
 * never: (process
 * once: motet: MPI_Init
 *
 * case: variable
 * stderr: mpi_errors_are_gone
 * case: launcher
 * set: MOTET_RANKS_PER_SEGMENT=1
 * stderr: use another launcher
 * case: one_rank
 * stderr: MOTET_WAIT
 */

#include "check.h"

#include <string.h>

int main(int argc, char **argv) {
    /* The launcher would refuse these values before it starts a rank. */
    if (argc > 1 && strcmp(argv[1], "variable") == 0) {
        setenv("MOTET_INITIAL_ERRHANDLER", "mpi_errors_are_gone", 1);
    }
    if (argc > 1 && strcmp(argv[1], "one_rank") == 0) {
        /* Rank 1 is in an environment that is wrong; the others wait for it in MPI_Init or later. */
        if (atoi(getenv("MOTET_RANK")) == 1) setenv("MOTET_WAIT", "for ever", 1);
    }
    printf("written before\n");
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    printf("goes on\n");
    return 0;
}

/* The death of a rank is another thing than the end of a job by MPI_Abort: the others get an error
 * from it, and may say so. Under MPI_ERRORS_ARE_FATAL they end without a word, as the launcher tells
 * of the death: one line, not one for each that hears of it.
 *
 * ranks: 3
 * seconds: 30
 * status: 139
 * once: rank 1 (process
 *
 * case: returned
 * stdout: rank 0 has been told
 * stdout: rank 2 has been told
 * case: fatal
 * never: the job ends
 * never: MPI_ERR_PROC_ABORTED
 */

#include "check.h"

#include <signal.h>

int main(int argc, char **argv) {
    int rank;
    CHECK_EQ(argc, 2);
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (strcmp(argv[1], "returned") == 0)
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    /* It may be dead before others are through. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    ERR(MPI_Barrier(MPI_COMM_WORLD), MPI_ERR_PROC_ABORTED);
    printf("rank %d has been told\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}

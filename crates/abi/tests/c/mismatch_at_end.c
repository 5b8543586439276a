/* Calls that do not fit together are named at the end, if neither rank waits for the other and no call
 * follows. A program that has errors returned and ignores them fails, too.
 *
 * ranks: 2
 * set: MOTET_CHECK=1
 * status: failure
 * case: fatal
 * stderr: rank 0 called bcast(1 × f64, root 0) at mismatch_at_end 0x
 * stderr: collective number 1 of communicator MPI_COMM_WORLD, rank 1 called reduce(1 × f64, SUM, root 0)
 * case: ignored
 * stderr: ends with exit code 1 instead of 0: MOTET_CHECK has found collective calls that do not fit
 */

#include <string.h>

#include "check.h"

int main(int argc, char **argv) {
    double value = 1, sum;
    int rank;
    MPI_Init(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "ignored") == 0)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    else
        MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

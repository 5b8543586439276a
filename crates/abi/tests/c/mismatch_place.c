/* Calls that do not fit together are named with the place in the program.
 *
 * ranks: 2
 * set: MOTET_CHECK=1
 * status: failure
 * stderr: rank 0 called bcast(1 × f64, root 0) at mismatch_place 0x
 * stderr: rank 1 called allreduce(1 × f64, SUM) at mismatch_place 0x
 */

#include "check.h"

int main(void) {
    double value = 1, sum;
    int rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    else
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/* A report of a wait names the communicators by their names, also where the rank that reports has made
 * no call on them.
 *
 * ranks: 2
 * set: MOTET_HANG_SECONDS=0.2
 * stderr: rank 1 has waited
 * stderr: rank 1 has made no collective call on MPI_COMM_WORLD
 */

#include "check.h"
#include <unistd.h>

int main(void) {
    int value = 1, rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        sleep(1);
        MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

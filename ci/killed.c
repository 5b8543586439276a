/* What ci/kills kills: ranks that talk to each other all the time, for as many milliseconds as the
 * argument says. Each that comes to the end says so.
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONG = 100000 };

static double own[LONG], others[LONG], sum[LONG];

int main(int argc, char **argv) {
    int rank, ranks, over = 0;
    double milliseconds = argc > 1 ? atof(argv[1]) : 100;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    double begun = MPI_Wtime();
    for (int round = 0; !over; round++) {
        int count = round % 3 == 0 ? LONG : 1 + round % 500;
        MPI_Sendrecv(own, count, MPI_DOUBLE, next, 0, others, count, MPI_DOUBLE, last, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(own, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        int is_over = MPI_Wtime() - begun > milliseconds / 1000;
        MPI_Allreduce(&is_over, &over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    printf("rank %d is through\n", rank);
    return 0;
}

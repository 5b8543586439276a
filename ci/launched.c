/* What a launcher has to get right, in one program: its argument says which.
 *
 *   sum     the ranks add their numbers, and each says what came out
 *   abort   rank 1 ends the job with code 7 while the others wait
 *   kill    rank 1 is killed while the others wait
 *   exit    rank 1 exits with code 5 without leaving the world
 *   early   rank 1 leaves long before the others, two of which go on
 *   learn   rank 1 is killed, and each other rank tells how long it took until it knew
 */

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    int rank = -1, ranks = -1, sum = 0;
    const char *what = argc > 1 ? argv[1] : "sum";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int own = rank + 1;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d: sum %d\n", rank, ranks, sum);
    fflush(stdout);
    if (strcmp(what, "sum") == 0) {
        MPI_Finalize();
        return 0;
    }
    if (strcmp(what, "early") == 0) {
        if (rank == 0 || rank == 2) {
            sleep(1);
            MPI_Sendrecv(&own, 1, MPI_INT, 2 - rank, 0, &sum, 1, MPI_INT, 2 - rank, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Finalize();
        return 0;
    }
    if (rank == 1) {
        if (strcmp(what, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
        if (strcmp(what, "exit") == 0) exit(5);
        raise(SIGKILL);
    }
    if (strcmp(what, "learn") == 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    double begun = now();
    int code = MPI_Recv(&sum, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("rank %d: knew after %.3f s: %s\n", rank, now() - begun, code ? "error" : "message");
    MPI_Finalize();
    return 0;
}

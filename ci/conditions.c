/* A program that uses a little of everything that depends on the machine: short messages, messages
 * that are too long for shared memory in one piece, and memory of the library. Each rank says one
 * line when all has been right.
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 2000000, SHARED = 100000 };

static int right = 1;

static void check(int is_right, const char *what) {
    if (!is_right) {
        fprintf(stderr, "wrong: %s\n", what);
        right = 0;
    }
}

int main(int argc, char **argv) {
    int rank, ranks, sum = 0, own, *out, *in, *shared;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    own = rank + 1;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum == ranks * (ranks + 1) / 2, "the sum of a word");

    out = malloc(LENGTH * sizeof(int));
    in = malloc(LENGTH * sizeof(int));
    for (int i = 0; i < LENGTH; i++)
        out[i] = rank + i;
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    MPI_Sendrecv(out, LENGTH, MPI_INT, to, 0, in, LENGTH, MPI_INT, from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(in[0] == from && in[LENGTH - 1] == from + LENGTH - 1, "a long message around a ring");
    MPI_Allreduce(out, in, LENGTH, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    check(in[0] == ranks - 1 && in[LENGTH - 1] == ranks + LENGTH - 2, "a long maximum");

    MPI_Alloc_mem(SHARED * sizeof(int), MPI_INFO_NULL, &shared);
    for (int i = 0; i < SHARED; i++)
        shared[i] = rank;
    MPI_Bcast(shared, SHARED, MPI_INT, ranks - 1, MPI_COMM_WORLD);
    check(shared[0] == ranks - 1 && shared[SHARED - 1] == ranks - 1, "memory of the library");
    MPI_Free_mem(shared);

    if (right)
        printf("rank %d of %d is right\n", rank, ranks);
    MPI_Finalize();
    free(out);
    free(in);
    return !right;
}

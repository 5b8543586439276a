/* Collectives of several threads at once, each on a communicator of its own; operators and datatypes
 * are shared, and made and freed meanwhile.
 *
 * ranks: 1 2 3
 * spec: 12, 17
 */

#include <pthread.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 100 };

static int rank, size;
static MPI_Comm comms[THREADS];
static MPI_Op longest;

static void keep_larger(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *len; ++i)
        if (((int *)in)[i] > ((int *)inout)[i]) ((int *)inout)[i] = ((int *)in)[i];
}

static void *work(void *of) {
    int thread = *(int *)of;
    MPI_Comm comm = comms[thread];
    int in = 0, sum = 0;
    MPI_Request again;
    OK(MPI_Allreduce_init(&in, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &again));
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Datatype pair;
        MPI_Request once;
        int data[2] = {rank + round, thread}, most[2], all[8];
        OK(MPI_Type_contiguous(2, MPI_INT, &pair));
        OK(MPI_Type_commit(&pair));
        OK(MPI_Allreduce(data, most, 2, MPI_INT, longest, comm));
        CHECK(most[0] == size - 1 + round && most[1] == thread);
        OK(MPI_Iallgather(data, 1, pair, all, 1, pair, comm, &once));
        OK(MPI_Type_free(&pair));
        in = thread + round;
        OK(MPI_Start(&again));
        OK(MPI_Wait(&again, MPI_STATUS_IGNORE));
        CHECK_EQ(sum, size * (thread + round));
        OK(MPI_Wait(&once, MPI_STATUS_IGNORE));
        for (int from = 0; from < size; ++from)
            CHECK(all[2 * from] == from + round && all[2 * from + 1] == thread);
        OK(MPI_Barrier(comm));
    }
    OK(MPI_Request_free(&again));
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int names[THREADS], provided = -1;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Op_create(keep_larger, 1, &longest));
    for (int i = 0; i < THREADS; ++i) OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (int i = 0; i < THREADS; ++i) {
        names[i] = i;
        CHECK_EQ(pthread_create(&threads[i], NULL, work, &names[i]), 0);
    }
    for (int i = 0; i < THREADS; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; ++i) OK(MPI_Comm_free(&comms[i]));
    OK(MPI_Op_free(&longest));
    OK(MPI_Finalize());
    return 0;
}

/* Several threads of each rank call the library at once (MPI_THREAD_MULTIPLE): collectives in all
 * forms on a communicator of each thread, messages on one that they share, and objects of all kinds
 * that are made and freed.
 *
 * ranks: 1 2 3
 * spec: 17
 */

#include "check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 60 };

static int rank, size;
static MPI_Comm comms[THREADS];

static void collectives(MPI_Comm comm, int thread, int round, MPI_Request *persistent, int *in,
                        int *out) {
    MPI_Request request;
    int sum = 0, own = thread + round + rank, ranks = size * (size - 1) / 2;
    OK(MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm, &request));
    in[0] = 7 * round + rank;
    OK(MPI_Start(persistent));
    OK(MPI_Wait(persistent, MPI_STATUS_IGNORE));
    CHECK_EQ(out[0], size * 7 * round + ranks);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(sum, size * (thread + round) + ranks);
    int root = round % size, told = rank == root ? round : -1;
    OK(MPI_Bcast(&told, 1, MPI_INT, root, comm));
    CHECK_EQ(told, round);
}

/* All threads on one communicator; the tag tells them apart. */
static void messages(int thread, int round) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int sent = 1000 * thread + round, received = -1;
    OK(MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, thread, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % size, thread, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Waitall(2, requests, statuses));
    CHECK_EQ(received, sent);
    CHECK_EQ(statuses[0].MPI_SOURCE, (rank + size - 1) % size);
}

static void objects(void) {
    MPI_Datatype type;
    MPI_Group group;
    MPI_Info info;
    MPI_Comm copy;
    int seen;
    OK(MPI_Type_vector(3, 1, 2, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "key", "value"));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &copy));
    OK(MPI_Type_size(type, &seen));
    CHECK_EQ(seen, 12);
    OK(MPI_Group_size(group, &seen));
    CHECK_EQ(seen, size);
    OK(MPI_Comm_free(&copy));
    OK(MPI_Info_free(&info));
    OK(MPI_Group_free(&group));
    OK(MPI_Type_free(&type));
}

static void *work(void *argument) {
    int thread = (int)(intptr_t)argument, in[1] = {0}, out[1] = {0};
    MPI_Request persistent;
    OK(MPI_Allreduce_init(in, out, 1, MPI_INT, MPI_SUM, comms[thread], MPI_INFO_NULL, &persistent));
    for (int round = 0; round < ROUNDS; round++) {
        collectives(comms[thread], thread, round, &persistent, in, out);
        messages(thread, round);
        objects();
    }
    OK(MPI_Request_free(&persistent));
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int level;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
    CHECK_EQ(level, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (int i = 0; i < THREADS; i++) OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < THREADS; i++) OK(MPI_Comm_free(&comms[i]));
    OK(MPI_Finalize());
    return 0;
}

/* Threads that make and free communicators at the same time, each of a communicator of its own.
 *
 * ranks: 2 3
 * spec: 17
 */

#include "check.h"
#include <pthread.h>

enum { THREADS = 4, TURNS = 25 };

static int rank, size;
static MPI_Comm parents[THREADS];

static void *work(void *place) {
    int own = (int)(intptr_t)place;
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Comm copy, later, part, half, between, grid;
        MPI_Request request;
        MPI_Group group;
        int sum = -1, one = own + turn, ring[1] = {1}, low = rank < size / 2;
        OK(MPI_Comm_idup(parents[own], &later, &request));
        OK(MPI_Comm_dup(parents[own], &copy));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, later));
        CHECK_EQ(sum, size * one);
        OK(MPI_Comm_split(copy, 0, -rank, &part));
        OK(MPI_Comm_free(&copy));
        OK(MPI_Comm_rank(part, &sum));
        CHECK_EQ(sum, size - 1 - rank);
        OK(MPI_Comm_group(part, &group));
        OK(MPI_Comm_free(&part));
        /* On a communicator that all threads have, with a tag for each. */
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, own, &part));
        OK(MPI_Group_free(&group));
        OK(MPI_Cart_create(part, 1, &size, ring, 0, &grid));
        OK(MPI_Comm_free(&part));
        OK(MPI_Comm_free(&grid));
        OK(MPI_Comm_split(later, low, 0, &half));
        OK(MPI_Comm_free(&later));
        OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? size / 2 : 0, own, &between));
        OK(MPI_Comm_free(&half));
        OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, between));
        CHECK_EQ(sum, one * (low ? size - size / 2 : size / 2));
        OK(MPI_Comm_free(&between));
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int provided = -1;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (int each = 0; each < THREADS; each++) OK(MPI_Comm_dup(MPI_COMM_WORLD, &parents[each]));
    for (intptr_t each = 0; each < THREADS; each++) {
        CHECK_EQ(pthread_create(&threads[each], NULL, work, (void *)each), 0);
    }
    for (int each = 0; each < THREADS; each++) CHECK_EQ(pthread_join(threads[each], NULL), 0);
    for (int each = 0; each < THREADS; each++) OK(MPI_Comm_free(&parents[each]));
    OK(MPI_Finalize());
    return 0;
}

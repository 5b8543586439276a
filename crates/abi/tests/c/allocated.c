/* Memory of MPI_Alloc_mem as buffers, with memory of the program at the other end and with its own: what
 * arrives is the same. It is there until it is freed, also after MPI_Finalize.
 *
 * ranks: 1 2 3 5
 * spec: 45
 */

#include "check.h"

enum { LONGEST = 100000 };

static int rank, size;

static int *allocate(int count) {
    int *memory = NULL;
    OK(MPI_Alloc_mem(count * (MPI_Aint)sizeof(int), MPI_INFO_NULL, &memory));
    CHECK(memory != NULL);
    return memory;
}

/* Calls with blocks of so many elements. */
static void calls(int count, int *part, int *whole, int *other) {
    for (int at = 0; at < count; ++at) part[at] = at + 1000 * rank;
    OK(MPI_Allgather(part, count, MPI_INT, whole, count, MPI_INT, MPI_COMM_WORLD));
    for (int from = 0; from < size; ++from)
        for (int at = 0; at < count; at += 7) CHECK_EQ(whole[from * count + at], at + 1000 * from);
    OK(MPI_Alltoall(whole, count, MPI_INT, other, count, MPI_INT, MPI_COMM_WORLD));
    OK(MPI_Alltoall(other, count, MPI_INT, whole, count, MPI_INT, MPI_COMM_WORLD));
    for (int from = 0; from < size; ++from)
        for (int at = 0; at < count; at += 7) CHECK_EQ(whole[from * count + at], at + 1000 * from);
    OK(MPI_Bcast(other, count, MPI_INT, size - 1, MPI_COMM_WORLD));
    OK(MPI_Allreduce(part, other, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int at = 0; at < count; at += 7)
        CHECK_EQ(other[at], size * at + 1000 * (size * (size - 1) / 2));
    OK(MPI_Allreduce(MPI_IN_PLACE, part, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(memcmp(part, other, count * sizeof(int)), 0);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Request requests[2];
    for (int at = 0; at < count; ++at) part[at] = at + rank;
    OK(MPI_Send_init(part, count, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Recv_init(whole, count, MPI_INT, previous, 3, MPI_COMM_WORLD, &requests[1]));
    for (int round = 0; round < 3; ++round) {
        memset(whole, 0, count * sizeof(int));
        OK(MPI_Startall(2, requests));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        for (int at = 0; at < count; at += 7) CHECK_EQ(whole[at], at + previous);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    int counts[] = {1, 300, 6000, LONGEST};
    int *own = malloc(LONGEST * sizeof(int)), *all = malloc(size * LONGEST * sizeof(int));
    for (int i = 0; i < 4; ++i) {
        int *part = allocate(counts[i]), *whole = allocate(size * counts[i]);
        int *other = allocate(size * counts[i]);
        calls(counts[i], part, whole, other);
        calls(counts[i], own, whole, other);
        calls(counts[i], part, all, other);
        OK(MPI_Free_mem(whole));
        OK(MPI_Free_mem(part));
        OK(MPI_Free_mem(other));
    }
    free(own);
    free(all);
    int *left = allocate(LONGEST);
    OK(MPI_Finalize());
    for (int at = 0; at < LONGEST; ++at) left[at] = at;
    CHECK_EQ(left[LONGEST - 1], LONGEST - 1);
    return 0;
}

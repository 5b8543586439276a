/* The two-phase collectives of 1997: every collective begun and ended, phases inside each other and
 * across communicators, other calls between them, and nesting that is wrong.
 *
 * ranks: 1 2 3
 * spec: 133, 134, 135, 136, 137, 139, 140, 144
 *
 * case: plain
 * case: checked
 * ranks: 3
 * set: MOTET_CHECK=1
 */

#include <mpix.h>

#include "check.h"

enum { ROOM = 64 };

static int rank, size;
static MPI_Comm comm;
static int out[ROOM], in[ROOM];

static void fill(void) {
    for (int i = 0; i < ROOM; ++i) {
        out[i] = 100 * rank + i;
        in[i] = -1;
    }
}

/* Begins and ends, with the data written before and looked at after. */
#define PHASE(name, ...)                          \
    do {                                          \
        fill();                                   \
        OK(MPIX_##name##_begin(__VA_ARGS__));     \
        OK(MPIX_##name##_end(comm));              \
    } while (0)
#define LARGE_PHASE(name, ...)                    \
    do {                                          \
        fill();                                   \
        OK(MPIX_##name##_begin_c(__VA_ARGS__));   \
        OK(MPIX_##name##_end(comm));              \
    } while (0)

static int sum(int ranks, int index) { return 50 * ranks * (ranks - 1) + ranks * index; }

static void each(void) {
    int ones[16], places[16], bytes[16];
    MPI_Datatype types[16];
    for (int i = 0; i < 16; ++i) {
        ones[i] = 1;
        places[i] = i;
        bytes[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    PHASE(Barrier, comm);
    PHASE(Bcast, out, 2, MPI_INT, size - 1, comm);
    CHECK_EQ(out[1], 100 * (size - 1) + 1);
    PHASE(Gather, out, 1, MPI_INT, in, 1, MPI_INT, 0, comm);
    for (int i = 0; i < size; ++i) CHECK_EQ(in[i], rank == 0 ? 100 * i : -1);
    PHASE(Gatherv, out, 1, MPI_INT, in, ones, places, MPI_INT, 0, comm);
    for (int i = 0; i < size; ++i) CHECK_EQ(in[i], rank == 0 ? 100 * i : -1);
    PHASE(Scatter, out, 1, MPI_INT, in, 1, MPI_INT, 0, comm);
    CHECK_EQ(in[0], rank);
    PHASE(Scatterv, out, ones, places, MPI_INT, in, 1, MPI_INT, 0, comm);
    CHECK_EQ(in[0], rank);
    PHASE(Allgather, out, 1, MPI_INT, in, 1, MPI_INT, comm);
    for (int i = 0; i < size; ++i) CHECK_EQ(in[i], 100 * i);
    LARGE_PHASE(Allgather, out, 1, MPI_INT, in, 1, MPI_INT, comm);
    for (int i = 0; i < size; ++i) CHECK_EQ(in[i], 100 * i);
    PHASE(Allgatherv, out, 1, MPI_INT, in, ones, places, MPI_INT, comm);
    for (int i = 0; i < size; ++i) CHECK_EQ(in[i], 100 * i);
    PHASE(Alltoall, out, 1, MPI_INT, in, 1, MPI_INT, comm);
    for (int i = 0; i < size; ++i) CHECK_EQ(in[i], 100 * i + rank);
    PHASE(Alltoallv, out, ones, places, MPI_INT, in, ones, places, MPI_INT, comm);
    for (int i = 0; i < size; ++i) CHECK_EQ(in[i], 100 * i + rank);
    PHASE(Alltoallw, out, ones, bytes, types, in, ones, bytes, types, comm);
    for (int i = 0; i < size; ++i) CHECK_EQ(in[i], 100 * i + rank);
    PHASE(Reduce, out, in, 1, MPI_INT, MPI_SUM, 0, comm);
    CHECK_EQ(in[0], rank == 0 ? sum(size, 0) : -1);
    PHASE(Allreduce, out, in, 2, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(in[1], sum(size, 1));
    PHASE(Reduce_scatter_block, out, in, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(in[0], sum(size, rank));
    PHASE(Reduce_scatter, out, in, ones, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(in[0], sum(size, rank));
    PHASE(Scan, out, in, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(in[0], sum(rank + 1, 0));
    PHASE(Exscan, out, in, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(in[0], rank == 0 ? -1 : sum(rank, 0));
}

static void among_neighbours(void) {
    MPI_Comm plain = comm;
    int dims[] = {size}, ring[] = {1}, ones[] = {1, 1}, places[] = {0, 1};
    MPI_Aint bytes[] = {0, sizeof(int)};
    MPI_Datatype types[] = {MPI_INT, MPI_INT};
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    OK(MPI_Cart_create(plain, 1, dims, ring, 0, &comm));
    PHASE(Neighbor_allgather, out, 1, MPI_INT, in, 1, MPI_INT, comm);
    CHECK(in[0] == 100 * left && in[1] == 100 * right);
    PHASE(Neighbor_allgatherv, out, 1, MPI_INT, in, ones, places, MPI_INT, comm);
    CHECK(in[0] == 100 * left && in[1] == 100 * right);
    PHASE(Neighbor_alltoall, out, 1, MPI_INT, in, 1, MPI_INT, comm);
    CHECK(in[0] == 100 * left + 1 && in[1] == 100 * right);
    PHASE(Neighbor_alltoallv, out, ones, places, MPI_INT, in, ones, places, MPI_INT, comm);
    CHECK(in[0] == 100 * left + 1 && in[1] == 100 * right);
    PHASE(Neighbor_alltoallw, out, ones, bytes, types, in, ones, bytes, types, comm);
    CHECK(in[0] == 100 * left + 1 && in[1] == 100 * right);
    OK(MPI_Comm_free(&comm));
    comm = plain;
}

/* Phases inside each other, with calls of one phase in between, and other communicators across. */
static void nested(void) {
    int one = 1, first = 0, second = 0, third = 0, across = 0, between = 0;
    MPI_Comm other;
    OK(MPI_Comm_dup(comm, &other));
    OK(MPIX_Allreduce_begin(&one, &first, 1, MPI_INT, MPI_SUM, comm));
    OK(MPIX_Allreduce_begin(&one, &across, 1, MPI_INT, MPI_SUM, other));
    OK(MPIX_Scan_begin(&one, &second, 1, MPI_INT, MPI_SUM, comm));
    OK(MPI_Allreduce(&one, &between, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(between, size);
    OK(MPIX_Allreduce_begin(&one, &third, 1, MPI_INT, MPI_MAX, comm));
    OK(MPIX_Allreduce_end(other));
    CHECK_EQ(across, size);
    OK(MPIX_Allreduce_end(comm));
    CHECK_EQ(third, 1);
    OK(MPIX_Scan_end(comm));
    CHECK_EQ(second, rank + 1);
    OK(MPIX_Allreduce_end(comm));
    CHECK_EQ(first, size);
    OK(MPI_Comm_free(&other));
    /* Many. */
    static int sums[1000];
    for (int i = 0; i < 1000; ++i)
        OK(MPIX_Allreduce_begin(&one, &sums[i], 1, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < 1000; ++i) OK(MPIX_Allreduce_end(comm));
    for (int i = 0; i < 1000; ++i) CHECK_EQ(sums[i], size);
}

static void refused(void) {
    int one = 1, first = 0, second = 0;
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    ERR(MPIX_Barrier_end(comm), MPI_ERR_OTHER);
    ERR(MPIX_Neighbor_allgather_begin(out, 1, MPI_INT, in, 1, MPI_INT, comm), MPI_ERR_TOPOLOGY);
    ERR(MPIX_Bcast_begin(&one, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
    ERR(MPIX_Bcast_end(comm), MPI_ERR_OTHER);
    ERR(MPIX_Bcast_end(MPI_COMM_NULL), MPI_ERR_COMM);
    OK(MPIX_Allreduce_begin(&one, &first, 1, MPI_INT, MPI_SUM, comm));
    OK(MPIX_Scan_begin(&one, &second, 1, MPI_INT, MPI_SUM, comm));
    ERR(MPIX_Allreduce_end(comm), MPI_ERR_OTHER);
    OK(MPIX_Scan_end(comm));
    OK(MPIX_Allreduce_end(comm));
    CHECK(first == size && second == rank + 1);
    ERR(MPIX_Allreduce_end(comm), MPI_ERR_OTHER);
}

/* Phases between two groups, and calls that do not exist there. */
static void between(void) {
    MPI_Comm half, inter;
    MPI_Request request;
    MPI_Group none = MPI_GROUP_EMPTY;
    int side = rank % 2, place = -1, value = 100 + rank;
    if (size < 2) return;
    OK(MPI_Comm_split(comm, side, rank, &half));
    OK(MPI_Comm_rank(half, &place));
    OK(MPI_Intercomm_create(half, 0, comm, 1 - side, 7, &inter));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    int root = side == 1 ? 0 : place == 0 ? MPI_ROOT : MPI_PROC_NULL;
    OK(MPIX_Bcast_begin(&value, 1, MPI_INT, root, inter));
    OK(MPIX_Barrier_begin(inter));
    OK(MPIX_Barrier_end(inter));
    OK(MPIX_Bcast_end(inter));
    CHECK_EQ(value, side == 1 ? 100 : 100 + rank);
    ERR(MPIX_Scan_begin(out, in, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    ERR(MPIX_Exscan_begin(out, in, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    ERR(MPIX_Neighbor_allgather_begin(out, 1, MPI_INT, in, 1, MPI_INT, inter), MPI_ERR_COMM);
    ERR(MPIX_Allreduce_begin(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_BUFFER);
    ERR(MPIX_Barrier_init(none, MPI_INFO_NULL, inter, &request), MPI_ERR_COMM);
    ERR(MPIX_Exchange(out, 1, MPI_INT, in, 1, MPI_INT, none, none, inter), MPI_ERR_COMM);
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    each();
    among_neighbours();
    nested();
    between();
    refused();
    OK(MPI_Comm_free(&comm));
    OK(MPI_Finalize());
    return 0;
}

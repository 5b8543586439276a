/* One buffer for what is sent and for what is received, as a whole or in part: refused in every
 * collective, in its first call and in a later one, and nothing is sent. Where data has gaps only
 * check mode looks.
 *
 * ranks: 1 2
 * spec: 61, 77
 * case: plain
 * case: strict
 * set: MOTET_CHECK=1
 */

#include "check.h"

enum { MOST = 64 };

static int rank, size, is_strict;
static int b[MOST], c[MOST], counts[2] = {2, 2}, places[2] = {0, 2}, bytes[2] = {0, 8};
static MPI_Datatype types[2];

/* In three forms. A rank alone refuses it on its own, so each is called on MPI_COMM_SELF, too. */
#define REFUSED(name, iname, ...)                                                         \
    do {                                                                                  \
        MPI_Request request = (MPI_Request)0xdead0;                                       \
        ERR(MPI_##name(__VA_ARGS__), MPI_ERR_BUFFER);                                     \
        ERR(MPI_##iname(__VA_ARGS__, &request), MPI_ERR_BUFFER);                          \
        CHECK(request == MPI_REQUEST_NULL);                                               \
        ERR(MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request), MPI_ERR_BUFFER);     \
        CHECK(request == MPI_REQUEST_NULL);                                               \
    } while (0)

/* From `in` to `out`, which overlap. The root is this rank. */
static void refused(int *in, int *out, MPI_Comm comm) {
    int root = comm == MPI_COMM_SELF ? 0 : rank;
    REFUSED(Allgather, Iallgather, in, 2, MPI_INT, out, 2, MPI_INT, comm);
    REFUSED(Allgatherv, Iallgatherv, in, 2, MPI_INT, out, counts, places, MPI_INT, comm);
    REFUSED(Alltoall, Ialltoall, in, 2, MPI_INT, out, 2, MPI_INT, comm);
    REFUSED(Alltoallv, Ialltoallv, in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm);
    REFUSED(Alltoallw, Ialltoallw, in, counts, bytes, types, out, counts, bytes, types, comm);
    REFUSED(Allreduce, Iallreduce, in, out, 2, MPI_INT, MPI_SUM, comm);
    REFUSED(Reduce_scatter_block, Ireduce_scatter_block, in, out, 2, MPI_INT, MPI_SUM, comm);
    REFUSED(Reduce_scatter, Ireduce_scatter, in, out, counts, MPI_INT, MPI_SUM, comm);
    REFUSED(Scan, Iscan, in, out, 2, MPI_INT, MPI_SUM, comm);
    if (comm != MPI_COMM_SELF && rank > 0) {
        REFUSED(Exscan, Iexscan, in, out, 2, MPI_INT, MPI_SUM, comm);
    }
    REFUSED(Gather, Igather, in, 2, MPI_INT, out, 2, MPI_INT, root, comm);
    REFUSED(Gatherv, Igatherv, in, 2, MPI_INT, out, counts, places, MPI_INT, root, comm);
    REFUSED(Scatter, Iscatter, in, 2, MPI_INT, out, 2, MPI_INT, root, comm);
    REFUSED(Scatterv, Iscatterv, in, counts, places, MPI_INT, out, 2, MPI_INT, root, comm);
    REFUSED(Reduce, Ireduce, in, out, 2, MPI_INT, MPI_SUM, root, comm);
}

/* After calls that are right, and may be kept, the same call with other addresses. */
static void refused_again(int shift) {
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < MOST; i++) b[i] = 1;
        OK(MPI_Allreduce(b, c, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        OK(MPI_Allgather(b, 2, MPI_INT, c, 2, MPI_INT, MPI_COMM_WORLD));
        OK(MPI_Alltoall(b, 2, MPI_INT, c, 2, MPI_INT, MPI_COMM_WORLD));
        OK(MPI_Scan(b, c, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        ERR(MPI_Allreduce(b + 16, b + 16 + shift, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
            MPI_ERR_BUFFER);
        ERR(MPI_Scan(b + 16 + shift, b + 16, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        if (shift < 2 * size) {
            ERR(MPI_Alltoall(b, 2, MPI_INT, b + shift, 2, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER);
            ERR(MPI_Allgather(b + shift, 2, MPI_INT, b, 2, MPI_INT, MPI_COMM_WORLD),
                MPI_ERR_BUFFER);
        }
        for (int i = 0; i < MOST; i++) CHECK_EQ(b[i], 1);
    }
    /* Side by side they are right, on either side. */
    OK(MPI_Allreduce(b, b + 8, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(b[7] == 1 && b[8] == size && b[15] == size && b[16] == 1);
    OK(MPI_Allreduce(b + 24, b + 16, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(b[15] == size && b[16] == size && b[23] == size && b[24] == 1);
}

/* Buffers that are not looked at, or of no length, may be the same. */
static void allowed(void) {
    int other = size - 1 - rank;
    OK(MPI_Allreduce(b, b, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Allgather(b, 0, MPI_INT, b, 0, MPI_INT, MPI_COMM_WORLD));
    if (size == 2) {
        int *receive = rank == 0 ? c : b;
        OK(MPI_Gather(b, 2, MPI_INT, receive, 2, MPI_INT, 0, MPI_COMM_WORLD));
        OK(MPI_Reduce(b, receive, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
        /* Blocks of one array, each of which lies apart from all others. */
        int *all = c, to[2] = {0, 4}, from[2] = {2, 6};
        for (int i = 0; i < 8; i++) all[i] = 10 * rank + i;
        OK(MPI_Alltoallv(all, counts, to, MPI_INT, all, counts, from, MPI_INT, MPI_COMM_WORLD));
        CHECK(all[2] == 4 * rank && all[6] == 10 + 4 * rank && all[0] == 10 * rank);
        (void)other;
    }
    for (int i = 0; i < 2; i++) c[i] = 7;
    OK(MPI_Exscan(c, rank == 0 ? c : b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(c[0], 7);
}

/* Data with gaps goes through memory of the library: no harm is done, and only check mode looks. */
static void gaps(void) {
    MPI_Datatype even;
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &even));
    OK(MPI_Type_commit(&even));
    if (is_strict) {
        ERR(MPI_Alltoall(b, 1, even, b + 2, 1, even, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    } else {
        OK(MPI_Alltoall(b, 1, even, b + 8, 1, even, MPI_COMM_WORLD));
    }
    /* One lies in the gaps of the other. */
    MPI_Datatype wide;
    OK(MPI_Type_create_resized(even, 0, 16, &wide));
    OK(MPI_Type_commit(&wide));
    for (int i = 0; i < 8; i++) b[i] = 100 * rank + i;
    OK(MPI_Alltoall(b, 1, wide, b + 1, 1, wide, MPI_COMM_WORLD));
    CHECK(b[0] == 100 * rank && b[1] == 4 * rank && b[3] == 4 * rank + 2);
    OK(MPI_Type_free(&wide));
    OK(MPI_Type_free(&even));
}

int main(int argc, char **argv) {
    is_strict = argc > 1 && strcmp(argv[1], "strict") == 0;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    types[0] = types[1] = MPI_INT;
    allowed();
    if (!is_strict) {
        refused(b, b, MPI_COMM_WORLD);
        refused(b, b + 1, MPI_COMM_WORLD);
        refused(b + 1, b, MPI_COMM_WORLD);
        for (int shift = 0; shift < 8; shift++) refused_again(shift);
        gaps();
    } else {
        refused(b, b, MPI_COMM_SELF);
        refused(b, b + 1, MPI_COMM_SELF);
        refused(b + 1, b, MPI_COMM_SELF);
        if (size == 1) gaps();
    }
    OK(MPI_Finalize());
    return 0;
}

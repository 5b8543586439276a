/* Wrong arguments of collectives: each has its class, in each form, nothing is sent, there is no
 * request, and the next call works.
 *
 * ranks: 1 2
 * spec: 61, 68, 77
 */

#include "check.h"

static int one[64], two[64];
static int counts[8], places[8], bytes[8], wrong[8];
static MPI_Datatype types[8], no_types[8];

/* In three forms; `iname` is the nonblocking one. */
#define REFUSED(class, name, iname, ...)                                                     \
    do {                                                                                     \
        MPI_Request request = (MPI_Request)0xdead0;                                          \
        ERR(MPI_##name(__VA_ARGS__), class);                                                 \
        ERR(MPI_##iname(__VA_ARGS__, &request), class);                                      \
        CHECK(request == MPI_REQUEST_NULL);                                                  \
        request = (MPI_Request)0xdead0;                                                      \
        ERR(MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request), class);                 \
        CHECK(request == MPI_REQUEST_NULL);                                                  \
    } while (0)

#define COMM MPI_COMM_WORLD

static void roots(int size) {
    int wrong_roots[] = {-1, size, MPI_ROOT, MPI_PROC_NULL, MPI_ANY_SOURCE, 1 << 30};
    for (int i = 0; i < 6; ++i) {
        int root = wrong_roots[i];
        REFUSED(MPI_ERR_ROOT, Bcast, Ibcast, one, 1, MPI_INT, root, COMM);
        REFUSED(MPI_ERR_ROOT, Gather, Igather, one, 1, MPI_INT, two, 1, MPI_INT, root, COMM);
        REFUSED(MPI_ERR_ROOT, Scatterv, Iscatterv, one, counts, places, MPI_INT, two, 1, MPI_INT,
                root, COMM);
        REFUSED(MPI_ERR_ROOT, Reduce, Ireduce, one, two, 1, MPI_INT, MPI_SUM, root, COMM);
    }
}

static void lengths(void) {
    REFUSED(MPI_ERR_COUNT, Bcast, Ibcast, one, -1, MPI_INT, 0, COMM);
    REFUSED(MPI_ERR_COUNT, Allgather, Iallgather, one, -1, MPI_INT, two, 1, MPI_INT, COMM);
    REFUSED(MPI_ERR_COUNT, Allgather, Iallgather, one, 1, MPI_INT, two, -1, MPI_INT, COMM);
    REFUSED(MPI_ERR_COUNT, Allgatherv, Iallgatherv, one, 1, MPI_INT, two, wrong, places, MPI_INT,
            COMM);
    REFUSED(MPI_ERR_COUNT, Alltoallv, Ialltoallv, one, wrong, places, MPI_INT, two, counts, places,
            MPI_INT, COMM);
    REFUSED(MPI_ERR_COUNT, Alltoallw, Ialltoallw, one, counts, bytes, types, two, wrong, bytes,
            types, COMM);
    REFUSED(MPI_ERR_COUNT, Allreduce, Iallreduce, one, two, -1, MPI_INT, MPI_SUM, COMM);
    REFUSED(MPI_ERR_COUNT, Reduce_scatter, Ireduce_scatter, one, two, wrong, MPI_INT, MPI_SUM, COMM);
    REFUSED(MPI_ERR_ARG, Alltoallv, Ialltoallv, one, counts, NULL, MPI_INT, two, counts, places,
            MPI_INT, COMM);
    REFUSED(MPI_ERR_ARG, Alltoallv, Ialltoallv, one, counts, places, MPI_INT, two, NULL, places,
            MPI_INT, COMM);
    REFUSED(MPI_ERR_ARG, Alltoallw, Ialltoallw, one, counts, bytes, NULL, two, counts, bytes, types,
            COMM);
}

static void datatypes(void) {
    MPI_Datatype open;
    OK(MPI_Type_contiguous(2, MPI_INT, &open));
    MPI_Datatype wrong_types[] = {MPI_DATATYPE_NULL, open, (MPI_Datatype)0xdead0,
                                  (MPI_Datatype)MPI_COMM_WORLD, (MPI_Datatype)NULL};
    for (int i = 0; i < 5; ++i) {
        MPI_Datatype type = wrong_types[i];
        REFUSED(MPI_ERR_TYPE, Bcast, Ibcast, one, 1, type, 0, COMM);
        REFUSED(MPI_ERR_TYPE, Allgather, Iallgather, one, 1, type, two, 1, MPI_INT, COMM);
        REFUSED(MPI_ERR_TYPE, Alltoall, Ialltoall, one, 1, MPI_INT, two, 1, type, COMM);
        REFUSED(MPI_ERR_TYPE, Allreduce, Iallreduce, one, two, 1, type, MPI_SUM, COMM);
        REFUSED(MPI_ERR_TYPE, Alltoallv, Ialltoallv, one, counts, places, type, two, counts, places,
                MPI_INT, COMM);
        for (int k = 0; k < 8; ++k) no_types[k] = type;
        REFUSED(MPI_ERR_TYPE, Alltoallw, Ialltoallw, one, counts, bytes, no_types, two, counts,
                bytes, types, COMM);
    }
    OK(MPI_Type_free(&open));
}

static void operators(void) {
    MPI_Op wrong_ops[] = {MPI_OP_NULL, (MPI_Op)0xdead0, (MPI_Op)MPI_INT, MPI_BAND, MPI_MINLOC};
    for (int i = 0; i < 5; ++i) {
        MPI_Op op = wrong_ops[i];
        REFUSED(MPI_ERR_OP, Allreduce, Iallreduce, one, two, 1, MPI_FLOAT, op, COMM);
        REFUSED(MPI_ERR_OP, Reduce, Ireduce, one, two, 1, MPI_FLOAT, op, 0, COMM);
        REFUSED(MPI_ERR_OP, Scan, Iscan, one, two, 1, MPI_FLOAT, op, COMM);
        REFUSED(MPI_ERR_OP, Reduce_scatter, Ireduce_scatter, one, two, counts, MPI_FLOAT, op, COMM);
        REFUSED(MPI_ERR_OP, Reduce_scatter_block, Ireduce_scatter_block, one, two, 1, MPI_FLOAT, op,
                COMM);
    }
}

static void buffers(int rank, int size) {
    REFUSED(MPI_ERR_BUFFER, Bcast, Ibcast, NULL, 1, MPI_INT, 0, COMM);
    REFUSED(MPI_ERR_BUFFER, Bcast, Ibcast, MPI_IN_PLACE, 1, MPI_INT, 0, COMM);
    REFUSED(MPI_ERR_BUFFER, Allreduce, Iallreduce, NULL, two, 1, MPI_INT, MPI_SUM, COMM);
    REFUSED(MPI_ERR_BUFFER, Allreduce, Iallreduce, one, NULL, 1, MPI_INT, MPI_SUM, COMM);
    REFUSED(MPI_ERR_BUFFER, Allreduce, Iallreduce, one, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, COMM);
    REFUSED(MPI_ERR_BUFFER, Allreduce, Iallreduce, one, one, 1, MPI_INT, MPI_SUM, COMM);
    REFUSED(MPI_ERR_BUFFER, Scan, Iscan, one, one, 1, MPI_INT, MPI_SUM, COMM);
    REFUSED(MPI_ERR_BUFFER, Allgather, Iallgather, one, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, COMM);
    REFUSED(MPI_ERR_BUFFER, Alltoall, Ialltoall, one, 1, MPI_INT, NULL, 1, MPI_INT, COMM);
    REFUSED(MPI_ERR_BUFFER, Alltoallv, Ialltoallv, one, counts, places, MPI_INT, MPI_IN_PLACE,
            counts, places, MPI_INT, COMM);
    /* Gather and scatter have their own buffer in place at the root only. */
    for (int root = 0; root < size; ++root) {
        if (rank == root) {
            REFUSED(MPI_ERR_BUFFER, Gather, Igather, one, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, root,
                    COMM);
            REFUSED(MPI_ERR_BUFFER, Scatter, Iscatter, MPI_IN_PLACE, 1, MPI_INT, one, 1, MPI_INT,
                    root, COMM);
            REFUSED(MPI_ERR_BUFFER, Reduce, Ireduce, one, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, root,
                    COMM);
        } else {
            REFUSED(MPI_ERR_BUFFER, Gather, Igather, MPI_IN_PLACE, 1, MPI_INT, one, 1, MPI_INT, root,
                    COMM);
            REFUSED(MPI_ERR_BUFFER, Gatherv, Igatherv, MPI_IN_PLACE, 1, MPI_INT, one, counts, places,
                    MPI_INT, root, COMM);
            REFUSED(MPI_ERR_BUFFER, Scatter, Iscatter, one, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT,
                    root, COMM);
            REFUSED(MPI_ERR_BUFFER, Scatterv, Iscatterv, one, counts, places, MPI_INT, MPI_IN_PLACE,
                    1, MPI_INT, root, COMM);
            REFUSED(MPI_ERR_BUFFER, Reduce, Ireduce, MPI_IN_PLACE, one, 1, MPI_INT, MPI_SUM, root,
                    COMM);
        }
    }
}

static void communicators(void) {
    MPI_Comm freed;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &freed));
    MPI_Comm stale = freed;
    OK(MPI_Comm_free(&freed));
    MPI_Comm wrong_comms[] = {MPI_COMM_NULL, stale, (MPI_Comm)0xdead0, (MPI_Comm)MPI_INT,
                              (MPI_Comm)NULL, (MPI_Comm)MPI_GROUP_EMPTY};
    for (int i = 0; i < 6; ++i) {
        MPI_Comm comm = wrong_comms[i];
        MPI_Request request = (MPI_Request)0xdead0;
        ERR(MPI_Barrier(comm), MPI_ERR_COMM);
        ERR(MPI_Ibarrier(comm, &request), MPI_ERR_COMM);
        ERR(MPI_Barrier_init(comm, MPI_INFO_NULL, &request), MPI_ERR_COMM);
        REFUSED(MPI_ERR_COMM, Bcast, Ibcast, one, 1, MPI_INT, 0, comm);
        REFUSED(MPI_ERR_COMM, Allreduce, Iallreduce, one, two, 1, MPI_INT, MPI_SUM, comm);
        REFUSED(MPI_ERR_COMM, Neighbor_allgather, Ineighbor_allgather, one, 1, MPI_INT, two, 1,
                MPI_INT, comm);
    }
    REFUSED(MPI_ERR_TOPOLOGY, Neighbor_allgather, Ineighbor_allgather, one, 1, MPI_INT, two, 1,
            MPI_INT, COMM);
    REFUSED(MPI_ERR_TOPOLOGY, Neighbor_alltoallv, Ineighbor_alltoallv, one, counts, places, MPI_INT,
            two, counts, places, MPI_INT, COMM);
}

static void others(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    ERR(MPI_Ibarrier(COMM, NULL), MPI_ERR_ARG);
    ERR(MPI_Ibcast(one, 1, MPI_INT, 0, COMM, NULL), MPI_ERR_ARG);
    ERR(MPI_Bcast_init(one, 1, MPI_INT, 0, COMM, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    ERR(MPI_Bcast_init(one, 1, MPI_INT, 0, COMM, (MPI_Info)0xdead0, &request), MPI_ERR_INFO);
    CHECK(request == MPI_REQUEST_NULL);
}

int main(int argc, char **argv) {
    int rank, size;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(COMM, &rank));
    OK(MPI_Comm_size(COMM, &size));
    OK(MPI_Comm_set_errhandler(COMM, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int i = 0; i < 8; ++i) {
        counts[i] = 1;
        places[i] = i;
        bytes[i] = 4 * i;
        types[i] = MPI_INT;
        wrong[i] = i == size - 1 ? -1 : 1;
    }
    roots(size);
    lengths();
    datatypes();
    operators();
    buffers(rank, size);
    communicators();
    others();
    int here = 1, all = 0;
    OK(MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_SUM, COMM));
    CHECK_EQ(all, size);
    OK(MPI_Finalize());
    return 0;
}

/* Every collective between two groups, in every form: from each root of either group, with groups of
 * all sizes; what is not significant at a rank is garbage there.
 *
 * ranks: 2 3 4
 * spec: 66, 76, 86, 87, 88, 89, 91
 *
 * case: plain
 * case: checked
 * ranks: 3
 * set: MOTET_CHECK=1
 */

#include "forms.h"

enum { BLOCK = 2, ROOM = 128, POISON = -77 };

static MPI_Comm comm;
/* Which group this rank is in, its rank there, and how many there are on either side. */
static int side, rank, near, far;
/* The group and the rank of the root. */
static int root_side, root_rank;
static int out[ROOM], in[ROOM];
static int to[16], from[16], to_places[16], from_places[16];

/* What a rank of a side sends to a rank of the other. */
static int item(int of_side, int from_rank, int to_rank, int index) {
    return 1000000 * of_side + 10000 * turn + 100 * from_rank + 10 * to_rank + index;
}

static void poison(void) {
    for (int i = 0; i < ROOM; ++i) out[i] = in[i] = POISON;
}

static void check_rest(int first) {
    for (int i = first; i < ROOM; ++i) CHECK_EQ(in[i], POISON);
}

static int is_root(void) { return side == root_side && rank == root_rank; }
static int is_leaf(void) { return side != root_side; }
static int root(void) {
    return is_leaf() ? root_rank : is_root() ? MPI_ROOT : MPI_PROC_NULL;
}

static void fill_barrier(void) {}
static void look_barrier(void) {}

static void fill_bcast(void) {
    poison();
    for (int i = 0; i < BLOCK && is_root(); ++i) in[i] = item(side, rank, 0, i);
}
static void look_bcast(void) {
    int is_here = is_root() || is_leaf();
    for (int i = 0; i < BLOCK && is_here; ++i)
        CHECK_EQ(in[i], item(root_side, root_rank, 0, i));
    check_rest(is_here ? BLOCK : 0);
}

static void fill_gather(void) {
    poison();
    for (int i = 0; i < BLOCK && is_leaf(); ++i) out[i] = item(side, rank, 0, i);
}
static void look_gather(void) {
    for (int at = 0; at < far && is_root(); ++at)
        for (int i = 0; i < BLOCK; ++i) CHECK_EQ(in[BLOCK * at + i], item(!side, at, 0, i));
    check_rest(is_root() ? BLOCK * far : 0);
}
static void look_gatherv(void) {
    for (int at = 0; at < far && is_root(); ++at)
        for (int i = 0; i < 3; ++i)
            CHECK_EQ(in[3 * at + i], i < BLOCK ? item(!side, at, 0, i) : POISON);
    check_rest(is_root() ? 3 * far : 0);
}
static void fill_gatherv(void) { fill_gather(); }

static void fill_scatter(void) {
    poison();
    for (int at = 0; at < far && is_root(); ++at)
        for (int i = 0; i < BLOCK; ++i) out[BLOCK * at + i] = item(side, rank, at, i);
}
static void look_scatter(void) {
    for (int i = 0; i < BLOCK && is_leaf(); ++i)
        CHECK_EQ(in[i], item(!side, root_rank, rank, i));
    check_rest(is_leaf() ? BLOCK : 0);
}
static void fill_scatterv(void) {
    poison();
    for (int at = 0; at < far && is_root(); ++at)
        for (int i = 0; i < BLOCK; ++i) out[3 * at + i] = item(side, rank, at, i);
}
static void look_scatterv(void) { look_scatter(); }

static void fill_allgather(void) {
    poison();
    for (int i = 0; i < BLOCK; ++i) out[i] = item(side, rank, 0, i);
}
static void look_allgather(void) {
    for (int at = 0; at < far; ++at)
        for (int i = 0; i < BLOCK; ++i) CHECK_EQ(in[BLOCK * at + i], item(!side, at, 0, i));
    check_rest(BLOCK * far);
}
static void fill_allgatherv(void) { fill_allgather(); }
static void look_allgatherv(void) {
    for (int at = 0; at < far; ++at)
        for (int i = 0; i < 3; ++i)
            CHECK_EQ(in[3 * at + i], i < BLOCK ? item(!side, at, 0, i) : POISON);
    check_rest(3 * far);
}

static void fill_alltoall(void) {
    poison();
    for (int at = 0; at < far; ++at)
        for (int i = 0; i < BLOCK; ++i) out[BLOCK * at + i] = item(side, rank, at, i);
}
static void look_alltoall(void) {
    for (int at = 0; at < far; ++at)
        for (int i = 0; i < BLOCK; ++i) CHECK_EQ(in[BLOCK * at + i], item(!side, at, rank, i));
    check_rest(BLOCK * far);
}
static int between(int one, int other) { return (one + other) % 3; }
static void fill_alltoallv(void) {
    poison();
    for (int at = 0; at < far; ++at)
        for (int i = 0; i < to[at]; ++i) out[to_places[at] + i] = item(side, rank, at, i);
}
static void look_alltoallv(void) {
    for (int at = 0; at < far; ++at)
        for (int i = 0; i < 3; ++i)
            CHECK_EQ(in[3 * at + i], i < from[at] ? item(!side, at, rank, i) : POISON);
    check_rest(3 * far);
}

/* The sum over a group. */
static int sum(int of_side, int ranks, int index) {
    int total = 0;
    for (int at = 0; at < ranks; ++at) total += item(of_side, at, 0, index);
    return total;
}
static void fill_reduce(void) { fill_gather(); }
static void look_reduce(void) {
    for (int i = 0; i < BLOCK && is_root(); ++i) CHECK_EQ(in[i], sum(!side, far, i));
    check_rest(is_root() ? BLOCK : 0);
}
static void fill_allreduce(void) { fill_allgather(); }
static void look_allreduce(void) {
    for (int i = 0; i < BLOCK; ++i) CHECK_EQ(in[i], sum(!side, far, i));
    check_rest(BLOCK);
}
/* Both groups have as many items in all: a block of 12 divided by either number of ranks. */
enum { WHOLE = 12 };
static void fill_reduce_scatter(void) {
    poison();
    for (int i = 0; i < WHOLE; ++i) out[i] = item(side, rank, 0, i);
}
static void look_reduce_scatter(void) {
    int part = WHOLE / near;
    for (int i = 0; i < part; ++i) CHECK_EQ(in[i], sum(!side, far, part * rank + i));
    check_rest(part);
}

#define GARBAGE ((void *)0xdead0)
#define NO_TYPE ((MPI_Datatype)0xdead0)

static void rooted(void) {
    int at_root = is_root(), at_leaf = is_leaf();
    void *leaf_out = at_leaf ? (void *)out : GARBAGE, *leaf_in = at_leaf ? (void *)in : GARBAGE;
    void *root_out = at_root ? (void *)out : GARBAGE, *root_in = at_root ? (void *)in : GARBAGE;
    MPI_Datatype leaf = at_leaf ? MPI_INT : NO_TYPE, top = at_root ? MPI_INT : NO_TYPE;
    MPI_Datatype both = at_root || at_leaf ? MPI_INT : NO_TYPE;
    int leaf_len = at_leaf ? BLOCK : -5, root_len = at_root ? BLOCK : -5;
    int len = at_root || at_leaf ? BLOCK : -5;
    MPI_Op op = at_root || at_leaf ? MPI_SUM : (MPI_Op)0xdead0;
    void *data = at_root || at_leaf ? (void *)in : GARBAGE;
    ALL_FORMS(bcast, Bcast, Ibcast, data, len, both, root(), comm);
    ALL_FORMS(gather, Gather, Igather, leaf_out, leaf_len, leaf, root_in, root_len, top, root(),
              comm);
    ALL_FORMS(scatter, Scatter, Iscatter, root_out, root_len, top, leaf_in, leaf_len, leaf, root(),
              comm);
    ALL_FORMS(reduce, Reduce, Ireduce, leaf_out, root_in, len, both, op, root(), comm);
    int lens[16], places[16];
    for (int i = 0; i < far; ++i) {
        lens[i] = BLOCK;
        places[i] = 3 * i;
    }
    int *counts = at_root ? lens : GARBAGE, *displs = at_root ? places : GARBAGE;
    FORMS(gatherv, Gatherv, Igatherv, leaf_out, leaf_len, leaf, root_in, counts, displs, top, root(),
          comm);
    FORMS(scatterv, Scatterv, Iscatterv, root_out, counts, displs, top, leaf_in, leaf_len, leaf,
          root(), comm);
}

static void symmetric(void) {
    ONCE(barrier, MPI_Barrier(comm));
    WAITED(barrier, MPI_Ibarrier(comm, &request));
    STARTED(barrier, MPI_Barrier_init(comm, MPI_INFO_NULL, &request));
    ALL_FORMS(allgather, Allgather, Iallgather, out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, comm);
    ALL_FORMS(alltoall, Alltoall, Ialltoall, out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, comm);
    ALL_FORMS(allreduce, Allreduce, Iallreduce, out, in, BLOCK, MPI_INT, MPI_SUM, comm);
    int lens[16], places[16];
    MPI_Datatype types[16];
    for (int i = 0; i < far; ++i) {
        lens[i] = BLOCK;
        places[i] = 3 * i;
    }
    FORMS(allgatherv, Allgatherv, Iallgatherv, out, BLOCK, MPI_INT, in, lens, places, MPI_INT, comm);
    for (int i = 0, place = 0; i < far; place += to[i++]) {
        to[i] = from[i] = between(rank, i);
        to_places[i] = place;
        from_places[i] = 3 * i;
    }
    FORMS(alltoallv, Alltoallv, Ialltoallv, out, to, to_places, MPI_INT, in, from, from_places,
          MPI_INT, comm);
    int to_bytes[16], from_bytes[16];
    for (int i = 0; i < far; ++i) {
        to_bytes[i] = to_places[i] * (int)sizeof(int);
        from_bytes[i] = from_places[i] * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    FORMS(alltoallv, Alltoallw, Ialltoallw, out, to, to_bytes, types, in, from, from_bytes, types,
          comm);
    for (int i = 0; i < near; ++i) lens[i] = WHOLE / near;
    FORMS(reduce_scatter, Reduce_scatter, Ireduce_scatter, out, in, lens, MPI_INT, MPI_SUM, comm);
    ALL_FORMS(reduce_scatter, Reduce_scatter_block, Ireduce_scatter_block, out, in, WHOLE / near,
              MPI_INT, MPI_SUM, comm);
}

static void refused(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    int lens[16], places[16];
    MPI_Datatype types[16];
    for (int i = 0; i < 16; ++i) {
        lens[i] = 1;
        places[i] = i;
        types[i] = MPI_INT;
    }
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    ERR(MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_COMM);
    ERR(MPI_Iscan(out, in, 1, MPI_INT, MPI_SUM, comm, &request), MPI_ERR_COMM);
    ERR(MPI_Exscan_init(out, in, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request), MPI_ERR_COMM);
    ERR(MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm), MPI_ERR_COMM);
    ERR(MPI_Bcast(in, 1, MPI_INT, far, comm), MPI_ERR_ROOT);
    ERR(MPI_Bcast(in, 1, MPI_INT, -1, comm), MPI_ERR_ROOT);
    ERR(MPI_Bcast(in, 1, MPI_INT, -2, comm), MPI_ERR_ROOT);
    ERR(MPI_Allreduce(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    ERR(MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    ERR(MPI_Ialltoall(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, comm, &request), MPI_ERR_BUFFER);
    ERR(MPI_Alltoallv(MPI_IN_PLACE, lens, places, MPI_INT, in, lens, places, MPI_INT, comm),
        MPI_ERR_BUFFER);
    ERR(MPI_Alltoallw(MPI_IN_PLACE, lens, places, types, in, lens, places, types, comm),
        MPI_ERR_BUFFER);
    ERR(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
    ERR(MPI_Gather(out, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, MPI_ROOT, comm), MPI_ERR_BUFFER);
    ERR(MPI_Scatter(out, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
    ERR(MPI_Reduce(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, 0, comm), MPI_ERR_BUFFER);
    CHECK(request == MPI_REQUEST_NULL);
    ONCE(barrier, MPI_Barrier(comm));
}

int main(int argc, char **argv) {
    int all, whole;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &all));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &whole));
    for (int cut = 1; cut < whole; ++cut) {
        MPI_Comm own;
        side = all >= cut;
        OK(MPI_Comm_split(MPI_COMM_WORLD, side, all, &own));
        OK(MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, side ? 0 : cut, 7, &comm));
        OK(MPI_Comm_rank(comm, &rank));
        OK(MPI_Comm_size(comm, &near));
        OK(MPI_Comm_remote_size(comm, &far));
        for (root_side = 0; root_side < 2; ++root_side) {
            int roots = root_side == side ? near : far;
            for (root_rank = 0; root_rank < roots; ++root_rank) rooted();
        }
        symmetric();
        refused();
        OK(MPI_Comm_free(&comm));
        OK(MPI_Comm_free(&own));
    }
    OK(MPI_Finalize());
    return 0;
}

/* Every collective among the neighbours of a topology, in every form: grids with and without borders,
 * graphs with edges twice and to itself, graphs of MPI-1, ranks without any edge, and duplicates of
 * communicators.
 *
 * ranks: 1 2 3 4
 * spec: 76, 92, 93, 94, 95, 97, 98
 *
 * case: plain
 * case: checked
 * ranks: 3
 * set: MOTET_CHECK=1
 */

#include "forms.h"

enum { BLOCK = 2, ROOM = 64, POISON = -77, MOST = 8 };

static MPI_Comm comm;
static int rank, size;
static int sources, destinations, source[MOST];
/* On a grid, what is sent into one direction comes from the opposite one. */
static int is_grid;
static int out[ROOM], in[ROOM];

static int item(int from, int slot, int index) {
    return 10000 * turn + 1000 * from + 100 * slot + index;
}

/* The slot of the sender that a slot of the receiver is fed from. */
static int fed_by(int slot) { return is_grid ? slot ^ 1 : slot; }

static int length(int slot) { return 1 + slot % 3; }

static void poison(void) {
    for (int i = 0; i < ROOM; ++i) out[i] = in[i] = POISON;
}

static void check_rest(int first) {
    for (int i = first; i < ROOM; ++i) CHECK_EQ(in[i], POISON);
}

static void fill_allgather(void) {
    poison();
    for (int i = 0; i < BLOCK; ++i) out[i] = item(rank, 0, i);
}
static void look_allgather(void) {
    for (int slot = 0; slot < sources; ++slot)
        for (int i = 0; i < BLOCK; ++i) {
            int is_there = source[slot] != MPI_PROC_NULL;
            CHECK_EQ(in[BLOCK * slot + i], is_there ? item(source[slot], 0, i) : POISON);
        }
    check_rest(BLOCK * sources);
}

/* Each rank sends as many items as its rank says. */
static void fill_allgatherv(void) {
    poison();
    for (int i = 0; i < length(rank); ++i) out[i] = item(rank, 0, i);
}
static void look_allgatherv(void) {
    for (int slot = 0; slot < sources; ++slot)
        for (int i = 0; i < 4; ++i) {
            int is_there = source[slot] != MPI_PROC_NULL && i < length(source[slot]);
            CHECK_EQ(in[4 * slot + i], is_there ? item(source[slot], 0, i) : POISON);
        }
    check_rest(4 * sources);
}

static void fill_alltoall(void) {
    poison();
    for (int slot = 0; slot < destinations; ++slot)
        for (int i = 0; i < BLOCK; ++i) out[BLOCK * slot + i] = item(rank, slot, i);
}
static void look_alltoall(void) {
    for (int slot = 0; slot < sources; ++slot)
        for (int i = 0; i < BLOCK; ++i) {
            int is_there = source[slot] != MPI_PROC_NULL;
            CHECK_EQ(in[BLOCK * slot + i],
                     is_there ? item(source[slot], fed_by(slot), i) : POISON);
        }
    check_rest(BLOCK * sources);
}

static void fill_alltoallv(void) {
    poison();
    for (int slot = 0; slot < destinations; ++slot)
        for (int i = 0; i < length(slot); ++i)
            out[4 * (destinations - 1 - slot) + i] = item(rank, slot, i);
}
static void look_alltoallv(void) {
    for (int slot = 0; slot < sources; ++slot)
        for (int i = 0; i < 4; ++i) {
            int is_there = source[slot] != MPI_PROC_NULL && i < length(fed_by(slot));
            CHECK_EQ(in[4 * slot + i], is_there ? item(source[slot], fed_by(slot), i) : POISON);
        }
    check_rest(4 * sources);
}

/* All five, on the communicator that is set. */
static void all_forms(void) {
    int to[MOST], from[MOST], to_place[MOST], from_place[MOST], lens[MOST];
    MPI_Count wide_to[MOST], wide_from[MOST], wide_lens[MOST];
    MPI_Aint wide_to_place[MOST], wide_from_place[MOST], to_byte[MOST], from_byte[MOST];
    MPI_Datatype to_type[MOST], from_type[MOST];
    for (int slot = 0; slot < destinations; ++slot) {
        wide_to[slot] = to[slot] = length(slot);
        wide_to_place[slot] = to_place[slot] = 4 * (destinations - 1 - slot);
        to_byte[slot] = (MPI_Aint)sizeof(int) * to_place[slot];
        to_type[slot] = MPI_INT;
    }
    for (int slot = 0; slot < sources; ++slot) {
        wide_from[slot] = from[slot] = length(fed_by(slot));
        wide_from_place[slot] = from_place[slot] = 4 * slot;
        from_byte[slot] = (MPI_Aint)sizeof(int) * from_place[slot];
        from_type[slot] = MPI_INT;
        wide_lens[slot] = lens[slot] =
            source[slot] == MPI_PROC_NULL ? 3 : length(source[slot]);
    }
    ALL_FORMS(allgather, Neighbor_allgather, Ineighbor_allgather, out, BLOCK, MPI_INT, in, BLOCK,
              MPI_INT, comm);
    ALL_FORMS(alltoall, Neighbor_alltoall, Ineighbor_alltoall, out, BLOCK, MPI_INT, in, BLOCK,
              MPI_INT, comm);
    FORMS(allgatherv, Neighbor_allgatherv, Ineighbor_allgatherv, out, length(rank), MPI_INT, in,
          lens, from_place, MPI_INT, comm);
    LARGE_FORMS(allgatherv, Neighbor_allgatherv, Ineighbor_allgatherv, out, length(rank), MPI_INT,
                in, wide_lens, wide_from_place, MPI_INT, comm);
    FORMS(alltoallv, Neighbor_alltoallv, Ineighbor_alltoallv, out, to, to_place, MPI_INT, in, from,
          from_place, MPI_INT, comm);
    LARGE_FORMS(alltoallv, Neighbor_alltoallv, Ineighbor_alltoallv, out, wide_to, wide_to_place,
                MPI_INT, in, wide_from, wide_from_place, MPI_INT, comm);
    FORMS(alltoallv, Neighbor_alltoallw, Ineighbor_alltoallw, out, to, to_byte, to_type, in, from,
          from_byte, from_type, comm);
    LARGE_FORMS(alltoallv, Neighbor_alltoallw, Ineighbor_alltoallw, out, wide_to, to_byte, to_type,
                in, wide_from, from_byte, from_type, comm);
}

static void refused(void) {
    MPI_Request request = (MPI_Request)0xdead0;
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    ERR(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    ERR(MPI_Neighbor_alltoall(out, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    ERR(MPI_Ineighbor_alltoall(out, -1, MPI_INT, in, 1, MPI_INT, comm, &request), MPI_ERR_COUNT);
    CHECK(request == MPI_REQUEST_NULL);
    ERR(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_DATATYPE_NULL, comm), MPI_ERR_TYPE);
    if (sources > 0) {
        ERR(MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, NULL, NULL, MPI_INT, comm), MPI_ERR_ARG);
        ERR(MPI_Neighbor_allgather(out, 1, MPI_INT, NULL, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    }
}

/* Then on a duplicate, when the communicator is gone. */
static void on(MPI_Comm which) {
    comm = which;
    OK(MPI_Comm_rank(comm, &rank));
    all_forms();
    OK(MPI_Comm_dup(which, &comm));
    OK(MPI_Comm_free(&which));
    all_forms();
    refused();
    OK(MPI_Comm_free(&comm));
}

static void grid(int dimensions, const int *dims, const int *periods) {
    MPI_Comm made;
    OK(MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, periods, 0, &made));
    is_grid = 1;
    sources = destinations = 2 * dimensions;
    for (int i = 0; i < dimensions; ++i) OK(MPI_Cart_shift(made, i, 1, &source[2 * i], &source[2 * i + 1]));
    on(made);
}

static void graph(void) {
    MPI_Comm made;
    int before = (rank + size - 1) % size, behind = (rank + 1) % size;
    /* To the next rank twice, and once to itself in between. */
    int to[] = {behind, rank, behind}, from[] = {before, rank, before};
    is_grid = 0;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, from, MPI_UNWEIGHTED, 3, to, MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &made));
    sources = destinations = 3;
    for (int i = 0; i < 3; ++i) source[i] = from[i];
    on(made);
    /* All send to rank 0, and so does itself; the others have no sources. */
    int zero[] = {0}, all[] = {0, 1, 2, 3};
    sources = rank == 0 ? size : 0;
    destinations = 1;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, sources, all, MPI_UNWEIGHTED, 1, zero,
                                      MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
    for (int i = 0; i < sources; ++i) source[i] = i;
    /* Here all blocks are of slot 0 of their senders, which the v forms do not expect. */
    comm = made;
    OK(MPI_Comm_rank(comm, &rank));
    ALL_FORMS(allgather, Neighbor_allgather, Ineighbor_allgather, out, BLOCK, MPI_INT, in, BLOCK,
              MPI_INT, comm);
    OK(MPI_Comm_free(&comm));
    /* Nobody has an edge. */
    sources = destinations = 0;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL,
                                      MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &made));
    on(made);
}

static void old_graph(void) {
    int index[16], edges[32];
    for (int i = 0; i < size; ++i) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + size - 1) % size;
        edges[2 * i + 1] = (i + 1) % size;
    }
    MPI_Comm made;
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &made));
    sources = destinations = 2;
    source[0] = edges[2 * rank];
    source[1] = edges[2 * rank + 1];
    is_grid = 1; /* what goes to the one comes from the other */
    on(made);
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    int open[] = {0, 0, 0}, ring[] = {1, 1, 1}, mixed[] = {0, 1, 1};
    int line[] = {size}, flat[] = {size, 1}, square[] = {2, 2, 1};
    grid(1, line, open);
    grid(1, line, ring);
    grid(2, flat, mixed);
    if (size == 4) {
        grid(3, square, open);
        grid(3, square, ring);
        grid(3, square, mixed);
    }
    graph();
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (size > 2) old_graph();
    OK(MPI_Finalize());
    return 0;
}

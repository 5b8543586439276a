/* Every collective within one group, in every form, with and without MPI_IN_PLACE, from every root;
 * what is not significant at a rank is garbage there.
 *
 * ranks: 1 2 3 4
 * spec: 5, 23, 35, 42, 43, 69, 70, 71, 72, 73, 74, 75
 *
 * case: plain
 * case: checked
 * ranks: 3
 * set: MOTET_CHECK=1
 */

#include "forms.h"

enum { BLOCK = 3, ROOM = 256, POISON = -77 };

static MPI_Comm comm;
static int rank, size, root, in_place;
static int out[ROOM], in[ROOM];
static int counts[16], places[16], own;
static MPI_Count wide_counts[16];
static MPI_Aint wide_places[16];

/* What `from` sends to `to`. */
static int item(int from, int to, int index) {
    return 100000 * turn + 1000 * from + 10 * to + index;
}

static void poison(void) {
    for (int i = 0; i < ROOM; ++i) out[i] = in[i] = POISON;
}

/* Where block `i` begins, and how long it is: blocks come in the opposite order, with gaps. */
static int start(int i) { return (size - 1 - i) * 5; }
static int length(int i) { return i % 3; }

static void check_rest(int from) {
    for (int i = from; i < ROOM; ++i) CHECK_EQ(in[i], POISON);
}

/* Broadcast */
static void fill_bcast(void) {
    poison();
    for (int i = 0; i < BLOCK && rank == root; ++i) in[i] = item(root, 0, i);
}
static void look_bcast(void) {
    for (int i = 0; i < BLOCK; ++i) CHECK_EQ(in[i], item(root, 0, i));
    check_rest(BLOCK);
}

/* Gather: of each rank its block. */
static int is_own_in_place(void) { return in_place && rank == root; }
static void fill_gather(void) {
    poison();
    int *to = is_own_in_place() ? in + BLOCK * rank : out;
    for (int i = 0; i < BLOCK; ++i) to[i] = item(rank, root, i);
}
static void look_gather(void) {
    for (int from = 0; from < size && rank == root; ++from)
        for (int i = 0; i < BLOCK; ++i) CHECK_EQ(in[BLOCK * from + i], item(from, root, i));
    check_rest(rank == root ? BLOCK * size : 0);
}
static void fill_gatherv(void) {
    poison();
    int *to = is_own_in_place() ? in + start(rank) : out;
    for (int i = 0; i < length(rank); ++i) to[i] = item(rank, root, i);
}
static void look_gatherv(void) {
    for (int from = 0; from < size && rank == root; ++from)
        for (int i = 0; i < 5; ++i)
            CHECK_EQ(in[start(from) + i], i < length(from) ? item(from, root, i) : POISON);
    check_rest(rank == root ? 5 * size : 0);
}

/* Scatter: to each rank its block. */
static void fill_scatter(void) {
    poison();
    for (int to = 0; to < size && rank == root; ++to)
        for (int i = 0; i < BLOCK; ++i) out[BLOCK * to + i] = item(root, to, i);
}
static void look_scatter(void) {
    int is_here = !is_own_in_place();
    for (int i = 0; i < BLOCK && is_here; ++i) CHECK_EQ(in[i], item(root, rank, i));
    check_rest(is_here ? BLOCK : 0);
}
static void fill_scatterv(void) {
    poison();
    for (int to = 0; to < size && rank == root; ++to)
        for (int i = 0; i < length(to); ++i) out[start(to) + i] = item(root, to, i);
}
static void look_scatterv(void) {
    int here = is_own_in_place() ? 0 : length(rank);
    for (int i = 0; i < here; ++i) CHECK_EQ(in[i], item(root, rank, i));
    check_rest(here);
}

/* Allgather */
static void fill_allgather(void) {
    poison();
    int *to = in_place ? in + BLOCK * rank : out;
    for (int i = 0; i < BLOCK; ++i) to[i] = item(rank, 0, i);
}
static void look_allgather(void) {
    for (int from = 0; from < size; ++from)
        for (int i = 0; i < BLOCK; ++i) CHECK_EQ(in[BLOCK * from + i], item(from, 0, i));
    check_rest(BLOCK * size);
}
static void fill_allgatherv(void) {
    poison();
    int *to = in_place ? in + start(rank) : out;
    for (int i = 0; i < length(rank); ++i) to[i] = item(rank, 0, i);
}
static void look_allgatherv(void) {
    for (int from = 0; from < size; ++from)
        for (int i = 0; i < 5; ++i)
            CHECK_EQ(in[start(from) + i], i < length(from) ? item(from, 0, i) : POISON);
    check_rest(5 * size);
}

/* Alltoall */
static void fill_alltoall(void) {
    poison();
    int *where = in_place ? in : out;
    for (int to = 0; to < size; ++to)
        for (int i = 0; i < BLOCK; ++i) where[BLOCK * to + i] = item(rank, to, i);
}
static void look_alltoall(void) {
    for (int from = 0; from < size; ++from)
        for (int i = 0; i < BLOCK; ++i) CHECK_EQ(in[BLOCK * from + i], item(from, rank, i));
    check_rest(BLOCK * size);
}
/* Between two ranks there are as many items each way, so that they fit in place. */
static int between(int one, int other) { return (one + other) % 3; }
static void fill_alltoallv(void) {
    poison();
    int *where = in_place ? in : out;
    for (int to = 0; to < size; ++to)
        for (int i = 0; i < between(rank, to); ++i) where[start(to) + i] = item(rank, to, i);
}
static void look_alltoallv(void) {
    for (int from = 0; from < size; ++from)
        for (int i = 0; i < 5; ++i)
            CHECK_EQ(in[start(from) + i], i < between(from, rank) ? item(from, rank, i) : POISON);
    check_rest(5 * size);
}

/* Reductions: each rank has item(rank, 0, i), of which the sum is known. */
static int sum(int first, int last, int index) {
    int total = 0;
    for (int from = first; from < last; ++from) total += item(from, 0, index);
    return total;
}
static void fill_numbers(int len, int *to) {
    poison();
    for (int i = 0; i < len; ++i) to[i] = item(rank, 0, i);
}
static void fill_reduce(void) { fill_numbers(BLOCK, is_own_in_place() ? in : out); }
static void look_reduce(void) {
    for (int i = 0; i < BLOCK && rank == root; ++i) CHECK_EQ(in[i], sum(0, size, i));
    check_rest(rank == root ? BLOCK : 0);
}
static void fill_allreduce(void) { fill_numbers(BLOCK, in_place ? in : out); }
static void look_allreduce(void) {
    for (int i = 0; i < BLOCK; ++i) CHECK_EQ(in[i], sum(0, size, i));
    check_rest(BLOCK);
}
static void fill_scan(void) { fill_allreduce(); }
static void look_scan(void) {
    for (int i = 0; i < BLOCK; ++i) CHECK_EQ(in[i], sum(0, rank + 1, i));
    check_rest(BLOCK);
}
static void fill_exscan(void) { fill_allreduce(); }
static void look_exscan(void) {
    for (int i = 0; i < BLOCK; ++i) {
        int untouched = in_place ? item(0, 0, i) : POISON;
        CHECK_EQ(in[i], rank == 0 ? untouched : sum(0, rank, i));
    }
    check_rest(BLOCK);
}
static void fill_reduce_scatter_block(void) {
    fill_numbers(BLOCK * size, in_place ? in : out);
}
static void look_reduce_scatter_block(void) {
    for (int i = 0; i < BLOCK; ++i) CHECK_EQ(in[i], sum(0, size, BLOCK * rank + i));
    check_rest(in_place ? BLOCK * size : BLOCK);
}
static void fill_reduce_scatter(void) {
    fill_numbers(places[size - 1] + counts[size - 1], in_place ? in : out);
}
static void look_reduce_scatter(void) {
    for (int i = 0; i < counts[rank]; ++i) CHECK_EQ(in[i], sum(0, size, places[rank] + i));
    check_rest(in_place ? places[size - 1] + counts[size - 1] : counts[rank]);
}

static void fill_barrier(void) {}
static void look_barrier(void) {}

static void widen(void) {
    for (int i = 0; i < size; ++i) {
        wide_counts[i] = counts[i];
        wide_places[i] = places[i];
    }
}

/* An address, a datatype or a list that nobody may look at. */
#define GARBAGE ((void *)0xdead0)
#define NO_TYPE ((MPI_Datatype)0xdead0)

static void rooted(void) {
    int is_root = rank == root, own_in_place = is_own_in_place();
    void *send = own_in_place ? MPI_IN_PLACE : out, *far = is_root ? (void *)in : GARBAGE;
    int block = own_in_place ? -5 : BLOCK, far_block = is_root ? BLOCK : -5;
    MPI_Datatype own_type = own_in_place ? NO_TYPE : MPI_INT, type = is_root ? MPI_INT : NO_TYPE;
    ALL_FORMS(bcast, Bcast, Ibcast, in, BLOCK, MPI_INT, root, comm);
    ALL_FORMS(gather, Gather, Igather, send, block, own_type, far, far_block, type, root, comm);
    ALL_FORMS(reduce, Reduce, Ireduce, send, far, BLOCK, MPI_INT, MPI_SUM, root, comm);
    for (int i = 0; i < size; ++i) {
        counts[i] = length(i);
        places[i] = start(i);
    }
    widen();
    own = own_in_place ? -5 : length(rank);
    int *lens = is_root ? counts : GARBAGE, *displs = is_root ? places : GARBAGE;
    MPI_Count *wide_lens = is_root ? wide_counts : GARBAGE;
    MPI_Aint *wide_displs = is_root ? wide_places : GARBAGE;
    FORMS(gatherv, Gatherv, Igatherv, send, own, own_type, far, lens, displs, type, root, comm);
    LARGE_FORMS(gatherv, Gatherv, Igatherv, send, own, own_type, far, wide_lens, wide_displs, type,
                root, comm);
    void *receive = own_in_place ? MPI_IN_PLACE : in;
    far = is_root ? (void *)out : GARBAGE;
    ALL_FORMS(scatter, Scatter, Iscatter, far, far_block, type, receive, block, own_type, root,
              comm);
    FORMS(scatterv, Scatterv, Iscatterv, far, lens, displs, type, receive, own, own_type, root,
          comm);
    LARGE_FORMS(scatterv, Scatterv, Iscatterv, far, wide_lens, wide_displs, type, receive, own,
                own_type, root, comm);
}

static void symmetric(void) {
    void *send = in_place ? MPI_IN_PLACE : out;
    int block = in_place ? -5 : BLOCK;
    MPI_Datatype type = in_place ? NO_TYPE : MPI_INT;
    ALL_FORMS(allgather, Allgather, Iallgather, send, block, type, in, BLOCK, MPI_INT, comm);
    ALL_FORMS(alltoall, Alltoall, Ialltoall, send, block, type, in, BLOCK, MPI_INT, comm);
    ALL_FORMS(allreduce, Allreduce, Iallreduce, send, in, BLOCK, MPI_INT, MPI_SUM, comm);
    ALL_FORMS(scan, Scan, Iscan, send, in, BLOCK, MPI_INT, MPI_SUM, comm);
    ALL_FORMS(exscan, Exscan, Iexscan, send, in, BLOCK, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < size; ++i) {
        counts[i] = length(i);
        places[i] = start(i);
    }
    widen();
    own = in_place ? -5 : length(rank);
    FORMS(allgatherv, Allgatherv, Iallgatherv, send, own, type, in, counts, places, MPI_INT, comm);
    LARGE_FORMS(allgatherv, Allgatherv, Iallgatherv, send, own, type, in, wide_counts, wide_places,
                MPI_INT, comm);
}

static void reductions_to_all(void) {
    void *send = in_place ? MPI_IN_PLACE : out;
    ALL_FORMS(reduce_scatter_block, Reduce_scatter_block, Ireduce_scatter_block, send, in, BLOCK,
              MPI_INT, MPI_SUM, comm);
    for (int i = 0, place = 0; i < size; place += counts[i++]) {
        counts[i] = (i + 1) % 3;
        places[i] = place;
    }
    widen();
    FORMS(reduce_scatter, Reduce_scatter, Ireduce_scatter, send, in, counts, MPI_INT, MPI_SUM, comm);
    LARGE_FORMS(reduce_scatter, Reduce_scatter, Ireduce_scatter, send, in, wide_counts, MPI_INT,
                MPI_SUM, comm);
}

static void exchanges(void) {
    void *send = in_place ? MPI_IN_PLACE : out;
    MPI_Datatype type = in_place ? NO_TYPE : MPI_INT, types[16];
    int bytes[16];
    MPI_Aint wide_bytes[16];
    for (int i = 0; i < size; ++i) {
        counts[i] = between(rank, i);
        places[i] = start(i);
        wide_bytes[i] = bytes[i] = places[i] * (int)sizeof(int);
        types[i] = counts[i] == 0 ? MPI_DATATYPE_NULL : MPI_INT;
    }
    widen();
    int *lens = in_place ? GARBAGE : counts, *displs = in_place ? GARBAGE : places;
    int *displs_w = in_place ? GARBAGE : bytes;
    MPI_Count *wide_lens = in_place ? GARBAGE : wide_counts;
    MPI_Aint *wide_displs = in_place ? GARBAGE : wide_places;
    MPI_Aint *wide_displs_w = in_place ? GARBAGE : wide_bytes;
    MPI_Datatype *send_types = in_place ? GARBAGE : types;
    FORMS(alltoallv, Alltoallv, Ialltoallv, send, lens, displs, type, in, counts, places, MPI_INT,
          comm);
    LARGE_FORMS(alltoallv, Alltoallv, Ialltoallv, send, wide_lens, wide_displs, type, in,
                wide_counts, wide_places, MPI_INT, comm);
    FORMS(alltoallv, Alltoallw, Ialltoallw, send, lens, displs_w, send_types, in, counts, bytes,
          types, comm);
    LARGE_FORMS(alltoallv, Alltoallw, Ialltoallw, send, wide_lens, wide_displs_w, send_types, in,
                wide_counts, wide_bytes, types, comm);
}

static void on(MPI_Comm which) {
    comm = which;
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    ONCE(barrier, MPI_Barrier(comm));
    WAITED(barrier, MPI_Ibarrier(comm, &request));
    STARTED(barrier, MPI_Barrier_init(comm, MPI_INFO_NULL, &request));
    for (in_place = 0; in_place < 2; ++in_place) {
        for (root = 0; root < size; ++root) rooted();
        symmetric();
        reductions_to_all();
        exchanges();
    }
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    on(MPI_COMM_WORLD);
    on(MPI_COMM_SELF);
    OK(MPI_Finalize());
    return 0;
}

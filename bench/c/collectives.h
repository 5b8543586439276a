/* The collectives that the programs of this directory measure: their calls in three forms, their
 * buffers, and the check of their data. Each call has other data than the one before. */

#include "communicators.h"
#include "layouts.h"

/* What a call sends and receives: a block for each rank. */
static int *in, *out;
/* Whether they are memory of MPI_Alloc_mem. */
static int asks_library = 0;
/* Counts the calls; it is in all data. */
static int turn = 0;

/* What a call moves. */
enum pattern {
    NOTHING,
    FROM_ROOT,       /* one block to all, in place */
    TO_ROOT,         /* a block of each to the root */
    PARTS,           /* a block of the root to each */
    TO_ALL,          /* a block of each to all */
    ALL_TO_ALL,
    REDUCED_AT_ROOT, /* sums of one block */
    REDUCED,
    REDUCED_PARTS,   /* sums of a block for each */
    PREFIX,
    PREFIX_BEFORE,
    NEIGHBOURS_SAME, /* one block to all neighbours */
    NEIGHBOURS,
    FROM_ROOT_ACROSS, /* one block of rank 0 to the second half, in place */
    REDUCED_ACROSS,   /* sums of one block of the other half */
};

struct operation {
    const char *name;
    enum pattern pattern;
    enum layout layout;
    int (*blocking)(void);
    int (*nonblocking)(MPI_Request *);
    int (*persistent)(MPI_Request *);
    /* Starts a persistent operation of several requests, and waits for it; NULL: it has one. */
    int (*restart)(void);
};

/* The three forms of a call. */
#define FORMS(name, Name, Iname, ...)                                                          \
    static int name##_blocking(void) { return MPI_##Name(__VA_ARGS__); }                       \
    static int name##_nonblocking(MPI_Request *r) { return MPI_##Iname(__VA_ARGS__, r); }      \
    static int name##_persistent(MPI_Request *r) {                                             \
        return MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, r);                               \
    }
#define V(blocks) blocks.counts, blocks.places, MPI_INT
#define W(blocks) blocks.counts, blocks.bytes, types
#define OWN by_rank.counts[rank], MPI_INT

FORMS(barrier, Barrier, Ibarrier, world)
FORMS(bcast, Bcast, Ibcast, in, n, MPI_INT, 0, world)
FORMS(gather, Gather, Igather, in, n, MPI_INT, out, n, MPI_INT, 0, world)
FORMS(gatherv, Gatherv, Igatherv, in, OWN, out, V(by_rank), 0, world)
FORMS(scatter, Scatter, Iscatter, in, n, MPI_INT, out, n, MPI_INT, 0, world)
FORMS(scatterv, Scatterv, Iscatterv, in, V(by_rank), out, OWN, 0, world)
FORMS(allgather, Allgather, Iallgather, in, n, MPI_INT, out, n, MPI_INT, world)
FORMS(allgatherv, Allgatherv, Iallgatherv, in, OWN, out, V(by_rank), world)
FORMS(alltoall, Alltoall, Ialltoall, in, n, MPI_INT, out, n, MPI_INT, world)
FORMS(alltoallv, Alltoallv, Ialltoallv, in, V(by_pair), out, V(by_pair), world)
FORMS(alltoallw, Alltoallw, Ialltoallw, in, W(by_pair), out, W(by_pair), world)
FORMS(reduce, Reduce, Ireduce, in, out, n, MPI_INT, MPI_SUM, 0, world)
FORMS(allreduce, Allreduce, Iallreduce, in, out, n, MPI_INT, MPI_SUM, world)
FORMS(reduce_scatter_block, Reduce_scatter_block, Ireduce_scatter_block, in, out, n, MPI_INT,
      MPI_SUM, world)
FORMS(reduce_scatter, Reduce_scatter, Ireduce_scatter, in, out, by_rank.counts, MPI_INT, MPI_SUM,
      world)
FORMS(scan, Scan, Iscan, in, out, n, MPI_INT, MPI_SUM, world)
FORMS(exscan, Exscan, Iexscan, in, out, n, MPI_INT, MPI_SUM, world)
FORMS(neighbor_allgather, Neighbor_allgather, Ineighbor_allgather, in, n, MPI_INT, out, n, MPI_INT,
      grid)
FORMS(neighbor_allgatherv, Neighbor_allgatherv, Ineighbor_allgatherv, in, n, MPI_INT, out, V(even),
      grid)
FORMS(neighbor_alltoall, Neighbor_alltoall, Ineighbor_alltoall, in, n, MPI_INT, out, n, MPI_INT,
      grid)
FORMS(neighbor_alltoallv, Neighbor_alltoallv, Ineighbor_alltoallv, in, V(even), out, V(even), grid)
FORMS(neighbor_alltoallw, Neighbor_alltoallw, Ineighbor_alltoallw, in, even.counts, even.wide_bytes,
      types, out, even.counts, even.wide_bytes, types, grid)
FORMS(inter_allreduce, Allreduce, Iallreduce, in, out, n, MPI_INT, MPI_SUM, halves)
FORMS(inter_bcast, Bcast, Ibcast, in, n, MPI_INT, root_across, halves)
FORMS(strided_bcast, Bcast, Ibcast, in, 1, strided, 0, world)
FORMS(strided_alltoall, Alltoall, Ialltoall, in, 1, strided, out, 1, strided, world)
FORMS(indexed_allgather, Allgather, Iallgather, in, 1, indexed, out, 1, indexed, world)

#include "halo.h"

#define ROW(name, pattern, layout)                                                             \
    {#name, pattern, layout, name##_blocking, name##_nonblocking, name##_persistent, NULL}
#define MESSAGES(name)                                                                         \
    {#name, NEIGHBOURS, EVEN, name##_blocking, name##_nonblocking, halo_persistent,             \
     name##_restart}
static const struct operation COLLECTIVES[] = {
    ROW(barrier, NOTHING, EVEN),
    ROW(bcast, FROM_ROOT, EVEN),
    ROW(gather, TO_ROOT, EVEN),
    ROW(gatherv, TO_ROOT, BY_RANK),
    ROW(scatter, PARTS, EVEN),
    ROW(scatterv, PARTS, BY_RANK),
    ROW(allgather, TO_ALL, EVEN),
    ROW(allgatherv, TO_ALL, BY_RANK),
    ROW(alltoall, ALL_TO_ALL, EVEN),
    ROW(alltoallv, ALL_TO_ALL, BY_PAIR),
    ROW(alltoallw, ALL_TO_ALL, BY_PAIR),
    ROW(reduce, REDUCED_AT_ROOT, EVEN),
    ROW(allreduce, REDUCED, EVEN),
    ROW(reduce_scatter_block, REDUCED_PARTS, EVEN),
    ROW(reduce_scatter, REDUCED_PARTS, BY_RANK),
    ROW(scan, PREFIX, EVEN),
    ROW(exscan, PREFIX_BEFORE, EVEN),
    ROW(neighbor_allgather, NEIGHBOURS_SAME, EVEN),
    ROW(neighbor_allgatherv, NEIGHBOURS_SAME, EVEN),
    ROW(neighbor_alltoall, NEIGHBOURS, EVEN),
    ROW(neighbor_alltoallv, NEIGHBOURS, EVEN),
    ROW(neighbor_alltoallw, NEIGHBOURS, EVEN),
    MESSAGES(halo),
    MESSAGES(polled_halo),
    ROW(inter_allreduce, REDUCED_ACROSS, EVEN),
    ROW(inter_bcast, FROM_ROOT_ACROSS, EVEN),
    ROW(strided_bcast, FROM_ROOT, STRIDED),
    ROW(strided_alltoall, ALL_TO_ALL, STRIDED),
    ROW(indexed_allgather, TO_ALL, INDEXED),
};
enum { N_COLLECTIVES = sizeof COLLECTIVES / sizeof *COLLECTIVES };

static inline int is_over_grid(enum pattern pattern) {
    return pattern == NEIGHBOURS || pattern == NEIGHBOURS_SAME;
}

/* Such a call needs two ranks. */
static int is_across(enum pattern pattern) {
    return pattern == FROM_ROOT_ACROSS || pattern == REDUCED_ACROSS;
}

/* Whether the call delivers its data into the buffer from which the root sends. */
static int is_in_place(enum pattern pattern) {
    return pattern == FROM_ROOT || pattern == FROM_ROOT_ACROSS;
}

/* How many blocks this rank sends and receives. */
static int blocks_sent(enum pattern pattern) {
    switch (pattern) {
    case NOTHING: return 0;
    case FROM_ROOT: case PARTS: return rank ? 0 : pattern == PARTS ? size : 1;
    case FROM_ROOT_ACROSS: return !rank;
    case ALL_TO_ALL: case REDUCED_PARTS: return size;
    case NEIGHBOURS: return n_neighbours;
    default: return 1;
    }
}

static int blocks_received(enum pattern pattern) {
    switch (pattern) {
    case NOTHING: return 0;
    case TO_ROOT: return rank ? 0 : size;
    case REDUCED_AT_ROOT: return !rank;
    case PREFIX_BEFORE: return rank > 0;
    case FROM_ROOT_ACROSS: return rank >= first_half;
    case TO_ALL: case ALL_TO_ALL: return size;
    case NEIGHBOURS_SAME: case NEIGHBOURS: return n_neighbours;
    default: return 1;
    }
}

/* What a rank has in each of its blocks; the place in the block is added. */
static int sent(int from, int to) {
    return turn + 100 * from + to;
}

/* The sum of what the ranks before `end` have. */
static int sum(int end, int to, int place) {
    return end * (turn + to + place) + 100 * (end * (end - 1) / 2);
}

static int expected(enum pattern pattern, int block, int place) {
    switch (pattern) {
    case FROM_ROOT: case FROM_ROOT_ACROSS: return sent(0, 0) + place;
    case PARTS: return sent(0, rank) + place;
    case TO_ROOT: case TO_ALL: return sent(block, 0) + place;
    case ALL_TO_ALL: return sent(block, rank) + place;
    case REDUCED_AT_ROOT: case REDUCED: return sum(size, 0, place);
    case REDUCED_PARTS: return sum(size, rank, place);
    case PREFIX: return sum(rank + 1, 0, place);
    case PREFIX_BEFORE: return sum(rank, 0, place);
    case REDUCED_ACROSS: {
        int of_first = sum(first_half, 0, place);
        return rank < first_half ? sum(size, 0, place) - of_first : of_first;
    }
    case NEIGHBOURS_SAME: return sent(neighbours[block], 0) + place;
    /* The neighbour before sends what it has for the one behind, and the other way round. */
    case NEIGHBOURS: return sent(neighbours[block], block ^ 1) + place;
    default: return 0;
    }
}

/* The elements of each block that have the data of a turn and are checked: the first one, three that
 * are equally distant, or each one. */
enum sample { FIRST, THREE, EACH };

static inline int distance(int count, enum sample sample) {
    if (sample == FIRST) return count;
    return sample == EACH || count < 3 ? 1 : (count - 1) / 2;
}

/* The data of the next call. */
static inline void fill_blocks(const struct operation *operation, enum sample sample) {
    int blocks = blocks_sent(operation->pattern);
    turn = (turn + 1) % 1000;
    for (int block = blocks - 1; block >= 0; block--) {
        int *start = in + start_of(operation->layout, blocks, block);
        int count = count_of(operation->layout, blocks, block), step = distance(count, sample);
        for (int i = 0; i < count; i += step)
            start[place_of(operation->layout, i)] = sent(rank, block) + i;
    }
}

static inline void check_blocks(const struct operation *operation, enum sample sample) {
    const int *result = is_in_place(operation->pattern) ? in : out;
    int blocks = blocks_received(operation->pattern);
    for (int block = blocks - 1; block >= 0; block--) {
        int start = start_of(operation->layout, blocks, block);
        int count = count_of(operation->layout, blocks, block), step = distance(count, sample);
        for (int i = 0; i < count; i += step) {
            int at = start + place_of(operation->layout, i);
            int right = expected(operation->pattern, block, i);
            if (result[at] != right) wrong_data(operation->name, at, right, result[at]);
        }
    }
}

static void call_once(const struct operation *operation, enum form form, MPI_Request *request) {
    if (form == BLOCKING) {
        operation->blocking();
        return;
    }
    if (form == PERSISTENT && operation->restart) {
        operation->restart();
        return;
    }
    if (form == NONBLOCKING)
        operation->nonblocking(request);
    else
        MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* A buffer of zeros. */
static int *buffer(size_t bytes) {
    void *start = NULL;
    if (asks_library)
        MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &start);
    else
        start = malloc(bytes);
    if (!start) fail("no memory", 0, 0, 0);
    return memset(start, 0, bytes);
}

static void release(int *start) {
    if (asks_library)
        MPI_Free_mem(start);
    else
        free(start);
}

/* The buffers of calls with blocks of so many bytes, and the arguments that depend on their length;
 * `least` is the room that other calls need. Blocks with gaps need twice the room. */
static void make_buffers(int block_bytes, size_t least, int with_gaps) {
    n = block_bytes / (int)sizeof(int);
    int n_blocks = size > MAX_NEIGHBOURS ? size : MAX_NEIGHBOURS;
    set_blocks(&even, n_blocks, even_count);
    set_blocks(&by_rank, size, uneven_count);
    set_blocks(&by_pair, size, pair_count);
    for (int j = 0; j < n_blocks; j++) types[j] = MPI_INT;
    size_t room = (size_t)n_blocks * (with_gaps ? 2 * (size_t)(n + PIECE) : (size_t)n);
    in = buffer((room > least ? room : least) * sizeof(int));
    out = buffer((room > least ? room : least) * sizeof(int));
}

/* The collectives that the programs of this directory measure: their calls in three forms, their
 * buffers, and the check of their data. Each call has other data than the one before. */

enum { MAX_RANKS = 256 };

static int next_rank, previous_rank;
/* Elements of a block, and what a call sends and receives: a block for each rank. */
static int n;
static int *in, *out;
/* Whether they are memory of MPI_Alloc_mem. */
static int asks_library = 0;
static int counts[MAX_RANKS], places[MAX_RANKS], bytes[MAX_RANKS];
static MPI_Aint wide_bytes[MAX_RANKS];
static MPI_Datatype types[MAX_RANKS];
static MPI_Comm ring;
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
    NEIGHBOURS_SAME, /* one block to both neighbours */
    NEIGHBOURS,
};

struct operation {
    const char *name;
    enum pattern pattern;
    int (*blocking)(void);
    int (*nonblocking)(MPI_Request *);
    int (*persistent)(MPI_Request *);
};

/* The three forms of a call. */
#define FORMS(name, Name, Iname, ...)                                                          \
    static int name##_blocking(void) { return MPI_##Name(__VA_ARGS__); }                       \
    static int name##_nonblocking(MPI_Request *r) { return MPI_##Iname(__VA_ARGS__, r); }      \
    static int name##_persistent(MPI_Request *r) {                                             \
        return MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, r);                               \
    }
#define V counts, places, MPI_INT
#define W counts, bytes, types

FORMS(barrier, Barrier, Ibarrier, world)
FORMS(bcast, Bcast, Ibcast, in, n, MPI_INT, 0, world)
FORMS(gather, Gather, Igather, in, n, MPI_INT, out, n, MPI_INT, 0, world)
FORMS(gatherv, Gatherv, Igatherv, in, n, MPI_INT, out, V, 0, world)
FORMS(scatter, Scatter, Iscatter, in, n, MPI_INT, out, n, MPI_INT, 0, world)
FORMS(scatterv, Scatterv, Iscatterv, in, V, out, n, MPI_INT, 0, world)
FORMS(allgather, Allgather, Iallgather, in, n, MPI_INT, out, n, MPI_INT, world)
FORMS(allgatherv, Allgatherv, Iallgatherv, in, n, MPI_INT, out, V, world)
FORMS(alltoall, Alltoall, Ialltoall, in, n, MPI_INT, out, n, MPI_INT, world)
FORMS(alltoallv, Alltoallv, Ialltoallv, in, V, out, V, world)
FORMS(alltoallw, Alltoallw, Ialltoallw, in, W, out, W, world)
FORMS(reduce, Reduce, Ireduce, in, out, n, MPI_INT, MPI_SUM, 0, world)
FORMS(allreduce, Allreduce, Iallreduce, in, out, n, MPI_INT, MPI_SUM, world)
FORMS(reduce_scatter_block, Reduce_scatter_block, Ireduce_scatter_block, in, out, n, MPI_INT,
      MPI_SUM, world)
FORMS(reduce_scatter, Reduce_scatter, Ireduce_scatter, in, out, counts, MPI_INT, MPI_SUM, world)
FORMS(scan, Scan, Iscan, in, out, n, MPI_INT, MPI_SUM, world)
FORMS(exscan, Exscan, Iexscan, in, out, n, MPI_INT, MPI_SUM, world)
FORMS(neighbor_allgather, Neighbor_allgather, Ineighbor_allgather, in, n, MPI_INT, out, n, MPI_INT,
      ring)
FORMS(neighbor_allgatherv, Neighbor_allgatherv, Ineighbor_allgatherv, in, n, MPI_INT, out, V, ring)
FORMS(neighbor_alltoall, Neighbor_alltoall, Ineighbor_alltoall, in, n, MPI_INT, out, n, MPI_INT,
      ring)
FORMS(neighbor_alltoallv, Neighbor_alltoallv, Ineighbor_alltoallv, in, V, out, V, ring)
FORMS(neighbor_alltoallw, Neighbor_alltoallw, Ineighbor_alltoallw, in, counts, wide_bytes, types,
      out, counts, wide_bytes, types, ring)

#define ROW(name, pattern) {#name, pattern, name##_blocking, name##_nonblocking, name##_persistent}
static const struct operation COLLECTIVES[] = {
    ROW(barrier, NOTHING), ROW(bcast, FROM_ROOT), ROW(gather, TO_ROOT), ROW(gatherv, TO_ROOT),
    ROW(scatter, PARTS), ROW(scatterv, PARTS), ROW(allgather, TO_ALL), ROW(allgatherv, TO_ALL),
    ROW(alltoall, ALL_TO_ALL), ROW(alltoallv, ALL_TO_ALL), ROW(alltoallw, ALL_TO_ALL),
    ROW(reduce, REDUCED_AT_ROOT), ROW(allreduce, REDUCED),
    ROW(reduce_scatter_block, REDUCED_PARTS), ROW(reduce_scatter, REDUCED_PARTS),
    ROW(scan, PREFIX), ROW(exscan, PREFIX_BEFORE),
    ROW(neighbor_allgather, NEIGHBOURS_SAME), ROW(neighbor_allgatherv, NEIGHBOURS_SAME),
    ROW(neighbor_alltoall, NEIGHBOURS), ROW(neighbor_alltoallv, NEIGHBOURS),
    ROW(neighbor_alltoallw, NEIGHBOURS),
};
enum { N_COLLECTIVES = sizeof COLLECTIVES / sizeof *COLLECTIVES };

/* How many blocks this rank sends and receives. */
static int blocks_sent(enum pattern pattern) {
    switch (pattern) {
    case NOTHING: return 0;
    case FROM_ROOT: case PARTS: return rank ? 0 : pattern == PARTS ? size : 1;
    case ALL_TO_ALL: case REDUCED_PARTS: return size;
    case NEIGHBOURS: return 2;
    default: return 1;
    }
}

static int blocks_received(enum pattern pattern) {
    switch (pattern) {
    case NOTHING: return 0;
    case TO_ROOT: return rank ? 0 : size;
    case REDUCED_AT_ROOT: return !rank;
    case PREFIX_BEFORE: return rank > 0;
    case TO_ALL: case ALL_TO_ALL: return size;
    case NEIGHBOURS_SAME: case NEIGHBOURS: return 2;
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
    case FROM_ROOT: return sent(0, 0) + place;
    case PARTS: return sent(0, rank) + place;
    case TO_ROOT: case TO_ALL: return sent(block, 0) + place;
    case ALL_TO_ALL: return sent(block, rank) + place;
    case REDUCED_AT_ROOT: case REDUCED: return sum(size, 0, place);
    case REDUCED_PARTS: return sum(size, rank, place);
    case PREFIX: return sum(rank + 1, 0, place);
    case PREFIX_BEFORE: return sum(rank, 0, place);
    case NEIGHBOURS_SAME: return sent(block ? next_rank : previous_rank, 0) + place;
    case NEIGHBOURS: return sent(block ? next_rank : previous_rank, !block) + place;
    default: return 0;
    }
}

/* The data of the next call: every `step`-th element of each block. */
static inline void fill_blocks(enum pattern pattern, int step) {
    turn = (turn + 1) % 1000;
    for (int block = blocks_sent(pattern) - 1; block >= 0; block--)
        for (int i = 0; i < n; i += step) in[block * n + i] = sent(rank, block) + i;
}

static inline void check_blocks(const struct operation *operation, int step) {
    const int *result = operation->pattern == FROM_ROOT ? in : out;
    for (int block = blocks_received(operation->pattern) - 1; block >= 0; block--) {
        for (int i = 0; i < n; i += step) {
            int right = expected(operation->pattern, block, i);
            if (result[block * n + i] != right)
                wrong_data(operation->name, block * n + i, right, result[block * n + i]);
        }
    }
}

static void call_once(const struct operation *operation, enum form form, MPI_Request *request) {
    if (form == BLOCKING) {
        operation->blocking();
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

/* The buffers of calls with blocks of so many bytes; `least` is the room that other calls need. */
static void make_buffers(int block_bytes, size_t least) {
    n = block_bytes / (int)sizeof(int);
    for (int j = 0; j < MAX_RANKS; j++) {
        counts[j] = n;
        places[j] = j * n;
        bytes[j] = j * n * (int)sizeof(int);
        wide_bytes[j] = bytes[j];
        types[j] = MPI_INT;
    }
    size_t blocks = size > 2 ? (size_t)size : 2;
    size_t room = (blocks * (size_t)n > least ? blocks * (size_t)n : least) * sizeof(int);
    in = buffer(room);
    out = buffer(room);
}

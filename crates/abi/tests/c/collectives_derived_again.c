/* Collectives that are called again and again with derived datatypes. Some datatypes stay; others
 * are freed and made again with another layout, in the place of one that is gone: each call moves
 * the data of its own datatypes, and nothing else. A handle that has been freed is refused, though
 * its call was made before. What a shorter block of a v form does not reach stays as it is.
 *
 * ranks: 1 2 3
 * spec: 3, 6, 20, 21
 */

#include "check.h"

enum { ROOM = 256, PARTS = 3, KINDS = 3, ROUNDS = 100 };

/* Part `k` of item `i` is the int at `i * extent + k * stride`. */
struct layout {
    MPI_Datatype type;
    int stride, extent;
};

static int rank, size, round_number;
/* Each call has other buffers than the one before. */
static _Alignas(16) int memory[3][2][ROOM];
static int calls, *out, *in;
static struct layout reduced;

static struct layout made(int kind, int stride) {
    struct layout layout = {MPI_DATATYPE_NULL, stride, PARTS * stride + kind};
    int lengths[PARTS], places[PARTS];
    MPI_Aint bytes[PARTS];
    MPI_Datatype parts;
    for (int k = 0; k < PARTS; ++k) {
        lengths[k] = 1;
        places[k] = k * stride;
        bytes[k] = places[k] * (MPI_Aint)sizeof(int);
    }
    if (kind == 0) OK(MPI_Type_vector(PARTS, 1, stride, MPI_INT, &parts));
    if (kind == 1) OK(MPI_Type_indexed(PARTS, lengths, places, MPI_INT, &parts));
    if (kind == 2) OK(MPI_Type_create_hindexed(PARTS, lengths, bytes, MPI_INT, &parts));
    MPI_Aint extent = layout.extent * (MPI_Aint)sizeof(int);
    OK(MPI_Type_create_resized(parts, 0, extent, &layout.type));
    OK(MPI_Type_commit(&layout.type));
    OK(MPI_Type_free(&parts));
    return layout;
}

static int place(struct layout layout, int item, int part) {
    return item * layout.extent + part * layout.stride;
}

/* What a rank has in its buffers before a call. */
static int sent(int of, int at) { return 100000 * of + 500 * round_number + at; }
static int old(int of, int at) { return -1 - sent(of, at); }

static void fill(void) {
    out = memory[calls % 3][0];
    in = memory[calls++ % 3][1];
    for (int at = 0; at < ROOM; ++at) {
        out[at] = sent(rank, at);
        in[at] = old(rank, at);
    }
}

/* Checks the parts of the first items, and that all else is as it was. */
static void check(struct layout layout, int items, int (*expected)(int item, int part)) {
    int wanted[ROOM];
    for (int at = 0; at < ROOM; ++at) wanted[at] = old(rank, at);
    for (int item = 0; item < items; ++item)
        for (int part = 0; part < PARTS; ++part)
            wanted[place(layout, item, part)] = expected(item, part);
    for (int at = 0; at < ROOM; ++at) CHECK_EQ(in[at], wanted[at]);
}

static struct layout from;
static int root;

static int of_root(int item, int part) { return old(root, place(from, item, part)); }
static int gathered(int item, int part) { return sent(item, place(from, 0, part)); }
static int dealt(int item, int part) { return sent(item, place(from, rank, part)); }
static int summed(int item, int part) {
    int sum = 0;
    for (int other = 0; other < size; ++other) sum += sent(other, place(from, item, part));
    return sum;
}

static void bcast(struct layout layout) {
    fill();
    from = layout;
    root = round_number % size;
    OK(MPI_Bcast(in, 2, layout.type, root, MPI_COMM_WORLD));
    check(layout, 2, of_root);
}

static void allgather(struct layout send, struct layout receive) {
    fill();
    from = send;
    OK(MPI_Allgather(out, 1, send.type, in, 1, receive.type, MPI_COMM_WORLD));
    check(receive, size, gathered);
}

static void alltoall(struct layout send, struct layout receive) {
    fill();
    from = send;
    OK(MPI_Alltoall(out, 1, send.type, in, 1, receive.type, MPI_COMM_WORLD));
    check(receive, size, dealt);
}

/* The ints of a block whose place has room for PARTS, and the datatype of that place. */
static int n_ints;
static struct layout into;

static int of_block(int from_rank, int item, int part) {
    int is_whole = from_rank == rank; /* a rank knows its own block */
    if (part < n_ints || is_whole) return sent(from_rank, rank * PARTS + part);
    return old(rank, place(into, item, part));
}
static int of_scatter(int item, int part) { return of_block(root, item, part); }
static int of_each(int item, int part) { return of_block(item, item, part); }

static void blocks(struct layout layout) {
    int counts[3], places[3], ones[3] = {1, 1, 1}, items[3] = {0, 1, 2};
    into = layout;
    root = round_number % size;
    n_ints = PARTS - calls % 2;
    for (int to = 0; to < size; ++to) {
        counts[to] = to == rank ? PARTS : n_ints;
        places[to] = to * PARTS;
    }
    fill();
    OK(MPI_Scatterv(out, counts, places, MPI_INT, in, 1, layout.type, root, MPI_COMM_WORLD));
    check(layout, 1, of_scatter);
    fill();
    OK(MPI_Alltoallv(out, counts, places, MPI_INT, in, ones, items, layout.type, MPI_COMM_WORLD));
    check(layout, size, of_each);
}

static void add(void *left, void *right, int *count, MPI_Datatype *type) {
    const int *operand = left;
    int *result = right;
    (void)type;
    for (int item = 0; item < *count; ++item)
        for (int part = 0; part < PARTS; ++part) {
            int at = place(reduced, item, part);
            result[at] += operand[at];
        }
}

static void allreduce(struct layout layout, MPI_Op op) {
    fill();
    from = reduced = layout;
    OK(MPI_Allreduce(out, in, 2, layout.type, op, MPI_COMM_WORLD));
    check(layout, 2, summed);
}

/* The datatype is freed while the call is pending. */
static void ibcast(struct layout layout) {
    MPI_Request request;
    MPI_Datatype copy;
    fill();
    from = layout;
    root = round_number % size;
    OK(MPI_Type_dup(layout.type, &copy));
    OK(MPI_Ibcast(in, 2, copy, root, MPI_COMM_WORLD, &request));
    OK(MPI_Type_free(&copy));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check(layout, 2, of_root);
}

int main(void) {
    MPI_Op op;
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Op_create(add, 1, &op));
    struct layout narrow = made(0, 2), wide = made(1, 5), dense = made(0, 1);
    for (round_number = 0; round_number < ROUNDS; ++round_number) {
        struct layout fresh = made(round_number % KINDS, 1 + round_number % 7);
        for (int again = 0; again < 4; ++again) {
            bcast(narrow);
            bcast(fresh);
            bcast(dense);
            allgather(narrow, fresh);
            allgather(fresh, wide);
            allgather(dense, narrow);
            alltoall(narrow, wide);
            alltoall(wide, narrow);
            alltoall(fresh, fresh);
            allreduce(fresh, op);
            allreduce(narrow, op);
            ibcast(fresh);
            ibcast(wide);
            blocks(narrow);
            blocks(fresh);
        }
        MPI_Datatype stale = fresh.type;
        OK(MPI_Type_free(&fresh.type));
        ERR(MPI_Bcast(in, 2, stale, round_number % size, MPI_COMM_WORLD), MPI_ERR_TYPE);
    }
    OK(MPI_Type_free(&narrow.type));
    OK(MPI_Type_free(&wide.type));
    OK(MPI_Type_free(&dense.type));
    OK(MPI_Op_free(&op));
    OK(MPI_Finalize());
    return 0;
}

/* Collectives of derived datatypes: only their bytes are written, signatures match whatever the types
 * are called, and lists and datatypes may be gone as soon as a call returns.
 *
 * ranks: 1 2 3
 * spec: 3, 4, 6, 20, 21, 22
 */

#include "check.h"

enum { ROOM = 256, POISON = -77 };

static int rank, size;
static int out[ROOM], in[ROOM];

static void poison(void) {
    for (int i = 0; i < ROOM; ++i) out[i] = in[i] = POISON;
}

/* Three ints, each followed by a gap of one, and 8 ints from one item to the next. */
static MPI_Datatype spread_type(void) {
    MPI_Datatype vector, spread;
    OK(MPI_Type_vector(3, 1, 2, MPI_INT, &vector));
    OK(MPI_Type_create_resized(vector, 0, 8 * (MPI_Aint)sizeof(int), &spread));
    OK(MPI_Type_commit(&spread));
    OK(MPI_Type_free(&vector));
    return spread;
}

static int place(int item, int part) { return 8 * item + 2 * part; }

/* Whether all but the parts of the first items is poison. */
static void check_gaps(const int *data, int items) {
    for (int i = 0; i < ROOM; ++i) {
        int is_part = i / 8 < items && i % 2 == 0 && i % 8 < 6;
        if (!is_part) CHECK_EQ(data[i], POISON);
    }
}

static void moved(MPI_Datatype spread) {
    poison();
    if (rank == 0)
        for (int i = 0; i < 6; ++i) in[i] = 10 + i;
    /* Six ints at the root are two items elsewhere. */
    OK(rank == 0 ? MPI_Bcast(in, 6, MPI_INT, 0, MPI_COMM_WORLD)
                 : MPI_Bcast(in, 2, spread, 0, MPI_COMM_WORLD));
    for (int i = 0; i < 6 && rank > 0; ++i) CHECK_EQ(in[place(i / 3, i % 3)], 10 + i);
    if (rank > 0) check_gaps(in, 2);

    poison();
    for (int part = 0; part < 3; ++part) out[place(0, part)] = 100 * rank + part;
    OK(MPI_Allgather(out, 1, spread, in, 3, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < 3 * size; ++i) CHECK_EQ(in[i], 100 * (i / 3) + i % 3);
    for (int i = 3 * size; i < ROOM; ++i) CHECK_EQ(in[i], POISON);

    poison();
    for (int i = 0; i < 3 * size; ++i) out[i] = 1000 * rank + i;
    OK(MPI_Alltoall(out, 3, MPI_INT, in, 1, spread, MPI_COMM_WORLD));
    for (int i = 0; i < 3 * size; ++i)
        CHECK_EQ(in[place(i / 3, i % 3)], 1000 * (i / 3) + 3 * rank + i % 3);
    check_gaps(in, size);

    poison();
    for (int i = 0; i < 6; ++i) out[place(i / 3, i % 3)] = rank + i;
    OK(MPI_Allreduce(out, in, 2, spread, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < 6; ++i)
        CHECK_EQ(in[place(i / 3, i % 3)], size * (size - 1) / 2 + size * i);
    check_gaps(in, 2);
}

/* Lists, datatypes and operators may be gone at once; data counts when it starts. */
static void lists_are_copied(void) {
    MPI_Request once, again;
    int *counts = malloc(sizeof(int) * size), *places = malloc(sizeof(int) * size);
    MPI_Datatype *types = malloc(sizeof(MPI_Datatype) * size), spread = spread_type();
    for (int i = 0; i < size; ++i) {
        counts[i] = 1;
        places[i] = 8 * i * (int)sizeof(int);
        types[i] = spread;
    }
    poison();
    for (int i = 0; i < 3 * size; ++i) out[place(i / 3, i % 3)] = 1000 * rank + i;
    OK(MPI_Ialltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD, &once));
    static int from[ROOM], to[ROOM];
    for (int i = 0; i < ROOM; ++i) from[i] = to[i] = POISON;
    OK(MPI_Alltoallw_init(from, counts, places, types, to, counts, places, types, MPI_COMM_WORLD,
                          MPI_INFO_NULL, &again));
    for (int i = 0; i < size; ++i) {
        counts[i] = -5;
        places[i] = 1 << 30;
        types[i] = MPI_DATATYPE_NULL;
    }
    free(counts);
    free(places);
    free(types);
    OK(MPI_Type_free(&spread));
    OK(MPI_Wait(&once, MPI_STATUS_IGNORE));
    for (int i = 0; i < 3 * size; ++i)
        CHECK_EQ(in[place(i / 3, i % 3)], 1000 * (i / 3) + 3 * rank + i % 3);
    check_gaps(in, size);
    for (int turn = 0; turn < 3; ++turn) {
        for (int i = 0; i < 3 * size; ++i) from[place(i / 3, i % 3)] = 1000 * rank + i + turn;
        OK(MPI_Start(&again));
        OK(MPI_Wait(&again, MPI_STATUS_IGNORE));
        for (int i = 0; i < 3 * size; ++i)
            CHECK_EQ(to[place(i / 3, i % 3)], 1000 * (i / 3) + 3 * rank + i % 3 + turn);
        check_gaps(to, size);
    }
    OK(MPI_Request_free(&again));
}

/* No data at all needs no buffers. */
static void nothing(void) {
    int zeros[16] = {0};
    OK(MPI_Alltoallv(NULL, zeros, zeros, MPI_INT, NULL, zeros, zeros, MPI_INT, MPI_COMM_WORLD));
    OK(MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
    OK(MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
    OK(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Reduce_scatter(NULL, NULL, zeros, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Gatherv(NULL, 0, MPI_INT, NULL, zeros, zeros, MPI_INT, 0, MPI_COMM_WORLD));
    OK(MPI_Scatterv(NULL, zeros, zeros, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    MPI_Datatype spread = spread_type();
    moved(spread);
    OK(MPI_Type_free(&spread));
    lists_are_copied();
    nothing();
    OK(MPI_Finalize());
    return 0;
}

/* Operators on structures with an alignment of their own: wherever their operands lie, in memory of
 * the program or of the library, they are aligned as in an array.
 *
 * ranks: 1 2 3 5
 */

#include "check.h"

#include <stdalign.h>
#include <stddef.h>

#define WIDE(n)                                                                               \
    typedef struct {                                                                          \
        alignas(n) double x;                                                                  \
        int y;                                                                                \
    } Wide##n;                                                                                \
    static void add##n(void *in, void *inout, int *len, MPI_Datatype *datatype) {             \
        Wide##n *left = in, *right = inout;                                                   \
        (void)datatype;                                                                       \
        if ((uintptr_t)in % n != 0 || (uintptr_t)inout % n != 0) ++unaligned;                 \
        for (int i = 0; i < *len; ++i) right[i].x += left[i].x, right[i].y += left[i].y;      \
    }                                                                                         \
    static void all##n(void) {                                                                \
        enum { MOST = 600 };                                                                  \
        static Wide##n from[MOST], into[MOST];                                                \
        for (int i = 0; i < MOST; ++i) from[i].x = 1, from[i].y = 2;                          \
        int lengths[2] = {1, 1};                                                              \
        MPI_Aint places[2] = {offsetof(Wide##n, x), offsetof(Wide##n, y)};                    \
        MPI_Datatype parts[2] = {MPI_DOUBLE, MPI_INT}, bare, types[2];                        \
        OK(MPI_Type_create_struct(2, lengths, places, parts, &bare));                         \
        OK(MPI_Type_create_resized(bare, 0, sizeof(Wide##n), &types[0]));                     \
        OK(MPI_Type_contiguous(sizeof(Wide##n), MPI_BYTE, &types[1]));                        \
        MPI_Op ops[2];                                                                        \
        OK(MPI_Op_create(add##n, 1, &ops[0]));                                                \
        OK(MPI_Op_create(add##n, 0, &ops[1]));                                                \
        for (int t = 0; t < 2; ++t) {                                                         \
            OK(MPI_Type_commit(&types[t]));                                                   \
            for (int op = 0; op < 2; ++op) {                                                  \
                reduce_all(from, into, sizeof(Wide##n), types[t], ops[op]);                   \
            }                                                                                 \
            OK(MPI_Type_free(&types[t]));                                                     \
        }                                                                                     \
        CHECK(into[0].x == size && into[0].y == 2 * size);                                    \
        OK(MPI_Type_free(&bare));                                                             \
        OK(MPI_Op_free(&ops[0]));                                                             \
        OK(MPI_Op_free(&ops[1]));                                                             \
        CHECK_EQ(unaligned, 0);                                                               \
    }

static int rank, size, unaligned;

static void reduce_all(const void *from, void *into, size_t bytes, MPI_Datatype type, MPI_Op op) {
    static const int counts[] = {1, 2, 3, 60, 100};
    MPI_Request request;
    for (int c = 0; c < 5; ++c) {
        int count = counts[c];
        OK(MPI_Reduce(from, into, count, type, op, 0, MPI_COMM_WORLD));
        OK(MPI_Scan(from, into, count, type, op, MPI_COMM_WORLD));
        OK(MPI_Exscan(from, into, count, type, op, MPI_COMM_WORLD));
        OK(MPI_Reduce_scatter_block(from, into, count, type, op, MPI_COMM_WORLD));
        OK(MPI_Iallreduce(from, into, count, type, op, MPI_COMM_WORLD, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Allreduce_init(from, into, count, type, op, MPI_COMM_WORLD, MPI_INFO_NULL,
                              &request));
        for (int turn = 0; turn < 3; ++turn) {
            OK(MPI_Start(&request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        OK(MPI_Request_free(&request));
        memcpy(into, from, count * bytes);
        OK(MPI_Allreduce(MPI_IN_PLACE, into, count, type, op, MPI_COMM_WORLD));
        OK(MPI_Allreduce(from, into, count, type, op, MPI_COMM_WORLD));
    }
}

WIDE(16)
WIDE(32)
WIDE(64)
WIDE(128)
WIDE(512)
WIDE(4096)

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    all16();
    all32();
    all64();
    all128();
    all512();
    all4096();
    OK(MPI_Finalize());
    return 0;
}

/* What the standard forbids and does no harm: the library takes it, and in check mode refuses it.
 *
 * ranks: 1 2
 * spec: 57, 61, 77
 * case: plain
 * case: strict
 * set: MOTET_CHECK=1
 */

#include "check.h"

static int strict, rank, size;

/* A call that only check mode refuses. */
#define LENIENT(class, call)          \
    do {                              \
        if (strict)                   \
            ERR(call, class);         \
        else                          \
            OK(call);                 \
    } while (0)

/* Characters are numbers in C, and so are addresses and counts to a logical operator. */
static void operators(void) {
    signed char input[2] = {5, 1};
    struct {
        MPI_Op op;
        signed char result[2];
    } rows[] = {{MPI_SUM, {2, 1}},  {MPI_PROD, {-15, 0}}, {MPI_MAX, {5, 1}},
                {MPI_MIN, {-3, 0}}, {MPI_LAND, {1, 0}},   {MPI_LOR, {1, 1}},
                {MPI_LXOR, {0, 1}}, {MPI_BAND, {5, 0}},   {MPI_BOR, {-3, 1}},
                {MPI_BXOR, {-8, 1}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        signed char inout[2] = {-3, 0};
        LENIENT(MPI_ERR_OP, MPI_Reduce_local(input, inout, 2, MPI_CHAR, rows[i].op));
        if (!strict) CHECK(memcmp(inout, rows[i].result, 2) == 0);
    }
    MPI_Datatype numbers[] = {MPI_AINT, MPI_OFFSET, MPI_COUNT};
    for (int i = 0; i < 3; i++) {
        int64_t left[2] = {1LL << 40, 0}, right[2] = {3, 0};
        LENIENT(MPI_ERR_OP, MPI_Reduce_local(left, right, 2, numbers[i], MPI_LAND));
        if (!strict) CHECK(right[0] == 1 && right[1] == 0);
        OK(MPI_Reduce_local(left, right, 2, numbers[i], MPI_BOR));
    }
    /* The same in a collective, in each form. */
    char sum[2] = {0}, own[2] = {1, 2};
    MPI_Request request;
    LENIENT(MPI_ERR_OP, MPI_Allreduce(own, sum, 2, MPI_CHAR, MPI_SUM, MPI_COMM_SELF));
    if (!strict) CHECK(sum[0] == 1 && sum[1] == 2);
    LENIENT(MPI_ERR_OP, MPI_Iallreduce(own, sum, 2, MPI_CHAR, MPI_SUM, MPI_COMM_SELF, &request));
    if (!strict) OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    LENIENT(MPI_ERR_OP, MPI_Scan_init(own, sum, 2, MPI_CHAR, MPI_MAX, MPI_COMM_SELF, MPI_INFO_NULL,
                                      &request));
    if (!strict) OK(MPI_Request_free(&request));
    if (!strict) {
        OK(MPI_Allreduce(own, sum, 2, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD));
        CHECK(sum[0] == size && sum[1] == 2 * size);
    }
    /* Letters of Fortran stay letters, and bytes no numbers. */
    ERR(MPI_Reduce_local(own, sum, 2, MPI_CHARACTER, MPI_SUM), MPI_ERR_OP);
    ERR(MPI_Reduce_local(own, sum, 2, MPI_BYTE, MPI_SUM), MPI_ERR_OP);
    ERR(MPI_Reduce_local(own, sum, 2, MPI_FLOAT, MPI_LAND), MPI_ERR_OP);
}

/* Of blocks that are received one over the other the last one stays. */
static void overlapping(void) {
    int own[2] = {10 + rank, 20 + rank}, in[4], counts[2] = {2, 2}, places[2] = {1, 0};
    int bytes[2] = {4, 0};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Request request;
    for (int turn = 0; turn < 2 && size == 2; turn++) {
        memset(in, 0, sizeof in);
        LENIENT(MPI_ERR_BUFFER, MPI_Allgatherv(own, 2, MPI_INT, in, counts, places, MPI_INT,
                                               MPI_COMM_WORLD));
        if (!strict) CHECK(in[0] == 11 && in[1] == 21 && in[2] == 20 && in[3] == 0);
        memset(in, 0, sizeof in);
        LENIENT(MPI_ERR_BUFFER, MPI_Iallgatherv(own, 2, MPI_INT, in, counts, places, MPI_INT,
                                                MPI_COMM_WORLD, &request));
        if (!strict) OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (!strict) CHECK(in[0] == 11 && in[1] == 21 && in[2] == 20 && in[3] == 0);
        LENIENT(MPI_ERR_BUFFER, MPI_Allgatherv_init(own, 2, MPI_INT, in, counts, places, MPI_INT,
                                                    MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        for (int start = 0; start < 2 && !strict; start++) {
            memset(in, 0, sizeof in);
            OK(MPI_Start(&request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            CHECK(in[0] == 11 && in[1] == 21 && in[2] == 20 && in[3] == 0);
        }
        if (!strict) OK(MPI_Request_free(&request));
        int two[4] = {rank, rank, rank + 2, rank + 2}, apart[2] = {0, 2}, far[2] = {0, 8};
        memset(in, 0, sizeof in);
        LENIENT(MPI_ERR_BUFFER, MPI_Alltoallv(two, counts, apart, MPI_INT, in, counts, places,
                                              MPI_INT, MPI_COMM_WORLD));
        if (!strict) CHECK(in[1] == 2 * rank + 1 && in[2] == 2 * rank);
        LENIENT(MPI_ERR_BUFFER, MPI_Alltoallw(two, counts, far, types, in, counts, bytes, types,
                                              MPI_COMM_WORLD));
        if (!strict) CHECK(in[1] == 2 * rank + 1 && in[2] == 2 * rank);
        /* What is sent may lie one over the other anyway. */
        memset(in, 0, sizeof in);
        if (!strict || turn == 0) {
            OK(MPI_Alltoallv(two, counts, places, MPI_INT, in, counts, apart, MPI_INT,
                             MPI_COMM_WORLD));
        }
    }
    /* Only the root has the list. */
    int many[8], one[1] = {rank}, ones[2] = {1, 1}, same[2] = {3, 3};
    if (!strict) {
        OK(MPI_Gatherv(one, 1, MPI_INT, many, ones, same, MPI_INT, 0, MPI_COMM_WORLD));
        if (rank == 0) CHECK_EQ(many[3], size - 1);
    }
}

static void others(void) {
    int flag = 0, all = 0, one = 1;
    MPI_Request request;
    LENIENT(MPI_ERR_BASE, MPI_Free_mem(NULL));
    OK(MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, &request));
    while (!flag) OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    LENIENT(MPI_ERR_REQUEST, MPI_Request_free(&request));
    if (strict) OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(request == MPI_REQUEST_NULL);
}

int main(int argc, char **argv) {
    strict = argc > 1 && strcmp(argv[1], "strict") == 0;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    others();
    operators();
    overlapping();
    OK(MPI_Finalize());
    return 0;
}

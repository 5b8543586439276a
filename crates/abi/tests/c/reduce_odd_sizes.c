/* Reductions of elements whose size does not divide 8 KiB, the part that a pass reduces at a time
 * (pairs without padding, three bytes of a derived type with an operator of the program), and of
 * long doubles. The data is long, and lies in memory that all ranks map or in their own.
 *
 * spec: 74, 80
 * ranks: 2 3 5
 * seconds: 60
 *
 * case: usual
 * case: direct
 * set: MOTET_ALGORITHM=allreduce=linear_reduce_scatter_allgather,reduce=linear,scan=linear,reduce_scatter_block=linear
 * case: pairs
 * set: MOTET_ALGORITHM=allreduce=reduce_scatter_allgather,reduce=binomial,scan=recursive_doubling,reduce_scatter_block=recursive_halving
 */

#include "check.h"

struct double_int {
    double value;
    int index;
};

struct long_double_int {
    long double value;
    int index;
};

static int rank, size;

/* Three bytes: the greatest of the first ones, the sum of the second ones, and the last rank's
 * third one, which makes the order count. */
static void combine(void *left, void *right, int *count, MPI_Datatype *type) {
    const unsigned char *in = left;
    unsigned char *out = right;
    (void)type;
    for (int at = 0; at < *count; at++, in += 3, out += 3) {
        if (in[0] > out[0]) out[0] = in[0];
        out[1] = (unsigned char)(in[1] + out[1]);
    }
}

/* Each kind of element: its type and operator, how to fill an element of a rank, and whether an
 * element of the reduction over the ranks from 0 to `last` is right. */
struct kind {
    MPI_Datatype type;
    MPI_Op op;
    size_t bytes;
    void (*fill)(void *element, int rank, int at);
    int (*is_right)(const void *element, int last, int at);
};

static void fill_double_int(void *element, int rank, int at) {
    struct double_int *pair = element;
    pair->value = (rank - at % size) * (rank - at % size) + 0.5;
    pair->index = rank;
}

/* The minimum is at the rank that is nearest. */
static int is_double_int(const void *element, int last, int at) {
    const struct double_int *pair = element;
    int nearest = at % size < last ? at % size : last, gap = at % size - nearest;
    return pair->index == nearest && pair->value == gap * gap + 0.5;
}

static void fill_long_double_int(void *element, int rank, int at) {
    struct long_double_int *pair = element;
    pair->value = rank == at % size ? 3.25L : -(long double)rank;
    pair->index = 100 + rank;
}

static int is_long_double_int(const void *element, int last, int at) {
    const struct long_double_int *pair = element;
    if (at % size <= last) return pair->value == 3.25L && pair->index == 100 + at % size;
    return pair->value == 0.0L && pair->index == 100;
}

static void fill_long_double(void *element, int rank, int at) {
    *(long double *)element = (long double)(at % 1000 + rank) / 4;
}

static int is_long_double(const void *element, int last, int at) {
    long double sum = (long double)(at % 1000) * (last + 1) + last * (last + 1) / 2;
    return *(const long double *)element == sum / 4;
}

static void fill_three(void *element, int rank, int at) {
    unsigned char *bytes = element;
    bytes[0] = (unsigned char)(at % (rank + 2));
    bytes[1] = (unsigned char)(at + rank);
    bytes[2] = (unsigned char)(at * 3 + rank);
}

static int is_three(const void *element, int last, int at) {
    const unsigned char *bytes = element;
    int greatest = 0, sum = 0;
    for (int each = 0; each <= last; each++) {
        if (at % (each + 2) > greatest) greatest = at % (each + 2);
        sum += at + each;
    }
    return bytes[0] == greatest && bytes[1] == (unsigned char)sum &&
           bytes[2] == (unsigned char)(at * 3 + last);
}

static void check_all(const struct kind *kind, const char *data, int count, int first, int last) {
    for (int at = 0; at < count; at++) {
        CHECK(kind->is_right(data + at * kind->bytes, last, first + at));
    }
}

static void reduce_all(const struct kind *kind, int count, char *own, char *result) {
    int last = size - 1, block = count / size;
    for (int at = 0; at < count; at++) kind->fill(own + at * kind->bytes, rank, at);

    OK(MPI_Allreduce(own, result, count, kind->type, kind->op, MPI_COMM_WORLD));
    check_all(kind, result, count, 0, last);

    memcpy(result, own, count * kind->bytes);
    OK(MPI_Allreduce(MPI_IN_PLACE, result, count, kind->type, kind->op, MPI_COMM_WORLD));
    check_all(kind, result, count, 0, last);

    OK(MPI_Reduce(own, result, count, kind->type, kind->op, size - 1, MPI_COMM_WORLD));
    if (rank == size - 1) check_all(kind, result, count, 0, last);

    OK(MPI_Scan(own, result, count, kind->type, kind->op, MPI_COMM_WORLD));
    check_all(kind, result, count, 0, rank);

    OK(MPI_Reduce_scatter_block(own, result, block, kind->type, kind->op, MPI_COMM_WORLD));
    check_all(kind, result, block, block * rank, last);

    MPI_Request request;
    OK(MPI_Allreduce_init(own, result, count, kind->type, kind->op, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &request));
    for (int round = 0; round < 3; round++) {
        memset(result, 0, count * kind->bytes);
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check_all(kind, result, count, 0, last);
    }
    OK(MPI_Request_free(&request));
}

int main(int argc, char **argv) {
    static const int counts[] = {1, 682, 683, 5001, 40001};
    MPI_Datatype three;
    MPI_Op op;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Type_contiguous(3, MPI_BYTE, &three));
    OK(MPI_Type_commit(&three));
    OK(MPI_Op_create(combine, 0, &op));
    struct kind kinds[] = {
        {MPI_DOUBLE_INT, MPI_MINLOC, sizeof(struct double_int), fill_double_int, is_double_int},
        {MPI_LONG_DOUBLE_INT, MPI_MAXLOC, sizeof(struct long_double_int), fill_long_double_int,
         is_long_double_int},
        {MPI_LONG_DOUBLE, MPI_SUM, sizeof(long double), fill_long_double, is_long_double},
        {three, op, 3, fill_three, is_three},
    };
    for (size_t each = 0; each < sizeof kinds / sizeof *kinds; each++) {
        for (size_t at = 0; at < sizeof counts / sizeof *counts; at++) {
            size_t bytes = counts[at] * kinds[each].bytes;
            char *own = malloc(bytes), *result = malloc(bytes), *mapped[2];
            CHECK(own && result);
            reduce_all(&kinds[each], counts[at], own, result);
            free(own);
            free(result);
            OK(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &mapped[0]));
            OK(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &mapped[1]));
            reduce_all(&kinds[each], counts[at], mapped[0], mapped[1]);
            OK(MPI_Free_mem(mapped[0]));
            OK(MPI_Free_mem(mapped[1]));
        }
    }
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&three));
    OK(MPI_Finalize());
    return 0;
}

/* What constructors make, and what can be asked of it: sizes, bounds, and how it was made, by calls
 * with counts of both widths.
 *
 * ranks: 0
 */

#include "check.h"

enum { MOST = 32 };

/* The arguments of a constructor, as MPI_Type_get_contents_c gives them. */
struct contents {
    MPI_Count lens[4];
    int combiner;
    int integers[MOST];
    MPI_Aint addresses[MOST];
    MPI_Count counts[MOST];
    MPI_Datatype types[MOST];
};

static struct contents contents_of(MPI_Datatype datatype) {
    struct contents it;
    memset(&it, 0, sizeof it);
    OK(MPI_Type_get_envelope_c(datatype, &it.lens[0], &it.lens[1], &it.lens[2], &it.lens[3],
                               &it.combiner));
    OK(MPI_Type_get_contents_c(datatype, it.lens[0], it.lens[1], it.lens[2], it.lens[3],
                               it.integers, it.addresses, it.counts, it.types));
    return it;
}

/* The datatype is made as this says; counts are large if `large`. It is freed. */
static void check_made(MPI_Datatype datatype, int combiner, const char *lens, const char *values,
                       MPI_Datatype item) {
    struct contents it = contents_of(datatype);
    CHECK_EQ(it.combiner, combiner);
    char seen[1024] = "", seen_lens[64];
    for (int i = 0; i < it.lens[0]; i++) sprintf(seen + strlen(seen), "i%d ", it.integers[i]);
    for (int i = 0; i < it.lens[1]; i++)
        sprintf(seen + strlen(seen), "a%ld ", (long)it.addresses[i]);
    for (int i = 0; i < it.lens[2]; i++)
        sprintf(seen + strlen(seen), "c%lld ", (long long)it.counts[i]);
    sprintf(seen_lens, "%d %d %d %d", (int)it.lens[0], (int)it.lens[1], (int)it.lens[2],
            (int)it.lens[3]);
    CHECK_TEXT(seen_lens, lens);
    CHECK_TEXT(seen, values);
    CHECK(it.types[0] == item);

    int integers = -1, addresses = -1, types = -1, same = -1;
    if (it.lens[2] > 0) {
        ERR(MPI_Type_get_envelope(datatype, &integers, &addresses, &types, &same), MPI_ERR_TYPE);
        ERR(MPI_Type_get_contents(datatype, MOST, MOST, MOST, it.integers, it.addresses, it.types),
            MPI_ERR_TYPE);
    } else {
        struct contents again;
        OK(MPI_Type_get_envelope(datatype, &integers, &addresses, &types, &same));
        CHECK_EQ(integers, it.lens[0]);
        CHECK_EQ(addresses, it.lens[1]);
        CHECK_EQ(types, it.lens[3]);
        CHECK_EQ(same, combiner);
        OK(MPI_Type_get_contents(datatype, integers, addresses, types, again.integers,
                                 again.addresses, again.types));
        CHECK(memcmp(again.integers, it.integers, sizeof(int) * (size_t)integers) == 0);
        CHECK(memcmp(again.addresses, it.addresses, sizeof(MPI_Aint) * (size_t)addresses) == 0);
        CHECK(again.types[0] == item);
    }
    OK(MPI_Type_free(&datatype));
    CHECK(datatype == MPI_DATATYPE_NULL);
}

static void check_bounds(MPI_Datatype datatype, long size, long lb, long extent, long true_lb,
                         long true_extent) {
    int int_size;
    MPI_Count count_size, x[2];
    MPI_Aint a[2];
    OK(MPI_Type_size(datatype, &int_size));
    CHECK_EQ(int_size, size);
    OK(MPI_Type_size_c(datatype, &count_size));
    CHECK_EQ(count_size, size);
    OK(MPI_Type_size_x(datatype, &count_size));
    CHECK_EQ(count_size, size);
    OK(MPI_Type_get_extent(datatype, &a[0], &a[1]));
    CHECK_EQ(a[0], lb);
    CHECK_EQ(a[1], extent);
    OK(MPI_Type_get_extent_c(datatype, &x[0], &x[1]));
    CHECK_EQ(x[0], lb);
    CHECK_EQ(x[1], extent);
    OK(MPI_Type_get_extent_x(datatype, &x[0], &x[1]));
    CHECK_EQ(x[0], lb);
    CHECK_EQ(x[1], extent);
    OK(MPI_Type_get_true_extent(datatype, &a[0], &a[1]));
    CHECK_EQ(a[0], true_lb);
    CHECK_EQ(a[1], true_extent);
    OK(MPI_Type_get_true_extent_c(datatype, &x[0], &x[1]));
    CHECK_EQ(x[0], true_lb);
    CHECK_EQ(x[1], true_extent);
    OK(MPI_Type_get_true_extent_x(datatype, &x[0], &x[1]));
    CHECK_EQ(x[0], true_lb);
    CHECK_EQ(x[1], true_extent);
}

static const int lengths[3] = {1, 2, 3}, places[3] = {0, 4, 9};
static const MPI_Aint addresses[3] = {0, 16, 40};
static const MPI_Count large_lengths[3] = {1, 2, 3}, large_places[3] = {0, 4, 9};
static const MPI_Count large_addresses[3] = {0, 16, 40};
static const int sizes[2] = {4, 6}, subsizes[2] = {2, 3}, starts[2] = {1, 2};
static const MPI_Count large_sizes[2] = {4, 6}, large_subsizes[2] = {2, 3};
static const MPI_Count large_starts[2] = {1, 2};
static const int kinds[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
static const int arguments[2] = {2, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {1, 2};

static void by_ints(void) {
    MPI_Datatype t;
    OK(MPI_Type_contiguous(3, MPI_INT, &t));
    check_bounds(t, 12, 0, 12, 0, 12);
    check_made(t, MPI_COMBINER_CONTIGUOUS, "1 0 0 1", "i3 ", MPI_INT);
    OK(MPI_Type_vector(3, 2, 4, MPI_INT, &t));
    check_bounds(t, 24, 0, 40, 0, 40);
    check_made(t, MPI_COMBINER_VECTOR, "3 0 0 1", "i3 i2 i4 ", MPI_INT);
    OK(MPI_Type_create_hvector(3, 2, -16, MPI_INT, &t));
    check_bounds(t, 24, -32, 40, -32, 40);
    check_made(t, MPI_COMBINER_HVECTOR, "2 1 0 1", "i3 i2 a-16 ", MPI_INT);
    OK(MPI_Type_indexed(3, lengths, places, MPI_DOUBLE, &t));
    check_bounds(t, 48, 0, 96, 0, 96);
    check_made(t, MPI_COMBINER_INDEXED, "7 0 0 1", "i3 i1 i2 i3 i0 i4 i9 ", MPI_DOUBLE);
    OK(MPI_Type_create_hindexed(3, lengths, addresses, MPI_INT, &t));
    check_bounds(t, 24, 0, 52, 0, 52);
    check_made(t, MPI_COMBINER_HINDEXED, "4 3 0 1", "i3 i1 i2 i3 a0 a16 a40 ", MPI_INT);
    OK(MPI_Type_create_indexed_block(3, 2, places, MPI_SHORT, &t));
    check_bounds(t, 12, 0, 22, 0, 22);
    check_made(t, MPI_COMBINER_INDEXED_BLOCK, "5 0 0 1", "i3 i2 i0 i4 i9 ", MPI_SHORT);
    OK(MPI_Type_create_hindexed_block(3, 2, addresses, MPI_SHORT, &t));
    check_made(t, MPI_COMBINER_HINDEXED_BLOCK, "2 3 0 1", "i3 i2 a0 a16 a40 ", MPI_SHORT);
    OK(MPI_Type_create_resized(MPI_INT, -4, 12, &t));
    check_bounds(t, 4, -4, 12, 0, 4);
    check_made(t, MPI_COMBINER_RESIZED, "0 2 0 1", "a-4 a12 ", MPI_INT);
    OK(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &t));
    check_bounds(t, 24, 0, 96, 32, 36);
    check_made(t, MPI_COMBINER_SUBARRAY, "8 0 0 1", "i2 i4 i6 i2 i3 i1 i2 i12 ", MPI_INT);
    OK(MPI_Type_create_darray(2, 1, 2, sizes, kinds, arguments, grid, MPI_ORDER_FORTRAN, MPI_INT,
                              &t));
    check_bounds(t, 48, 0, 96, 48, 48);
    check_made(t, MPI_COMBINER_DARRAY, "12 0 0 1", "i2 i1 i2 i4 i6 i18 i17 i2 i19 i1 i2 i15 ",
               MPI_INT);
    OK(MPI_Type_dup(MPI_INT, &t));
    check_bounds(t, 4, 0, 4, 0, 4);
    check_made(t, MPI_COMBINER_DUP, "0 0 0 1", "", MPI_INT);
}

static void by_counts(void) {
    MPI_Datatype t;
    OK(MPI_Type_contiguous_c(3, MPI_INT, &t));
    check_made(t, MPI_COMBINER_CONTIGUOUS, "0 0 1 1", "c3 ", MPI_INT);
    OK(MPI_Type_vector_c(3, 2, 4, MPI_INT, &t));
    check_made(t, MPI_COMBINER_VECTOR, "0 0 3 1", "c3 c2 c4 ", MPI_INT);
    OK(MPI_Type_create_hvector_c(3, 2, 16, MPI_INT, &t));
    check_made(t, MPI_COMBINER_HVECTOR, "0 0 3 1", "c3 c2 c16 ", MPI_INT);
    OK(MPI_Type_indexed_c(3, large_lengths, large_places, MPI_INT, &t));
    check_made(t, MPI_COMBINER_INDEXED, "0 0 7 1", "c3 c1 c2 c3 c0 c4 c9 ", MPI_INT);
    OK(MPI_Type_create_hindexed_c(3, large_lengths, large_addresses, MPI_INT, &t));
    check_made(t, MPI_COMBINER_HINDEXED, "0 0 7 1", "c3 c1 c2 c3 c0 c16 c40 ", MPI_INT);
    OK(MPI_Type_create_indexed_block_c(3, 2, large_places, MPI_INT, &t));
    check_made(t, MPI_COMBINER_INDEXED_BLOCK, "0 0 5 1", "c3 c2 c0 c4 c9 ", MPI_INT);
    OK(MPI_Type_create_hindexed_block_c(3, 2, large_addresses, MPI_INT, &t));
    check_made(t, MPI_COMBINER_HINDEXED_BLOCK, "0 0 5 1", "c3 c2 c0 c16 c40 ", MPI_INT);
    OK(MPI_Type_create_resized_c(MPI_INT, -4, 12, &t));
    check_made(t, MPI_COMBINER_RESIZED, "0 0 2 1", "c-4 c12 ", MPI_INT);
    OK(MPI_Type_create_subarray_c(2, large_sizes, large_subsizes, large_starts, MPI_ORDER_C,
                                  MPI_INT, &t));
    check_made(t, MPI_COMBINER_SUBARRAY, "2 0 6 1", "i2 i12 c4 c6 c2 c3 c1 c2 ", MPI_INT);
    OK(MPI_Type_create_darray_c(2, 1, 2, large_sizes, kinds, arguments, grid, MPI_ORDER_FORTRAN,
                                MPI_INT, &t));
    check_made(t, MPI_COMBINER_DARRAY, "10 0 2 1", "i2 i1 i2 i18 i17 i2 i19 i1 i2 i15 c4 c6 ",
               MPI_INT);
    MPI_Datatype types[3] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
    OK(MPI_Type_create_struct_c(3, large_lengths, large_addresses, types, &t));
    check_made(t, MPI_COMBINER_STRUCT, "0 0 7 3", "c3 c1 c2 c3 c0 c16 c40 ", MPI_DOUBLE);

    /* More than an int can say. */
    MPI_Count huge = (MPI_Count)1 << 40, size, bounds[2];
    int int_size;
    OK(MPI_Type_contiguous_c(huge, MPI_DOUBLE, &t));
    OK(MPI_Type_size_c(t, &size));
    CHECK_EQ(size, 8 * huge);
    OK(MPI_Type_get_extent_c(t, &bounds[0], &bounds[1]));
    CHECK_EQ(bounds[1], 8 * huge);
    OK(MPI_Type_size(t, &int_size));
    CHECK_EQ(int_size, MPI_UNDEFINED);
    OK(MPI_Type_free(&t));
}

/* A structure of derived datatypes, whose handles are freed at once. */
static void nested(void) {
    MPI_Datatype types[3], row, made;
    OK(MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &row));
    OK(MPI_Type_contiguous_c(2, row, &types[0]));
    OK(MPI_Type_free(&row));
    types[1] = MPI_INT;
    OK(MPI_Type_create_f90_integer(9, &types[2]));
    MPI_Datatype fortran = types[2];
    OK(MPI_Type_create_struct(3, lengths, addresses, types, &made));
    OK(MPI_Type_free(&types[0]));
    check_bounds(made, 32 + 8 + 12, 0, 56, 0, 52);

    struct contents outer = contents_of(made);
    CHECK_EQ(outer.combiner, MPI_COMBINER_STRUCT);
    CHECK(outer.types[1] == MPI_INT);
    CHECK(outer.types[2] == fortran);
    struct contents inner = contents_of(outer.types[0]);
    CHECK_EQ(inner.combiner, MPI_COMBINER_CONTIGUOUS);
    CHECK_EQ(inner.lens[2], 1); /* it was made by the call with large counts */
    struct contents innermost = contents_of(inner.types[0]);
    CHECK_EQ(innermost.combiner, MPI_COMBINER_VECTOR);
    CHECK_EQ(innermost.lens[0], 3);
    CHECK(innermost.types[0] == MPI_DOUBLE);

    /* New handles each time, which are good without the others. */
    struct contents again = contents_of(made);
    CHECK(again.types[0] != outer.types[0]);
    OK(MPI_Type_free(&outer.types[0]));
    OK(MPI_Type_free(&inner.types[0]));
    OK(MPI_Type_free(&made));
    check_bounds(again.types[0], 32, 0, 48, 0, 48);
    OK(MPI_Type_free(&again.types[0]));
}

int main(void) {
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    by_ints();
    by_counts();
    nested();
    OK(MPI_Finalize());
    return 0;
}

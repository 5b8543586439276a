/* What cannot be a datatype, or be done with one.
 *
 * ranks: 0
 */

#include "check.h"

static const int negative[2] = {-1, 2}, one[2] = {1, 1}, two[2] = {2, 2}, zero[2] = {0, 0};
static const int block[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK};
static const int none[2] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_NONE};
static const int unset[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
static const MPI_Aint address[2] = {0, 8};

static void constructors(void) {
    MPI_Datatype t = MPI_INT, types[2] = {MPI_INT, MPI_DATATYPE_NULL};
    ERR(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT);
    ERR(MPI_Type_contiguous_c(-1, MPI_INT, &t), MPI_ERR_COUNT);
    ERR(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
    ERR(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
    ERR(MPI_Type_contiguous_c((MPI_Count)1 << 62, MPI_INT, &t), MPI_ERR_ARG);
    ERR(MPI_Type_vector(-1, 1, 1, MPI_INT, &t), MPI_ERR_COUNT);
    ERR(MPI_Type_vector(1, -1, 1, MPI_INT, &t), MPI_ERR_COUNT);
    ERR(MPI_Type_create_hvector(-1, 1, 1, MPI_INT, &t), MPI_ERR_COUNT);
    ERR(MPI_Type_indexed(2, negative, zero, MPI_INT, &t), MPI_ERR_COUNT);
    ERR(MPI_Type_indexed(-2, one, zero, MPI_INT, &t), MPI_ERR_COUNT);
    ERR(MPI_Type_indexed(2, NULL, zero, MPI_INT, &t), MPI_ERR_ARG);
    ERR(MPI_Type_indexed(2, one, NULL, MPI_INT, &t), MPI_ERR_ARG);
    ERR(MPI_Type_create_hindexed(2, negative, address, MPI_INT, &t), MPI_ERR_COUNT);
    ERR(MPI_Type_create_indexed_block(2, -1, zero, MPI_INT, &t), MPI_ERR_COUNT);
    ERR(MPI_Type_create_hindexed_block(2, 1, NULL, MPI_INT, &t), MPI_ERR_ARG);
    ERR(MPI_Type_create_struct(2, one, address, types, &t), MPI_ERR_TYPE);
    ERR(MPI_Type_create_struct(2, one, address, NULL, &t), MPI_ERR_ARG);
    ERR(MPI_Type_create_struct(-1, one, address, types, &t), MPI_ERR_COUNT);
    ERR(MPI_Type_create_resized(MPI_DATATYPE_NULL, 0, 4, &t), MPI_ERR_TYPE);
    t = MPI_INT;
    ERR(MPI_Type_dup(MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
    CHECK(t == MPI_DATATYPE_NULL);
}

static void arrays(void) {
    MPI_Datatype t;
    ERR(MPI_Type_create_subarray(0, one, one, zero, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
    ERR(MPI_Type_create_subarray(-1, one, one, zero, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
    ERR(MPI_Type_create_subarray(2, one, two, zero, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
    ERR(MPI_Type_create_subarray(2, two, one, two, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
    ERR(MPI_Type_create_subarray(2, two, zero, zero, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
    ERR(MPI_Type_create_subarray(2, two, one, zero, 99, MPI_INT, &t), MPI_ERR_ARG);
    ERR(MPI_Type_create_darray(2, 0, 2, two, block, unset, two, MPI_ORDER_C, MPI_INT, &t),
        MPI_ERR_ARG);
    ERR(MPI_Type_create_darray(4, 4, 2, two, block, unset, two, MPI_ORDER_C, MPI_INT, &t),
        MPI_ERR_ARG);
    ERR(MPI_Type_create_darray(4, 0, 2, two, one, unset, two, MPI_ORDER_C, MPI_INT, &t),
        MPI_ERR_ARG);
    ERR(MPI_Type_create_darray(4, 0, 2, two, none, unset, two, MPI_ORDER_C, MPI_INT, &t),
        MPI_ERR_ARG);
    ERR(MPI_Type_create_darray(4, 0, 2, two, block, zero, two, MPI_ORDER_C, MPI_INT, &t),
        MPI_ERR_ARG);
    ERR(MPI_Type_create_darray(4, 0, 2, two, block, unset, two, 0, MPI_INT, &t), MPI_ERR_ARG);
}

static void handles(void) {
    MPI_Datatype t = MPI_INT, stale, wrong = (MPI_Datatype)MPI_COMM_WORLD;
    int number;
    MPI_Aint place[2];
    ERR(MPI_Type_free(&t), MPI_ERR_TYPE);
    CHECK(t == MPI_INT);
    OK(MPI_Type_commit(&t));
    t = MPI_DATATYPE_NULL;
    ERR(MPI_Type_free(&t), MPI_ERR_TYPE);
    ERR(MPI_Type_commit(&t), MPI_ERR_TYPE);
    ERR(MPI_Type_commit(NULL), MPI_ERR_ARG);
    ERR(MPI_Type_free(NULL), MPI_ERR_ARG);
    ERR(MPI_Type_size(MPI_DATATYPE_NULL, &number), MPI_ERR_TYPE);
    ERR(MPI_Type_size(MPI_INT, NULL), MPI_ERR_ARG);
    ERR(MPI_Type_size(wrong, &number), MPI_ERR_TYPE);
    ERR(MPI_Type_size((MPI_Datatype)&t, &number), MPI_ERR_TYPE);
    ERR(MPI_Type_size((MPI_Datatype)-1, &number), MPI_ERR_TYPE);
    OK(MPI_Type_contiguous(2, MPI_INT, &t));
    stale = t;
    OK(MPI_Type_free(&t));
    ERR(MPI_Type_free(&stale), MPI_ERR_TYPE);
    ERR(MPI_Type_commit(&stale), MPI_ERR_TYPE);
    ERR(MPI_Type_get_extent(stale, &place[0], &place[1]), MPI_ERR_TYPE);
    OK(MPI_Type_contiguous(2, MPI_INT, &t));
    ERR(MPI_Type_size(stale, &number), MPI_ERR_TYPE);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_create_f90_real(6, 30, &t));
    ERR(MPI_Type_free(&t), MPI_ERR_TYPE);
}

static void contents(void) {
    MPI_Datatype t, types[1];
    int integers[4];
    MPI_Aint addresses[4];
    MPI_Count lens[4];
    int combiner;
    ERR(MPI_Type_get_contents(MPI_INT, 0, 0, 0, integers, addresses, types), MPI_ERR_TYPE);
    ERR(MPI_Type_get_envelope_c(MPI_DATATYPE_NULL, &lens[0], &lens[1], &lens[2], &lens[3],
                                &combiner),
        MPI_ERR_TYPE);
    OK(MPI_Type_create_hvector(2, 1, 8, MPI_INT, &t));
    ERR(MPI_Type_get_contents(t, 1, 1, 1, integers, addresses, types), MPI_ERR_ARG);
    ERR(MPI_Type_get_contents(t, 2, 0, 1, integers, addresses, types), MPI_ERR_ARG);
    ERR(MPI_Type_get_contents(t, 2, 1, 0, integers, addresses, types), MPI_ERR_ARG);
    ERR(MPI_Type_get_contents(t, -1, 1, 1, integers, addresses, types), MPI_ERR_ARG);
    ERR(MPI_Type_get_contents(t, 2, 1, 1, NULL, addresses, types), MPI_ERR_ARG);
    OK(MPI_Type_get_contents(t, 4, 4, 1, integers, addresses, types));
    OK(MPI_Type_free(&t));
}

static void packing(void) {
    MPI_Datatype t;
    int data[16] = {0}, position = 0, size;
    char packed[64];
    MPI_Aint place = 0, room;
    OK(MPI_Type_contiguous(2, MPI_INT, &t));
    ERR(MPI_Pack(data, 1, t, packed, 64, &position, MPI_COMM_SELF), MPI_ERR_TYPE);
    ERR(MPI_Unpack(packed, 64, &position, data, 1, t, MPI_COMM_SELF), MPI_ERR_TYPE);
    ERR(MPI_Pack_external("external32", data, 1, t, packed, 64, &place), MPI_ERR_TYPE);
    OK(MPI_Type_commit(&t));
    ERR(MPI_Pack(data, 1, t, packed, 7, &position, MPI_COMM_SELF), MPI_ERR_TRUNCATE);
    ERR(MPI_Unpack(packed, 7, &position, data, 1, t, MPI_COMM_SELF), MPI_ERR_TRUNCATE);
    ERR(MPI_Pack(data, -1, t, packed, 64, &position, MPI_COMM_SELF), MPI_ERR_COUNT);
    ERR(MPI_Unpack(packed, 64, &position, data, -1, t, MPI_COMM_SELF), MPI_ERR_COUNT);
    ERR(MPI_Pack(NULL, 1, t, packed, 64, &position, MPI_COMM_SELF), MPI_ERR_BUFFER);
    ERR(MPI_Pack(data, 1, t, NULL, 64, &position, MPI_COMM_SELF), MPI_ERR_BUFFER);
    ERR(MPI_Unpack(NULL, 64, &position, data, 1, t, MPI_COMM_SELF), MPI_ERR_BUFFER);
    ERR(MPI_Unpack(packed, 64, &position, NULL, 1, t, MPI_COMM_SELF), MPI_ERR_BUFFER);
    ERR(MPI_Pack(data, 1, t, packed, 64, NULL, MPI_COMM_SELF), MPI_ERR_ARG);
    ERR(MPI_Pack(data, 1, t, packed, 64, &position, MPI_COMM_NULL), MPI_ERR_COMM);
    ERR(MPI_Pack(data, 1, MPI_DATATYPE_NULL, packed, 64, &position, MPI_COMM_SELF), MPI_ERR_TYPE);
    ERR(MPI_Pack(data, 1, t, packed, -1, &position, MPI_COMM_SELF), MPI_ERR_ARG);
    ERR(MPI_Pack_size(-1, t, MPI_COMM_SELF, &size), MPI_ERR_COUNT);
    ERR(MPI_Pack_size(1, t, MPI_COMM_NULL, &size), MPI_ERR_COMM);
    CHECK_EQ(position, 0);
    position = -1;
    ERR(MPI_Pack(data, 1, t, packed, 64, &position, MPI_COMM_SELF), MPI_ERR_ARG);
    position = 65;
    ERR(MPI_Pack(data, 1, t, packed, 64, &position, MPI_COMM_SELF), MPI_ERR_ARG);
    position = 0;
    OK(MPI_Pack(NULL, 0, t, NULL, 0, &position, MPI_COMM_SELF));
    CHECK_EQ(position, 0);

    ERR(MPI_Pack_external("internal", data, 1, t, packed, 64, &place), MPI_ERR_ARG);
    ERR(MPI_Pack_external(NULL, data, 1, t, packed, 64, &place), MPI_ERR_ARG);
    ERR(MPI_Unpack_external("native", packed, 64, &place, data, 1, t), MPI_ERR_ARG);
    ERR(MPI_Pack_external_size("external64", 1, t, &room), MPI_ERR_ARG);
    ERR(MPI_Pack_external("external32", data, 1, t, packed, 7, &place), MPI_ERR_TRUNCATE);
    ERR(MPI_Unpack_external("external32", packed, 7, &place, data, 1, t), MPI_ERR_TRUNCATE);
    CHECK_EQ(place, 0);
    OK(MPI_Type_free(&t));
}

static void found(void) {
    MPI_Datatype t;
    ERR(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &t), MPI_ERR_ARG);
    ERR(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, -4, &t), MPI_ERR_ARG);
    ERR(MPI_Type_match_size(1, 4, &t), MPI_ERR_ARG);
    ERR(MPI_Type_create_f90_integer(39, &t), MPI_ERR_ARG);
    ERR(MPI_Type_create_f90_real(34, 100, &t), MPI_ERR_ARG);
    ERR(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &t), MPI_ERR_ARG);
    ERR(MPI_Type_create_f90_complex(6, 5000, &t), MPI_ERR_ARG);
    ERR(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &t), MPI_ERR_TYPE);
    ERR(MPI_Type_set_name(MPI_DATATYPE_NULL, "none"), MPI_ERR_TYPE);
    ERR(MPI_Type_set_name(MPI_INT, NULL), MPI_ERR_ARG);
}

int main(void) {
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    constructors();
    arrays();
    handles();
    contents();
    packing();
    found();
    OK(MPI_Finalize());
    return 0;
}

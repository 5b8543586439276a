/* Data is packed and unpacked: as it is in memory, and in external32.
 *
 * ranks: 0
 */

#include "check.h"

struct record {
    char letter;
    double number;
    int pair[2];
};

static MPI_Datatype record_type(void) {
    struct record it;
    int lengths[3] = {1, 1, 2};
    MPI_Aint start, places[3];
    MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, fields, made;
    OK(MPI_Get_address(&it, &start));
    OK(MPI_Get_address(&it.letter, &places[0]));
    OK(MPI_Get_address(&it.number, &places[1]));
    OK(MPI_Get_address(&it.pair, &places[2]));
    for (int i = 0; i < 3; i++) places[i] = MPI_Aint_diff(places[i], start);
    OK(MPI_Type_create_struct(3, lengths, places, types, &fields));
    OK(MPI_Type_create_resized(fields, 0, sizeof it, &made));
    OK(MPI_Type_free(&fields));
    OK(MPI_Type_commit(&made));
    return made;
}

static void records(void) {
    struct record from[4], to[4];
    MPI_Datatype t = record_type();
    char packed[128];
    int position = 0, size = -1, count = 7, back = 0;
    memset(to, 0x55, sizeof to);
    for (int i = 0; i < 4; i++) from[i] = (struct record){'a' + i, i + .5, {i, -i}};
    OK(MPI_Pack_size(4, t, MPI_COMM_WORLD, &size));
    CHECK_EQ(size, 4 * 17);
    OK(MPI_Pack(&count, 1, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD));
    OK(MPI_Pack(from, 4, t, packed, sizeof packed, &position, MPI_COMM_WORLD));
    CHECK_EQ(position, 4 + 4 * 17);
    int end = position;
    position = 0;
    OK(MPI_Unpack(packed, end, &position, &back, 1, MPI_INT, MPI_COMM_WORLD));
    CHECK_EQ(back, 7);
    OK(MPI_Unpack(packed, end, &position, to, 4, t, MPI_COMM_WORLD));
    CHECK_EQ(position, end);
    for (int i = 0; i < 4; i++) {
        CHECK(to[i].letter == 'a' + i && to[i].number == i + .5);
        CHECK(to[i].pair[0] == i && to[i].pair[1] == -i);
        CHECK_EQ(((char *)&to[i])[1], 0x55); /* what is between the fields stays */
    }
    MPI_Count place = 0, large = -1;
    OK(MPI_Pack_size_c(4, t, MPI_COMM_SELF, &large));
    CHECK_EQ(large, size);
    memset(to, 0, sizeof to);
    OK(MPI_Pack_c(from, 4, t, packed, sizeof packed, &place, MPI_COMM_SELF));
    CHECK_EQ(place, 4 * 17);
    place = 0;
    OK(MPI_Unpack_c(packed, sizeof packed, &place, to, 4, t, MPI_COMM_SELF));
    CHECK_EQ(place, 4 * 17);
    CHECK(to[3].letter == 'd' && to[3].pair[1] == -3);
    OK(MPI_Type_free(&t));
}

/* Displacements may be addresses. */
static void absolute(void) {
    int here = 5, there = 6, to[2] = {0, 0}, lengths[2] = {1, 1}, position = 0;
    MPI_Aint places[2];
    MPI_Datatype t;
    char packed[8];
    OK(MPI_Get_address(&here, &places[0]));
    OK(MPI_Get_address(&there, &places[1]));
    OK(MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Pack(MPI_BOTTOM, 1, t, packed, 8, &position, MPI_COMM_SELF));
    memcpy(to, packed, 8);
    CHECK(to[0] == 5 && to[1] == 6);
    int other[2] = {8, 9};
    position = 0;
    OK(MPI_Unpack(other, 8, &position, MPI_BOTTOM, 1, t, MPI_COMM_SELF));
    CHECK(here == 8 && there == 9);
    OK(MPI_Type_free(&t));
}

static void check_bytes(const char *seen, const char *expected, size_t len) {
    for (size_t i = 0; i < len; i++) CHECK_EQ((unsigned char)seen[i], (unsigned char)expected[i]);
}

static void portable(void) {
    char packed[64];
    int integers[2] = {1, -2};
    long number = -3;
    double real = 1.5;
    long double large = 1.5L;
    MPI_Aint place = 0, size = -1;
    OK(MPI_Pack_external_size("external32", 2, MPI_INT, &size));
    CHECK_EQ(size, 8);
    OK(MPI_Pack_external("external32", integers, 2, MPI_INT, packed, 64, &place));
    CHECK_EQ(place, 8);
    OK(MPI_Pack_external("external32", &number, 1, MPI_LONG, packed, 64, &place));
    CHECK_EQ(place, 12);
    OK(MPI_Pack_external("external32", &real, 1, MPI_DOUBLE, packed, 64, &place));
    OK(MPI_Pack_external("external32", &large, 1, MPI_LONG_DOUBLE, packed, 64, &place));
    CHECK_EQ(place, 36);
    check_bytes(packed, "\0\0\0\1\xff\xff\xff\xfe\xff\xff\xff\xfd", 12);
    check_bytes(packed + 12, "\x3f\xf8\0\0\0\0\0\0\x3f\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);

    MPI_Count at = 0, large_size = -1;
    OK(MPI_Pack_external_size_c("external32", 2, MPI_INT, &large_size));
    CHECK_EQ(large_size, 8);
    memset(integers, 0, sizeof integers);
    number = 0, real = 0, large = 0;
    OK(MPI_Unpack_external_c("external32", packed, 36, &at, integers, 2, MPI_INT));
    CHECK_EQ(at, 8);
    place = at;
    OK(MPI_Unpack_external("external32", packed, 36, &place, &number, 1, MPI_LONG));
    OK(MPI_Unpack_external("external32", packed, 36, &place, &real, 1, MPI_DOUBLE));
    OK(MPI_Unpack_external("external32", packed, 36, &place, &large, 1, MPI_LONG_DOUBLE));
    CHECK_EQ(place, 36);
    CHECK(integers[0] == 1 && integers[1] == -2 && number == -3 && real == 1.5 && large == 1.5L);
    at = 0;
    OK(MPI_Pack_external_c("external32", &real, 1, MPI_DOUBLE, packed, 64, &at));
    CHECK_EQ(at, 8);
}

int main(void) {
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    records();
    absolute();
    portable();
    OK(MPI_Finalize());
    return 0;
}

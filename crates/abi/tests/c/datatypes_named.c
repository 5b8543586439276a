/* Predefined datatypes: their sizes and names, and those that are found by what they are to hold.
 *
 * ranks: 0
 */

#include "check.h"

#include <stdbool.h>
#include <wchar.h>

struct named {
    MPI_Datatype datatype;
    const char *name;
    int size;
    long extent, external;
};

struct float_int { float value; int index; };
struct double_int { double value; int index; };
struct long_int { long value; int index; };
struct short_int { short value; int index; };
struct long_double_int { long double value; int index; };

/* Of the size of a type of C, and of so many bytes in external32. */
#define C(name, type, external) {MPI_##name, "MPI_" #name, sizeof(type), sizeof(type), external}
/* As many bytes everywhere. */
#define N(name, size) {MPI_##name, "MPI_" #name, size, size, size}
/* A value and an index as in a structure of C. */
#define P(name, value, pair, external) \
    {MPI_##name, "MPI_" #name, sizeof(value) + sizeof(int), sizeof(pair), external}

static const struct named all[] = {
    C(AINT, MPI_Aint, 8), C(COUNT, MPI_Count, 8), C(OFFSET, MPI_Offset, 8), N(PACKED, 1),
    C(SHORT, short, 2), C(INT, int, 4), C(LONG, long, 4), C(LONG_LONG_INT, long long, 8),
    C(UNSIGNED_SHORT, unsigned short, 2), C(UNSIGNED, unsigned, 4),
    C(UNSIGNED_LONG, unsigned long, 4), C(UNSIGNED_LONG_LONG, unsigned long long, 8),
    C(FLOAT, float, 4), C(DOUBLE, double, 8), C(LONG_DOUBLE, long double, 16),
    C(C_COMPLEX, float _Complex, 8), C(C_DOUBLE_COMPLEX, double _Complex, 16),
    C(C_LONG_DOUBLE_COMPLEX, long double _Complex, 32), C(CXX_FLOAT_COMPLEX, float _Complex, 8),
    C(CXX_DOUBLE_COMPLEX, double _Complex, 16),
    C(CXX_LONG_DOUBLE_COMPLEX, long double _Complex, 32), N(LOGICAL, 4), N(INTEGER, 4), N(REAL, 4),
    N(COMPLEX, 8), N(DOUBLE_PRECISION, 8), N(DOUBLE_COMPLEX, 16), N(CHARACTER, 1),
    P(FLOAT_INT, float, struct float_int, 8), P(DOUBLE_INT, double, struct double_int, 12),
    P(LONG_INT, long, struct long_int, 8), P(2INT, int, int[2], 8),
    P(SHORT_INT, short, struct short_int, 6),
    P(LONG_DOUBLE_INT, long double, struct long_double_int, 20), N(2REAL, 8),
    N(2DOUBLE_PRECISION, 16), N(2INTEGER, 8), C(C_BOOL, bool, 1), C(CXX_BOOL, bool, 1),
    C(WCHAR, wchar_t, 2), N(INT8_T, 1), N(UINT8_T, 1), N(CHAR, 1), N(SIGNED_CHAR, 1),
    N(UNSIGNED_CHAR, 1), N(BYTE, 1), N(INT16_T, 2), N(UINT16_T, 2), N(INT32_T, 4), N(UINT32_T, 4),
    N(INT64_T, 8), N(UINT64_T, 8), N(LOGICAL1, 1), N(INTEGER1, 1), N(LOGICAL2, 2), N(INTEGER2, 2),
    N(REAL2, 2), N(LOGICAL4, 4), N(INTEGER4, 4), N(REAL4, 4), N(COMPLEX4, 4), N(LOGICAL8, 8),
    N(INTEGER8, 8), N(REAL8, 8), N(COMPLEX8, 8), N(LOGICAL16, 16), N(INTEGER16, 16), N(REAL16, 16),
    N(COMPLEX16, 16), N(COMPLEX32, 32),
};

static void constants(void) {
    CHECK(MPI_LONG_LONG_INT == MPI_LONG_LONG);
    CHECK(MPI_C_COMPLEX == MPI_C_FLOAT_COMPLEX);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct named *it = &all[i];
        char name[MPI_MAX_OBJECT_NAME];
        int len, size, numbers[3], combiner;
        MPI_Aint lb, extent, external;
        OK(MPI_Type_get_name(it->datatype, name, &len));
        CHECK_TEXT(name, it->name);
        CHECK_EQ(len, strlen(it->name));
        OK(MPI_Type_size(it->datatype, &size));
        CHECK_EQ(size, it->size);
        OK(MPI_Type_get_extent(it->datatype, &lb, &extent));
        CHECK_EQ(lb, 0);
        CHECK_EQ(extent, it->extent);
        OK(MPI_Pack_external_size("external32", 3, it->datatype, &external));
        CHECK_EQ(external, 3 * it->external);
        OK(MPI_Type_get_envelope(it->datatype, &numbers[0], &numbers[1], &numbers[2], &combiner));
        CHECK_EQ(combiner, MPI_COMBINER_NAMED);
        CHECK_EQ(numbers[0] + numbers[1] + numbers[2], 0);
        MPI_Datatype kept = it->datatype;
        ERR(MPI_Type_free(&kept), MPI_ERR_TYPE);
        CHECK(kept == it->datatype);
    }
}

static void names(void) {
    MPI_Datatype t, copy;
    char name[MPI_MAX_OBJECT_NAME], large[3 * MPI_MAX_OBJECT_NAME];
    int len = -1;
    OK(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &len));
    CHECK_TEXT(name, "MPI_DATATYPE_NULL");
    OK(MPI_Type_contiguous(2, MPI_INT, &t));
    OK(MPI_Type_get_name(t, name, &len));
    CHECK_TEXT(name, "");
    CHECK_EQ(len, 0);
    OK(MPI_Type_set_name(t, " two integers "));
    OK(MPI_Type_get_name(t, name, &len));
    CHECK_TEXT(name, " two integers ");
    CHECK_EQ(len, 14);
    OK(MPI_Type_dup(t, &copy));
    OK(MPI_Type_get_name(copy, name, &len));
    CHECK_TEXT(name, "");
    memset(large, 'x', sizeof large);
    large[sizeof large - 1] = 0;
    OK(MPI_Type_set_name(copy, large));
    OK(MPI_Type_get_name(copy, name, &len));
    CHECK_EQ(len, MPI_MAX_OBJECT_NAME - 1);
    CHECK_EQ(strlen(name), MPI_MAX_OBJECT_NAME - 1);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&copy));
    OK(MPI_Type_set_name(MPI_DOUBLE, "mine"));
    OK(MPI_Type_get_name(MPI_DOUBLE, name, &len));
    CHECK_TEXT(name, "mine");
}

/* What Fortran asks for by precision and range. */
static void fortran(void) {
    static const int digits[][2] = {{0, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 4}, {9, 4},
                                    {10, 8}, {18, 8}, {19, 16}, {38, 16}};
    static const int reals[][3] = {{6, 37, 4}, {7, 37, 8}, {6, 38, 8}, {15, 307, 8}, {16, 307, 16},
                                   {15, 308, 16}, {33, 4931, 16}, {MPI_UNDEFINED, 30, 4},
                                   {5, MPI_UNDEFINED, 4}};
    MPI_Datatype t, same;
    int size, numbers[3], combiner, integers[2], len;
    char name[MPI_MAX_OBJECT_NAME];
    for (int i = 0; i < 10; i++) {
        OK(MPI_Type_create_f90_integer(digits[i][0], &t));
        OK(MPI_Type_size(t, &size));
        CHECK_EQ(size, digits[i][1]);
        OK(MPI_Type_get_envelope(t, &numbers[0], &numbers[1], &numbers[2], &combiner));
        CHECK_EQ(combiner, MPI_COMBINER_F90_INTEGER);
        CHECK(numbers[0] == 1 && numbers[1] == 0 && numbers[2] == 0);
        OK(MPI_Type_get_contents(t, 1, 0, 0, integers, NULL, NULL));
        CHECK_EQ(integers[0], digits[i][0]);
        OK(MPI_Type_create_f90_integer(digits[i][0], &same));
        CHECK(same == t);
    }
    for (int i = 0; i < 9; i++) {
        OK(MPI_Type_create_f90_real(reals[i][0], reals[i][1], &t));
        OK(MPI_Type_size(t, &size));
        CHECK_EQ(size, reals[i][2]);
        OK(MPI_Type_get_envelope(t, &numbers[0], &numbers[1], &numbers[2], &combiner));
        CHECK_EQ(combiner, MPI_COMBINER_F90_REAL);
        OK(MPI_Type_get_contents(t, 2, 0, 0, integers, NULL, NULL));
        CHECK(integers[0] == reals[i][0] && integers[1] == reals[i][1]);
        OK(MPI_Type_create_f90_complex(reals[i][0], reals[i][1], &same));
        CHECK(same != t);
        OK(MPI_Type_size(same, &size));
        CHECK_EQ(size, 2 * reals[i][2]);
        OK(MPI_Type_create_f90_real(reals[i][0], reals[i][1], &same));
        CHECK(same == t);
    }
    OK(MPI_Type_get_name(t, name, &len));
    CHECK_TEXT(name, "");

    /* Operators know them. */
    double values[3] = {1, 2, 3}, sums[3] = {10, 20, 30};
    OK(MPI_Type_create_f90_real(15, 300, &t));
    OK(MPI_Reduce_local(values, sums, 3, t, MPI_SUM));
    CHECK(sums[0] == 11 && sums[1] == 22 && sums[2] == 33);
}

static void by_size(void) {
    static const struct { int class, size; MPI_Datatype datatype; } sized[] = {
        {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1}, {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
        {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4}, {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
        {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16}, {MPI_TYPECLASS_REAL, 2, MPI_REAL2},
        {MPI_TYPECLASS_REAL, 4, MPI_REAL4}, {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
        {MPI_TYPECLASS_REAL, 16, MPI_REAL16}, {MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4},
        {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8}, {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
        {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32},
    };
    MPI_Datatype t;
    for (size_t i = 0; i < sizeof sized / sizeof *sized; i++) {
        OK(MPI_Type_match_size(sized[i].class, sized[i].size, &t));
        CHECK(t == sized[i].datatype);
    }
}

static void pairs(void) {
    static const MPI_Datatype known[][3] = {
        {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT}, {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
        {MPI_LONG, MPI_INT, MPI_LONG_INT}, {MPI_INT, MPI_INT, MPI_2INT},
        {MPI_SHORT, MPI_INT, MPI_SHORT_INT}, {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
        {MPI_INT, MPI_FLOAT, MPI_DATATYPE_NULL}, {MPI_CHAR, MPI_INT, MPI_DATATYPE_NULL},
        {MPI_2INT, MPI_INT, MPI_DATATYPE_NULL},
    };
    MPI_Datatype t;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        OK(MPI_Type_get_value_index(known[i][0], known[i][1], &t));
        CHECK(t == known[i][2]);
    }
}

int main(void) {
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    constants();
    names();
    fortran();
    by_size();
    pairs();
    OK(MPI_Finalize());
    return 0;
}

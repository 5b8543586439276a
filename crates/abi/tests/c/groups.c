/* Groups.
 *
 * ranks: 1 2 3 4 5
 */

#include "check.h"

static int rank, size;
static MPI_Group all;

static int compared(MPI_Group one, MPI_Group other) {
    int result = -1;
    OK(MPI_Group_compare(one, other, &result));
    return result;
}

/* The members are these ranks of the world, in this order. */
static void holds(MPI_Group group, int members, const int *ranks) {
    int count = -1, place = MPI_UNDEFINED, own = -1;
    OK(MPI_Group_size(group, &count));
    CHECK_EQ(count, members);
    for (int each = 0; each < members; each++) {
        int there = -1;
        OK(MPI_Group_translate_ranks(group, 1, &each, all, &there));
        CHECK_EQ(there, ranks[each]);
        if (ranks[each] == rank) place = each;
    }
    OK(MPI_Group_rank(group, &own));
    CHECK_EQ(own, place);
}

static void sets(void) {
    int even[8], backwards[8], evens = 0;
    MPI_Group some, others, rest, made;
    for (int each = 0; each < size; each += 2) even[evens++] = each;
    for (int each = 0; each < size; each++) backwards[each] = size - 1 - each;
    OK(MPI_Group_incl(all, evens, even, &some));
    holds(some, evens, even);
    OK(MPI_Group_incl(all, size, backwards, &others));
    holds(others, size, backwards);
    CHECK_EQ(compared(all, others), size == 1 ? MPI_IDENT : MPI_SIMILAR);
    CHECK_EQ(compared(all, some), size == 1 ? MPI_IDENT : MPI_UNEQUAL);
    CHECK_EQ(compared(some, some), MPI_IDENT);
    OK(MPI_Group_excl(all, evens, even, &rest));
    CHECK_EQ(rest == MPI_GROUP_EMPTY, size == 1);
    OK(MPI_Group_union(some, others, &made));
    CHECK_EQ(compared(made, all), size <= 2 ? MPI_IDENT : MPI_SIMILAR);
    int first = -1, zero = 0;
    OK(MPI_Group_translate_ranks(made, 1, &zero, all, &first));
    CHECK_EQ(first, 0);
    OK(MPI_Group_free(&made));
    OK(MPI_Group_intersection(others, some, &made));
    for (int each = 0; each < evens; each++) backwards[each] = even[evens - 1 - each];
    holds(made, evens, backwards);
    OK(MPI_Group_free(&made));
    OK(MPI_Group_difference(all, some, &made));
    CHECK_EQ(compared(made, rest), MPI_IDENT);
    OK(MPI_Group_free(&made));
    OK(MPI_Group_difference(some, all, &made));
    CHECK_EQ(compared(made, MPI_GROUP_EMPTY), MPI_IDENT);
    OK(MPI_Group_free(&made));
    CHECK(made == MPI_GROUP_NULL);
    OK(MPI_Group_free(&rest));
    OK(MPI_Group_free(&others));
    OK(MPI_Group_free(&some));
}

static void ranges(void) {
    MPI_Group made;
    int odd[8], odds = 0;
    for (int each = 1; each < size; each += 2) odd[odds++] = each;
    /* The last rank of a range need not be met, nor be one. */
    int up[1][3] = {{1, size + 7, 2}}, down[2][3] = {{size - 1, -1, -(size + 1)}, {0, 0, 1}};
    if (size > 1) {
        up[0][1] = size - 1;
        OK(MPI_Group_range_incl(all, 1, up, &made));
        holds(made, odds, odd);
        OK(MPI_Group_free(&made));
        int both[2] = {size - 1, 0};
        OK(MPI_Group_range_incl(all, 2, down, &made));
        holds(made, 2, both);
        OK(MPI_Group_free(&made));
        OK(MPI_Group_range_excl(all, 1, up, &made));
        int count = -1;
        OK(MPI_Group_size(made, &count));
        CHECK_EQ(count, size - odds);
        OK(MPI_Group_free(&made));
    }
    OK(MPI_Group_range_incl(all, 0, NULL, &made));
    CHECK_EQ(compared(made, MPI_GROUP_EMPTY), MPI_IDENT);
    OK(MPI_Group_free(&made));
    OK(MPI_Group_range_excl(all, 0, NULL, &made));
    CHECK_EQ(compared(made, all), MPI_IDENT);
    OK(MPI_Group_free(&made));
    int whole[1][3] = {{size - 1, 0, -1}};
    OK(MPI_Group_range_excl(all, 1, whole, &made));
    CHECK_EQ(compared(made, MPI_GROUP_EMPTY), MPI_IDENT);
    OK(MPI_Group_free(&made));
}

static void translated(void) {
    MPI_Group self;
    int ranks[3] = {0, MPI_PROC_NULL, size - 1}, there[3] = {7, 7, 7};
    OK(MPI_Comm_group(MPI_COMM_SELF, &self));
    OK(MPI_Group_translate_ranks(all, 3, ranks, self, there));
    CHECK_EQ(there[0], rank == 0 ? 0 : MPI_UNDEFINED);
    CHECK_EQ(there[1], MPI_PROC_NULL);
    CHECK_EQ(there[2], rank == size - 1 ? 0 : MPI_UNDEFINED);
    OK(MPI_Group_translate_ranks(all, 1, ranks, MPI_GROUP_EMPTY, there));
    CHECK_EQ(there[0], MPI_UNDEFINED);
    OK(MPI_Group_translate_ranks(all, 0, NULL, self, NULL));
    OK(MPI_Group_free(&self));
}

static void empty(void) {
    int count = -1, own = -1;
    MPI_Group made, none = MPI_GROUP_EMPTY;
    OK(MPI_Group_size(MPI_GROUP_EMPTY, &count));
    CHECK_EQ(count, 0);
    OK(MPI_Group_rank(MPI_GROUP_EMPTY, &own));
    CHECK_EQ(own, MPI_UNDEFINED);
    OK(MPI_Group_union(MPI_GROUP_EMPTY, all, &made));
    CHECK_EQ(compared(made, all), MPI_IDENT);
    OK(MPI_Group_free(&made));
    OK(MPI_Group_incl(all, 0, NULL, &made));
    CHECK_EQ(compared(made, MPI_GROUP_EMPTY), MPI_IDENT);
    OK(MPI_Group_free(&made));
    OK(MPI_Group_free(&none));
    CHECK(none == MPI_GROUP_NULL);
}

static void refused(void) {
    MPI_Group made, none = MPI_GROUP_NULL, stale, copy;
    int value = -1, twice[2] = {0, 0}, outside[1] = {size}, below[1] = {-1};
    int endless[1][3] = {{0, size - 1, 0}}, away[1][3] = {{0, 1, -1}};
    int beyond[1][3] = {{0, size, 1}}, repeated[2][3] = {{0, 0, 1}, {0, 0, 1}};
    ERR(MPI_Group_size(MPI_GROUP_NULL, &value), MPI_ERR_GROUP);
    ERR(MPI_Group_rank(MPI_GROUP_NULL, &value), MPI_ERR_GROUP);
    ERR(MPI_Group_free(&none), MPI_ERR_GROUP);
    ERR(MPI_Group_union(all, MPI_GROUP_NULL, &made), MPI_ERR_GROUP);
    ERR(MPI_Group_compare(MPI_GROUP_NULL, all, &value), MPI_ERR_GROUP);
    ERR(MPI_Group_incl(all, 2, twice, &made), MPI_ERR_RANK);
    ERR(MPI_Group_incl(all, 1, outside, &made), MPI_ERR_RANK);
    ERR(MPI_Group_excl(all, 1, below, &made), MPI_ERR_RANK);
    ERR(MPI_Group_incl(all, -1, twice, &made), MPI_ERR_ARG);
    ERR(MPI_Group_range_incl(all, 1, endless, &made), MPI_ERR_ARG);
    ERR(MPI_Group_range_incl(all, 1, away, &made), MPI_ERR_ARG);
    ERR(MPI_Group_range_incl(all, 1, beyond, &made), MPI_ERR_RANK);
    ERR(MPI_Group_range_excl(all, 2, repeated, &made), MPI_ERR_RANK);
    ERR(MPI_Group_translate_ranks(all, 1, outside, all, &value), MPI_ERR_RANK);
    ERR(MPI_Group_incl((MPI_Group)MPI_COMM_WORLD, 0, NULL, &made), MPI_ERR_GROUP);
    OK(MPI_Comm_group(MPI_COMM_SELF, &copy));
    stale = copy;
    OK(MPI_Group_free(&copy));
    ERR(MPI_Group_size(stale, &value), MPI_ERR_GROUP);
    ERR(MPI_Group_free(&stale), MPI_ERR_GROUP);
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    sets();
    ranges();
    translated();
    empty();
    refused();
    OK(MPI_Group_free(&all));
    OK(MPI_Finalize());
    return 0;
}

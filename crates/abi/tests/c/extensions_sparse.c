/* The exchanges of the 2008 proposal: blocks go to one group and come from another, in their orders, in
 * every form; reductions and broadcasts among neighbours; what is refused.
 *
 * ranks: 1 2 3 4
 * spec: 105, 110, 112, 114, 115, 116, 117, 119, 120, 124, 144
 *
 * case: plain
 * case: checked
 * ranks: 3
 * set: MOTET_CHECK=1
 */

#include <mpix.h>

#include "forms.h"

enum { BLOCK = 2, ROOM = 64, POISON = -77 };

static MPI_Comm comm;
static int rank, size;
static MPI_Group all, sendgroup, recvgroup;
/* The members of the two groups, in their order. */
static int to[16], from[16], destinations, sources;
static int out[ROOM], in[ROOM];

static int item(int of_rank, int to_rank, int index) {
    return 10000 * turn + 1000 * of_rank + 100 * to_rank + index;
}

static void poison(void) {
    for (int i = 0; i < ROOM; ++i) out[i] = in[i] = POISON;
}

static void check_rest(int first) {
    for (int i = first; i < ROOM; ++i) CHECK_EQ(in[i], POISON);
}

/* What one rank sends to another, in the irregular forms. */
static int length(int one, int other) { return (one + 2 * other) % 4; }

static void fill_exchange(void) {
    poison();
    for (int k = 0; k < destinations; ++k)
        for (int i = 0; i < BLOCK; ++i) out[BLOCK * k + i] = item(rank, to[k], i);
}
static void look_exchange(void) {
    for (int k = 0; k < sources; ++k)
        for (int i = 0; i < BLOCK; ++i) CHECK_EQ(in[BLOCK * k + i], item(from[k], rank, i));
    check_rest(BLOCK * sources);
}

static void fill_exchangev(void) {
    poison();
    for (int k = 0; k < destinations; ++k)
        for (int i = 0; i < length(rank, to[k]); ++i)
            out[4 * (destinations - 1 - k) + i] = item(rank, to[k], i);
}
static void look_exchangev(void) {
    for (int k = 0; k < sources; ++k)
        for (int i = 0; i < 4; ++i) {
            int is_item = i < length(from[k], rank);
            CHECK_EQ(in[4 * k + i], is_item ? item(from[k], rank, i) : POISON);
        }
    check_rest(4 * sources);
}

static void fill_bcast(void) {
    poison();
    for (int i = 0; i < BLOCK; ++i) out[i] = item(rank, 0, i);
}
static void look_bcast(void) {
    for (int k = 0; k < sources; ++k)
        for (int i = 0; i < BLOCK; ++i) CHECK_EQ(in[BLOCK * k + i], item(from[k], 0, i));
    check_rest(BLOCK * sources);
}

static void fill_bcastv(void) {
    poison();
    for (int i = 0; i <= rank % 3; ++i) out[i] = item(rank, 0, i);
}
static void look_bcastv(void) {
    for (int k = 0; k < sources; ++k)
        for (int i = 0; i < 4; ++i)
            CHECK_EQ(in[4 * k + i], i <= from[k] % 3 ? item(from[k], 0, i) : POISON);
    check_rest(4 * sources);
}

/* x, y -> 3 x + y modulo a prime keeps the order of the operands: ((a 3 + b) 3 + c) …. It is
 * associative for pairs of (value, power of three). */
typedef struct {
    int value, power;
} Number;
enum { PRIME = 9973 };
static MPI_Datatype number_type;
static MPI_Op append;
static Number numbers[16], result[1];

static Number appended(Number left, Number right) {
    Number both = {(left.value * right.power + right.value) % PRIME,
                   left.power * right.power % PRIME};
    return both;
}
static void append_all(void *left, void *right, int *len, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *len; ++i)
        ((Number *)right)[i] = appended(((Number *)left)[i], ((Number *)right)[i]);
}
static Number number(int of_rank, int to_rank) {
    Number it = {(7 * of_rank + 3 * to_rank + turn) % PRIME, 3};
    return it;
}

static void look_number(int to_rank) {
    if (sources == 0) {
        CHECK_EQ(result[0].value, POISON);
        return;
    }
    Number expected = number(from[0], to_rank);
    for (int k = 1; k < sources; ++k) expected = appended(expected, number(from[k], to_rank));
    CHECK_EQ(result[0].value, expected.value);
    CHECK_EQ(result[0].power, expected.power);
}
static void fill_reduce(void) {
    result[0].value = POISON;
    for (int k = 0; k < destinations; ++k) numbers[k] = number(rank, to[k]);
}
static void look_reduce(void) { look_number(rank); }
static void fill_allreduce(void) {
    result[0].value = POISON;
    numbers[0] = number(rank, 0);
}
static void look_allreduce(void) { look_number(0); }
/* From the end of the buffer on. */
static void fill_reducev(void) {
    result[0].value = POISON;
    for (int k = 0; k < destinations; ++k) numbers[15 - k] = number(rank, to[k]);
}
static void look_reducev(void) { look_number(rank); }

/* Persistent, nonblocking and blocking, with the infix of counts (empty or _c). */
#define SPARSE(test, name, iname, infix, ...)                                                    \
    do {                                                                                         \
        STARTED(test, MPIX_##name##_init##infix(__VA_ARGS__, sendgroup, recvgroup, MPI_INFO_NULL, \
                                                comm, &request));                                \
        ONCE(test, MPIX_##name##infix(__VA_ARGS__, sendgroup, recvgroup, comm));                 \
        WAITED(test, MPIX_##iname##infix(__VA_ARGS__, sendgroup, recvgroup, comm, &request));    \
    } while (0)

static void all_forms(void) {
    int to_len[16], from_len[16], bcast_len[16], to_place[16], from_place[16], ones[16], last[16];
    MPI_Count wide_to[16], wide_from[16];
    MPI_Aint wide_to_place[16], wide_from_place[16], to_byte[16], from_byte[16];
    MPI_Datatype types[16];
    for (int k = 0; k < destinations; ++k) {
        wide_to[k] = to_len[k] = length(rank, to[k]);
        wide_to_place[k] = to_place[k] = 4 * (destinations - 1 - k);
        to_byte[k] = (MPI_Aint)sizeof(int) * to_place[k];
        ones[k] = 1;
        last[k] = 15 - k;
    }
    for (int k = 0; k < sources; ++k) {
        wide_from[k] = from_len[k] = length(from[k], rank);
        wide_from_place[k] = from_place[k] = 4 * k;
        from_byte[k] = (MPI_Aint)sizeof(int) * from_place[k];
        bcast_len[k] = 1 + from[k] % 3;
    }
    for (int k = 0; k < 16; ++k) types[k] = MPI_INT;
    SPARSE(exchange, Exchange, Iexchange, , out, BLOCK, MPI_INT, in, BLOCK, MPI_INT);
    SPARSE(exchange, Exchange, Iexchange, _c, out, BLOCK, MPI_INT, in, BLOCK, MPI_INT);
    SPARSE(exchangev, Exchangev, Iexchangev, , out, to_len, to_place, MPI_INT, in, from_len,
           from_place, MPI_INT);
    SPARSE(exchangev, Exchangev, Iexchangev, _c, out, wide_to, wide_to_place, MPI_INT, in, wide_from,
           wide_from_place, MPI_INT);
    SPARSE(exchangev, Exchangew, Iexchangew, , out, to_len, to_byte, types, in, from_len, from_byte,
           types);
    SPARSE(exchangev, Exchangew, Iexchangew, _c, out, wide_to, to_byte, types, in, wide_from,
           from_byte, types);
    SPARSE(bcast, Neighbor_bcast, Ineighbor_bcast, , out, BLOCK, MPI_INT, in, BLOCK, MPI_INT);
    SPARSE(bcastv, Neighbor_bcastv, Ineighbor_bcastv, , out, 1 + rank % 3, MPI_INT, in, bcast_len,
           from_place, MPI_INT);
    SPARSE(reduce, Neighbor_reduce, Ineighbor_reduce, , numbers, result, 1, number_type, append);
    SPARSE(reduce, Neighbor_reduce, Ineighbor_reduce, _c, numbers, result, 1, number_type, append);
    SPARSE(reducev, Neighbor_reducev, Ineighbor_reducev, , numbers, ones, last, number_type, result,
           1, number_type, append);
    SPARSE(allreduce, Neighbor_allreduce, Ineighbor_allreduce, , numbers, result, 1, number_type,
           append);
}

/* Rank `r` sends to `r + step` for each step, in the order of the steps. */
static void with_steps(int count, const int *steps) {
    destinations = sources = count;
    for (int k = 0; k < count; ++k) {
        to[k] = (rank + steps[k]) % size;
        from[count - 1 - k] = (rank + size - steps[k]) % size;
    }
    OK(MPI_Group_incl(all, destinations, to, &sendgroup));
    OK(MPI_Group_incl(all, sources, from, &recvgroup));
    all_forms();
    OK(MPI_Group_free(&sendgroup));
    OK(MPI_Group_free(&recvgroup));
}

/* Only rank 0 receives, from all but the last; that one has no part at all. */
static void to_one(void) {
    to[0] = 0;
    destinations = rank < size - 1;
    sources = rank == 0 ? size - 1 : 0;
    for (int k = 0; k < sources; ++k) from[k] = size - 2 - k;
    OK(MPI_Group_incl(all, destinations, to, &sendgroup));
    OK(MPI_Group_incl(all, sources, from, &recvgroup));
    all_forms();
    OK(MPI_Group_free(&sendgroup));
    OK(MPI_Group_free(&recvgroup));
}

static void refused(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Group none = MPI_GROUP_EMPTY, other, world;
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    ERR(MPIX_Exchange(out, 1, MPI_INT, in, 1, MPI_INT, MPI_GROUP_NULL, none, comm), MPI_ERR_GROUP);
    ERR(MPIX_Exchange(out, 1, MPI_INT, in, 1, MPI_INT, none, (MPI_Group)0xdead0, comm),
        MPI_ERR_GROUP);
    ERR(MPIX_Exchange_init(out, 1, MPI_INT, in, 1, MPI_INT, all, none, MPI_INFO_NULL, MPI_COMM_NULL,
                           &request),
        MPI_ERR_COMM);
    ERR(MPIX_Exchange_init(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, all, all, MPI_INFO_NULL, comm,
                           &request),
        MPI_ERR_BUFFER);
    ERR(MPIX_Iexchange(out, -1, MPI_INT, in, 1, MPI_INT, all, all, comm, &request), MPI_ERR_COUNT);
    ERR(MPIX_Neighbor_bcast(out, 1, MPI_DATATYPE_NULL, in, 1, MPI_INT, all, all, comm),
        MPI_ERR_TYPE);
    ERR(MPIX_Neighbor_reduce(out, in, 1, MPI_INT, MPI_OP_NULL, all, all, comm), MPI_ERR_OP);
    ERR(MPIX_Neighbor_reduce(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, all, all, comm),
        MPI_ERR_BUFFER);
    ERR(MPIX_Exchangev(out, NULL, NULL, MPI_INT, in, NULL, NULL, MPI_INT, all, all, comm),
        MPI_ERR_ARG);
    CHECK(request == MPI_REQUEST_NULL);
    /* Somebody who is not in the communicator. */
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    int another[] = {(rank + 1) % size};
    OK(MPI_Group_incl(world, 1, another, &other));
    if (size > 1) {
        ERR(MPIX_Exchange(out, 1, MPI_INT, in, 1, MPI_INT, other, none, MPI_COMM_SELF),
            MPI_ERR_GROUP);
    }
    OK(MPIX_Exchange_init(out, 1, MPI_INT, in, 1, MPI_INT, none, none, MPI_INFO_NULL, comm,
                          &request));
    OK(MPI_Start(&request));
    ERR(MPI_Cancel(&request), MPI_ERR_REQUEST);
    ERR(MPI_Start(&request), MPI_ERR_REQUEST);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&request));
    OK(MPI_Group_free(&other));
    OK(MPI_Group_free(&world));
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    OK(MPI_Comm_group(comm, &all));
    OK(MPI_Type_contiguous(2, MPI_INT, &number_type));
    OK(MPI_Type_commit(&number_type));
    OK(MPI_Op_create(append_all, 0, &append));
    int steps[] = {1, 0, 2, 3};
    with_steps(1, steps);
    if (size > 1) with_steps(2, steps);
    if (size > 2) with_steps(3, steps);
    with_steps(1, steps + 1);
    with_steps(0, steps);
    to_one();
    /* The group of the communicator both times: an alltoall. */
    destinations = sources = size;
    for (int k = 0; k < size; ++k) to[k] = from[k] = k;
    sendgroup = recvgroup = all;
    all_forms();
    refused();
    OK(MPI_Group_free(&all));
    OK(MPI_Op_free(&append));
    OK(MPI_Type_free(&number_type));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Finalize());
    return 0;
}

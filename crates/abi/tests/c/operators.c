/* Operators of the program: order of the operands, what the function is told, freeing them (and the
 * datatype) while a persistent reduction goes on, and reductions without communication.
 *
 * ranks: 1 2 3 4
 * spec: 6, 80, 81, 84
 */

#include "check.h"

/* x -> a x + b, modulo a prime: composition is associative, and its order matters. */
typedef struct {
    int a, b;
} Map;
enum { PRIME = 9973, MAPS = 5 };

static Map then(Map first, Map second) {
    Map both = {second.a * first.a % PRIME, (second.a * first.b + second.b) % PRIME};
    return both;
}

static MPI_Datatype map_type;
static int calls, told_wrong, was_freed;

static void compose(void *in, void *inout, int *len, MPI_Datatype *datatype) {
    Map *first = in, *second = inout;
    int bytes = 0;
    ++calls;
    /* The handle is good even if the program has freed its own. */
    if (MPI_Type_size(*datatype, &bytes) != MPI_SUCCESS || bytes != sizeof(Map)) ++told_wrong;
    if (!was_freed && *datatype != map_type) ++told_wrong;
    if (*len < 1) ++told_wrong;
    for (int i = 0; i < *len; ++i) second[i] = then(first[i], second[i]);
}

static void compose_c(void *in, void *inout, MPI_Count *len, MPI_Datatype *datatype) {
    int shorter = (int)*len;
    compose(in, inout, &shorter, datatype);
}

static Map map(int rank, int i, int turn) {
    Map it = {2 + rank + i + turn, 3 * rank + 7 * i + turn};
    return it;
}

static void check_maps(const Map *seen, int first, int last, int turn) {
    for (int i = 0; i < MAPS; ++i) {
        Map expected = map(first, i, turn);
        for (int rank = first + 1; rank < last; ++rank) {
            expected = then(expected, map(rank, i, turn));
        }
        CHECK_EQ(seen[i].a, expected.a);
        CHECK_EQ(seen[i].b, expected.b);
    }
}

static int rank, size;

static void in_order(MPI_Op op) {
    Map own[MAPS], all[MAPS];
    for (int root = 0; root < size; ++root) {
        for (int i = 0; i < MAPS; ++i) own[i] = map(rank, i, root);
        OK(MPI_Reduce(own, all, MAPS, map_type, op, root, MPI_COMM_WORLD));
        if (rank == root) check_maps(all, 0, size, root);
    }
    for (int i = 0; i < MAPS; ++i) own[i] = map(rank, i, 5);
    OK(MPI_Allreduce(own, all, MAPS, map_type, op, MPI_COMM_WORLD));
    check_maps(all, 0, size, 5);
    OK(MPI_Scan(own, all, MAPS, map_type, op, MPI_COMM_WORLD));
    check_maps(all, 0, rank + 1, 5);
    OK(MPI_Exscan(own, all, MAPS, map_type, op, MPI_COMM_WORLD));
    if (rank > 0) check_maps(all, 0, rank, 5);
    MPI_Request request;
    OK(MPI_Iallreduce(MPI_IN_PLACE, own, MAPS, map_type, op, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_maps(own, 0, size, 5);
    CHECK_EQ(told_wrong, 0);
    int before = calls;
    OK(MPI_Allreduce(own, all, 0, map_type, op, MPI_COMM_WORLD));
    CHECK_EQ(calls, before);
}

/* All handles are freed before the first start. */
static void freed_early(void) {
    MPI_Op op;
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Info info;
    MPI_Request request, once;
    Map own[MAPS], all[MAPS], other[MAPS];
    OK(MPI_Op_create(compose, 0, &op));
    OK(MPI_Type_dup(map_type, &type));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Info_create(&info));
    OK(MPI_Allreduce_init(own, all, MAPS, type, op, comm, info, &request));
    for (int i = 0; i < MAPS; ++i) other[i] = map(rank, i, 9);
    was_freed = 1;
    OK(MPI_Iallreduce(MPI_IN_PLACE, other, MAPS, type, op, comm, &once));
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&type));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Wait(&once, MPI_STATUS_IGNORE));
    check_maps(other, 0, size, 9);
    for (int turn = 0; turn < 10; ++turn) {
        for (int i = 0; i < MAPS; ++i) own[i] = map(rank, i, turn);
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check_maps(all, 0, size, turn);
    }
    OK(MPI_Request_free(&request));
    was_freed = 0;
    CHECK_EQ(told_wrong, 0);
}

static void alone(MPI_Op op) {
    int one[] = {1, 2, 3}, two[] = {10, 20, 30};
    OK(MPI_Reduce_local(one, two, 3, MPI_INT, MPI_SUM));
    CHECK(two[0] == 11 && two[1] == 22 && two[2] == 33);
    OK(MPI_Reduce_local_c(one, two, 2, MPI_INT, MPI_MAX));
    CHECK(two[0] == 11 && two[1] == 22 && two[2] == 33);
    Map first[MAPS], second[MAPS];
    for (int i = 0; i < MAPS; ++i) {
        first[i] = map(0, i, 3);
        second[i] = map(1, i, 3);
    }
    OK(MPI_Reduce_local(first, second, MAPS, map_type, op));
    check_maps(second, 0, 2, 3);
    OK(MPI_Reduce_local(NULL, NULL, 0, MPI_INT, MPI_SUM));
    struct {
        double value;
        int place;
    } low = {1.5, 7}, high = {1.5, 3};
    OK(MPI_Reduce_local(&low, &high, 1, MPI_DOUBLE_INT, MPI_MINLOC));
    CHECK(high.value == 1.5 && high.place == 3);
}

static void facts(void) {
    MPI_Op op = MPI_OP_NULL, free_order;
    int flag = -1;
    OK(MPI_Op_commutative(MPI_SUM, &flag));
    CHECK_EQ(flag, 1);
    OK(MPI_Op_create(compose, 0, &op));
    OK(MPI_Op_create_c(compose_c, 17, &free_order));
    OK(MPI_Op_commutative(op, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Op_commutative(free_order, &flag));
    CHECK_EQ(flag, 1);
    OK(MPI_Op_free(&op));
    OK(MPI_Op_free(&free_order));
    CHECK(op == MPI_OP_NULL && free_order == MPI_OP_NULL);
}

static void refused(void) {
    MPI_Op op = MPI_SUM, stale;
    int one[] = {1}, two[] = {2}, flag;
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    ERR(MPI_Op_free(&op), MPI_ERR_OP);
    op = MPI_OP_NULL;
    ERR(MPI_Op_free(&op), MPI_ERR_OP);
    ERR(MPI_Op_commutative(MPI_OP_NULL, &flag), MPI_ERR_OP);
    ERR(MPI_Op_create(NULL, 0, &op), MPI_ERR_ARG);
    ERR(MPI_Op_create(compose, 0, NULL), MPI_ERR_ARG);
    ERR(MPI_Op_commutative(MPI_SUM, NULL), MPI_ERR_ARG);
    OK(MPI_Op_create(compose, 0, &op));
    stale = op;
    OK(MPI_Op_free(&op));
    ERR(MPI_Op_free(&stale), MPI_ERR_OP);
    ERR(MPI_Reduce_local(one, two, 1, MPI_INT, stale), MPI_ERR_OP);
    ERR(MPI_Reduce_local(one, two, 1, MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
    ERR(MPI_Reduce_local(one, two, 1, MPI_FLOAT, MPI_BAND), MPI_ERR_OP);
    ERR(MPI_Reduce_local(one, two, 1, MPI_INT, MPI_MINLOC), MPI_ERR_OP);
    ERR(MPI_Reduce_local(one, two, 1, MPI_DATATYPE_NULL, MPI_SUM), MPI_ERR_TYPE);
    ERR(MPI_Reduce_local(one, two, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
    ERR(MPI_Reduce_local(MPI_IN_PLACE, two, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    ERR(MPI_Reduce_local(one, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    ERR(MPI_Reduce_local(NULL, two, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    ERR(MPI_Reduce_local(two, two, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    CHECK(one[0] == 1 && two[0] == 2);
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Type_contiguous(2, MPI_INT, &map_type));
    OK(MPI_Type_commit(&map_type));
    MPI_Op op, large;
    OK(MPI_Op_create(compose, 0, &op));
    OK(MPI_Op_create_c(compose_c, 0, &large));
    in_order(op);
    in_order(large);
    freed_early();
    alone(op);
    alone(large);
    facts();
    refused();
    OK(MPI_Op_free(&op));
    OK(MPI_Op_free(&large));
    OK(MPI_Type_free(&map_type));
    OK(MPI_Finalize());
    return 0;
}

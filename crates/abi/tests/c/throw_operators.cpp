/* C++ exceptions out of operators: they come out of the call that completes the operation, on the
 * rank where they were thrown; all other ranks are told that the operator has failed.
 *
 * spec: 67
 * ranks: 1 2 3 5
 * seconds: 120
 *
 * case: commutative
 * case: ordered
 * case: large
 *
 * case: helped
 * set: MOTET_PROGRESS=thread
 *
 * case: checked
 * set: MOTET_CHECK=1
 *
 * case: uncaught
 * ranks: 2
 * status: 134
 * stderr: terminate called after throwing an instance of 'Thrown'
 */

#include <exception>

#include "exceptions.h"

#define MOST (1 << 14)

static int rank, ranks, thrower;
/* Whether the operator throws. */
static bool throws;
static int items;
static long input[5 * MOST], output[5 * MOST];

static void add(void *left, void *right, int *count, MPI_Datatype *) {
    if (throws) throw Thrown{rank};
    for (int item = 0; item < *count; item++) ((long *)right)[item] += ((long *)left)[item];
}

/* The collectives that reduce, in their three forms. */
enum { ALLREDUCE, REDUCE, SCAN, EXSCAN, SCATTER, SCATTER_BLOCK, KINDS };

static int counts[5];

static int blocking(int kind, MPI_Op op, MPI_Comm comm) {
    switch (kind) {
    case ALLREDUCE: return MPI_Allreduce(input, output, items, MPI_LONG, op, comm);
    case REDUCE: return MPI_Reduce(input, output, items, MPI_LONG, op, 0, comm);
    case SCAN: return MPI_Scan(input, output, items, MPI_LONG, op, comm);
    case EXSCAN: return MPI_Exscan(input, output, items, MPI_LONG, op, comm);
    case SCATTER: return MPI_Reduce_scatter(input, output, counts, MPI_LONG, op, comm);
    default: return MPI_Reduce_scatter_block(input, output, items, MPI_LONG, op, comm);
    }
}

static int nonblocking(int kind, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
    switch (kind) {
    case ALLREDUCE: return MPI_Iallreduce(input, output, items, MPI_LONG, op, comm, request);
    case REDUCE: return MPI_Ireduce(input, output, items, MPI_LONG, op, 0, comm, request);
    case SCAN: return MPI_Iscan(input, output, items, MPI_LONG, op, comm, request);
    case EXSCAN: return MPI_Iexscan(input, output, items, MPI_LONG, op, comm, request);
    case SCATTER:
        return MPI_Ireduce_scatter(input, output, counts, MPI_LONG, op, comm, request);
    default:
        return MPI_Ireduce_scatter_block(input, output, items, MPI_LONG, op, comm, request);
    }
}

static int persistent(int kind, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
    const MPI_Info none = MPI_INFO_NULL;
    switch (kind) {
    case ALLREDUCE:
        return MPI_Allreduce_init(input, output, items, MPI_LONG, op, comm, none, request);
    case REDUCE:
        return MPI_Reduce_init(input, output, items, MPI_LONG, op, 0, comm, none, request);
    case SCAN: return MPI_Scan_init(input, output, items, MPI_LONG, op, comm, none, request);
    case EXSCAN: return MPI_Exscan_init(input, output, items, MPI_LONG, op, comm, none, request);
    case SCATTER:
        return MPI_Reduce_scatter_init(input, output, counts, MPI_LONG, op, comm, none, request);
    default:
        return MPI_Reduce_scatter_block_init(input, output, items, MPI_LONG, op, comm, none,
                                             request);
    }
}

/* Whether it has thrown: not each rank calls the operator. */
static bool failed;

/* A call that completes an operation whose operator throws at one rank, or should. If that rank has
 * not called its operator, the operation has ended well on all of them. */
template <typename Call>
static void fails(Call call) {
    bool caught = false;
    int code = MPI_SUCCESS, class_of = MPI_SUCCESS, outcome = 0, all = 0;
    throws = rank == thrower;
    try {
        code = call();
    } catch (const Thrown &thrown) {
        CHECK_EQ(thrown.value, rank);
        caught = true;
    }
    throws = false;
    CHECK_EQ(std::uncaught_exceptions(), 0);
    CHECK(!caught || rank == thrower);
    OK(MPI_Error_class(code, &class_of));
    CHECK(code == MPI_SUCCESS || (class_of == MPI_ERR_OP && rank != thrower));
    /* The ranks agree on it. */
    outcome = caught || code != MPI_SUCCESS;
    OK(MPI_Allreduce(&outcome, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(all == 0 || all == ranks);
    failed = failed || all > 0;
}

static void check_sum(int kind) {
    if (kind != ALLREDUCE) return;
    CHECK_EQ(output[0], ranks * (ranks + 1) / 2);
    CHECK_EQ(output[items - 1], ranks * (ranks + 1) / 2);
}

static void try_all(bool commutes, int count) {
    MPI_Op op;
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Op_create(add, commutes, &op));
    items = count;
    for (int each = 0; each < 5 * MOST; each++) input[each] = rank + 1;
    for (int each = 0; each < 5; each++) counts[each] = count;
    for (int kind = 0; kind < KINDS; kind++) {
        bool any = false;
        for (thrower = 0; thrower < ranks; thrower++) {
            MPI_Request request, both[2];
            failed = false;
            fails([&] { return blocking(kind, op, comm); });
            OK(blocking(kind, op, comm));
            check_sum(kind);

            fails([&] {
                int started = nonblocking(kind, op, comm, &request);
                int ended = MPI_Wait(&request, MPI_STATUS_IGNORE);
                CHECK_EQ(started, MPI_SUCCESS);
                return ended;
            });
            fails([&] {
                int flag = 0, ended = MPI_SUCCESS;
                OK(nonblocking(kind, op, comm, &request));
                while (!flag) ended = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
                return ended;
            });
            /* Together with one that ends well. */
            fails([&] {
                MPI_Status statuses[2];
                OK(nonblocking(kind, op, comm, &both[0]));
                OK(MPI_Ibarrier(comm, &both[1]));
                int ended = MPI_Waitall(2, both, statuses);
                CHECK(both[0] == MPI_REQUEST_NULL && both[1] == MPI_REQUEST_NULL);
                if (ended == MPI_SUCCESS) return ended;
                CHECK_EQ(ended, MPI_ERR_IN_STATUS);
                CHECK_EQ(statuses[1].MPI_ERROR, MPI_SUCCESS);
                return statuses[0].MPI_ERROR;
            });
            OK(nonblocking(kind, op, comm, &request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            check_sum(kind);

            OK(persistent(kind, op, comm, &request));
            for (int round = 0; round < 3; round++) {
                fails([&] {
                    OK(MPI_Start(&request));
                    return MPI_Wait(&request, MPI_STATUS_IGNORE);
                });
                CHECK(request != MPI_REQUEST_NULL);
                for (int again = 0; again < 3; again++) {
                    output[0] = 0;
                    OK(MPI_Start(&request));
                    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
                    check_sum(kind);
                }
            }
            OK(MPI_Request_free(&request));
            any = any || failed;
        }
        /* Some rank calls it, if there are operands for it. */
        CHECK(any == (ranks > (kind == EXSCAN ? 2 : 1)));
    }
    /* It is called here, by this rank. */
    thrower = rank;
    throws = true;
    THROWS(MPI_Reduce_local(input, output, items, MPI_LONG, op), rank);
    throws = false;
    OK(MPI_Reduce_local(input, output, items, MPI_LONG, op));
    OK(MPI_Op_free(&op));
    OK(MPI_Comm_free(&comm));
    whole();
}

/* An operation that nobody completes takes its exception with it. */
static void leave_uncompleted(void) {
    MPI_Op op;
    MPI_Request request;
    OK(MPI_Op_create(add, 1, &op));
    items = 1;
    throws = rank == 0;
    OK(MPI_Iallreduce(input, output, items, MPI_LONG, op, MPI_COMM_WORLD, &request));
    for (int round = 0; round < 100; round++) OK(MPI_Barrier(MPI_COMM_WORLD));
    throws = false;
    OK(MPI_Op_free(&op));
}

int main(int argc, char **argv) {
    CHECK_EQ(argc, 2);
    const char *what = argv[1];
    int provided = 0;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    if (!strcmp(what, "uncaught")) {
        MPI_Op op;
        OK(MPI_Op_create(add, 1, &op));
        throws = rank == 1;
        MPI_Allreduce(input, output, 1, MPI_LONG, op, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        return 0;
    }
    try_all(strcmp(what, "ordered") != 0, !strcmp(what, "large") ? MOST : 1);
    if (!strcmp(what, "helped")) try_all(true, MOST);
    leave_uncompleted();
    OK(MPI_Finalize());
    return 0;
}

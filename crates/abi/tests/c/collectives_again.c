/* Calls that are made again and again: the same but for their addresses, or but for one other
 * thing, which must not be taken for the same. What is wrong this time is seen, though it was right
 * before.
 *
 * spec: 61, 77
 * ranks: 1 2 3 5
 */

#include "check.h"

#include <unistd.h>

enum { STEPS = 6000, MOST = 3, PLACES = 3, SIZE = 64 };

/* The same numbers on all ranks. */
static uint64_t state = 1;
static int drawn(int below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)(state >> 33) % below;
}

static int me, ranks;
static int places[2][PLACES][SIZE];

/* A call: what decides of it. */
struct call {
    int kind, is_nonblocking, count, root, is_in_place, is_max;
    MPI_Datatype type;
    MPI_Comm comm;
    int round;
};

/* What element `at` of a rank is in a round: it fits into all types. */
static int value(const struct call *c, int rank, int at) {
    return (7 * rank + 3 * at + c->round) % 50;
}

static void put(const struct call *c, int *data, int at, int what) {
    if (c->type == MPI_BYTE) ((unsigned char *)data)[at] = (unsigned char)what;
    else data[at] = what;
}
static int get(const struct call *c, const int *data, int at) {
    return c->type == MPI_BYTE ? ((const unsigned char *)data)[at] : data[at];
}
static void fill(const struct call *c, int *data, int first, int rank) {
    for (int at = 0; at < c->count; ++at) put(c, data, first + at, value(c, rank, at));
}
static void check(const struct call *c, const int *data, int first, int rank) {
    for (int at = 0; at < c->count; ++at) CHECK_EQ(get(c, data, first + at), value(c, rank, at));
}
/* The results of the first so many ranks. */
static void check_reduced(const struct call *c, const int *data, int many) {
    for (int at = 0; at < c->count; ++at) {
        int sum = 0, most = 0;
        for (int rank = 0; rank < many; ++rank) {
            int one = value(c, rank, at);
            sum += one;
            if (one > most) most = one;
        }
        CHECK_EQ(get(c, data, at), c->is_max ? most : sum);
    }
}

/* A call in the form that is wanted, to its end. */
#define RUN(name, ...)                                                  \
    do {                                                                \
        if (c->is_nonblocking) {                                        \
            MPI_Request request;                                        \
            OK(MPI_I##name(__VA_ARGS__, &request));                     \
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));                  \
        } else {                                                        \
            OK(MPI_##name(__VA_ARGS__));                                \
        }                                                               \
    } while (0)
/* The names of the two forms differ in their capitals. */
#define MPI_IBcast MPI_Ibcast
#define MPI_IGather MPI_Igather
#define MPI_IScatter MPI_Iscatter
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IReduce MPI_Ireduce
#define MPI_IAllreduce MPI_Iallreduce
#define MPI_IScan MPI_Iscan
#define MPI_IBarrier MPI_Ibarrier

static void make(const struct call *c) {
    int *in = places[0][drawn(PLACES)], *out = places[1][drawn(PLACES)];
    int n = c->count, root = c->root, rank, size;
    MPI_Op op = c->is_max ? MPI_MAX : MPI_SUM;
    MPI_Comm_rank(c->comm, &rank);
    MPI_Comm_size(c->comm, &size);
    int is_root = rank == root, in_place = c->is_in_place;
    memset(out, 0, sizeof places[1][0]);
    fill(c, in, 0, rank);
    switch (c->kind) {
    case 0:
        if (!is_root) memset(in, 0, sizeof places[0][0]);
        RUN(Bcast, in, n, c->type, root, c->comm);
        check(c, in, 0, root);
        break;
    case 1:
        if (is_root) fill(c, out, n * root, root);
        RUN(Gather, is_root && in_place ? MPI_IN_PLACE : in, n, c->type, out, n, c->type, root,
            c->comm);
        for (int from = 0; is_root && from < size; ++from) check(c, out, n * from, from);
        break;
    case 2:
        for (int to = 0; to < size; ++to) fill(c, in, n * to, to);
        RUN(Scatter, in, n, c->type, is_root && in_place ? MPI_IN_PLACE : out, n, c->type, root,
            c->comm);
        if (!is_root || !in_place) check(c, out, 0, rank);
        break;
    case 3:
        if (in_place) fill(c, out, n * rank, rank);
        RUN(Allgather, in_place ? MPI_IN_PLACE : in, n, c->type, out, n, c->type, c->comm);
        for (int from = 0; from < size; ++from) check(c, out, n * from, from);
        break;
    case 4: {
        int *sent = in_place ? out : in;
        for (int to = 0; to < size; ++to) fill(c, sent, n * to, rank);
        RUN(Alltoall, in_place ? MPI_IN_PLACE : in, n, c->type, out, n, c->type, c->comm);
        for (int from = 0; from < size; ++from) check(c, out, n * from, from);
        break;
    }
    case 5:
        /* Of all but the root one buffer may stand for both, since only one is looked at. */
        if (in_place) fill(c, out, 0, rank);
        RUN(Reduce, !in_place ? in : is_root ? MPI_IN_PLACE : out, out, n, c->type, op, root,
            c->comm);
        if (is_root) check_reduced(c, out, size);
        break;
    case 6:
        if (in_place) fill(c, out, 0, rank);
        RUN(Allreduce, in_place ? MPI_IN_PLACE : in, out, n, c->type, op, c->comm);
        check_reduced(c, out, size);
        break;
    case 7:
        if (in_place) fill(c, out, 0, rank);
        RUN(Scan, in_place ? MPI_IN_PLACE : in, out, n, c->type, op, c->comm);
        check_reduced(c, out, rank + 1);
        break;
    default:
        RUN(Barrier, c->comm);
    }
}

/* Any of few calls, so that most have been made before, and seldom right before. */
static void any_calls(void) {
    MPI_Comm comms[3] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL};
    MPI_Datatype own;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]));
    OK(MPI_Type_contiguous(1, MPI_INT, &own));
    OK(MPI_Type_commit(&own));
    for (int round = 0; round < STEPS; ++round) {
        struct call c = {.kind = drawn(9), .round = round};
        c.comm = comms[drawn(3)];
        c.count = drawn(MOST + 1);
        c.is_nonblocking = drawn(3) == 0;
        c.is_in_place = drawn(3) == 0;
        c.is_max = drawn(2);
        c.root = c.comm == MPI_COMM_SELF ? 0 : drawn(ranks);
        /* What a handle of the program's own stands for changes; it cannot be reduced here. */
        int is_reduced = c.kind >= 5 && c.kind <= 7;
        c.type = drawn(2) ? MPI_INT : is_reduced || drawn(2) ? MPI_BYTE : own;
        if (is_reduced && c.type == MPI_BYTE) c.type = MPI_INT;
        make(&c);
        if (round % 500 == 499) {
            /* Another communicator, perhaps in the place of this one. */
            OK(MPI_Comm_free(&comms[2]));
            OK(MPI_Type_free(&own));
            OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]));
            OK(MPI_Type_contiguous(1, MPI_INT, &own));
            OK(MPI_Type_commit(&own));
        }
    }
    OK(MPI_Type_free(&own));
    OK(MPI_Comm_free(&comms[2]));
}

/* What is wrong with a call that was right before. */
static void wrong_this_time(void) {
    int in[4] = {1, 2, 3, 4}, out[4];
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int round = 0; round < 3; ++round) {
        memset(out, 0, sizeof out);
        OK(MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, comm));
        CHECK_EQ(out[3], 4 * ranks);
        ERR(MPI_Allreduce(out, out, 4, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
        ERR(MPI_Allreduce(in, NULL, 4, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
        ERR(MPI_Allreduce(NULL, out, 4, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
        ERR(MPI_Allreduce(in, MPI_IN_PLACE, 4, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
        ERR(MPI_Allreduce(in, out, -4, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
        ERR(MPI_Allreduce(in, out, 4, MPI_DATATYPE_NULL, MPI_SUM, comm), MPI_ERR_TYPE);
        ERR(MPI_Allreduce(in, out, 4, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
        OK(MPI_Bcast(in, 4, MPI_INT, 0, comm));
        ERR(MPI_Bcast(in, 4, MPI_INT, ranks, comm), MPI_ERR_ROOT);
        ERR(MPI_Bcast(in, 4, MPI_INT, MPI_ROOT, comm), MPI_ERR_ROOT);
        MPI_Request request;
        OK(MPI_Ibcast(in, 4, MPI_INT, 0, comm, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        ERR(MPI_Ibcast(in, 4, MPI_INT, 0, comm, NULL), MPI_ERR_ARG);
        request = MPI_REQUEST_NULL;
        ERR(MPI_Ibcast(in, 4, MPI_INT, ranks, comm, &request), MPI_ERR_ROOT);
        CHECK(request == MPI_REQUEST_NULL);
    }
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    MPI_Comm stale = comm;
    OK(MPI_Comm_free(&comm));
    ERR(MPI_Bcast(in, 4, MPI_INT, 0, stale), MPI_ERR_COMM);
}

/* What went wrong once is not told of the same call later, whoever has to wait for whom. */
static void right_after_wrong(void) {
    int data[4] = {0};
    MPI_Comm pair;
    OK(MPI_Comm_split(MPI_COMM_WORLD, me / 2, me, &pair));
    OK(MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN));
    int size, rank;
    OK(MPI_Comm_size(pair, &size));
    OK(MPI_Comm_rank(pair, &rank));
    for (int round = 0; size == 2 && round < 3; ++round) {
        for (int turn = 0; turn < 3; ++turn) OK(MPI_Bcast(data, 2, MPI_INT, 0, pair));
        int code = MPI_Bcast(data, rank ? 2 : 4, MPI_INT, 0, pair);
        if (rank) ERR(code, MPI_ERR_TRUNCATE); else OK(code);
        if (!rank) usleep(20000);
        data[0] = rank ? -1 : round;
        OK(MPI_Bcast(data, 2, MPI_INT, 0, pair));
        CHECK_EQ(data[0], round);
    }
    OK(MPI_Comm_free(&pair));
}

/* Collectives that are over when they begin, as they may be at who only sends or finds all there,
 * are requests like others, in whatever way they are completed. */
static void over_at_once(void) {
    enum { MANY = 6 };
    int data[MANY], indices[MANY], index, flag, some, done;
    MPI_Request requests[MANY];
    MPI_Status status, statuses[MANY];
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int round = 0; round < 40; ++round) {
        OK(MPI_Barrier(MPI_COMM_WORLD)); /* So that there is room for what is sent. */
        for (int at = 0; at < MANY; ++at) {
            data[at] = me == 0 ? round + at : -1;
            OK(MPI_Ibcast(&data[at], 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[at]));
            CHECK(requests[at] != MPI_REQUEST_NULL);
        }
        /* Who only sends is done. */
        if (me == 0 && ranks > 1 && round > 0) CHECK(requests[0] == requests[MANY - 1]);
        /* Neither cancelled nor started. */
        ERR(MPI_Cancel(&requests[0]), MPI_ERR_REQUEST);
        ERR(MPI_Start(&requests[0]), MPI_ERR_REQUEST);
        /* But freed, as soon as it is known to be over. */
        MPI_Request freed;
        OK(MPI_Ibcast(&index, 1, MPI_INT, 0, MPI_COMM_WORLD, &freed));
        for (flag = 0; !flag;) OK(MPI_Request_get_status(freed, &flag, &status));
        OK(MPI_Request_free(&freed));
        CHECK(freed == MPI_REQUEST_NULL);
        switch (round % 5) {
        case 0:
            OK(MPI_Waitall(MANY, requests, statuses));
            break;
        case 1:
            for (int at = 0; at < MANY; ++at) {
                OK(MPI_Waitany(MANY, requests, &index, &status));
                CHECK(index != MPI_UNDEFINED && requests[index] == MPI_REQUEST_NULL);
            }
            break;
        case 2:
            for (done = 0; done < MANY; done += some) {
                OK(MPI_Waitsome(MANY, requests, &some, indices, statuses));
            }
            CHECK_EQ(done, MANY);
            break;
        case 3:
            for (int at = MANY; at-- > 0;) {
                for (flag = 0; !flag;) {
                    OK(MPI_Request_get_status(requests[at], &flag, &status));
                }
                int is_cancelled = 1;
                OK(MPI_Test_cancelled(&status, &is_cancelled));
                CHECK(!is_cancelled);
                for (flag = 0; !flag;) OK(MPI_Test(&requests[at], &flag, &status));
            }
            break;
        default:
            for (flag = 0; !flag;) OK(MPI_Testall(MANY, requests, &flag, MPI_STATUSES_IGNORE));
        }
        for (int at = 0; at < MANY; ++at) {
            CHECK_EQ(data[at], round + at);
            CHECK(requests[at] == MPI_REQUEST_NULL);
        }
    }
}

int main(int argc, char **argv) {
    unsetenv("MOTET_HANG_SECONDS"); /* each call that may be reported is made anew */
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    any_calls();
    wrong_this_time();
    right_after_wrong();
    over_at_once();
    return MPI_Finalize();
}

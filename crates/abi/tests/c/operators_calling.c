/* Operators that call the library, which they must not (MPI 5.0 6.9.5): each call that waits for
 * what the library is doing returns an error, and nothing else happens. What only looks at handles
 * works, as programs rely on.
 *
 * case: returned
 * ranks: 2 3
 *
 * case: helped
 * ranks: 2
 * set: MOTET_PROGRESS=thread
 *
 * case: fatal
 * ranks: 1
 * status: failure
 * stderr: MPI_Barrier
 * stderr: called by an operator of a reduction, which must not call the library
 *
 * case: fatal-helped
 * ranks: 2
 * set: MOTET_PROGRESS=thread
 * status: failure
 * stderr: MPI_Barrier
 * stderr: called by an operator of a reduction, which must not call the library
 *
 * case: finalize
 * ranks: 2
 * status: failure
 * stderr: MPI_Finalize
 * stderr: called by an operator of a reduction, which must not call the library
 */

#include "check.h"

#include <unistd.h>

static int rank, size, runs;
static MPI_Request begun = MPI_REQUEST_NULL, stored = MPI_REQUEST_NULL;
static int received, sent = 4;

#define REFUSED(call) ERR(call, MPI_ERR_OTHER)

static void messages(void) {
    int data = 0, flag = 0;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request = MPI_REQUEST_NULL;
    REFUSED(MPI_Send(&data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    REFUSED(MPI_Ssend(&data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    REFUSED(MPI_Recv(&data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &status));
    REFUSED(MPI_Isend(&data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request));
    REFUSED(MPI_Irecv(&data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request));
    REFUSED(MPI_Sendrecv(&data, 1, MPI_INT, 0, 1, &received, 1, MPI_INT, 0, 1, MPI_COMM_WORLD,
                         &status));
    REFUSED(MPI_Probe(0, 1, MPI_COMM_WORLD, &status));
    REFUSED(MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, &status));
    REFUSED(MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, &status));
    REFUSED(MPI_Improbe(0, 1, MPI_COMM_WORLD, &flag, &message, &status));
    REFUSED(MPI_Recv_init(&data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request));
    CHECK(request == MPI_REQUEST_NULL);
}

static void collectives(void) {
    int one = 1, two = 0;
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    REFUSED(MPI_Barrier(MPI_COMM_WORLD));
    REFUSED(MPI_Barrier(MPI_COMM_SELF));
    REFUSED(MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD));
    REFUSED(MPI_Allreduce(&one, &two, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REFUSED(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    REFUSED(MPI_Iallreduce(&one, &two, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    REFUSED(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    REFUSED(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    REFUSED(MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request));
    REFUSED(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &copy));
    CHECK(request == MPI_REQUEST_NULL && copy == MPI_COMM_NULL);
}

/* What a call that is refused leaves as it was: a status behind the list, and one that is in it. */
static void is_untouched(const MPI_Status *statuses, int count) {
    for (int i = 0; i < count; ++i) CHECK_EQ(statuses[i].MPI_TAG, 4711);
}

static void requests(void) {
    enum { LISTED = 1, STATUSES = 50 };
    int flag = 0, index = 0, count = 0;
    MPI_Status status, statuses[STATUSES];
    for (int i = 0; i < STATUSES; ++i) statuses[i].MPI_TAG = 4711;
    MPI_Request both[2] = {begun, begun}, start[1] = {stored};
    REFUSED(MPI_Start(&stored));
    REFUSED(MPI_Startall(1, start));
    REFUSED(MPI_Wait(&begun, &status));
    REFUSED(MPI_Test(&begun, &flag, &status));
    REFUSED(MPI_Request_get_status(begun, &flag, &status));
    REFUSED(MPI_Waitall(LISTED, both, statuses));
    REFUSED(MPI_Waitany(LISTED, both, &index, &status));
    REFUSED(MPI_Waitsome(LISTED, both, &count, &index, statuses));
    REFUSED(MPI_Testall(LISTED, both, &flag, statuses));
    CHECK(!flag);
    REFUSED(MPI_Request_get_status_all(LISTED, both, &flag, statuses));
    CHECK(!flag);
    REFUSED(MPI_Testany(LISTED, both, &index, &flag, &status));
    REFUSED(MPI_Testsome(LISTED, both, &count, &index, statuses));
    is_untouched(statuses, STATUSES);
    REFUSED(MPI_Cancel(&begun));
    CHECK(begun != MPI_REQUEST_NULL);
}

/* What is allowed by no text, but done by many programs, and harms nobody. */
static void handles(MPI_Datatype datatype) {
    int bytes = 0, ranks = 0;
    MPI_Aint low = 0, extent = 0;
    OK(MPI_Type_size(datatype, &bytes));
    OK(MPI_Type_get_extent(datatype, &low, &extent));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    CHECK(bytes == sizeof(int) && extent == sizeof(int) && ranks == size);
}

static void add(const int *in, int *inout, int len) {
    for (int i = 0; i < len; ++i) inout[i] += in[i];
}

static void calls_all(void *in, void *inout, int *len, MPI_Datatype *datatype) {
    messages();
    collectives();
    requests();
    handles(*datatype);
    ++runs;
    add(in, inout, *len);
}

static void calls_barrier(void *in, void *inout, int *len, MPI_Datatype *datatype) {
    (void)datatype;
    MPI_Barrier(MPI_COMM_SELF);
    add(in, inout, *len);
}

static void calls_finalize(void *in, void *inout, int *len, MPI_Datatype *datatype) {
    (void)datatype;
    MPI_Finalize();
    add(in, inout, *len);
}

/* Reductions in all forms, few elements and many. */
static void reduce_all(MPI_Op op) {
    enum { MANY = 5000 };
    static int from[MANY], into[MANY];
    for (int count = 1; count <= MANY; count += MANY - 1) {
        MPI_Request request;
        for (int i = 0; i < count; ++i) from[i] = 1;
        OK(MPI_Allreduce(from, into, count, MPI_INT, op, MPI_COMM_WORLD));
        CHECK_EQ(into[count - 1], size);
        OK(MPI_Allreduce(from, into, count, MPI_INT, op, MPI_COMM_WORLD));
        CHECK_EQ(into[count - 1], size);
        OK(MPI_Iallreduce(from, into, count, MPI_INT, op, MPI_COMM_WORLD, &request));
        usleep(20000);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(into[count - 1], size);
        OK(MPI_Allreduce_init(from, into, count, MPI_INT, op, MPI_COMM_WORLD, MPI_INFO_NULL,
                              &request));
        for (int turn = 0; turn < 3; ++turn) {
            OK(MPI_Start(&request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            CHECK_EQ(into[count - 1], size);
        }
        OK(MPI_Request_free(&request));
        OK(MPI_Reduce(from, into, count, MPI_INT, op, 0, MPI_COMM_WORLD));
        OK(MPI_Scan(from, into, count, MPI_INT, op, MPI_COMM_WORLD));
        CHECK_EQ(into[count - 1], rank + 1);
        into[0] = 1;
        OK(MPI_Reduce_local(from, into, 1, MPI_INT, op));
        CHECK_EQ(into[0], 2);
    }
}

static void returned(MPI_Op op) {
    int all = 0;
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Irecv(&received, 1, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &begun));
    /* A list that is longer than those of the operator: none of its statuses is told again. */
    MPI_Request none[40];
    for (int i = 0; i < 40; ++i) none[i] = MPI_REQUEST_NULL;
    OK(MPI_Waitall(40, none, MPI_STATUSES_IGNORE));
    OK(MPI_Send_init(&sent, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, &stored));
    reduce_all(op);
    OK(MPI_Allreduce(&runs, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(all > 0);
    /* All is as it was. */
    OK(MPI_Start(&stored));
    OK(MPI_Wait(&stored, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&begun, MPI_STATUS_IGNORE));
    CHECK_EQ(received, sent);
    OK(MPI_Request_free(&stored));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    MPI_Op op;
    CHECK(argc == 2);
    alarm(60);
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    int is_returned = strcmp(argv[1], "returned") == 0 || strcmp(argv[1], "helped") == 0;
    int finalizes = strcmp(argv[1], "finalize") == 0;
    OK(MPI_Op_create(is_returned ? calls_all : finalizes ? calls_finalize : calls_barrier, 1, &op));
    if (is_returned) {
        returned(op);
    } else {
        int one = 1, two = 0;
        /* On one rank there is nothing to combine but by this. */
        MPI_Reduce_local(&one, &two, 1, MPI_INT, op);
        MPI_Allreduce(&one, &two, 1, MPI_INT, op, MPI_COMM_WORLD);
    }
    OK(MPI_Op_free(&op));
    OK(MPI_Finalize());
    return 0;
}

/* Messages of every mode and form between neighbours in a ring, and what their statuses say.
 *
 * ranks: 1 2 3
 * spec: 28, 30, 32, 35, 61
 */

#include "check.h"

static int rank, size, next, prev;

/* What is in a status before a call that must not look at it or change it. */
static MPI_Status untouched(void) {
    MPI_Status status;
    memset(&status, 0x55, sizeof status);
    return status;
}

static void check_count(const MPI_Status *status, MPI_Datatype type, int expected) {
    int count;
    MPI_Count large, elements;
    OK(MPI_Get_count(status, type, &count));
    CHECK_EQ(count, expected);
    OK(MPI_Get_count_c(status, type, &large));
    CHECK_EQ(large, expected);
    OK(MPI_Get_elements_x(status, type, &elements));
    CHECK_EQ(elements, expected);
}

static void check_received(const MPI_Status *status, int tag) {
    CHECK_EQ(status->MPI_SOURCE, prev);
    CHECK_EQ(status->MPI_TAG, tag);
    CHECK_EQ(status->MPI_ERROR, 0x55555555);
    check_count(status, MPI_INT, 1);
    check_count(status, MPI_BYTE, 4);
    check_count(status, MPI_DOUBLE, MPI_UNDEFINED);
}

/* The empty status. */
static void check_empty(const MPI_Status *status) {
    int flag = 1;
    CHECK_EQ(status->MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(status->MPI_TAG, MPI_ANY_TAG);
    OK(MPI_Test_cancelled(status, &flag));
    CHECK_EQ(flag, 0);
    check_count(status, MPI_DOUBLE, 0);
}

typedef int send_call(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int start_call(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static send_call *const sends[] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
static start_call *const starts[] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
static start_call *const inits[] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init,
                                    MPI_Rsend_init};

static void every_mode(void) {
    for (int mode = 0; mode < 4; mode++) {
        int out = 10 * rank + mode, in = -1;
        MPI_Request receive, send;
        MPI_Status status = untouched();
        OK(MPI_Irecv(&in, 1, MPI_INT, prev, mode, MPI_COMM_WORLD, &receive));
        OK(MPI_Barrier(MPI_COMM_WORLD)); /* For the ready mode. */
        OK(sends[mode](&out, 1, MPI_INT, next, mode, MPI_COMM_WORLD));
        OK(MPI_Wait(&receive, &status));
        CHECK(receive == MPI_REQUEST_NULL);
        CHECK_EQ(in, 10 * prev + mode);
        check_received(&status, mode);

        in = -1;
        status = untouched();
        OK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receive));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(starts[mode](&out, 1, MPI_INT, next, mode, MPI_COMM_WORLD, &send));
        for (int flag = 0; !flag;) OK(MPI_Test(&receive, &flag, &status));
        CHECK(receive == MPI_REQUEST_NULL);
        check_received(&status, mode);
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK(send == MPI_REQUEST_NULL);

        OK(MPI_Recv_init(&in, 1, MPI_INT, prev, mode, MPI_COMM_WORLD, &receive));
        OK(inits[mode](&out, 1, MPI_INT, next, mode, MPI_COMM_WORLD, &send));
        for (int round = 0; round < 10; round++) {
            MPI_Request was = receive;
            out = 1000 * rank + 10 * round + mode;
            OK(MPI_Start(&receive));
            OK(MPI_Barrier(MPI_COMM_WORLD));
            OK(MPI_Start(&send));
            status = untouched();
            OK(MPI_Wait(&receive, &status));
            check_received(&status, mode);
            OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
            CHECK_EQ(in, 1000 * prev + 10 * round + mode);
            CHECK(receive == was);
            OK(MPI_Wait(&receive, &status));
            check_empty(&status);
        }
        OK(MPI_Request_free(&receive));
        OK(MPI_Request_free(&send));
        CHECK(receive == MPI_REQUEST_NULL && send == MPI_REQUEST_NULL);
    }
}

static void exchanges(void) {
    int out = rank, in = -1;
    MPI_Request request;
    MPI_Status status = untouched();
    OK(MPI_Sendrecv(&out, 1, MPI_INT, next, 3, &in, 1, MPI_INT, prev, 3, MPI_COMM_WORLD,
                    &status));
    CHECK_EQ(in, prev);
    check_received(&status, 3);
    in = -1;
    status = untouched();
    OK(MPI_Isendrecv(&out, 1, MPI_INT, next, 3, &in, 1, MPI_INT, MPI_ANY_SOURCE, 3,
                     MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, &status));
    CHECK_EQ(in, prev);
    check_received(&status, 3);
    status = untouched();
    OK(MPI_Sendrecv_replace(&out, 1, MPI_INT, next, 3, prev, MPI_ANY_TAG, MPI_COMM_WORLD,
                            &status));
    CHECK_EQ(out, prev);
    check_received(&status, 3);
    OK(MPI_Isendrecv_replace(&out, 1, MPI_INT, prev, 3, next, 3, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(out, rank);
}

static void nobody(void) {
    int in = 5, flag = 0;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    OK(MPI_Send(&in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    OK(MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
    check_count(&status, MPI_INT, 0);
    OK(MPI_Iprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &status));
    CHECK(flag && status.MPI_SOURCE == MPI_PROC_NULL);
    OK(MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status));
    CHECK(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL);
    OK(MPI_Mrecv(&in, 1, MPI_INT, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == MPI_PROC_NULL);
    message = MPI_MESSAGE_NO_PROC;
    OK(MPI_Imrecv(&in, 1, MPI_INT, &message, &request));
    CHECK(message == MPI_MESSAGE_NULL);
    OK(MPI_Wait(&request, &status));
    CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(in, 5);
}

static void probes(void) {
    int out = rank, in = -1, flag = 1;
    MPI_Request send, receive;
    MPI_Message message, stale;
    MPI_Status status = untouched();
    OK(MPI_Isend(&out, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &send));
    OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    check_received(&status, 4);
    OK(MPI_Iprobe(prev, 4, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(flag);
    status = untouched();
    OK(MPI_Mprobe(prev, 4, MPI_COMM_WORLD, &message, &status));
    check_received(&status, 4);
    OK(MPI_Iprobe(prev, 4, MPI_COMM_WORLD, &flag, &status));
    CHECK(!flag); /* Nobody else sees it any more. */
    stale = message;
    ERR(MPI_Mrecv(&in, -1, MPI_INT, &message, &status), MPI_ERR_COUNT);
    status = untouched();
    OK(MPI_Mrecv(&in, 1, MPI_INT, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK_EQ(in, prev);
    check_received(&status, 4);
    ERR(MPI_Mrecv(&in, 1, MPI_INT, &stale, &status), MPI_ERR_REQUEST);
    ERR(MPI_Mrecv(&in, 1, MPI_INT, &message, &status), MPI_ERR_REQUEST);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));

    in = -1;
    OK(MPI_Isend(&out, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &send));
    for (flag = 0; !flag;) {
        status = untouched();
        OK(MPI_Improbe(prev, 5, MPI_COMM_WORLD, &flag, &message, &status));
        CHECK_EQ(flag, message != MPI_MESSAGE_NULL);
    }
    check_received(&status, 5);
    OK(MPI_Imrecv(&in, 1, MPI_INT, &message, &receive));
    OK(MPI_Wait(&receive, &status));
    check_received(&status, 5);
    CHECK_EQ(in, prev);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

/* Data at an absolute address; a request that is freed before its message has gone. */
static void from_the_bottom(void) {
    int in = -1, one = 1, *out = malloc(sizeof *out);
    MPI_Aint at;
    MPI_Datatype int_type = MPI_INT, absolute;
    MPI_Request request;
    *out = rank;
    OK(MPI_Get_address(out, &at));
    OK(MPI_Type_create_struct(1, &one, &at, &int_type, &absolute));
    ERR(MPI_Send(MPI_BOTTOM, 1, absolute, next, 6, MPI_COMM_WORLD), MPI_ERR_TYPE);
    OK(MPI_Type_commit(&absolute));
    OK(MPI_Isend(MPI_BOTTOM, 1, absolute, next, 6, MPI_COMM_WORLD, &request));
    OK(MPI_Type_free(&absolute));
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL);
    OK(MPI_Recv(&in, 1, MPI_INT, prev, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(in, prev);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    free(out);
}

static void cancelled_receives(void) {
    int in = -1, flag = 0;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Irecv(&in, 1, MPI_INT, prev, 99, MPI_COMM_WORLD, &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag && request == MPI_REQUEST_NULL);
}

static void statuses(void) {
    MPI_Status status = untouched();
    int value = 0;
    OK(MPI_Status_set_source(&status, 7));
    OK(MPI_Status_set_tag(&status, 8));
    OK(MPI_Status_set_error(&status, MPI_ERR_TAG));
    OK(MPI_Status_get_source(&status, &value));
    CHECK_EQ(value, 7);
    OK(MPI_Status_get_tag(&status, &value));
    CHECK_EQ(value, 8);
    OK(MPI_Status_get_error(&status, &value));
    CHECK_EQ(value, MPI_ERR_TAG);
    OK(MPI_Status_set_elements(&status, MPI_DOUBLE, 10));
    check_count(&status, MPI_DOUBLE, 10);
    OK(MPI_Status_set_elements_c(&status, MPI_DOUBLE, (MPI_Count)1 << 40));
    OK(MPI_Get_count(&status, MPI_DOUBLE, &value));
    CHECK_EQ(value, MPI_UNDEFINED);
    MPI_Count large;
    OK(MPI_Get_count_c(&status, MPI_DOUBLE, &large));
    CHECK_EQ(large, (MPI_Count)1 << 40);
    ERR(MPI_Status_set_elements(&status, MPI_DOUBLE, -1), MPI_ERR_COUNT);
    OK(MPI_Status_set_cancelled(&status, 1));
    OK(MPI_Test_cancelled(&status, &value));
    CHECK_EQ(value, 1);
    ERR(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &value), MPI_ERR_ARG);
    ERR(MPI_Get_count(&status, MPI_DATATYPE_NULL, &value), MPI_ERR_TYPE);
}

/* Receives of which no other is posted, and which others join: whatever comes first, each gets its
 * own message. */
static void alone(void) {
    enum { LONG = 300000 };
    static char sent[LONG], got[LONG];
    int values[4] = {1, 2, 3, 4}, first[2] = {0, 0}, second[2] = {0, 0}, flag;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request, other;
    MPI_Status status = untouched();
    /* Another message comes before its own. */
    OK(MPI_Irecv(first, 1, MPI_INT, prev, 1, world, &request));
    OK(MPI_Send(&values[1], 1, MPI_INT, next, 2, world));
    OK(MPI_Send(&values[0], 1, MPI_INT, next, 1, world));
    OK(MPI_Wait(&request, &status));
    check_received(&status, 1);
    OK(MPI_Recv(second, 1, MPI_INT, prev, 2, world, MPI_STATUS_IGNORE));
    CHECK(first[0] == 1 && second[0] == 2);
    /* Others join: of one tag the first gets the first message. */
    OK(MPI_Irecv(first, 1, MPI_INT, prev, 3, world, &request));
    OK(MPI_Irecv(second, 1, MPI_INT, MPI_ANY_SOURCE, 3, world, &other));
    OK(MPI_Send(&values[2], 1, MPI_INT, next, 3, world));
    OK(MPI_Send(&values[3], 1, MPI_INT, next, 3, world));
    OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(first[0] == 3 && second[0] == 4);
    /* A blocking receive joins, and a probe, and a collective. */
    OK(MPI_Irecv(first, 1, MPI_INT, prev, 4, world, &request));
    OK(MPI_Iprobe(prev, 5, world, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Barrier(world));
    OK(MPI_Send(&values[0], 1, MPI_INT, next, 4, world));
    OK(MPI_Send(&values[1], 1, MPI_INT, next, 4, world));
    OK(MPI_Recv(second, 1, MPI_INT, prev, 4, world, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(world));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(first[0] == 1 && second[0] == 2);
    /* Too much, nothing, and a lot. */
    OK(MPI_Irecv(first, 1, MPI_INT, prev, 6, world, &request));
    OK(MPI_Send(values, 2, MPI_INT, next, 6, world));
    ERR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK(request == MPI_REQUEST_NULL && first[0] == 1 && first[1] == 0);
    OK(MPI_Irecv(NULL, 0, MPI_INT, prev, 7, world, &request));
    OK(MPI_Send(NULL, 0, MPI_INT, next, 7, world));
    OK(MPI_Wait(&request, &status));
    check_count(&status, MPI_INT, 0);
    memset(sent, 7, LONG);
    OK(MPI_Irecv(got, LONG, MPI_CHAR, prev, 8, world, &request));
    OK(MPI_Send(sent, LONG, MPI_CHAR, next, 8, world));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(memcmp(sent, got, LONG) == 0);
    /* One that runs again and again, and one that is cancelled. */
    OK(MPI_Recv_init(first, 1, MPI_INT, prev, 9, world, &request));
    for (int each = 0; each < 4; each++) {
        OK(MPI_Start(&request));
        OK(MPI_Send(&values[each], 1, MPI_INT, next, 9, world));
        OK(MPI_Wait(&request, &status));
        CHECK(request != MPI_REQUEST_NULL && first[0] == values[each] && status.MPI_TAG == 9);
    }
    OK(MPI_Request_free(&request));
    OK(MPI_Irecv(first, 1, MPI_INT, prev, 10, world, &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
    OK(MPI_Barrier(world));
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    next = (rank + 1) % size;
    prev = (rank + size - 1) % size;
    OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    every_mode();
    exchanges();
    nobody();
    probes();
    from_the_bottom();
    cancelled_receives();
    alone();
    statuses();
    void *buffer;
    int bytes;
    OK(MPI_Buffer_detach(&buffer, &bytes));
    return MPI_Finalize();
}

/* A message that is longer than its receive: the error is that of truncation, and the status tells
 * who sent it and as what, whichever call completes the receive; nothing is written.
 *
 * ranks: 1 2 3
 * seconds: 90
 * spec: 28, 63
 */

#include "check.h"

enum { MOST = 100000, TAG = 37 };

static int rank, size, next, prev;
static int sent[MOST], room[MOST];

/* Completes one receive; says with which error. */
typedef int completion(MPI_Request *request, MPI_Status *status);

static int by_wait(MPI_Request *request, MPI_Status *status) {
    return MPI_Wait(request, status);
}

static int by_test(MPI_Request *request, MPI_Status *status) {
    int flag = 0, code = MPI_SUCCESS;
    while (!flag) code = MPI_Test(request, &flag, status);
    return code;
}

static int by_get_status(MPI_Request *request, MPI_Status *status) {
    int flag = 0, code = MPI_SUCCESS;
    while (!flag) code = MPI_Request_get_status(*request, &flag, status);
    ERR(MPI_Wait(request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    return code;
}

static int by_waitany(MPI_Request *request, MPI_Status *status) {
    int index = -5;
    MPI_Request list[2] = {MPI_REQUEST_NULL, *request};
    int code = MPI_Waitany(2, list, &index, status);
    CHECK_EQ(index, 1);
    *request = list[1];
    return code;
}

static int by_testany(MPI_Request *request, MPI_Status *status) {
    int index = -5, flag = 0, code = MPI_SUCCESS;
    while (!flag) code = MPI_Testany(1, request, &index, &flag, status);
    CHECK_EQ(index, 0);
    return code;
}

/* What a call on several says: that there are errors, and which are in the statuses. */
static int within(int code, const MPI_Status *status) {
    ERR(code, MPI_ERR_IN_STATUS);
    return status->MPI_ERROR;
}

static int by_waitall(MPI_Request *request, MPI_Status *status) {
    int in = 0;
    MPI_Status both[2];
    MPI_Request list[2] = {MPI_REQUEST_NULL, *request};
    OK(MPI_Irecv(&in, 1, MPI_INT, 0, 99, MPI_COMM_SELF, &list[0]));
    OK(MPI_Send(&rank, 1, MPI_INT, 0, 99, MPI_COMM_SELF));
    int code = within(MPI_Waitall(2, list, both), &both[1]);
    CHECK(both[0].MPI_ERROR == MPI_SUCCESS && both[0].MPI_TAG == 99 && in == rank);
    *request = list[1];
    *status = both[1];
    return code;
}

static int by_testall(MPI_Request *request, MPI_Status *status) {
    int flag = 0, code = MPI_SUCCESS;
    while (!flag) code = MPI_Testall(1, request, &flag, status);
    return within(code, status);
}

static int by_waitsome(MPI_Request *request, MPI_Status *status) {
    int count = -5, index = -5;
    int code = MPI_Waitsome(1, request, &count, &index, status);
    CHECK(count == 1 && index == 0);
    return within(code, status);
}

static int by_testsome(MPI_Request *request, MPI_Status *status) {
    int count = 0, index = -5, code = MPI_SUCCESS;
    while (count == 0) code = MPI_Testsome(1, request, &count, &index, status);
    CHECK(count == 1 && index == 0);
    return within(code, status);
}

static int by_get_status_all(MPI_Request *request, MPI_Status *status) {
    int flag = 0, code = MPI_SUCCESS;
    while (!flag) code = MPI_Request_get_status_all(1, request, &flag, status);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    return within(code, status);
}

static int by_get_status_any(MPI_Request *request, MPI_Status *status) {
    int flag = 0, index = -5, code = MPI_SUCCESS;
    while (!flag) code = MPI_Request_get_status_any(1, request, &index, &flag, status);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    return code;
}

static int by_get_status_some(MPI_Request *request, MPI_Status *status) {
    int count = 0, index = -5, code = MPI_SUCCESS;
    while (count == 0) code = MPI_Request_get_status_some(1, request, &count, &index, status);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    return within(code, status);
}

static completion *const COMPLETIONS[] = {
    by_wait,     by_test,     by_get_status,     by_waitany,        by_testany,        by_waitall,
    by_testall,  by_waitsome, by_testsome,       by_get_status_all, by_get_status_any,
    by_get_status_some,
};

static void forget(MPI_Status *status) {
    memset(status, 0x55, sizeof *status);
    for (int i = 0; i < MOST; i++) room[i] = -1;
}

static void check(int code, const MPI_Status *status, int tag) {
    int count = -5;
    ERR(code, MPI_ERR_TRUNCATE);
    CHECK_EQ(status->MPI_SOURCE, prev);
    CHECK_EQ(status->MPI_TAG, tag);
    OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK_EQ(count, 0);
    for (int i = 0; i < MOST; i++) CHECK(room[i] == -1);
}

/* Receives that make a request: of any sender or of this one, before the message or after it. */
static void nonblocking(int count, completion *complete, int any) {
    MPI_Request send, receive;
    MPI_Status status;
    int source = any ? MPI_ANY_SOURCE : prev, tag = any ? MPI_ANY_TAG : TAG;
    for (int form = 0; form < 4; form++) {
        int flag = 0;
        MPI_Message message;
        forget(&status);
        if (form == 1) {
            OK(MPI_Irecv(room, count / 2, MPI_INT, source, tag, MPI_COMM_WORLD, &receive));
        }
        if (form == 2) {
            OK(MPI_Recv_init(room, count / 2, MPI_INT, source, tag, MPI_COMM_WORLD, &receive));
            OK(MPI_Start(&receive));
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Isend(sent, count, MPI_INT, next, TAG, MPI_COMM_WORLD, &send));
        while (form == 0 && !flag) OK(MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &status));
        if (form == 0) {
            OK(MPI_Irecv(room, count / 2, MPI_INT, source, tag, MPI_COMM_WORLD, &receive));
        }
        if (form == 3) {
            OK(MPI_Mprobe(source, tag, MPI_COMM_WORLD, &message, &status));
            OK(MPI_Imrecv(room, count / 2, MPI_INT, &message, &receive));
        }
        forget(&status);
        check(complete(&receive, &status), &status, TAG);
        if (form == 2) OK(MPI_Request_free(&receive));
        CHECK(receive == MPI_REQUEST_NULL);
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
}

/* Calls that wait themselves. */
static void blocking(int count) {
    MPI_Request send;
    MPI_Status status;
    MPI_Message message;
    OK(MPI_Isend(sent, count, MPI_INT, next, TAG, MPI_COMM_WORLD, &send));
    forget(&status);
    check(MPI_Recv(room, count / 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status),
          &status, TAG);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Isend(sent, count, MPI_INT, next, TAG, MPI_COMM_WORLD, &send));
    forget(&status);
    check(MPI_Recv(room, count / 2, MPI_INT, prev, TAG, MPI_COMM_WORLD, &status), &status, TAG);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Isend(sent, count, MPI_INT, next, TAG, MPI_COMM_WORLD, &send));
    OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    forget(&status);
    check(MPI_Mrecv(room, count / 2, MPI_INT, &message, &status), &status, TAG);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    forget(&status);
    check(MPI_Sendrecv(sent, count, MPI_INT, next, 40, room, count / 2, MPI_INT, MPI_ANY_SOURCE, 40,
                       MPI_COMM_WORLD, &status),
          &status, 40);
    forget(&status);
    OK(MPI_Isendrecv(sent, count, MPI_INT, next, 41, room, count / 2, MPI_INT, MPI_ANY_SOURCE, 41,
                     MPI_COMM_WORLD, &send));
    check(MPI_Wait(&send, &status), &status, 41);
}

int main(int argc, char **argv) {
    static const int COUNTS[] = {4, 900, MOST};
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    next = (rank + 1) % size;
    prev = (rank + size - 1) % size;
    for (int length = 0; length < 3; length++) {
        for (size_t i = 0; i < sizeof COMPLETIONS / sizeof *COMPLETIONS; i++) {
            nonblocking(COUNTS[length], COMPLETIONS[i], 0);
            nonblocking(COUNTS[length], COMPLETIONS[i], 1);
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
        blocking(COUNTS[length]);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_Finalize());
    return 0;
}

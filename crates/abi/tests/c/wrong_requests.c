/* Requests that are used in a wrong way: the class of the error is that of requests, and the
 * operation goes on unharmed.
 *
 * ranks: 1 2
 * spec: 46, 57, 58, 59, 60
 */

#include "wrong.h"

static int rank, size, flag, n, indices[4], one, all, buffer[4];
static MPI_Status status, statuses[4];

/* What is neither started nor waited for, nor freed. */
static void as_request(MPI_Request request) {
    MPI_Request copy = request, two[2] = {MPI_REQUEST_NULL, request};
    ERR(MPI_Wait(&copy, &status), MPI_ERR_REQUEST);
    ERR(MPI_Test(&copy, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    ERR(MPI_Waitall(2, two, statuses), MPI_ERR_REQUEST);
    ERR(MPI_Testall(2, two, &flag, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    ERR(MPI_Waitany(2, two, &n, &status), MPI_ERR_REQUEST);
    ERR(MPI_Testany(2, two, &n, &flag, &status), MPI_ERR_REQUEST);
    ERR(MPI_Waitsome(2, two, &n, indices, statuses), MPI_ERR_REQUEST);
    ERR(MPI_Testsome(2, two, &n, indices, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    ERR(MPI_Request_get_status(copy, &flag, &status), MPI_ERR_REQUEST);
    ERR(MPI_Request_get_status_all(2, two, &flag, statuses), MPI_ERR_REQUEST);
    ERR(MPI_Request_get_status_any(2, two, &n, &flag, &status), MPI_ERR_REQUEST);
    ERR(MPI_Request_get_status_some(2, two, &n, indices, statuses), MPI_ERR_REQUEST);
    ERR(MPI_Start(&copy), MPI_ERR_REQUEST);
    ERR(MPI_Startall(1, &copy), MPI_ERR_REQUEST);
    ERR(MPI_Cancel(&copy), MPI_ERR_REQUEST);
    ERR(MPI_Request_free(&copy), MPI_ERR_REQUEST);
    ERR(MPI_Grequest_complete(copy), MPI_ERR_REQUEST);
    ERR(MPI_Parrived(copy, 0, &flag), MPI_ERR_REQUEST);
    ERR(MPI_Pready(0, copy), MPI_ERR_REQUEST);
    CHECK(copy == request && two[1] == request);
}

/* A nonblocking collective is neither started nor cancelled, whether it has ended or not. */
static void nonblocking(void) {
    MPI_Request request, partly[2];
    for (int turn = 0; turn < 2; turn++) {
        OK(MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
        MPI_Request before = request;
        if (turn) {
            for (flag = 0; !flag;) OK(MPI_Request_get_status(request, &flag, &status));
        }
        ERR(MPI_Cancel(&request), MPI_ERR_REQUEST);
        ERR(MPI_Start(&request), MPI_ERR_REQUEST);
        ERR(MPI_Startall(1, &request), MPI_ERR_REQUEST);
        ERR(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
        CHECK(request == before);
        all = -1;
        OK(MPI_Wait(&request, &status));
        CHECK(request == MPI_REQUEST_NULL);
        as_request(before);
    }
    /* A message is not started either; but it may be freed. */
    OK(MPI_Isend(buffer, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &partly[0]));
    ERR(MPI_Start(&partly[0]), MPI_ERR_REQUEST);
    OK(MPI_Irecv(buffer + 1, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &partly[1]));
    OK(MPI_Request_free(&partly[0]));
    CHECK(partly[0] == MPI_REQUEST_NULL);
    OK(MPI_Wait(&partly[1], &status));
    CHECK_EQ(buffer[1], buffer[0]);
}

/* Misuse of a persistent operation, then a right use of it. */
static void misuse(MPI_Request *request, int is_collective) {
    MPI_Request before = *request;
    if (is_collective) ERR(MPI_Cancel(request), MPI_ERR_REQUEST);
    OK(MPI_Start(request));
    ERR(MPI_Start(request), MPI_ERR_REQUEST);
    ERR(MPI_Startall(1, request), MPI_ERR_REQUEST);
    if (is_collective) {
        ERR(MPI_Cancel(request), MPI_ERR_REQUEST);
    }
    ERR(MPI_Grequest_complete(*request), MPI_ERR_REQUEST);
    CHECK(*request == before);
}

static void persistent(void) {
    MPI_Request request, same[2];
    for (int turn = 0; turn < 3; turn++) {
        OK(MPI_Allreduce_init(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                              &request));
        for (int round = 0; round < turn; round++) {
            all = -1;
            misuse(&request, 1);
            OK(MPI_Wait(&request, &status));
            CHECK_EQ(all, size);
        }
        MPI_Request before = request;
        OK(MPI_Request_free(&request));
        CHECK(request == MPI_REQUEST_NULL);
        as_request(before);
    }
    OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    same[0] = same[1] = request;
    ERR(MPI_Startall(2, same), MPI_ERR_REQUEST);
    OK(MPI_Wait(&request, &status));
    OK(MPI_Request_free(&request));
}

static void persistent_messages(void) {
    MPI_Request send, receive;
    OK(MPI_Send_init(buffer, 1, MPI_INT, (rank + 1) % size, 2, MPI_COMM_WORLD, &send));
    OK(MPI_Recv_init(buffer + 1, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &receive));
    for (int round = 0; round < 2; round++) {
        buffer[0] = 100 + round;
        misuse(&receive, 0);
        misuse(&send, 0);
        OK(MPI_Wait(&send, &status));
        OK(MPI_Wait(&receive, &status));
        CHECK_EQ(buffer[1], 100 + round);
    }
    MPI_Request before = send;
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
    as_request(before);
}

static void null_requests(void) {
    MPI_Request null = MPI_REQUEST_NULL;
    ERR(MPI_Start(&null), MPI_ERR_REQUEST);
    ERR(MPI_Startall(1, &null), MPI_ERR_REQUEST);
    ERR(MPI_Request_free(&null), MPI_ERR_REQUEST);
    ERR(MPI_Cancel(&null), MPI_ERR_REQUEST);
    ERR(MPI_Grequest_complete(null), MPI_ERR_REQUEST);
    CHECK(null == MPI_REQUEST_NULL);
    OK(MPI_Wait(&null, &status));
    OK(MPI_Test(&null, &flag, &status));
}

/* Where there should be requests, there are none at all. */
static void no_places(void) {
    MPI_Request null = MPI_REQUEST_NULL;
    ERR(MPI_Wait(NULL, &status), MPI_ERR_ARG);
    ERR(MPI_Test(NULL, &flag, &status), MPI_ERR_ARG);
    ERR(MPI_Test(&null, NULL, &status), MPI_ERR_ARG);
    ERR(MPI_Waitall(1, NULL, statuses), MPI_ERR_ARG);
    ERR(MPI_Waitany(1, &null, NULL, &status), MPI_ERR_ARG);
    ERR(MPI_Waitsome(1, &null, NULL, indices, statuses), MPI_ERR_ARG);
    ERR(MPI_Start(NULL), MPI_ERR_ARG);
    ERR(MPI_Startall(1, NULL), MPI_ERR_ARG);
    ERR(MPI_Request_free(NULL), MPI_ERR_ARG);
    ERR(MPI_Cancel(NULL), MPI_ERR_ARG);
    ERR(MPI_Request_get_status(null, NULL, &status), MPI_ERR_ARG);
    ERR(MPI_Waitall(-1, &null, statuses), MPI_ERR_COUNT);
    ERR(MPI_Testall(-1, &null, &flag, statuses), MPI_ERR_COUNT);
    ERR(MPI_Waitany(-1, &null, &n, &status), MPI_ERR_COUNT);
    ERR(MPI_Testany(-1, &null, &n, &flag, &status), MPI_ERR_COUNT);
    ERR(MPI_Waitsome(-1, &null, &n, indices, statuses), MPI_ERR_COUNT);
    ERR(MPI_Testsome(-1, &null, &n, indices, statuses), MPI_ERR_COUNT);
    ERR(MPI_Startall(-1, &null), MPI_ERR_COUNT);
    OK(MPI_Startall(0, NULL));
    OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    one = 1;
    buffer[0] = 77;
    collect_wrongs();
    FOR_WRONG(REQUEST, MPI_Request, request) as_request(request);
    free_wrongs();
    nonblocking();
    persistent();
    persistent_messages();
    null_requests();
    no_places();
    OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(all, size);
    OK(MPI_Finalize());
    return 0;
}

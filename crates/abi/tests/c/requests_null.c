/* Requests that are null or inactive, in every call that takes one: which calls return at once with
 * an empty status, and which refuse it.
 *
 * ranks: 1 2
 * spec: 46, 57, 58, 59, 60
 */

#include "check.h"

enum { FORMS = 11 };

static int rank, size, one = 1, all, in[4], out[4];

static void forget(MPI_Status *status, int count) {
    memset(status, 0x55, count * sizeof *status);
}

static void check_empty(const MPI_Status *status) {
    int count = -5, cancelled = 1;
    CHECK_EQ(status->MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(status->MPI_TAG, MPI_ANY_TAG);
    OK(MPI_Get_count(status, MPI_INT, &count));
    OK(MPI_Test_cancelled(status, &cancelled));
    CHECK(count == 0 && !cancelled);
}

/* The calls that pass it over. */
static void complete(MPI_Request request) {
    MPI_Request place = request, list[2] = {request, MPI_REQUEST_NULL};
    MPI_Status status, both[2];
    int flag = 0, n = -5, indices[2];
    forget(&status, 1);
    OK(MPI_Wait(&place, &status));
    check_empty(&status);
    forget(&status, 1);
    OK(MPI_Test(&place, &flag, &status));
    CHECK(flag);
    check_empty(&status);
    flag = 0;
    forget(&status, 1);
    OK(MPI_Request_get_status(place, &flag, &status));
    CHECK(flag);
    check_empty(&status);
    forget(&status, 1);
    OK(MPI_Waitany(2, list, &n, &status));
    CHECK_EQ(n, MPI_UNDEFINED);
    check_empty(&status);
    n = flag = 0;
    forget(&status, 1);
    OK(MPI_Testany(2, list, &n, &flag, &status));
    CHECK(n == MPI_UNDEFINED && flag);
    check_empty(&status);
    n = flag = 0;
    OK(MPI_Request_get_status_any(2, list, &n, &flag, &status));
    CHECK(n == MPI_UNDEFINED && flag);
    forget(both, 2);
    OK(MPI_Waitall(2, list, both));
    check_empty(&both[0]);
    check_empty(&both[1]);
    flag = 0;
    forget(both, 2);
    OK(MPI_Testall(2, list, &flag, both));
    CHECK(flag);
    check_empty(&both[0]);
    flag = 0;
    OK(MPI_Request_get_status_all(2, list, &flag, both));
    CHECK(flag);
    OK(MPI_Waitsome(2, list, &n, indices, both));
    CHECK_EQ(n, MPI_UNDEFINED);
    n = 0;
    OK(MPI_Testsome(2, list, &n, indices, both));
    CHECK_EQ(n, MPI_UNDEFINED);
    n = 0;
    OK(MPI_Request_get_status_some(2, list, &n, indices, both));
    CHECK_EQ(n, MPI_UNDEFINED);
    OK(MPI_Wait(&place, MPI_STATUS_IGNORE));
    OK(MPI_Waitall(2, list, MPI_STATUSES_IGNORE));
    CHECK(place == request && list[0] == request);
}

static void null(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    int flag = 0, listed = 0;
    complete(request);
    OK(MPI_Parrived(request, 0, &flag));
    CHECK_EQ(flag, 1);
    ERR(MPI_Pready(0, request), MPI_ERR_REQUEST);
    ERR(MPI_Pready_range(0, 0, request), MPI_ERR_REQUEST);
    ERR(MPI_Pready_list(1, &listed, request), MPI_ERR_REQUEST);
    ERR(MPI_Start(&request), MPI_ERR_REQUEST);
    ERR(MPI_Startall(1, &request), MPI_ERR_REQUEST);
    ERR(MPI_Request_free(&request), MPI_ERR_REQUEST);
    ERR(MPI_Cancel(&request), MPI_ERR_REQUEST);
    ERR(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
    CHECK(request == MPI_REQUEST_NULL);
}

/* A persistent operation of each kind, from this rank to itself. */
static MPI_Request make(int form) {
    MPI_Request made;
    MPI_Comm comm = MPI_COMM_SELF;
    switch (form) {
    case 0: OK(MPI_Send_init(out, 1, MPI_INT, 0, 1, comm, &made)); break;
    case 1: OK(MPI_Ssend_init(out, 1, MPI_INT, 0, 1, comm, &made)); break;
    case 2: OK(MPI_Bsend_init(out, 1, MPI_INT, 0, 1, comm, &made)); break;
    case 3: OK(MPI_Rsend_init(out, 1, MPI_INT, 0, 1, comm, &made)); break;
    case 4: OK(MPI_Recv_init(in, 1, MPI_INT, 0, 1, comm, &made)); break;
    case 5: OK(MPI_Recv_init(in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &made)); break;
    case 6: OK(MPI_Psend_init(out, 2, 1, MPI_INT, 0, 1, comm, MPI_INFO_NULL, &made)); break;
    case 7: OK(MPI_Precv_init(in, 2, 1, MPI_INT, 0, 1, comm, MPI_INFO_NULL, &made)); break;
    case 8: OK(MPI_Recv_init(in, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &made)); break;
    case 9: OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &made)); break;
    default:
        OK(MPI_Allreduce_init(&one, &all, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &made));
    }
    return made;
}

static void inactive(int form) {
    MPI_Request request = make(form), before = request;
    int flag = 0;
    complete(request);
    if (form == 7) {
        for (int part = 0; part < 2; part++) {
            flag = 0;
            OK(MPI_Parrived(request, part, &flag));
            CHECK_EQ(flag, 1);
        }
        ERR(MPI_Parrived(request, 2, &flag), MPI_ERR_ARG);
    } else {
        ERR(MPI_Parrived(request, 0, &flag), MPI_ERR_REQUEST);
    }
    ERR(MPI_Pready(0, request), MPI_ERR_REQUEST);
    ERR(MPI_Cancel(&request), MPI_ERR_REQUEST);
    ERR(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
    CHECK(request == before);
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL);
}

/* A collective may be freed when it is known to be complete. */
static void free_complete(int persistent) {
    MPI_Request request;
    int flag = 0;
    all = 0;
    if (persistent) {
        OK(MPI_Allreduce_init(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                              &request));
        OK(MPI_Start(&request));
    } else {
        OK(MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    }
    while (!flag) OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(all, size);
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL);
}

/* One that is under way may not. */
static void free_active(int persistent) {
    MPI_Request request, before;
    if (persistent) OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    if (rank == size - 1) {
        for (int other = 0; other < size - 1; other++) {
            OK(MPI_Recv(in, 1, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
    }
    if (persistent) {
        OK(MPI_Start(&request));
    } else {
        OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    }
    if (rank < size - 1) {
        before = request;
        ERR(MPI_Request_free(&request), MPI_ERR_REQUEST);
        CHECK(request == before);
        OK(MPI_Send(out, 1, MPI_INT, size - 1, 5, MPI_COMM_WORLD));
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (persistent) OK(MPI_Request_free(&request));
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    null();
    for (int form = 0; form < FORMS; form++) inactive(form);
    for (int round = 0; round < 8; round++) {
        free_complete(round % 2);
        free_active(round % 2);
    }
    OK(MPI_Finalize());
    return 0;
}

/* An error handler that leaves the library by `longjmp`: nothing of the call is left behind, so the
 * communicator can be freed, and the program's own code is that of the job.
 *
 * spec: 67
 * ranks: 1 2
 *
 * case: success
 * case: code
 * status: 7
 */

#include <setjmp.h>

#include "check.h"

static jmp_buf back;
static MPI_Errhandler handler;

static void jump(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    longjmp(back, *code);
}

static void jump_session(MPI_Session *session, int *code, ...) {
    (void)session;
    longjmp(back, *code);
}

/* Each of the calls that can go wrong in another way: itself, its request, its list of requests,
 * and the call of the handler by name. */
static void call(int which, MPI_Comm comm, MPI_Session session) {
    int word[4] = {0};
    MPI_Request requests[2];
    MPI_Group group;
    switch (which) {
    case 0:
        MPI_Send(word, 1, MPI_INT, 99, 0, comm);
        break;
    case 1:
        MPI_Irecv(word, 1, MPI_INT, 0, 0, comm, &requests[0]);
        MPI_Send(word, 4, MPI_INT, 0, 0, comm);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Irecv(word, 1, MPI_INT, 0, 0, comm, &requests[0]);
        requests[1] = MPI_REQUEST_NULL;
        MPI_Send(word, 4, MPI_INT, 0, 0, comm);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        break;
    case 3:
        MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
        break;
    case 4:
        MPI_Group_from_session_pset(session, "nothing://", &group);
        break;
    case 5:
        MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
        break;
    }
    CHECK(!"it did not jump");
}

int main(int argc, char **argv) {
    static MPI_Comm comm, all;
    static MPI_Session session;
    static int jumps, which, expected;
    MPI_Errhandler of_sessions;
    CHECK_EQ(argc, 2);
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_create_errhandler(jump, &handler));
    OK(MPI_Session_create_errhandler(jump_session, &of_sessions));
    OK(MPI_Session_init(MPI_INFO_NULL, of_sessions, &session));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_set_errhandler(comm, handler));
    for (which = 0; which < 6; which++) {
        int code = setjmp(back);
        if (code == 0) call(which, comm, session);
        jumps++;
    }
    CHECK_EQ(jumps, 6);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
    /* Of the communicator that nobody frees, too: the rank leaves the world all the same. */
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    if (setjmp(back) == 0) call(0, MPI_COMM_WORLD, MPI_SESSION_NULL);
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Errhandler_free(&of_sessions));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &all));
    OK(MPI_Barrier(all));
    OK(MPI_Comm_free(&all));
    OK(MPI_Finalize());
    expected = strcmp(argv[1], "code") ? 0 : 7;
    return expected;
}

/* Errors that belong to no object go to the handler of MPI_COMM_SELF if the program has set it, and
 * else to that of MPI_COMM_WORLD: a program that sets the handler of all ranks has set this one.
 *
 * spec: 67
 * ranks: 1 2
 *
 * case: world_returns
 * case: world_user
 * case: self_user
 * case: self_back
 * case: after_finalize
 * case: nobody
 * status: 3
 * stderr: MPI_Type_free: a predefined datatype cannot be freed [MPI_ERR_TYPE]
 * stderr: the error handler of communicator "MPI_COMM_WORLD" is MPI_ERRORS_ARE_FATAL
 * stderr: MOTET_INITIAL_ERRHANDLER=mpi_errors_return
 * case: self_fatal
 * status: 3
 * stderr: the error handler of communicator "MPI_COMM_SELF" is MPI_ERRORS_ARE_FATAL
 * case: world_abort
 * status: 3
 * stderr: the error handler of communicator "MPI_COMM_WORLD" is MPI_ERRORS_ABORT
 */

#include "check.h"

static int calls;
static MPI_Comm seen;

static void note(MPI_Comm *comm, int *code, ...) {
    (void)code;
    calls++;
    seen = *comm;
}

/* The one error that each case makes: libraries free this type when they end. */
static int mistake(void) {
    MPI_Datatype type = MPI_CXX_BOOL;
    int code = MPI_Type_free(&type);
    CHECK(type == MPI_CXX_BOOL);
    return code;
}

static void set_user(MPI_Comm comm) {
    MPI_Errhandler handler;
    OK(MPI_Comm_create_errhandler(note, &handler));
    OK(MPI_Comm_set_errhandler(comm, handler));
    OK(MPI_Errhandler_free(&handler));
}

static void told(MPI_Comm comm) {
    calls = 0;
    ERR(mistake(), MPI_ERR_TYPE);
    CHECK_EQ(calls, 1);
    CHECK(seen == comm);
}

int main(int argc, char **argv) {
    CHECK_EQ(argc, 2);
    const char *which = argv[1];
    OK(MPI_Init(&argc, &argv));
    if (strcmp(which, "world_returns") == 0) {
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        ERR(mistake(), MPI_ERR_TYPE);
        /* A handle of nothing and a request of nobody belong to no object either. */
        int size;
        ERR(MPI_Comm_size(MPI_COMM_NULL, &size), MPI_ERR_COMM);
        ERR(MPI_Start(&(MPI_Request){MPI_REQUEST_NULL}), MPI_ERR_REQUEST);
        ERR(MPI_Group_size(MPI_GROUP_NULL, &size), MPI_ERR_GROUP);
    } else if (strcmp(which, "world_user") == 0) {
        set_user(MPI_COMM_WORLD);
        told(MPI_COMM_WORLD);
    } else if (strcmp(which, "self_user") == 0) {
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
        set_user(MPI_COMM_SELF);
        told(MPI_COMM_SELF);
    } else if (strcmp(which, "self_back") == 0) {
        /* Also when the program has set what was there. */
        set_user(MPI_COMM_WORLD);
        OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
        calls = 0;
        ERR(mistake(), MPI_ERR_TYPE);
        CHECK_EQ(calls, 0);
    } else if (strcmp(which, "after_finalize") == 0) {
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        OK(MPI_Finalize());
        CHECK(MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS);
        return 0;
    } else {
        if (strcmp(which, "self_fatal") == 0) {
            OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
            OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
        } else if (strcmp(which, "world_abort") == 0) {
            OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT));
        }
        mistake();
        fprintf(stderr, "the program goes on\n");
        return 98;
    }
    OK(MPI_Finalize());
    return 0;
}

/* How processes begin and end, also where the program is wrong.
 *
 * seconds: 30
 *
 * case: finalize-twice
 * ranks: 0 2
 *
 * case: before
 * ranks: 0 1
 * set: MOTET_INITIAL_ERRHANDLER=mpi_errors_return
 *
 * case: alone-without-finalize
 * ranks: 0
 *
 * case: abort
 * ranks: 1 3
 * status: 7
 * stderr: MPI_Abort on communicator "MPI_COMM_WORLD" with code 7
 * stdout: printed before
 *
 * case: abort-with-atexit
 * ranks: 2
 * status: failure
 * stderr: rank 0: MPI_Abort
 *
 * case: initial-fatal
 * ranks: 2
 * set: MOTET_INITIAL_ERRHANDLER=mpi_errors_abort
 * status: failure
 * stderr: is MPI_ERRORS_ABORT
 *
 * case: initial-return
 * ranks: 2
 * set: MOTET_INITIAL_ERRHANDLER=mpi_errors_return
 *
 * case: wrong-setting
 * ranks: 0 1
 * set: MOTET_CHECK=maybe
 * status: failure
 * stderr: MOTET_CHECK
 *
 * case: active-at-the-end
 * ranks: 2
 * stderr: 5 requests are still active at the end, which no call has completed: irecv, irecv, irecv, …
 * spec: 65
 *
 * case: end-in-thread
 * ranks: 2
 */

#include "check.h"

#include <pthread.h>
#include <unistd.h>

static int is(const char *wanted, const char *name) { return strcmp(wanted, name) == 0; }

static void return_errors(void) {
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
}

static void at_exit(void) { MPI_Finalize(); }

static void *finalize(void *unused) {
    int flag = 1;
    OK(MPI_Is_thread_main(&flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Finalize());
    return unused;
}

/* Errors before MPI_Init; the handler is set by the environment. */
static void before(int argc, char **argv) {
    int size = 0;
    MPI_Errhandler found;
    ERR(MPI_Comm_size(MPI_COMM_WORLD, &size), MPI_ERR_OTHER);
    ERR(MPI_Barrier(MPI_COMM_WORLD), MPI_ERR_OTHER);
    ERR(MPI_Finalize(), MPI_ERR_OTHER);
    ERR(MPI_Error_class(-1, &size), MPI_ERR_ARG);
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found));
    CHECK(found == MPI_ERRORS_RETURN);
    OK(MPI_Finalize());
}

static void finalize_twice(int argc, char **argv) {
    int size;
    OK(MPI_Init(&argc, &argv));
    return_errors();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Finalize());
    ERR(MPI_Finalize(), MPI_ERR_OTHER);
    ERR(MPI_Init(&argc, &argv), MPI_ERR_OTHER);
    ERR(MPI_Comm_size(MPI_COMM_WORLD, &size), MPI_ERR_OTHER);
    MPI_Session session;
    ERR(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_ERR_OTHER);
}

/* Rank 0 goes, the others wait for it. */
static void abort_all(void) {
    int rank;
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    printf("printed before");
    if (rank == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Barrier(MPI_COMM_WORLD);
    pause();
}

int main(int argc, char **argv) {
    const char *wanted = argc > 1 ? argv[1] : "";
    int size = 0, provided;
    pthread_t thread;
    if (is(wanted, "before")) {
        before(argc, argv);
        return 0;
    }
    if (is(wanted, "finalize-twice")) {
        finalize_twice(argc, argv);
        return 0;
    }
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    if (is(wanted, "alone-without-finalize")) {
        return 0;
    } else if (is(wanted, "abort")) {
        abort_all();
    } else if (is(wanted, "abort-with-atexit")) {
        CHECK_EQ(atexit(at_exit), 0);
        abort_all();
    } else if (is(wanted, "initial-fatal")) {
        MPI_Bcast(&size, 1, MPI_INT, 1000, MPI_COMM_WORLD);
    } else if (is(wanted, "initial-return")) {
        ERR(MPI_Bcast(&size, 1, MPI_INT, 1000, MPI_COMM_WORLD), MPI_ERR_ROOT);
    } else if (is(wanted, "active-at-the-end")) {
        MPI_Request request[5];
        for (int i = 0; i < 5; i++) {
            OK(MPI_Irecv(&size, 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &request[i]));
        }
    } else if (is(wanted, "end-in-thread")) {
        CHECK_EQ(pthread_create(&thread, NULL, finalize, NULL), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        return 0;
    }
    OK(MPI_Finalize());
    return 0;
}

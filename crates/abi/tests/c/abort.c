/* MPI_Abort ends the job: one line says so, the code is that of the call, and no other rank hears
 * of it, whatever it does at that moment: none gets an error, none goes on. A fatal error ends the
 * job in the same way, with the code of the error.
 *
 * ranks: 4
 * seconds: 30
 * status: 7
 * never: goes on
 * never: (process
 * once: the job ends
 *
 * case: waiting
 * stderr: rank 1: MPI_Abort on communicator "MPI_COMM_WORLD" with code 7
 * stdout: written before
 * case: waiting_with_errors_returned
 * case: one_rank_of_a_communicator
 * stderr: rank 1: MPI_Abort on communicator "MPI_COMM_SELF" with code 7
 * case: no_communicator
 * case: after_a_free
 * case: stopped
 * case: without_ears
 * case: finalizing
 * case: before_init
 * case: after_finalize
 * case: in_a_handler
 * case: in_an_operator
 * case: in_a_callback
 * case: in_a_thread
 * case: in_a_session
 * case: all_at_once
 * case: two_threads
 * case: many_times
 * case: code
 * ranks: 0 1
 * case: code_zero
 * ranks: 0 1 2
 * status: 1
 * case: code_256
 * ranks: 0 2
 * status: 1
 * case: code_263
 * ranks: 0 2
 * case: code_negative
 * ranks: 0 2
 * status: 255
 * case: fatal_error
 * status: 2
 * stderr: rank 1: MPI_Bcast:
 * case: fatal_errors_on_all
 * status: 2
 * case: errors_abort
 * status: 2
 * stderr: rank 1: MPI_Bcast:
 */

#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define COMM MPI_COMM_WORLD

static int rank = 0, size = 1, a, b;
/* All ranks again: two collectives that wait at once are on two communicators. */
static MPI_Comm again;

static void moment(void) {
    struct timespec moment = {0, 100 * 1000 * 1000};
    nanosleep(&moment, NULL);
}

static void goes_on(const char *after) {
    printf("rank %d goes on after %s\n", rank, after);
    fflush(stdout);
}

/* Waits for rank 1 in as many ways as there are other ranks. */
static void wait_for_one(void) {
    MPI_Request request;
    int flag = 0;
    switch (rank) {
    case 0:
        MPI_Recv(&a, 1, MPI_INT, 1, 0, COMM, MPI_STATUS_IGNORE);
        return goes_on("a receive");
    case 2:
        MPI_Barrier(COMM);
        return goes_on("a barrier");
    default:
        MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, again, &request);
        for (;;) {
            MPI_Iprobe(1, 0, COMM, &flag, MPI_STATUS_IGNORE);
            if (flag) goes_on("a probe");
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            if (flag) return goes_on("a test");
        }
    }
}

static void waiting(void) {
    if (rank == 0) {
        printf("written before\n");
        fflush(stdout);
    }
    OK(MPI_Barrier(COMM));
    moment();
    if (rank == 1) MPI_Abort(COMM, 7);
    wait_for_one();
}

static void waiting_with_errors_returned(void) {
    OK(MPI_Comm_set_errhandler(COMM, MPI_ERRORS_RETURN));
    waiting();
}

static void one_rank_of_a_communicator(void) {
    if (rank == 1) MPI_Abort(MPI_COMM_SELF, 7);
    wait_for_one();
}

static void no_communicator(void) {
    if (rank == 1) MPI_Abort(MPI_COMM_NULL, 7);
    wait_for_one();
}

static void after_a_free(void) {
    MPI_Comm comm, former;
    OK(MPI_Comm_dup(COMM, &comm));
    former = comm;
    OK(MPI_Comm_free(&comm));
    if (rank == 1) MPI_Abort(former, 7);
    wait_for_one();
}

static void stopped(void) {
    if (rank == 2) raise(SIGSTOP);
    moment();
    if (rank == 1) MPI_Abort(COMM, 7);
    wait_for_one();
}

static void without_ears(void) {
    if (rank == 2) signal(SIGTERM, SIG_IGN);
    OK(MPI_Barrier(COMM));
    if (rank == 1) MPI_Abort(COMM, 7);
    wait_for_one();
}

static void finalizing(void) {
    MPI_Request request;
    if (rank == 1) {
        moment();
        MPI_Abort(COMM, 7);
    }
    /* A rank that leaves waits for what it has begun. */
    static int large[1 << 20];
    MPI_Isend(large, 1 << 20, MPI_INT, 1, 0, COMM, &request);
    MPI_Request_free(&request);
    MPI_Finalize();
    goes_on("the end of MPI_Finalize");
}

static void after_finalize(void) {
    if (rank == 0) {
        MPI_Finalize();
        pause();
        goes_on("a pause");
    }
    moment();
    if (rank == 1) MPI_Abort(COMM, 7);
    wait_for_one();
}

static void handler(MPI_Comm *comm, int *code, ...) {
    (void)code;
    MPI_Abort(*comm, 7);
}

static void in_a_handler(void) {
    MPI_Errhandler errhandler;
    OK(MPI_Comm_create_errhandler(handler, &errhandler));
    OK(MPI_Comm_set_errhandler(COMM, errhandler));
    if (rank == 1) MPI_Send(&a, 1, MPI_INT, size, 0, COMM);
    wait_for_one();
}

static void operator(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)in, (void)inout, (void)len, (void)type;
    MPI_Abort(COMM, 7);
}

static void in_an_operator(void) {
    MPI_Op op;
    OK(MPI_Op_create(operator, 0, &op));
    OK(MPI_Comm_set_errhandler(COMM, MPI_ERRORS_RETURN));
    MPI_Allreduce(&a, &b, 1, MPI_INT, op, COMM);
    goes_on("a reduction");
}

static int deleted(MPI_Comm comm, int key, void *value, void *extra) {
    (void)key, (void)value, (void)extra;
    MPI_Abort(comm, 7);
    return MPI_SUCCESS;
}

static void in_a_callback(void) {
    int key;
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL));
    if (rank != 1) wait_for_one();
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, &a));
    MPI_Finalize();
    goes_on("MPI_Finalize");
}

static void *aborting(void *code) {
    moment();
    MPI_Abort(COMM, *(int *)code);
    return NULL;
}

static void in_a_thread(void) {
    pthread_t thread;
    int code = 7;
    if (rank == 1) CHECK_EQ(pthread_create(&thread, NULL, aborting, &code), 0);
    MPI_Recv(&a, 1, MPI_INT, (rank + 1) % size, 0, COMM, MPI_STATUS_IGNORE);
    goes_on("a receive");
}

static void two_threads(void) {
    pthread_t thread[2];
    int code = 7;
    if (rank == 1)
        for (int i = 0; i < 2; i++)
            CHECK_EQ(pthread_create(&thread[i], NULL, aborting, &code), 0);
    MPI_Recv(&a, 1, MPI_INT, (rank + 1) % size, 0, COMM, MPI_STATUS_IGNORE);
    goes_on("a receive");
}

static void in_a_session(void) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Comm_rank(comm, &rank));
    if (rank == 1) MPI_Abort(comm, 7);
    MPI_Barrier(comm);
    goes_on("a barrier");
}

/* The first of them counts: all have the same code, so that it is known. */
static void all_at_once(void) {
    OK(MPI_Barrier(COMM));
    MPI_Abort(COMM, 7);
}

/* One of many codes, and not the one before. */
static void many_times(void) {
    OK(MPI_Barrier(COMM));
    if (rank == 1) MPI_Abort(COMM, 7);
    moment();
    MPI_Abort(COMM, 50 + rank);
}

static void code(void) { MPI_Abort(COMM, 7); }
static void code_zero(void) { MPI_Abort(COMM, 0); }
static void code_256(void) { MPI_Abort(COMM, 256); }
static void code_263(void) { MPI_Abort(COMM, 263); }
static void code_negative(void) { MPI_Abort(COMM, -1); }

static void fatal_error(void) {
    OK(MPI_Barrier(COMM));
    if (rank == 1) MPI_Bcast(&a, -1, MPI_INT, 0, COMM);
    OK(MPI_Comm_set_errhandler(COMM, MPI_ERRORS_RETURN));
    wait_for_one();
}

static void fatal_errors_on_all(void) {
    OK(MPI_Barrier(COMM));
    MPI_Bcast(&a, -1, MPI_INT, 0, COMM);
    goes_on("an error");
}

static void errors_abort(void) {
    OK(MPI_Comm_set_errhandler(COMM, rank == 1 ? MPI_ERRORS_ABORT : MPI_ERRORS_RETURN));
    if (rank == 1) MPI_Bcast(&a, -1, MPI_INT, 0, COMM);
    wait_for_one();
}

/* Ranks 0 and 3 are in a world that rank 2 has not joined. */
static void before_init(void) {
    const char *me = getenv("MOTET_RANK");
    if (me && atoi(me) == 2) {
        pause();
        goes_on("a pause");
    }
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_rank(COMM, &rank));
    if (rank == 1) {
        moment();
        MPI_Abort(COMM, 7);
    }
    MPI_Recv(&a, 1, MPI_INT, 1, 0, COMM, MPI_STATUS_IGNORE);
    goes_on("a receive");
}

#define CASE(name) {#name, name}
static const struct { const char *name; void (*work)(void); } CASES[] = {
    CASE(waiting), CASE(waiting_with_errors_returned), CASE(one_rank_of_a_communicator),
    CASE(no_communicator), CASE(after_a_free), CASE(stopped), CASE(without_ears), CASE(finalizing),
    CASE(after_finalize), CASE(in_a_handler), CASE(in_an_operator), CASE(in_a_callback),
    CASE(in_a_thread), CASE(two_threads), CASE(all_at_once), CASE(many_times), CASE(code),
    CASE(code_zero), CASE(code_256), CASE(code_263), CASE(code_negative), CASE(fatal_error),
    CASE(fatal_errors_on_all), CASE(errors_abort),
};

int main(int argc, char **argv) {
    int provided;
    CHECK_EQ(argc, 2);
    if (strcmp(argv[1], "before_init") == 0) before_init();
    if (strcmp(argv[1], "in_a_session") == 0) in_a_session();
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(COMM, &rank));
    OK(MPI_Comm_size(COMM, &size));
    OK(MPI_Comm_dup(COMM, &again));
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        if (strcmp(CASES[i].name, argv[1]) == 0) CASES[i].work();
    goes_on("all");
    MPI_Finalize();
    return 0;
}

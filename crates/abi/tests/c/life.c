/* Calls before MPI_Init, after MPI_Finalize, or twice; and the ways in which a program can end.
 *
 * ranks: 2
 * seconds: 30
 *
 * case: before_init
 * status: failure
 * stderr: MPI_Comm_rank: called before MPI_Init
 * case: send_before_init
 * status: failure
 * stderr: MPI_Send: called before MPI_Init
 * case: type_before_init
 * status: failure
 * stderr: MPI_Type_contiguous: called before MPI_Init
 * case: after_finalize
 * status: failure
 * stderr: MPI_Barrier: called after MPI_Finalize
 * case: wait_after_finalize
 * status: failure
 * stderr: MPI_Wait: called after MPI_Finalize
 * case: init_twice
 * status: failure
 * stderr: may be called once
 * case: init_after_finalize
 * status: failure
 * stderr: MPI_Init
 * case: finalize_twice
 * status: failure
 * stderr: MPI_Finalize: called after MPI_Finalize
 * case: finalize_before_init
 * status: failure
 * stderr: MPI_Finalize: called before MPI_Init
 * case: returned_codes
 * status: success
 * case: anytime
 * status: success
 * case: abort
 * status: failure
 * stderr: code 42
 * case: abort_alone
 * status: failure
 * stderr: code 7
 * case: no_finalize
 * status: failure
 * stderr: before leaving the world
 * case: threads
 * status: success
 * case: inactive_requests
 * status: success
 * spec: 64
 * case: exit_code
 * status: failure
 */


#include "check.h"

#define COMM MPI_COMM_WORLD
static int a, b;

static void before_init(void) { MPI_Comm_rank(COMM, &a); }
static void send_before_init(void) { MPI_Send(&a, 1, MPI_INT, 0, 0, COMM); }
static void type_before_init(void) { MPI_Type_contiguous(2, MPI_INT, &(MPI_Datatype){0}); }

static void after_finalize(void) {
    MPI_Init(NULL, NULL);
    MPI_Finalize();
    MPI_Barrier(COMM);
}

static void wait_after_finalize(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Init(NULL, NULL);
    MPI_Finalize();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void init_twice(void) {
    MPI_Init(NULL, NULL);
    MPI_Init(NULL, NULL);
}

static void init_after_finalize(void) {
    MPI_Init(NULL, NULL);
    MPI_Finalize();
    MPI_Init(NULL, NULL);
}

static void finalize_twice(void) {
    MPI_Init(NULL, NULL);
    MPI_Finalize();
    MPI_Finalize();
}

static void finalize_before_init(void) { MPI_Finalize(); }

/* With an error handler that returns, a second init is only an error. */
static void returned_codes(void) {
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    ERR(MPI_Init(NULL, NULL), MPI_ERR_OTHER);
    ERR(MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &a), MPI_ERR_OTHER);
    OK(MPI_Barrier(COMM));
    OK(MPI_Finalize());
}

/* What may be called at any time. */
static void whenever(void) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Info info;
    int code, class;
    OK(MPI_Initialized(&a));
    OK(MPI_Finalized(&a));
    OK(MPI_Get_version(&a, &b));
    CHECK_EQ(a, MPI_VERSION);
    CHECK_EQ(b, MPI_SUBVERSION);
    OK(MPI_Get_library_version(text, &a));
    CHECK(strstr(text, "Motet") != NULL);
    CHECK_EQ(a, strlen(text));
    OK(MPI_Abi_get_version(&a, &b));
    CHECK_EQ(a, MPI_ABI_VERSION);
    CHECK_EQ(b, MPI_ABI_SUBVERSION);
    OK(MPI_Error_class(MPI_ERR_RANK, &class));
    CHECK_EQ(class, MPI_ERR_RANK);
    char words[MPI_MAX_ERROR_STRING];
    OK(MPI_Error_string(MPI_ERR_RANK, words, &a));
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_string(code, "of the program"));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "key", "value"));
    OK(MPI_Info_free(&info));
}

static void anytime(void) {
    whenever();
    OK(MPI_Init(NULL, NULL));
    whenever();
    OK(MPI_Finalize());
    whenever();
}

static void abort_all(void) {
    int rank;
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_rank(COMM, &rank));
    if (rank == 1) MPI_Abort(COMM, 42);
    MPI_Recv(&a, 1, MPI_INT, 1, 0, COMM, MPI_STATUS_IGNORE);
}

static void abort_alone(void) {
    int rank;
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_rank(COMM, &rank));
    if (rank == 1) MPI_Abort(MPI_COMM_SELF, 7);
    MPI_Recv(&a, 1, MPI_INT, 1, 0, COMM, MPI_STATUS_IGNORE);
}

static void no_finalize(void) {
    OK(MPI_Init(NULL, NULL));
    exit(0);
}

static void threads(void) {
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &a));
    CHECK_EQ(a, MPI_THREAD_MULTIPLE);
    OK(MPI_Query_thread(&a));
    CHECK_EQ(a, MPI_THREAD_MULTIPLE);
    OK(MPI_Is_thread_main(&a));
    CHECK_EQ(a, 1);
    OK(MPI_Finalize());
}

/* Persistent requests that are not active are freed in the end, whoever forgot them. */
static void inactive_requests(void) {
    MPI_Request requests[3];
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Barrier_init(COMM, MPI_INFO_NULL, &requests[0]));
    OK(MPI_Allreduce_init(&a, &b, 1, MPI_INT, MPI_SUM, COMM, MPI_INFO_NULL, &requests[1]));
    OK(MPI_Recv_init(&a, 1, MPI_INT, MPI_ANY_SOURCE, 0, COMM, &requests[2]));
    OK(MPI_Startall(2, requests));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    OK(MPI_Finalize());
}

/* The code of a program that ends in good order is that of the job. */
static void exit_code(void) {
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Finalize());
    exit(3);
}

#define CASE(name) {#name, name}
static const struct { const char *name; void (*work)(void); } CASES[] = {
    CASE(before_init), CASE(send_before_init), CASE(type_before_init), CASE(after_finalize),
    CASE(wait_after_finalize), CASE(init_twice), CASE(init_after_finalize), CASE(finalize_twice),
    CASE(finalize_before_init), CASE(returned_codes), CASE(anytime), {"abort", abort_all},
    CASE(abort_alone), CASE(no_finalize), CASE(threads), CASE(inactive_requests), CASE(exit_code),
};

int main(int argc, char **argv) {
    CHECK_EQ(argc, 2);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        if (strcmp(CASES[i].name, argv[1])) continue;
        CASES[i].work();
        return 0;
    }
    CHECK(!"a case of this name");
}

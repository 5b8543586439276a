/* Generalized requests: completed by another thread, before and after they are freed, alone and in
 * lists, with functions that fail.
 *
 * ranks: 1 2
 * spec: 31, 101
 */

#include <pthread.h>
#include <unistd.h>

#include "check.h"

/* What was called of one operation, and what its functions return. */
struct operation {
    int queried, freed, cancelled, was_complete;
    int query_code, free_code, cancel_code;
};

static int query(void *state, MPI_Status *status) {
    struct operation *operation = state;
    operation->queried++;
    OK(MPI_Status_set_elements(status, MPI_INT, 3));
    OK(MPI_Status_set_cancelled(status, operation->cancelled));
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = -1;
    return operation->query_code;
}

static int release(void *state) {
    struct operation *operation = state;
    operation->freed++;
    return operation->free_code;
}

static int cancel(void *state, int complete) {
    struct operation *operation = state;
    operation->cancelled = 1;
    operation->was_complete = complete;
    return operation->cancel_code;
}

static MPI_Request start(struct operation *operation) {
    MPI_Request request;
    OK(MPI_Grequest_start(query, release, cancel, operation, &request));
    return request;
}

static void *complete_later(void *request) {
    usleep(20000);
    OK(MPI_Grequest_complete(*(MPI_Request *)request));
    return NULL;
}

static void by_another_thread(void) {
    struct operation operation = {0};
    MPI_Request request = start(&operation), copy = request, list[2];
    MPI_Status status;
    pthread_t thread;
    int flag = 1, count;
    OK(MPI_Test(&request, &flag, &status));
    CHECK(!flag && operation.queried == 0);
    CHECK_EQ(pthread_create(&thread, NULL, complete_later, &copy), 0);
    OK(MPI_Wait(&request, &status));
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK(operation.queried == 1 && operation.freed == 1);
    CHECK(status.MPI_SOURCE == MPI_UNDEFINED && status.MPI_TAG == -1);
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_EQ(count, 3);
    ERR(MPI_Grequest_complete(copy), MPI_ERR_REQUEST);

    OK(MPI_Ibarrier(MPI_COMM_WORLD, &list[0]));
    list[1] = copy = start(&operation);
    CHECK_EQ(pthread_create(&thread, NULL, complete_later, &copy), 0);
    OK(MPI_Waitall(2, list, MPI_STATUSES_IGNORE));
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK(list[0] == MPI_REQUEST_NULL && list[1] == MPI_REQUEST_NULL && operation.freed == 2);
}

static void freed(void) {
    struct operation early = {0}, late = {0};
    MPI_Request request = start(&early), copy = request;
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL && early.freed == 0);
    ERR(MPI_Wait(&copy, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    OK(MPI_Grequest_complete(copy));
    CHECK_EQ(early.freed, 1);
    ERR(MPI_Grequest_complete(copy), MPI_ERR_REQUEST);

    request = copy = start(&late);
    OK(MPI_Grequest_complete(request));
    CHECK_EQ(late.freed, 0);
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL && late.freed == 1 && late.queried == 0);
    ERR(MPI_Grequest_complete(copy), MPI_ERR_REQUEST);
}

static void cancelled(void) {
    struct operation operation = {0};
    MPI_Request request = start(&operation);
    MPI_Status status;
    int flag = 0;
    OK(MPI_Cancel(&request));
    CHECK(operation.cancelled && !operation.was_complete);
    OK(MPI_Grequest_complete(request));
    OK(MPI_Cancel(&request));
    CHECK(operation.was_complete);
    OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(flag && operation.freed == 0);
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag && operation.freed == 1 && operation.queried == 2);
}

static void failing(void) {
    int class, code;
    MPI_Request request, list[2];
    MPI_Status statuses[2];
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    struct operation bad_query = {.query_code = code}, bad_free = {.free_code = code};
    struct operation bad_cancel = {.cancel_code = code}, good = {0};

    request = start(&bad_cancel);
    CHECK_EQ(MPI_Cancel(&request), code);
    OK(MPI_Grequest_complete(request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));

    request = start(&bad_query);
    OK(MPI_Grequest_complete(request));
    CHECK_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), code);
    CHECK(request == MPI_REQUEST_NULL && bad_query.freed == 1);

    request = start(&bad_free);
    OK(MPI_Grequest_complete(request));
    CHECK_EQ(MPI_Request_free(&request), code);

    list[0] = start(&good);
    list[1] = start(&bad_query);
    OK(MPI_Grequest_complete(list[0]));
    OK(MPI_Grequest_complete(list[1]));
    CHECK_EQ(MPI_Waitall(2, list, statuses), MPI_ERR_IN_STATUS);
    CHECK_EQ(statuses[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_EQ(statuses[1].MPI_ERROR, code);
}

static void of_other_kinds(void) {
    MPI_Request request;
    OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    ERR(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
    ERR(MPI_Grequest_complete(MPI_REQUEST_NULL), MPI_ERR_REQUEST);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(void) {
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    by_another_thread();
    freed();
    cancelled();
    failing();
    of_other_kinds();
    return MPI_Finalize();
}

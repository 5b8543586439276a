/* Callbacks that may call the library: error handlers, those of attributes, and those of
 * generalized requests. Whatever they call works, also where a thread of the library moves what is
 * under way.
 *
 * case: plain
 * ranks: 1 2
 *
 * case: helped
 * ranks: 2
 * set: MOTET_PROGRESS=thread
 */

#include "check.h"

#include <unistd.h>

static int rank, size, depth, handled, copied, deleted, queried, freed, cancelled;
static MPI_Comm quiet;

/* Every kind of call: messages, collectives, new communicators, attributes, requests. */
static void use_library(void) {
    int one = rank, sum = 0, flag = 0, key = MPI_KEYVAL_INVALID;
    MPI_Comm copy;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    if (depth > 0) return;
    ++depth;
    OK(MPI_Barrier(quiet));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, quiet));
    CHECK_EQ(sum, size * (size - 1) / 2);
    OK(MPI_Irecv(&sum, 1, MPI_INT, (rank + size - 1) % size, 3, quiet, &requests[0]));
    OK(MPI_Isend(&one, 1, MPI_INT, (rank + 1) % size, 3, quiet, &requests[1]));
    OK(MPI_Waitall(2, requests, statuses));
    CHECK_EQ(sum, (rank + size - 1) % size);
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 4, quiet, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_MAX, quiet, &requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_EQ(sum, size - 1);
    OK(MPI_Comm_dup(quiet, &copy));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Comm_set_attr(copy, key, &one));
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Comm_free(&copy));
    --depth;
}

static void handle(MPI_Comm *comm, int *code, ...) {
    char words[MPI_MAX_ERROR_STRING];
    int len = 0;
    OK(MPI_Comm_size(*comm, &len));
    OK(MPI_Error_string(*code, words, &len));
    use_library();
    ++handled;
}

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *value, void *to, int *flag) {
    (void)key, (void)extra;
    CHECK(comm != MPI_COMM_NULL);
    use_library();
    *(void **)to = value;
    *flag = 1;
    ++copied;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra) {
    (void)key, (void)value, (void)extra;
    CHECK(comm != MPI_COMM_NULL);
    use_library();
    ++deleted;
    return MPI_SUCCESS;
}

static int copy_of_type(MPI_Datatype type, int key, void *extra, void *value, void *to, int *flag) {
    int bytes = 0;
    (void)key, (void)extra;
    OK(MPI_Type_size(type, &bytes));
    use_library();
    *(void **)to = value;
    *flag = 1;
    ++copied;
    return MPI_SUCCESS;
}

static int delete_of_type(MPI_Datatype type, int key, void *value, void *extra) {
    (void)type, (void)key, (void)value, (void)extra;
    use_library();
    ++deleted;
    return MPI_SUCCESS;
}

static int query(void *extra, MPI_Status *status) {
    (void)extra;
    use_library();
    OK(MPI_Status_set_elements(status, MPI_INT, 3));
    OK(MPI_Status_set_cancelled(status, 0));
    status->MPI_SOURCE = 5, status->MPI_TAG = 6;
    ++queried;
    return MPI_SUCCESS;
}

static int free_request(void *extra) {
    (void)extra;
    use_library();
    ++freed;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete) {
    (void)extra, (void)complete;
    use_library();
    ++cancelled;
    return MPI_SUCCESS;
}

static void error_handlers(void) {
    MPI_Errhandler handler;
    MPI_Comm comm;
    MPI_Request request;
    char one[1], two[2] = "a";
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_create_errhandler(handle, &handler));
    OK(MPI_Comm_set_errhandler(comm, handler));
    ERR(MPI_Send(two, 1, MPI_CHAR, size + 4, 0, comm), MPI_ERR_RANK);
    ERR(MPI_Bcast(two, 1, MPI_CHAR, size + 4, comm), MPI_ERR_ROOT);
    OK(MPI_Irecv(one, 1, MPI_CHAR, rank, 1, comm, &request));
    OK(MPI_Send(two, 2, MPI_CHAR, rank, 1, comm));
    usleep(20000);
    ERR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    CHECK_EQ(handled, 4);
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Comm_free(&comm));
}

static void attributes(void) {
    int key = MPI_KEYVAL_INVALID, of_type = MPI_KEYVAL_INVALID, value = 1;
    MPI_Comm comm, copy;
    MPI_Datatype type, twin;
    MPI_Request request;
    OK(MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_attr(comm, key, &value));
    OK(MPI_Comm_dup(comm, &copy));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_idup(comm, &copy, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_set_attr(copy, key, &value));
    OK(MPI_Comm_delete_attr(copy, key));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Comm_free(&comm));
    CHECK(copied == 2 && deleted == 4);
    OK(MPI_Type_create_keyval(copy_of_type, delete_of_type, &of_type, NULL));
    OK(MPI_Type_dup(MPI_INT, &type));
    OK(MPI_Type_set_attr(type, of_type, &value));
    OK(MPI_Type_dup(type, &twin));
    OK(MPI_Type_free(&twin));
    OK(MPI_Type_free_keyval(&of_type));
    OK(MPI_Type_free(&type));
    CHECK(copied == 3 && deleted == 6);
}

static void generalized(void) {
    MPI_Request request, both[2];
    MPI_Status status;
    int count = 0, flag = 0, sum = 0, one = 1;
    OK(MPI_Grequest_start(query, free_request, cancel, NULL, &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Test(&request, &flag, &status));
    CHECK(!flag);
    OK(MPI_Grequest_complete(request));
    OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(flag);
    OK(MPI_Wait(&request, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 3 && status.MPI_SOURCE == 5 && status.MPI_TAG == 6);
    CHECK(cancelled == 1 && queried == 2 && freed == 1);
    OK(MPI_Grequest_start(query, free_request, cancel, NULL, &both[0]));
    OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &both[1]));
    OK(MPI_Grequest_complete(both[0]));
    OK(MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
    CHECK(sum == size && queried == 3 && freed == 2);
    OK(MPI_Grequest_start(query, free_request, cancel, NULL, &request));
    MPI_Request other = request;
    OK(MPI_Grequest_complete(request));
    OK(MPI_Request_free(&other));
    CHECK_EQ(freed, 3);
}

int main(int argc, char **argv) {
    int key = MPI_KEYVAL_INVALID;
    alarm(60);
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &quiet));
    error_handlers();
    attributes();
    generalized();
    /* The attributes of MPI_COMM_SELF are deleted when the library still works. */
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &key, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, &key));
    int before = deleted;
    OK(MPI_Finalize());
    CHECK_EQ(deleted, before + 1);
    return 0;
}

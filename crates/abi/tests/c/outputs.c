/* A call that fails leaves the null handle where the caller wanted one, whatever was there: also one
 * that fails late, when its arguments have been found good, or in a callback of the program. What
 * all functions leave there that refuse their arguments, `programs/outputs.rs` tries.
 *
 * spec: 67
 * ranks: 1 2 3
 */

#include "check.h"

#define OLD(type) ((type)(uintptr_t)0x55)

static int size;

static int refuse_comm(MPI_Comm c, int k, void *x, void *in, void *out, int *flag) {
    (void)c, (void)k, (void)x, (void)in, (void)out, (void)flag;
    return MPI_ERR_OTHER;
}

static int refuse_type(MPI_Datatype t, int k, void *x, void *in, void *out, int *flag) {
    (void)t, (void)k, (void)x, (void)in, (void)out, (void)flag;
    return MPI_ERR_OTHER;
}

static MPI_Comm called_with;
static MPI_Comm *watched;

static void watch(MPI_Comm *comm, int *code, ...) {
    (void)code;
    called_with = *comm;
    CHECK(*watched == MPI_COMM_NULL);
}

static void refused_by_callbacks(void) {
    MPI_Comm parent, comm = OLD(MPI_Comm);
    MPI_Datatype pair, type = OLD(MPI_Datatype);
    MPI_Request request = OLD(MPI_Request);
    int key;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    OK(MPI_Comm_create_keyval(refuse_comm, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Comm_set_attr(parent, key, NULL));
    ERR(MPI_Comm_dup(parent, &comm), MPI_ERR_OTHER);
    CHECK(comm == MPI_COMM_NULL);
    comm = OLD(MPI_Comm);
    ERR(MPI_Comm_dup_with_info(parent, MPI_INFO_NULL, &comm), MPI_ERR_OTHER);
    CHECK(comm == MPI_COMM_NULL);
    comm = OLD(MPI_Comm);
    ERR(MPI_Comm_idup(parent, &comm, &request), MPI_ERR_OTHER);
    CHECK(comm == MPI_COMM_NULL && request == MPI_REQUEST_NULL);
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Comm_free(&parent));
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_create_keyval(refuse_type, MPI_TYPE_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Type_set_attr(pair, key, NULL));
    ERR(MPI_Type_dup(pair, &type), MPI_ERR_OTHER);
    CHECK(type == MPI_DATATYPE_NULL);
    OK(MPI_Type_free_keyval(&key));
    OK(MPI_Type_free(&pair));
}

static void refused_late(void) {
    MPI_Comm comm = OLD(MPI_Comm);
    MPI_Group all, group = OLD(MPI_Group);
    MPI_Request request = OLD(MPI_Request);
    MPI_Datatype type = OLD(MPI_Datatype);
    MPI_Session session = OLD(MPI_Session);
    int buffer, too_large[1] = {1000}, ring[1] = {0}, beyond[1] = {size};
    ERR(MPI_Cart_create(MPI_COMM_WORLD, 1, too_large, ring, 0, &comm), MPI_ERR_DIMS);
    CHECK(comm == MPI_COMM_NULL);
    comm = OLD(MPI_Comm);
    ERR(MPI_Comm_split(MPI_COMM_WORLD, -7, 0, &comm), MPI_ERR_ARG);
    CHECK(comm == MPI_COMM_NULL);
    comm = OLD(MPI_Comm);
    ERR(MPI_Comm_split_type(MPI_COMM_WORLD, 77, 0, MPI_INFO_NULL, &comm), MPI_ERR_ARG);
    CHECK(comm == MPI_COMM_NULL);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    ERR(MPI_Group_incl(all, 1, beyond, &group), MPI_ERR_RANK);
    CHECK(group == MPI_GROUP_NULL);
    OK(MPI_Group_free(&all));
    ERR(MPI_Isend(&buffer, 1, MPI_INT, size, 0, MPI_COMM_WORLD, &request), MPI_ERR_RANK);
    CHECK(request == MPI_REQUEST_NULL);
    request = OLD(MPI_Request);
    ERR(MPI_Ibcast(&buffer, 1, MPI_INT, size, MPI_COMM_WORLD, &request), MPI_ERR_ROOT);
    CHECK(request == MPI_REQUEST_NULL);
    request = OLD(MPI_Request);
    ERR(MPI_Bcast_init(&buffer, 1, MPI_INT, size, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
        MPI_ERR_ROOT);
    CHECK(request == MPI_REQUEST_NULL);
    int key = 55;
    ERR(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL),
        MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_EQ(key, MPI_KEYVAL_INVALID);
    ERR(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
    CHECK(type == MPI_DATATYPE_NULL);
    ERR(MPI_Session_init((MPI_Info)(uintptr_t)0xdead0, MPI_ERRORS_RETURN, &session), MPI_ERR_INFO);
    CHECK(session == MPI_SESSION_NULL);
}

/* The error handler sees the null handle already: it may not come back. */
static void seen_by_handlers(void) {
    MPI_Comm comm = OLD(MPI_Comm);
    MPI_Errhandler handler;
    int too_large[1] = {1000}, ring[1] = {0};
    watched = &comm;
    OK(MPI_Comm_create_errhandler(watch, &handler));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    ERR(MPI_Cart_create(MPI_COMM_WORLD, 1, too_large, ring, 0, &comm), MPI_ERR_DIMS);
    CHECK(called_with == MPI_COMM_WORLD);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Errhandler_free(&handler));
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    refused_by_callbacks();
    refused_late();
    seen_by_handlers();
    OK(MPI_Finalize());
    return 0;
}

/* C++ exceptions out of error handlers, attribute callbacks and the functions of generalized
 * requests: the caller catches them, and goes on with the other ranks.
 *
 * spec: 67
 * ranks: 1 3
 *
 * case: handlers
 * case: attributes
 * case: generalized
 *
 * case: helped
 * set: MOTET_PROGRESS=thread
 */

#include <exception>

#include "exceptions.h"

static int rank;
static int copies, deletes;

static void throw_comm(MPI_Comm *, int *, ...) { throw Thrown{1}; }
static void throw_session(MPI_Session *, int *, ...) { throw Thrown{2}; }
static void throw_file(MPI_File *, int *, ...) { throw Thrown{10}; }

/* Whether this rank is the one that throws. */
static bool throws(void) {
    int ranks = 0;
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    return rank == ranks / 2;
}

static void handlers(void) {
    if (throws()) {
        MPI_Comm comm;
        MPI_Errhandler handler;
        OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
        OK(MPI_Comm_create_errhandler(throw_comm, &handler));
        OK(MPI_Comm_set_errhandler(comm, handler));
        int word[4] = {0};
        THROWS(MPI_Send(word, 1, MPI_INT, 99, 0, comm), 1);
        THROWS(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER), 1);
        MPI_Request requests[2];
        MPI_Status statuses[2];
        OK(MPI_Irecv(word, 1, MPI_INT, 0, 0, comm, &requests[0]));
        OK(MPI_Send(word, 4, MPI_INT, 0, 0, comm));
        THROWS(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), 1);
        CHECK(requests[0] == MPI_REQUEST_NULL);
        OK(MPI_Irecv(word, 1, MPI_INT, 0, 0, comm, &requests[0]));
        OK(MPI_Irecv(word, 1, MPI_INT, 0, 1, comm, &requests[1]));
        OK(MPI_Send(word, 4, MPI_INT, 0, 0, comm));
        OK(MPI_Send(word, 1, MPI_INT, 0, 1, comm));
        THROWS(MPI_Waitall(2, requests, statuses), 1);
        CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
        int class_of = MPI_SUCCESS;
        OK(MPI_Error_class(statuses[0].MPI_ERROR, &class_of));
        CHECK_EQ(class_of, MPI_ERR_TRUNCATE);
        CHECK_EQ(statuses[1].MPI_ERROR, MPI_SUCCESS);
        OK(MPI_Errhandler_free(&handler));
        OK(MPI_Comm_free(&comm));

        MPI_Session session;
        MPI_Group group;
        OK(MPI_Session_create_errhandler(throw_session, &handler));
        OK(MPI_Session_init(MPI_INFO_NULL, handler, &session));
        THROWS(MPI_Group_from_session_pset(session, "nothing://", &group), 2);
        THROWS(MPI_Session_call_errhandler(session, MPI_ERR_OTHER), 2);
        OK(MPI_Errhandler_free(&handler));
        OK(MPI_Session_finalize(&session));

        MPI_File file;
        OK(MPI_File_create_errhandler(throw_file, &handler));
        OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
        THROWS(MPI_File_open(MPI_COMM_SELF, "none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), 10);
        THROWS(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_OTHER), 10);
        OK(MPI_Errhandler_free(&handler));
        OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    }
    whole();
}

static int copy_comm(MPI_Comm, int, void *, void *, void *, int *) { throw Thrown{3}; }
static int delete_comm(MPI_Comm, int, void *, void *) {
    deletes++;
    throw Thrown{4};
}
static int copy_type(MPI_Datatype, int, void *, void *, void *, int *) { throw Thrown{5}; }
static int delete_type(MPI_Datatype, int, void *, void *) { throw Thrown{6}; }
static int delete_well(MPI_Comm, int, void *, void *) {
    copies++;
    return MPI_SUCCESS;
}

static void attributes(void) {
    int key = 0, well = 0, found = 0, value = 7;
    void *seen;
    MPI_Comm comm, copy = MPI_COMM_SELF;
    /* A copy is made by all ranks; one of them throws. */
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_create_keyval(copy_comm, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    if (throws()) {
        OK(MPI_Comm_set_attr(comm, key, &value));
        THROWS(MPI_Comm_dup(comm, &copy), 3);
    } else {
        OK(MPI_Comm_dup(comm, &copy));
        OK(MPI_Comm_free(&copy));
    }
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Comm_free(&comm));
    whole();
    if (throws()) {
        OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
        OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, &key, NULL));
        OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_well, &well, NULL));
        OK(MPI_Comm_set_attr(comm, key, &value));
        THROWS(MPI_Comm_delete_attr(comm, key), 4);
        THROWS(MPI_Comm_set_attr(comm, key, &value), 4);
        OK(MPI_Comm_get_attr(comm, key, &seen, &found));
        CHECK(found && seen == &value);
        /* All are called, those that were set last first. */
        OK(MPI_Comm_set_attr(comm, well, &value));
        deletes = 0;
        THROWS(MPI_Comm_free(&comm), 4);
        CHECK(deletes == 1 && copies == 1 && comm != MPI_COMM_NULL);
        OK(MPI_Comm_free(&comm));
        OK(MPI_Comm_free_keyval(&key));
        OK(MPI_Comm_free_keyval(&well));
        MPI_Datatype type, made;
        OK(MPI_Type_contiguous(2, MPI_INT, &type));
        OK(MPI_Type_create_keyval(copy_type, delete_type, &key, NULL));
        OK(MPI_Type_set_attr(type, key, &value));
        THROWS(MPI_Type_dup(type, &made), 5);
        THROWS(MPI_Type_delete_attr(type, key), 6);
        THROWS(MPI_Type_free(&type), 6);
        OK(MPI_Type_free(&type));
        OK(MPI_Type_free_keyval(&key));
        /* It goes as the first thing when the library is finalized. */
        OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, &key, NULL));
        OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, &value));
    }
    whole();
    if (throws()) {
        THROWS(MPI_Finalize(), 4);
    } else {
        OK(MPI_Finalize());
    }
}

static int query(void *kind, MPI_Status *) {
    if (*(int *)kind == 7) throw Thrown{7};
    return MPI_SUCCESS;
}
static int free_state(void *kind) {
    if (*(int *)kind == 8) throw Thrown{8};
    return MPI_SUCCESS;
}
static int cancel(void *kind, int) {
    if (*(int *)kind == 9) throw Thrown{9};
    return MPI_SUCCESS;
}

static void generalized(void) {
    if (throws()) {
        MPI_Request request, both[2];
        for (int kind = 7; kind <= 8; kind++) {
            OK(MPI_Grequest_start(query, free_state, cancel, &kind, &request));
            OK(MPI_Grequest_complete(request));
            THROWS(MPI_Wait(&request, MPI_STATUS_IGNORE), kind);
            CHECK(request == MPI_REQUEST_NULL);
            /* Among others, which are completed as well. */
            int word = 0;
            MPI_Status statuses[2];
            OK(MPI_Grequest_start(query, free_state, cancel, &kind, &both[0]));
            OK(MPI_Irecv(&word, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &both[1]));
            OK(MPI_Grequest_complete(both[0]));
            OK(MPI_Send(&kind, 1, MPI_INT, 0, 0, MPI_COMM_SELF));
            THROWS(MPI_Waitall(2, both, statuses), kind);
            CHECK(both[0] == MPI_REQUEST_NULL && both[1] == MPI_REQUEST_NULL);
            CHECK_EQ(word, kind);
        }
        int kind = 9, late = 8;
        OK(MPI_Grequest_start(query, free_state, cancel, &kind, &request));
        THROWS(MPI_Cancel(&request), 9);
        OK(MPI_Grequest_complete(request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        /* Freed first: then the call that completes it is the one that throws. */
        OK(MPI_Grequest_start(query, free_state, cancel, &late, &request));
        MPI_Request copy = request;
        OK(MPI_Request_free(&request));
        THROWS(MPI_Grequest_complete(copy), 8);
    }
    whole();
}

int main(int argc, char **argv) {
    CHECK_EQ(argc, 2);
    int provided = 0, is_finalized = 0;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    if (!strcmp(argv[1], "handlers") || !strcmp(argv[1], "helped")) handlers();
    if (!strcmp(argv[1], "generalized") || !strcmp(argv[1], "helped")) generalized();
    if (!strcmp(argv[1], "attributes") || !strcmp(argv[1], "helped")) attributes();
    OK(MPI_Finalized(&is_finalized));
    if (!is_finalized) OK(MPI_Finalize());
    return 0;
}

/* There are no files, but a program that looks for one may know another way to its data: errors of
 * files go to the error handler of files, which returns as long as the program sets no other one.
 *
 * ranks: 1 2
 * spec: 67
 *
 * case: returned
 * case: handler
 * case: wrong
 * case: fatal
 * status: 55
 * stderr: MPI_File_open: Motet has no files that ranks share [MPI_ERR_UNSUPPORTED_OPERATION]
 * stderr: the error handler of MPI_FILE_NULL is MPI_ERRORS_ARE_FATAL
 */

#include "check.h"

static int calls, seen_code;
static MPI_File seen;

static void note(MPI_File *file, int *code, ...) {
    calls++;
    seen = *file;
    seen_code = *code;
}

static int open_one(MPI_File *file) {
    *file = (MPI_File)(uintptr_t)0x55;
    return MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_RDONLY, MPI_INFO_NULL, file);
}

/* The handlers of communicators are fatal all the while. */
static void returned(void) {
    MPI_File file;
    MPI_Errhandler handler;
    ERR(open_one(&file), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(file == MPI_FILE_NULL);
    ERR(MPI_File_delete("data", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_OPERATION);
    ERR(MPI_File_close(&file), MPI_ERR_UNSUPPORTED_OPERATION);
    ERR(MPI_File_read(file, NULL, 0, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
    ERR(MPI_Register_datarep("mine", NULL, NULL, NULL, NULL), MPI_ERR_UNSUPPORTED_OPERATION);
    MPI_Request request = (MPI_Request)(uintptr_t)0x55;
    ERR(MPI_File_iwrite(file, NULL, 0, MPI_INT, &request), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(request == MPI_REQUEST_NULL);
    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &handler));
    CHECK(handler == MPI_ERRORS_RETURN);
}

static void handler(void) {
    MPI_File file;
    MPI_Errhandler own, found;
    int code;
    OK(MPI_File_create_errhandler(note, &own));
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, own));
    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
    CHECK(found == own);
    OK(MPI_Errhandler_free(&found));
    OK(MPI_Errhandler_free(&own));
    code = open_one(&file);
    CHECK_EQ(calls, 1);
    CHECK(seen == MPI_FILE_NULL);
    CHECK_EQ(seen_code, code);
    OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_NO_SUCH_FILE));
    CHECK_EQ(calls, 2);
    CHECK_EQ(seen_code, MPI_ERR_NO_SUCH_FILE);
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    ERR(open_one(&file), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_EQ(calls, 2);
}

static void of_comm(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    (void)code;
    calls += 100;
}

static void wrong(void) {
    MPI_File none = (MPI_File)(uintptr_t)0xdead0;
    MPI_Errhandler own, found;
    ERR(MPI_File_set_errhandler(none, MPI_ERRORS_RETURN), MPI_ERR_FILE);
    ERR(MPI_File_get_errhandler(none, &found), MPI_ERR_FILE);
    CHECK(found == MPI_ERRHANDLER_NULL);
    ERR(MPI_File_call_errhandler(none, MPI_ERR_OTHER), MPI_ERR_FILE);
    ERR(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    OK(MPI_Comm_create_errhandler(of_comm, &own));
    ERR(MPI_File_set_errhandler(MPI_FILE_NULL, own), MPI_ERR_ERRHANDLER);
    OK(MPI_Errhandler_free(&own));
    OK(MPI_File_create_errhandler(note, &own));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    ERR(MPI_Comm_set_errhandler(MPI_COMM_WORLD, own), MPI_ERR_ERRHANDLER);
    OK(MPI_Errhandler_free(&own));
    CHECK_EQ(calls, 0);
}

int main(int argc, char **argv) {
    CHECK_EQ(argc, 2);
    const char *which = argv[1];
    OK(MPI_Init(&argc, &argv));
    if (strcmp(which, "returned") == 0) returned();
    if (strcmp(which, "handler") == 0) handler();
    if (strcmp(which, "wrong") == 0) wrong();
    if (strcmp(which, "fatal") == 0) {
        MPI_File file;
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL));
        open_one(&file);
        fprintf(stderr, "the program goes on\n");
        return 98;
    }
    OK(MPI_Finalize());
    return 0;
}

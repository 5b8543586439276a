/* Error handlers of the program and of the standard, and errors of the program.
 *
 * spec: 67
 * ranks: 1 2
 */

#include "check.h"

static int calls, seen_code;
static MPI_Comm seen_comm;

static void note(MPI_Comm *comm, int *code, ...) {
    calls++;
    seen_comm = *comm;
    seen_code = *code;
}

static void other(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    (void)code;
    calls += 100;
}

static void of_program(void) {
    MPI_Errhandler handler, found, again, former;
    MPI_Comm comm, copy;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_create_errhandler(note, &handler));
    OK(MPI_Comm_set_errhandler(comm, handler));
    OK(MPI_Comm_get_errhandler(comm, &found));
    CHECK(found == handler);
    OK(MPI_Errhandler_free(&handler));
    CHECK(handler == MPI_ERRHANDLER_NULL);
    /* There is a reference left, and the communicator has it too. */
    OK(MPI_Comm_get_errhandler(comm, &again));
    CHECK(again == found);
    former = found;
    OK(MPI_Errhandler_free(&found));
    OK(MPI_Errhandler_free(&again));
    found = former;
    ERR(MPI_Errhandler_free(&found), MPI_ERR_ERRHANDLER);
    calls = 0;
    int code = MPI_Send(NULL, 0, MPI_INT, 1000, 0, comm);
    CHECK_EQ(calls, 1);
    CHECK(seen_comm == comm);
    CHECK_EQ(seen_code, code);
    int class = -1;
    OK(MPI_Error_class(code, &class));
    CHECK_EQ(class, MPI_ERR_RANK);
    OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    CHECK_EQ(calls, 2);
    CHECK_EQ(seen_code, MPI_ERR_OTHER);
    /* A copy has the handler too, and keeps it. */
    OK(MPI_Comm_dup(comm, &copy));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_call_errhandler(copy, MPI_ERR_TAG));
    CHECK_EQ(calls, 3);
    CHECK(seen_comm == copy);
    OK(MPI_Comm_get_errhandler(copy, &found));
    CHECK(found == former);
    OK(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN));
    OK(MPI_Comm_call_errhandler(copy, MPI_ERR_TAG));
    CHECK_EQ(calls, 3);
    OK(MPI_Errhandler_free(&found));
    found = former;
    ERR(MPI_Comm_set_errhandler(copy, found), MPI_ERR_ERRHANDLER);
    OK(MPI_Comm_free(&copy));
}

static void of_standard(void) {
    MPI_Errhandler all[] = {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN}, found;
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    for (int i = 0; i < 3; i++) {
        OK(MPI_Comm_set_errhandler(comm, all[i]));
        OK(MPI_Comm_get_errhandler(comm, &found));
        CHECK(found == all[i]);
        OK(MPI_Errhandler_free(&found));
        CHECK(found == MPI_ERRHANDLER_NULL);
    }
    OK(MPI_Comm_free(&comm));
}

static void wrong(void) {
    MPI_Errhandler null = MPI_ERRHANDLER_NULL, found;
    ERR(MPI_Comm_set_errhandler(MPI_COMM_WORLD, null), MPI_ERR_ERRHANDLER);
    ERR(MPI_Comm_set_errhandler(MPI_COMM_NULL, MPI_ERRORS_RETURN), MPI_ERR_COMM);
    ERR(MPI_Comm_get_errhandler(MPI_COMM_NULL, &found), MPI_ERR_COMM);
    ERR(MPI_Comm_call_errhandler(MPI_COMM_NULL, MPI_ERR_TAG), MPI_ERR_COMM);
    ERR(MPI_Errhandler_free(&null), MPI_ERR_ERRHANDLER);
    ERR(MPI_Comm_set_errhandler(MPI_COMM_WORLD, (MPI_Errhandler)MPI_COMM_WORLD),
        MPI_ERR_ERRHANDLER);
    ERR(MPI_Comm_set_errhandler(MPI_COMM_WORLD, (MPI_Errhandler)(uintptr_t)0x1234567890),
        MPI_ERR_ERRHANDLER);
}

/* Errors without an object are those of MPI_COMM_SELF. */
static void without_object(void) {
    MPI_Errhandler first, second;
    int size = 0;
    OK(MPI_Comm_create_errhandler(note, &first));
    OK(MPI_Comm_create_errhandler(other, &second));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, first));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, second));
    calls = 0;
    ERR(MPI_Comm_size(MPI_COMM_NULL, &size), MPI_ERR_COMM);
    CHECK_EQ(calls, 1);
    CHECK(seen_comm == MPI_COMM_SELF);
    ERR(MPI_Send(NULL, 0, MPI_INT, 1000, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_EQ(calls, 101);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Errhandler_free(&first));
    OK(MPI_Errhandler_free(&second));
}

static int last_used(void) {
    int *value = NULL, flag = 0;
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
    CHECK_EQ(flag, 1);
    return *value;
}

static void codes(void) {
    char text[MPI_MAX_ERROR_STRING];
    int class, code, found, len, before = last_used();
    CHECK(before >= MPI_ERR_LASTCODE);
    OK(MPI_Add_error_class(&class));
    CHECK(class > MPI_ERR_LASTCODE);
    CHECK_EQ(last_used(), class);
    OK(MPI_Add_error_code(class, &code));
    CHECK_EQ(last_used(), code);
    OK(MPI_Error_string(code, text, &len));
    CHECK_EQ(len, 0);
    CHECK_TEXT(text, "");
    OK(MPI_Add_error_string(class, "weather"));
    OK(MPI_Add_error_string(code, "a storm is coming"));
    OK(MPI_Error_string(code, text, &len));
    CHECK_TEXT(text, "a storm is coming");
    CHECK_EQ(len, 17);
    OK(MPI_Error_class(code, &found));
    CHECK_EQ(found, class);
    /* One of the program goes through its handler like any other. */
    MPI_Errhandler handler;
    OK(MPI_Comm_create_errhandler(note, &handler));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    OK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, code));
    CHECK_EQ(seen_code, code);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Errhandler_free(&handler));
    ERR(MPI_Add_error_string(MPI_ERR_TAG, "no"), MPI_ERR_ARG);
    ERR(MPI_Add_error_code(code, &found), MPI_ERR_ARG);
    ERR(MPI_Remove_error_class(class), MPI_ERR_ARG);
    ERR(MPI_Remove_error_code(code), MPI_ERR_ARG);
    OK(MPI_Remove_error_string(code));
    OK(MPI_Remove_error_code(code));
    ERR(MPI_Remove_error_code(code), MPI_ERR_ARG);
    ERR(MPI_Remove_error_class(class), MPI_ERR_ARG);
    OK(MPI_Remove_error_string(class));
    OK(MPI_Remove_error_class(class));
    ERR(MPI_Error_class(class, &found), MPI_ERR_ARG);
    CHECK_EQ(last_used(), before);
}

static void classes(void) {
    char text[MPI_MAX_ERROR_STRING];
    int found, len;
    for (int class = MPI_SUCCESS; class <= MPI_ERR_ABI; class++) {
        OK(MPI_Error_class(class, &found));
        CHECK_EQ(found, class);
        OK(MPI_Error_string(class, text, &len));
        CHECK(len > 0 && len < MPI_MAX_ERROR_STRING);
        CHECK_EQ(strlen(text), len);
    }
    for (int class = MPI_T_ERR_CANNOT_INIT; class <= MPI_T_ERR_PVAR_NO_ATOMIC; class++) {
        OK(MPI_Error_class(class, &found));
        CHECK_EQ(found, class);
        OK(MPI_Error_string(class, text, &len));
        CHECK(len > 0);
    }
    ERR(MPI_Error_class(-7, &found), MPI_ERR_ARG);
    ERR(MPI_Error_string(999, text, &len), MPI_ERR_ARG);
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    of_program();
    of_standard();
    wrong();
    without_object();
    codes();
    classes();
    OK(MPI_Finalize());
    return 0;
}

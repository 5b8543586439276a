/* MPI_Error_string says what the line of MPI_ERRORS_ARE_FATAL would say: which call on which rank,
 * and what was wrong with which values. The codes belong to the classes of the standard, and there
 * are not more than some thousands of them, however many errors there are.
 *
 * spec: 67
 * set: MOTET_INITIAL_ERRHANDLER=mpi_errors_return
 * seconds: 60
 *
 * case: arguments
 * ranks: 1 2
 * case: statuses
 * ranks: 1 2
 * case: many
 * ranks: 1
 * case: threads
 * ranks: 1
 * case: outside
 * ranks: 0 1 2
 * case: handler
 * ranks: 1
 * case: of_program
 * ranks: 1
 * case: death
 * ranks: 2
 * status: failure
 * stdout: MPI_ERR_PROC_ABORTED: MPI_Barrier on rank 0: rank 1
 * stdout: exited with code 3
 * case: classes
 * ranks: 1
 * set: MOTET_ERROR_CODES=classes
 * case: exit_code
 * ranks: 1
 * status: 6
 * case: abort_code
 * ranks: 1
 * status: 8
 */

#include "check.h"

#include <pthread.h>
#include <unistd.h>

static int rank, size;

/* The call gives a code of this class whose text has all these parts. */
#define TEXT(call, class, ...) check_text(__LINE__, call, class, (const char *[]){__VA_ARGS__, NULL})

static void check_text(int line, int code, int class, const char **parts) {
    char text[MPI_MAX_ERROR_STRING];
    int found = -1, len = -1;
    OK(MPI_Error_class(code, &found));
    OK(MPI_Error_string(code, text, &len));
    if (found != class) fprintf(stderr, "line %d: class %d of \"%s\"\n", line, found, text);
    CHECK_EQ(found, class);
    CHECK(len > 0 && len < MPI_MAX_ERROR_STRING);
    CHECK_EQ(strlen(text), len);
    CHECK(strpbrk(text, "\n\r\t") == NULL);
    for (; *parts; parts++) {
        if (!strstr(text, *parts)) {
            fprintf(stderr, "line %d: \"%s\" lacks \"%s\"\n", line, text, *parts);
            exit(99);
        }
    }
}

static char here[32];

static void begin(void) {
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    snprintf(here, sizeof here, " on rank %d: ", rank);
}

static void arguments(void) {
    char text[MPI_MAX_ERROR_STRING];
    int a = 0, b = 0, *last, flag, len;
    MPI_Comm comm;
    begin();
    int code = MPI_Send(&a, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    TEXT(code, MPI_ERR_RANK, "MPI_ERR_RANK: MPI_Send", here, "99");
    CHECK(code != MPI_ERR_RANK && code <= MPI_ERR_LASTCODE);
    /* The call is named once. */
    OK(MPI_Error_string(code, text, &len));
    CHECK(!strstr(text, "send on"));
    OK(MPI_Error_string(MPI_Send_c(&a, 1, MPI_INT, 99, 0, MPI_COMM_WORLD), text, &len));
    CHECK(strstr(text, "MPI_Send_c on") && !strstr(text, "send on"));
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    CHECK(flag && code <= *last);
    CHECK_EQ(MPI_Send(&a, 1, MPI_INT, 99, 0, MPI_COMM_WORLD), code);
    TEXT(MPI_Send(&a, 1, MPI_INT, 77, 0, MPI_COMM_WORLD), MPI_ERR_RANK, "MPI_Send", here, "77");
    TEXT(code, MPI_ERR_RANK, "99");
    TEXT(MPI_Bcast(&a, 1, MPI_INT, 55, MPI_COMM_SELF), MPI_ERR_ROOT, "MPI_Bcast", here, "55");
    TEXT(MPI_Allreduce(&a, &b, -4, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT,
         "MPI_Allreduce", here, "-4");
    TEXT(MPI_Comm_size(MPI_COMM_NULL, &a), MPI_ERR_COMM, "MPI_Comm_size", here);
    TEXT(MPI_Type_contiguous(-3, MPI_INT, &(MPI_Datatype){0}), MPI_ERR_COUNT, "MPI_Type_contiguous",
         "-3");
    TEXT(MPI_Comm_split(MPI_COMM_WORLD, -7, 0, &comm), MPI_ERR_ARG, "MPI_Comm_split", "-7");
    /* The text of a class is that of the class, as before. */
    TEXT(MPI_ERR_RANK, MPI_ERR_RANK, "MPI_ERR_RANK: a rank that is not in the group");
    OK(MPI_Finalize());
    TEXT(code, MPI_ERR_RANK, "MPI_Send", here, "99");
}

/* MPI_ERR_IN_STATUS and MPI_ERR_PENDING are codes, says the standard; the statuses say more. */
static void statuses(void) {
    int four[4] = {0}, one = 0, indices[2], count;
    MPI_Request both[2];
    MPI_Status seen[2];
    begin();
    for (int round = 0; round < 3; round++) {
        MPI_Isend(four, 4, MPI_INT, 0, 1, MPI_COMM_SELF, &both[0]);
        MPI_Irecv(&one, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &both[1]);
        if (round == 0) {
            CHECK_EQ(MPI_Waitall(2, both, seen), MPI_ERR_IN_STATUS);
            CHECK_EQ(seen[0].MPI_ERROR, MPI_SUCCESS);
            TEXT(seen[1].MPI_ERROR, MPI_ERR_TRUNCATE, "irecv", "16", "4");
        } else if (round == 1) {
            TEXT(MPI_Waitall(2, both, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS, "MPI_Waitall", here,
                 "MPI_ERR_TRUNCATE", "16", "4");
        } else {
            int code = MPI_SUCCESS;
            for (int done = 0; done < 2; done += count) {
                int now = MPI_Waitsome(2, both, &count, indices, seen);
                for (int i = 0; i < count && now != MPI_SUCCESS; i++)
                    if (indices[i] == 1) code = seen[i].MPI_ERROR;
                CHECK(now == MPI_SUCCESS || now == MPI_ERR_IN_STATUS);
            }
            TEXT(code, MPI_ERR_TRUNCATE, "irecv", "16", "4");
        }
    }
    MPI_Isend(four, 4, MPI_INT, 0, 1, MPI_COMM_SELF, &both[0]);
    MPI_Irecv(&one, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &both[1]);
    TEXT(MPI_Wait(&both[1], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE, "MPI_Wait", here, "irecv", "16");
    OK(MPI_Wait(&both[0], MPI_STATUS_IGNORE));
    OK(MPI_Finalize());
}

/* The number of codes is bounded. An old code has its class for ever, and its text or that of the
 * class. */
static void many(void) {
    static int uses[MPI_ERR_LASTCODE + 1];
    char text[MPI_MAX_ERROR_STRING], number[32];
    int a = 0, len, class, distinct = 0;
    begin();
    int first = MPI_Send(&a, 1, MPI_INT, 12345, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 5000; i++) {
        int wrong = 20000 + i;
        snprintf(number, sizeof number, "%d", wrong);
        int code = MPI_Send(&a, 1, MPI_INT, wrong, 0, MPI_COMM_WORLD);
        CHECK(code > 0 && code <= MPI_ERR_LASTCODE);
        distinct += uses[code]++ == 0;
        TEXT(code, MPI_ERR_RANK, "MPI_Send", number);
    }
    CHECK(distinct < 100);
    OK(MPI_Error_class(first, &class));
    CHECK_EQ(class, MPI_ERR_RANK);
    int other = MPI_Bcast(&a, 1, MPI_INT, 55, MPI_COMM_SELF);
    for (int i = 0; i < 55; i++) MPI_Send(&a, 1, MPI_INT, 50000 + i, 0, MPI_COMM_WORLD);
    OK(MPI_Error_string(other, text, &len));
    CHECK_TEXT(text, "MPI_ERR_ROOT: a root that is not in the group");
    for (int code = 0; code <= MPI_ERR_LASTCODE; code++)
        if (MPI_Error_class(code, &class) == MPI_SUCCESS && code > 2000) CHECK_EQ(code & 255, class);
    OK(MPI_Finalize());
}

static void *raise_errors(void *of) {
    int thread = *(int *)of, a = 0;
    char number[32];
    for (int i = 0; i < 2000; i++) {
        int wrong = 1000 + thread * 10000 + i % 3;
        snprintf(number, sizeof number, " %d ", wrong);
        TEXT(MPI_Send(&a, 1, MPI_INT, wrong, 0, MPI_COMM_WORLD), MPI_ERR_RANK, number);
    }
    return NULL;
}

static void threads(void) {
    pthread_t all[4];
    int numbers[4], provided;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    for (int i = 0; i < 4; i++) {
        numbers[i] = i;
        CHECK_EQ(pthread_create(&all[i], NULL, raise_errors, &numbers[i]), 0);
    }
    for (int i = 0; i < 4; i++) CHECK_EQ(pthread_join(all[i], NULL), 0);
    OK(MPI_Finalize());
}

static void outside(void) {
    int a = 0;
    int before = MPI_Comm_size(MPI_COMM_WORLD, &a);
    TEXT(before, MPI_ERR_OTHER, "MPI_Comm_size: ", "before MPI_Init");
    begin();
    TEXT(before, MPI_ERR_OTHER, "MPI_Comm_size: ", "before MPI_Init");
    TEXT(MPI_Init(NULL, NULL), MPI_ERR_OTHER, "MPI_Init", here, "once");
    OK(MPI_Finalize());
    TEXT(MPI_Barrier(MPI_COMM_WORLD), MPI_ERR_OTHER, "MPI_Barrier", "after MPI_Finalize");
    TEXT(MPI_Finalize(), MPI_ERR_OTHER, "MPI_Finalize", "after MPI_Finalize");
}

static int seen;

static void note(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    seen = *code;
    TEXT(*code, MPI_ERR_TAG, "MPI_Send", here, "-9");
}

static void handler(void) {
    MPI_Errhandler own;
    int a = 0;
    begin();
    OK(MPI_Comm_create_errhandler(note, &own));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, own));
    int code = MPI_Send(&a, 1, MPI_INT, 0, -9, MPI_COMM_WORLD);
    CHECK(code != MPI_SUCCESS);
    CHECK_EQ(seen, code);
    seen = 0;
    OK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, code));
    CHECK_EQ(seen, code);
    OK(MPI_Errhandler_free(&own));
    OK(MPI_Finalize());
}

/* The codes of the program stay what they are, and so do those that its callbacks return. */
static int returned;

static int refuse(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out, (void)flag;
    return returned;
}

static void of_program(void) {
    int class, code, keyval, a = 0, len;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm copy;
    begin();
    int of_library = MPI_Send(&a, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    OK(MPI_Add_error_class(&class));
    CHECK(class > MPI_ERR_LASTCODE);
    OK(MPI_Add_error_code(MPI_ERR_IO, &code));
    OK(MPI_Add_error_string(code, "the disk is full of sand"));
    OK(MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &a));
    int codes[] = {class, code, MPI_ERR_IO, of_library};
    for (int i = 0; i < 4; i++) {
        returned = codes[i];
        CHECK_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &copy), returned);
    }
    TEXT(code, MPI_ERR_IO, "the disk is full of sand");
    TEXT(of_library, MPI_ERR_RANK, "MPI_Send", "99");
    ERR(MPI_Add_error_string(of_library, "no"), MPI_ERR_ARG);
    ERR(MPI_Remove_error_code(of_library), MPI_ERR_ARG);
    ERR(MPI_Remove_error_string(of_library), MPI_ERR_ARG);
    ERR(MPI_Add_error_code(of_library, &a), MPI_ERR_ARG);
    ERR(MPI_Error_string(1100, text, &len), MPI_ERR_ARG);
    ERR(MPI_Error_class(1024 + MPI_ERR_SPAWN, &a), MPI_ERR_ARG);
    OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval));
    OK(MPI_Comm_free_keyval(&keyval));
    OK(MPI_Finalize());
}

static void death(void) {
    char text[MPI_MAX_ERROR_STRING];
    int len, class;
    begin();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 1) _exit(3);
    int code = MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Error_class(code, &class));
    CHECK_EQ(class, MPI_ERR_PROC_ABORTED);
    OK(MPI_Error_string(code, text, &len));
    puts(text);
    fflush(stdout);
}

/* For programs that compare codes with classes. */
static void classes(void) {
    int four[4] = {0}, one = 0, class;
    MPI_Request both[2];
    MPI_Status seen[2];
    begin();
    CHECK_EQ(MPI_Send(&one, 1, MPI_INT, 99, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    MPI_Isend(four, 4, MPI_INT, 0, 1, MPI_COMM_SELF, &both[0]);
    MPI_Irecv(&one, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &both[1]);
    CHECK_EQ(MPI_Waitall(2, both, seen), MPI_ERR_IN_STATUS);
    CHECK_EQ(seen[1].MPI_ERROR, MPI_ERR_TRUNCATE);
    OK(MPI_Error_class(seen[1].MPI_ERROR, &class));
    CHECK_EQ(class, MPI_ERR_TRUNCATE);
    OK(MPI_Finalize());
}

/* The end of a process says the class. */
static void exit_code(void) {
    int a = 0;
    begin();
    MPI_Send(&a, 1, MPI_INT, 98, 0, MPI_COMM_WORLD);
    int code = MPI_Send(&a, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    CHECK(code > 255);
    OK(MPI_Finalize());
    exit(code);
}

static void abort_code(void) {
    int a = 0;
    begin();
    int code = MPI_Bcast(&a, 1, MPI_INT, 55, MPI_COMM_WORLD);
    CHECK(code > 255);
    MPI_Abort(MPI_COMM_WORLD, code);
}

#define CASE(name) {#name, name}
static const struct { const char *name; void (*work)(void); } CASES[] = {
    CASE(arguments), CASE(statuses), CASE(many), CASE(threads), CASE(outside), CASE(handler),
    CASE(of_program), CASE(death), CASE(classes), CASE(exit_code), CASE(abort_code),
};

int main(int argc, char **argv) {
    CHECK_EQ(argc, 2);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        if (strcmp(CASES[i].name, argv[1]) == 0) CASES[i].work();
    return 0;
}

/* What a user names, a line of the library shows within that line: a name with a line break cannot
 * say something in the name of the library, and one with an escape sequence not colour a terminal.
 *
 * ranks: 2
 * seconds: 30
 * status: failure
 *
 * case: comm_name
 * stderr: of communicator "x\u{1b}[31m\nmotet: rank 7 (process 1) was killed" is MPI_ERRORS
 * case: abort
 * stderr: MPI_Abort on communicator "x\u{1b}[31m\nmotet: rank 7 (process 1) was killed" with code 5
 * case: freed
 * stderr: MPI_Comm_free: x\u{1b}[31m\nmotet: rank 7 (process 1) was killed is predefined
 * case: user_text
 * stderr: MPI_Comm_call_errhandler: x\u{1b}[31m\nmotet: rank 7 (process 1) was killed [
 * case: info_key
 * stderr: there is no hint with the key x\u{1b}[31m\nmotet: rank 7 (process 1) was killed [
 * case: info_value
 * stderr: thread_level is "x\u{1b}[31m\nmotet: rank 7 (process 1) was killed", not one of
 * case: process_set
 * stderr: there is no set of processes named `x\u{1b}[31m\nmotet: rank 7 (process 1) was killed` [
 * case: fortran
 * stderr: mpi_integer_size is 4 in this library, not x\u{1b}[31m\nmotet: rank 7 (process 1) was
 * case: mismatch
 * set: MOTET_CHECK=1
 * stderr: x\u{1b}[31m\nmotet: rank 7 (process 1) was killed
 * case: hang
 * set: MOTET_CHECK=1
 * set: MOTET_HANG_SECONDS=1
 * stderr: of communicator x\u{1b}[31m\nmotet: rank 7 (process 1) was killed
 */

#include <unistd.h>

#include "check.h"

#define FORGED "x\033[31m\nmotet: rank 7 (process 1) was killed"

static int rank;

static void comm_name(void) { MPI_Bcast(&rank, 1, MPI_INT, 9, MPI_COMM_WORLD); }
static void abort_it(void) { MPI_Abort(MPI_COMM_WORLD, 5); }
static void freed(void) { MPI_Comm_free(&(MPI_Comm){MPI_COMM_WORLD}); }

static void user_text(void) {
    int class;
    MPI_Add_error_class(&class);
    MPI_Add_error_string(class, FORGED);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, class);
}

static void info_key(void) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_delete(info, FORGED);
}

static void info_value(void) {
    MPI_Info info;
    MPI_Session session;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", FORGED);
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
}

static void process_set(void) {
    MPI_Session session;
    MPI_Group group;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, FORGED, &group);
}

static void fortran(void) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_integer_size", FORGED);
    MPI_Abi_set_fortran_info(info);
}

static void mismatch(void) {
    int in = 1, out;
    if (rank == 0) MPI_Bcast(&in, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Until the report has been written. */
static void hang(void) {
    if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
    sleep(3);
    MPI_Abort(MPI_COMM_SELF, 3);
}

#define CASE(name, work) {#name, work}
static const struct { const char *name; void (*work)(void); } CASES[] = {
    CASE(comm_name, comm_name), CASE(abort, abort_it), CASE(freed, freed),
    CASE(user_text, user_text), CASE(info_key, info_key), CASE(info_value, info_value),
    CASE(process_set, process_set), CASE(fortran, fortran), CASE(mismatch, mismatch),
    CASE(hang, hang),
};

int main(int argc, char **argv) {
    CHECK_EQ(argc, 2);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_name(MPI_COMM_WORLD, FORGED);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        if (strcmp(CASES[i].name, argv[1]) == 0) CASES[i].work();
    fprintf(stderr, "rank %d goes on\n", rank);
    MPI_Finalize();
    return 0;
}

/* What is known of how the program was started is the same before, while and after the library is
 * initialised, whatever the program does meanwhile; a level of thread support is not among it, since
 * nobody has asked for one at the start.
 *
 * ranks: 0 1 3
 *
 * case: plain
 * case: handler
 * set: MOTET_INITIAL_ERRHANDLER=mpi_errors_return
 */

#include <stdlib.h>
#include <unistd.h>

#include "check.h"

enum { ROOM = 16384 };

/* All keys and values in one text. */
static void text_of(MPI_Info info, char *text) {
    int number = -1;
    OK(MPI_Info_get_nkeys(info, &number));
    text[0] = 0;
    for (int n = 0; n < number; n++) {
        char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL];
        int len = sizeof value, flag = 0;
        OK(MPI_Info_get_nthkey(info, n, key));
        OK(MPI_Info_get_string(info, key, &len, value, &flag));
        CHECK_EQ(flag, 1);
        strcat(strcat(strcat(strcat(text, key), "="), value), "\n");
    }
}

static void environment(int argc, char **argv, char *named, char *created, char *of_words) {
    MPI_Info info;
    text_of(MPI_INFO_ENV, named);
    OK(MPI_Info_create_env(0, NULL, &info));
    text_of(info, created);
    OK(MPI_Info_free(&info));
    OK(MPI_Info_create_env(argc, argv, &info));
    text_of(info, of_words);
    OK(MPI_Info_free(&info));
}

static char first[3][ROOM], later[3][ROOM];

static void is_the_same(int argc, char **argv) {
    environment(argc, argv, later[0], later[1], later[2]);
    for (int i = 0; i < 3; i++) CHECK_TEXT(later[i], first[i]);
}

int main(int argc, char **argv) {
    CHECK_EQ(argc, 2);
    MPI_Info info;
    OK(MPI_Info_create_env(argc, argv, &info));
    OK(MPI_Info_free(&info));
    environment(argc, argv, first[0], first[1], first[2]);
    CHECK_TEXT(first[0], first[1]);
    CHECK_TEXT(first[0], first[2]);
    CHECK(strstr(first[0], "command=") != NULL);
    CHECK(strstr(first[0], strcmp(argv[1], "plain") == 0 ? "argv=plain\n" : "argv=handler\n"));
    CHECK(strstr(first[0], "thread_level") == NULL);
    int has_handler = strstr(first[0], "mpi_initial_errhandler=mpi_errors_return\n") != NULL;
    CHECK_EQ(has_handler, strcmp(argv[1], "handler") == 0);
    CHECK_EQ(chdir("/"), 0);
    CHECK_EQ(setenv("MOTET_INITIAL_ERRHANDLER", "mpi_errors_abort", 1), 0);
    is_the_same(argc, argv);
    CHECK_EQ(unsetenv("MOTET_INITIAL_ERRHANDLER"), 0);
    OK(MPI_Init(&argc, &argv));
    is_the_same(argc, argv);
    OK(MPI_Finalize());
    is_the_same(argc, argv);
    return 0;
}

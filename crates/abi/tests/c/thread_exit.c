/* The thread that has initialized the library ends by `pthread_exit`, by itself or out of an error
 * handler; another one goes on and finalizes.
 *
 * spec: 67
 * ranks: 1 2
 *
 * case: plain
 * case: handler
 *
 * case: helped
 * set: MOTET_PROGRESS=thread
 */

#include <pthread.h>

#include "check.h"

static pthread_t first;

static void leave(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    (void)code;
    pthread_exit(NULL);
}

static void *go_on(void *argument) {
    (void)argument;
    MPI_Comm copy;
    int ranks = 0, sum = 0, one = 1;
    CHECK_EQ(pthread_join(first, NULL), 0);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy));
    CHECK_EQ(sum, ranks);
    OK(MPI_Comm_free(&copy));
    OK(MPI_Finalize());
    exit(0);
}

int main(int argc, char **argv) {
    int provided = 0;
    pthread_t thread;
    MPI_Errhandler handler;
    CHECK_EQ(argc, 2);
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_create_errhandler(leave, &handler));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    OK(MPI_Errhandler_free(&handler));
    first = pthread_self();
    CHECK_EQ(pthread_create(&thread, NULL, go_on, NULL), 0);
    if (strcmp(argv[1], "plain")) MPI_Send(NULL, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    pthread_exit(NULL);
}

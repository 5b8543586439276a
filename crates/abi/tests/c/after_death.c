/* Collectives after a death, as a program in C calls them: the same calls again and again, so that
 * what the library keeps of them is there. Once a rank has been told of the death, no collective
 * over a communicator of the dead rank returns success, and one among those that live does, with
 * the right data. The launcher gives the survivors half a second at most, so what is wrong is said
 * at once, and nothing else is looked for.
 *
 * ranks: 3 4
 * seconds: 30
 * status: 3
 * never: is wrong
 * stdout: has been told
 */

#include "check.h"

#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#define DEAD 1
#define LENGTH 8

static int rank, size, wrongs;
static MPI_Comm all, turned, living;

static void is_wrong(const char *what) {
    if (wrongs++ > 9) return;
    printf("rank %d: %s is wrong\n", rank, what);
    fflush(stdout);
}

/* What calls return, in turn. */
typedef struct {
    const char *name;
    int code;
    bool is_right;
} Ended;

static MPI_Request sums[3], barriers[3];
static int input, output;

static int waited(int code, MPI_Request *request) {
    return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

/* Makes the collectives over a communicator of `n` ranks, of which this is `r`. */
static size_t call(MPI_Comm comm, int which, int turn, Ended *ended) {
    int n, r, sum = -1, own, from[LENGTH], to[LENGTH];
    size_t at = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &r);
    own = turn * 10 + r;
    int expected = n * turn * 10 + n * (n - 1) / 2, code;
#define NOTE(what, call, right)                                                        \
    do {                                                                               \
        code = (call);                                                                 \
        ended[at++] = (Ended){what, code, code != MPI_SUCCESS || (right)};             \
    } while (0)
    NOTE("MPI_Allreduce", MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm), sum == expected);
    for (int i = 0; i < n; i++) to[i] = own * 100 + i, from[i] = -1;
    NOTE("MPI_Alltoall", MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, comm),
         from[n - 1] == (turn * 10 + n - 1) * 100 + r);
    NOTE("MPI_Allgather", MPI_Allgather(&own, 1, MPI_INT, from, 1, MPI_INT, comm),
         from[n - 1] == turn * 10 + n - 1);
    NOTE("MPI_Barrier", MPI_Barrier(comm), true);
    sum = r == n - 1 ? own : -1;
    NOTE("MPI_Bcast", MPI_Bcast(&sum, 1, MPI_INT, n - 1, comm), sum == turn * 10 + n - 1);
    NOTE("MPI_Scan", MPI_Scan(&own, &sum, 1, MPI_INT, MPI_SUM, comm),
         sum == (r + 1) * turn * 10 + r * (r + 1) / 2);
    NOTE("MPI_Iallreduce",
         waited(MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_MAX, comm, &request), &request),
         sum == turn * 10 + n - 1);
    NOTE("MPI_Ibarrier", waited(MPI_Ibarrier(comm, &request), &request), true);
    input = own;
    NOTE("a persistent MPI_Allreduce", waited(MPI_Start(&sums[which]), &sums[which]),
         output == expected);
    NOTE("a persistent MPI_Barrier", waited(MPI_Start(&barriers[which]), &barriers[which]), true);
    MPI_Comm copy = MPI_COMM_NULL;
    NOTE("MPI_Comm_dup", MPI_Comm_dup(comm, &copy), true);
    if (copy != MPI_COMM_NULL) OK(MPI_Comm_free(&copy));
    return at;
}

static void check(MPI_Comm comm, int which, int turn, bool is_alive) {
    Ended ended[16];
    size_t count = call(comm, which, turn, ended);
    for (size_t i = 0; i < count; i++) {
        int class = MPI_SUCCESS;
        if (ended[i].code != MPI_SUCCESS) MPI_Error_class(ended[i].code, &class);
        if (class != (is_alive ? MPI_SUCCESS : MPI_ERR_PROC_ABORTED) || !ended[i].is_right)
            is_wrong(ended[i].name);
    }
}

static void prepare(MPI_Comm comm, int which) {
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Allreduce_init(&input, &output, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &sums[which]));
    OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &barriers[which]));
    for (int turn = 0; turn < 5; turn++) check(comm, which, turn, true);
}

int main(int argc, char **argv) {
    int word = 0, last[LENGTH] = {1000000, 2000000, 3000000, 4000000}, lost[LENGTH];
    MPI_Request request;
    signal(SIGTERM, SIG_IGN);
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &all));
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank == DEAD, 0, &living));
    prepare(all, 0);
    prepare(turned, 1);
    prepare(living, 2);
    /* It may be dead before others are through. */
    MPI_Barrier(all);
    if (rank == DEAD) {
        /* The last thing the others get of it is no part of what they call. */
        OK(MPI_Ialltoall(last, 1, MPI_INT, lost, 1, MPI_INT, all, &request));
        _exit(3);
    }
    ERR(MPI_Recv(&word, 1, MPI_INT, DEAD, 5, all, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    printf("rank %d has been told\n", rank);
    fflush(stdout);
    for (int turn = 0; turn < 5; turn++) {
        check(all, 0, turn, false);
        check(living, 2, turn, true);
        check(turned, 1, turn, false);
    }
    OK(MPI_Finalize());
    return 0;
}

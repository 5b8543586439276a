/* Ranks that are rounds ahead of others: persistent operations in which some need not wait are started
 * again and again by these, while the others sleep. And more persistent operations than anybody
 * needs, on one communicator.
 *
 * ranks: 2 3
 * spec: 41, 50, 51, 54
 */


#include "restart_collectives.h"
#include <time.h>

enum { ROUNDS = 10, MANY = 10500 };

static void nap(void) {
    struct timespec moment = {0, 50 * 1000 * 1000};
    nanosleep(&moment, NULL);
}

/* Rooted operations, each on a communicator: the root or the others are late. */
static void ahead(const struct operation *operation, int count, int root_is_late) {
    struct task task;
    struct layout layout = plain();
    make(&task, operation, MPI_COMM_WORLD, layout, count, 0);
    operation->init(&task, MPI_INFO_NULL);
    if (is_root(&task) == root_is_late) nap();
    for (int round = 0; round < ROUNDS; round++) {
        fill(&task, round);
        OK(MPI_Start(&task.request));
        OK(MPI_Wait(&task.request, MPI_STATUS_IGNORE));
        verify(&task, round);
    }
    finish(&task);
}

/* Many operations that are alike; some are started, in another order by each rank. */
static void many(void) {
    static MPI_Request requests[MANY];
    static int in[MANY], out[MANY];
    int rank, size;
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (int i = 0; i < MANY; i++) {
        in[i] = i + rank;
        OK(MPI_Allreduce_init(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                              &requests[i]));
    }
    for (int i = 0; i < MANY; i += 100) {
        int which = rank % 2 ? MANY - 100 - i : i;
        OK(MPI_Start(&requests[which]));
    }
    for (int i = 0; i < MANY; i += 100) {
        OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        CHECK_EQ(out[i], size * i + size * (size - 1) / 2);
    }
    /* Freed at other times by each, most of them without ever having been started. */
    for (int i = 0; i < MANY; i++) OK(MPI_Request_free(&requests[rank % 2 ? MANY - 1 - i : i]));
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    static const char *const ROOTED[] = {"Bcast", "Gather", "Gatherv", "Scatter", "Reduce", "Scan"};
    for (int i = 0; i < N_COLLECTIVES; i++)
        for (size_t k = 0; k < sizeof ROOTED / sizeof *ROOTED; k++)
            if (!strcmp(COLLECTIVES[i].name, ROOTED[k]))
                for (int late = 0; late < 2; late++) {
                    ahead(&COLLECTIVES[i], 2, late);
                    ahead(&COLLECTIVES[i], 5000, late);
                }
    many();
    OK(MPI_Finalize());
    return 0;
}

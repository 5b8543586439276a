/* Thousands of persistent collectives under way at once, started and completed by each rank in an order
 * of its own: by a wait for all, by waits and by tests of one after the other. Where ranks share
 * cores, some of the operations have channels and the others send tagged messages.
 *
 * ranks: 2 3
 * seconds: 120
 * spec: 8, 18
 */

#include "check.h"

enum { MANY = 6000, INTS = 16 };
enum way { ALL, SINGLY, TEST_SINGLY, WAYS };

static MPI_Request requests[MANY], started[MANY];
static int in[MANY][INTS], out[MANY][INTS], order[MANY];

/* A number that looks like any other. */
static unsigned next_number(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void shuffle(unsigned *state) {
    for (int i = 0; i < MANY; ++i) order[i] = i;
    for (int i = MANY - 1; i > 0; --i) {
        int other = (int)(next_number(state) % (unsigned)(i + 1)), swapped = order[i];
        order[i] = order[other];
        order[other] = swapped;
    }
}

static void complete(enum way way) {
    int flag;
    switch (way) {
    case ALL:
        OK(MPI_Waitall(MANY, started, MPI_STATUSES_IGNORE));
        break;
    case SINGLY:
        for (int i = MANY - 1; i >= 0; --i) OK(MPI_Wait(&started[i], MPI_STATUS_IGNORE));
        break;
    case TEST_SINGLY:
        for (int i = 0; i < MANY; ++i)
            for (flag = 0; !flag;) OK(MPI_Test(&started[i], &flag, MPI_STATUS_IGNORE));
        break;
    default:
        break;
    }
}

int main(int argc, char **argv) {
    int rank, size;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (int i = 0; i < MANY; ++i)
        OK(MPI_Allreduce_init(in[i], out[i], INTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                              &requests[i]));
    unsigned state = 77u * (unsigned)rank + 5u;
    for (int round = 0; round < 2 * WAYS; ++round) {
        shuffle(&state);
        for (int i = 0; i < MANY; ++i) {
            for (int k = 0; k < INTS; ++k) in[i][k] = i + k + rank + round;
            started[i] = requests[order[i]];
        }
        OK(MPI_Startall(MANY, started));
        complete((enum way)((round + 1) % WAYS));
        for (int i = 0; i < MANY; ++i)
            for (int k = 0; k < INTS; ++k)
                CHECK_EQ(out[i][k], size * (i + k + round) + size * (size - 1) / 2);
    }
    for (int i = 0; i < MANY; ++i) OK(MPI_Request_free(&requests[i]));
    OK(MPI_Finalize());
    return 0;
}

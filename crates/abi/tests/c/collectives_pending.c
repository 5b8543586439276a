/* A hundred thousand collectives under way at once, completed in reverse order, fewer in no order, and
 * thousands of persistent ones on one communicator.
 *
 * ranks: 2
 * seconds: 120
 * spec: 8, 18
 */

#include "check.h"

enum { MANY = 50000, FEWER = 5000, STORED = 2000 };

static MPI_Request requests[2 * MANY];
static int in[MANY], out[MANY];

/* A number that looks like any other. */
static unsigned next_number(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

int main(int argc, char **argv) {
    int rank, size;
    unsigned state = 5;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (int turn = 0; turn < 2; ++turn) {
        int many = turn == 0 ? MANY : FEWER;
        for (int i = 0; i < many; ++i) {
            in[i] = i + rank + turn;
            OK(MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                              &requests[2 * i]));
            OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[2 * i + 1]));
        }
        if (turn == 1) {
            for (int i = 2 * many - 1; i > 0; --i) {
                int other = (int)(next_number(&state) % (unsigned)(i + 1));
                MPI_Request swapped = requests[i];
                requests[i] = requests[other];
                requests[other] = swapped;
            }
        }
        for (int i = 2 * many - 1; i >= 0; --i) OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        for (int i = 0; i < many; ++i) CHECK_EQ(out[i], i + size - 1 + turn);
    }
    for (int i = 0; i < STORED; ++i)
        OK(MPI_Allreduce_init(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                              &requests[i]));
    for (int i = 0; i < STORED; ++i) in[i] = i;
    OK(MPI_Startall(STORED, requests));
    OK(MPI_Waitall(STORED, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < STORED; ++i) {
        CHECK_EQ(out[i], i * size);
        OK(MPI_Request_free(&requests[i]));
    }
    OK(MPI_Finalize());
    return 0;
}

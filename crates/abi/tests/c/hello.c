/* A world comes and goes, with a launcher and without one.
 *
 * ranks: 0 1 3
 */

#include "check.h"

int main(int argc, char **argv) {
    int flag = -1, rank = -1, size = -1;
    OK(MPI_Initialized(&flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Initialized(&flag));
    CHECK_EQ(flag, 1);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(rank >= 0 && rank < size);
    OK(MPI_Comm_size(MPI_COMM_SELF, &size));
    CHECK_EQ(size, 1);
    OK(MPI_Finalized(&flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Finalize());
    OK(MPI_Finalized(&flag));
    CHECK_EQ(flag, 1);
    return 0;
}

/* What is provided where the level that is required is none of the standard's: the lowest that is
 * enough, or the highest. The argument is the level.
 *
 * ranks: 0 1
 * case: -3
 * case: 77
 * case: 1024
 * case: 1025
 * case: 5000
 */

#include "check.h"

int main(int argc, char **argv) {
    static const int LEVELS[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED};
    CHECK_EQ(argc, 2);
    int required = atoi(argv[1]), provided = -5, asked = -5, expected = MPI_THREAD_MULTIPLE;
    for (int i = 2; i >= 0; i--) {
        if (required <= LEVELS[i]) expected = LEVELS[i];
    }
    OK(MPI_Init_thread(&argc, &argv, required, &provided));
    CHECK_EQ(provided, expected);
    OK(MPI_Query_thread(&asked));
    CHECK_EQ(asked, expected);
    OK(MPI_Finalize());
    return 0;
}

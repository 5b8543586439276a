/* Rank 1 of a world whose rank 0 is `first.rs`. */

#include "check.h"

enum { TAG = 7 };

static void swap_integers(void) {
    int got[3] = {0, 0, 0}, sent[3] = {INT32_MIN, 40, -1}, count = -5;
    MPI_Status status;
    OK(MPI_Recv(got, 3, MPI_INT, 0, TAG, MPI_COMM_WORLD, &status));
    CHECK(got[0] == 1 && got[1] == -2 && got[2] == INT32_MAX);
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_EQ(count, 3);
    OK(MPI_Send(sent, 3, MPI_INT, 0, TAG, MPI_COMM_WORLD));
}

static void receive_truth(void) {
    unsigned char got[4] = {9, 9, 9, 9};
    OK(MPI_Recv(got, 3, MPI_C_BOOL, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(got[0] == 1 && got[1] == 0 && got[2] == 1 && got[3] == 9);
}

int main(int argc, char **argv) {
    static const unsigned char SENT[3] = {1, 2, 3};
    int rank = -5, size = -5;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(argc == 2 && rank == 1 && size == 2);
    if (strcmp(argv[1], "integers_with_c") == 0) {
        swap_integers();
    } else if (strcmp(argv[1], "bytes_of_c") == 0) {
        OK(MPI_Send(SENT, 3, MPI_BYTE, 0, TAG, MPI_COMM_WORLD));
    } else if (strcmp(argv[1], "truth_of_c") == 0) {
        OK(MPI_Send(SENT, 3, MPI_C_BOOL, 0, TAG, MPI_COMM_WORLD));
    } else if (strcmp(argv[1], "truth_for_c") == 0) {
        receive_truth();
    } else {
        CHECK(!"a case that there is");
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Finalize());
    return 0;
}

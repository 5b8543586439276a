/* Datatypes in messages: columns, structures and copies arrive as what they are, though their
 * handles have been freed meanwhile, and what has not been committed is refused. What has the same
 * bytes may be received as another type.
 *
 * ranks: 1 2
 * spec: 6, 20
 */

#include "check.h"

enum { ROWS = 50, COLUMNS = 40 };

static int matrix[ROWS][COLUMNS], columns[COLUMNS][ROWS];

int main(void) {
    int rank, size, count;
    MPI_Datatype column, resized, row, copy;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) matrix[i][j] = 10000 * rank + 100 * i + j;

    OK(MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT, &column));
    OK(MPI_Type_create_resized(column, 0, sizeof(int), &resized));
    OK(MPI_Type_free(&column));
    OK(MPI_Type_contiguous(ROWS, MPI_INT, &row));
    ERR(MPI_Isend(matrix, COLUMNS, resized, to, 0, MPI_COMM_WORLD, &requests[0]), MPI_ERR_TYPE);
    OK(MPI_Type_commit(&resized));
    OK(MPI_Type_dup(resized, &copy)); /* committed as well */
    OK(MPI_Type_free(&resized));
    OK(MPI_Type_commit(&row));
    OK(MPI_Irecv(columns, COLUMNS, row, from, 0, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(matrix, COLUMNS, copy, to, 0, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Type_free(&copy));
    OK(MPI_Waitall(2, requests, statuses));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) CHECK_EQ(columns[j][i], 10000 * from + 100 * i + j);
    OK(MPI_Get_count(&statuses[0], row, &count));
    CHECK_EQ(count, COLUMNS);
    OK(MPI_Get_elements(&statuses[0], row, &count));
    CHECK_EQ(count, COLUMNS * ROWS);
    OK(MPI_Type_free(&row));

    /* What has been packed is received as what it is, and the other way round. */
    char packed[8];
    int values[2] = {rank, -rank}, position = 0;
    OK(MPI_Pack(values, 2, MPI_INT, packed, 8, &position, MPI_COMM_WORLD));
    OK(MPI_Sendrecv(packed, 8, MPI_PACKED, to, 1, values, 2, MPI_INT, from, 1, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    CHECK(values[0] == from && values[1] == -from);

    /* So is what has the same bytes: many a program relies on it. */
    unsigned short halves[4] = {1, 2, 3, (unsigned short)rank};
    unsigned int whole[2] = {0, 0};
    OK(MPI_Sendrecv(halves, 4, MPI_UNSIGNED_SHORT, to, 2, whole, 2, MPI_UNSIGNED, from, 2,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    memcpy(halves, whole, sizeof halves);
    CHECK(halves[0] == 1 && halves[1] == 2 && halves[2] == 3 && halves[3] == from);
    OK(MPI_Finalize());
    return 0;
}

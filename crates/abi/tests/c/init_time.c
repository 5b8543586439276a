/* How long a program takes to join its world and to leave it, in microseconds.
 *
 * ranks: 2
 * stdout: microseconds
 */

#include "check.h"

int main(void) {
    double begun = MPI_Wtime(); /* Works before MPI_Init as well. */
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Finalize());
    printf("%.0f microseconds\n", (MPI_Wtime() - begun) * 1e6);
    return 0;
}

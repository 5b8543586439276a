/* Buffers for buffered sends: of the process and of a communicator, with so many bytes or as many
 * as it takes.
 *
 * ranks: 1 2 3
 */

#include "check.h"

enum { BYTES = 100000 };

static int rank, size, next, prev;
static char out[BYTES], in[BYTES];

static void receive(int bytes, int tag, MPI_Comm comm) {
    memset(in, 0, sizeof in);
    OK(MPI_Recv(in, bytes, MPI_CHAR, prev, tag, comm, MPI_STATUS_IGNORE));
    for (int at = 0; at < bytes; at++) CHECK_EQ(in[at], 'a' + prev);
}

static void of_the_process(void) {
    void *buffer = malloc(BYTES + MPI_BSEND_OVERHEAD), *back = NULL;
    int bytes = 0;
    MPI_Count large = 0;
    MPI_Request request;
    ERR(MPI_Bsend(out, 1, MPI_CHAR, next, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    OK(MPI_Buffer_attach(buffer, BYTES + MPI_BSEND_OVERHEAD));
    ERR(MPI_Buffer_attach(buffer, BYTES), MPI_ERR_BUFFER);
    OK(MPI_Bsend(out, BYTES, MPI_CHAR, next, 0, MPI_COMM_WORLD));
    receive(BYTES, 0, MPI_COMM_WORLD);
    OK(MPI_Buffer_flush());
    OK(MPI_Ibsend(out, BYTES, MPI_CHAR, next, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Buffer_iflush(&request));
    receive(BYTES, 1, MPI_COMM_WORLD);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Buffer_detach(&back, &bytes));
    CHECK(back == buffer);
    CHECK_EQ(bytes, BYTES + MPI_BSEND_OVERHEAD);
    ERR(MPI_Bsend(out, 1, MPI_CHAR, next, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    OK(MPI_Buffer_attach_c(buffer, BYTES));
    OK(MPI_Buffer_detach_c(&back, &large));
    CHECK(back == buffer && large == BYTES);
    ERR(MPI_Buffer_attach(buffer, -1), MPI_ERR_ARG);
    ERR(MPI_Buffer_attach(NULL, 10), MPI_ERR_BUFFER);
    free(buffer);
}

static void of_a_communicator(MPI_Comm comm) {
    char buffer[2 * MPI_BSEND_OVERHEAD];
    void *back = NULL;
    int bytes = 7;
    MPI_Request request;
    OK(MPI_Comm_attach_buffer(comm, buffer, sizeof buffer));
    OK(MPI_Bsend(out, 10, MPI_CHAR, next, 0, comm));
    ERR(MPI_Bsend(out, BYTES, MPI_CHAR, next, 0, comm), MPI_ERR_BUFFER);
    ERR(MPI_Bsend(out, 1, MPI_CHAR, next, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    receive(10, 0, comm);
    OK(MPI_Comm_flush_buffer(comm));
    OK(MPI_Comm_detach_buffer(comm, &back, &bytes));
    CHECK(back == buffer);
    CHECK_EQ(bytes, sizeof buffer);
    OK(MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0));
    for (int each = 0; each < 10; each++) OK(MPI_Bsend(out, BYTES, MPI_CHAR, next, each, comm));
    OK(MPI_Comm_iflush_buffer(comm, &request));
    for (int each = 9; each >= 0; each--) receive(BYTES, each, comm);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_detach_buffer(comm, &back, &bytes));
    CHECK(back == MPI_BUFFER_AUTOMATIC && bytes == 0);
}

int main(void) {
    MPI_Comm copy;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    next = (rank + 1) % size;
    prev = (rank + size - 1) % size;
    memset(out, 'a' + rank, sizeof out);
    of_the_process();
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    of_a_communicator(copy);
    OK(MPI_Comm_free(&copy));
    return MPI_Finalize();
}

/* What allocates no memory once it has been called before: blocking and nonblocking collectives without
 * lists (but for messages that come before their receiver, so on one rank here), and the runs of
 * persistent ones.
 *
 * ranks: 1 2 3
 */

#include "check.h"

/* Every allocation of the process is one of these. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

static long allocations;

void *malloc(size_t bytes) {
    ++allocations;
    return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
    ++allocations;
    return __libc_calloc(count, bytes);
}
void *realloc(void *memory, size_t bytes) {
    ++allocations;
    return __libc_realloc(memory, bytes);
}
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
    ++allocations;
    *memory = __libc_memalign(alignment, bytes);
    return *memory == NULL;
}
void *aligned_alloc(size_t alignment, size_t bytes) {
    ++allocations;
    return __libc_memalign(alignment, bytes);
}

enum { BEFORE = 200, ROUNDS = 200, MOST = 8 };

/* A few may: a rank that is late now and then finds a queue that is longer than ever before. */
#define QUIET(call)                                                             \
    do {                                                                        \
        long loud = 0;                                                          \
        for (int round = 0; round < BEFORE; ++round) OK(call);                  \
        for (int round = 0; round < ROUNDS; ++round) {                          \
            long before = allocations;                                          \
            OK(call);                                                           \
            loud += allocations != before;                                      \
        }                                                                       \
        if (loud > MOST) {                                                      \
            check_failed(__FILE__, __LINE__);                                   \
            fprintf(stderr, "%s: %ld of %d calls allocate\n", #call, loud, ROUNDS); \
            exit(99);                                                           \
        }                                                                       \
    } while (0)

static int again(MPI_Request *request) {
    int code = MPI_Start(request);
    return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

/* A call that makes a request, and the end of its operation. */
#define ENDED(call) (begun((call), &request))
static int begun(int code, MPI_Request *request) {
    return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

/* The same with a list of requests. */
static int both(MPI_Comm comm, const int *in, int *out) {
    MPI_Request list[2];
    OK(MPI_Iallreduce(in, out, 4, MPI_INT, MPI_SUM, comm, &list[0]));
    OK(MPI_Ibarrier(comm, &list[1]));
    return MPI_Waitall(2, list, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Comm comm;
    MPI_Request request;
    int in[16] = {1}, out[64];
    unsetenv("MOTET_HANG_SECONDS"); /* a list that is to be reported is written down */
    OK(MPI_Init(&argc, &argv));
    long before = allocations;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK(allocations > before); /* those of the library are counted */
    QUIET(MPI_Barrier(comm));
    QUIET(MPI_Bcast(in, 4, MPI_INT, 0, comm));
    QUIET(MPI_Reduce(in, out, 4, MPI_INT, MPI_SUM, 0, comm));
    QUIET(MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, comm));
    QUIET(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, comm));
    QUIET(MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, 0, comm));
    QUIET(MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm));
    QUIET(MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm));
    QUIET(MPI_Scan(in, out, 4, MPI_INT, MPI_SUM, comm));
    QUIET(MPI_Exscan(in, out, 4, MPI_INT, MPI_SUM, comm));
    QUIET(MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, comm));
    QUIET(ENDED(MPI_Ibarrier(comm, &request)));
    QUIET(ENDED(MPI_Ibcast(in, 4, MPI_INT, 0, comm, &request)));
    QUIET(ENDED(MPI_Ireduce(in, out, 4, MPI_INT, MPI_SUM, 0, comm, &request)));
    QUIET(ENDED(MPI_Iallreduce(in, out, 4, MPI_INT, MPI_SUM, comm, &request)));
    QUIET(ENDED(MPI_Igather(in, 1, MPI_INT, out, 1, MPI_INT, 0, comm, &request)));
    QUIET(ENDED(MPI_Iallgather(in, 1, MPI_INT, out, 1, MPI_INT, comm, &request)));
    QUIET(ENDED(MPI_Ialltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm, &request)));
    QUIET(ENDED(MPI_Iscan(in, out, 4, MPI_INT, MPI_SUM, comm, &request)));
    QUIET(both(comm, in, out));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Allreduce_init(in, out, 4, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
    QUIET(again(&request));
    OK(MPI_Request_free(&request));
    OK(MPI_Bcast_init(in, 4, MPI_INT, 0, comm, MPI_INFO_NULL, &request));
    QUIET(again(&request));
    OK(MPI_Request_free(&request));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Finalize());
    return 0;
}

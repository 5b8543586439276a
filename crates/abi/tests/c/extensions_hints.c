/* Hints of persistent operations: in any combination they change no result; enforced inits find what
 * does not fit together, on all ranks, and what was measured is told.
 *
 * ranks: 2 3
 * spec: 113, 125
 */

#include <mpix.h>

#include "check.h"

static const char *const KEYS[] = {"enforce", "nonblocking", "blocking", "reuse", "previous"};
enum { HINTS = 5 };

static int rank, size;

static MPI_Info hints(int combination) {
    MPI_Info info;
    OK(MPI_Info_create(&info));
    for (int i = 0; i < HINTS; ++i)
        if (combination >> i & 1) OK(MPI_Info_set(info, KEYS[i], "true"));
    OK(MPI_Info_set(info, "a key that nobody knows", "true"));
    return info;
}

static void all_combinations(MPI_Group next, MPI_Group last, MPI_Group all) {
    int behind = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int combination = 0; combination < 1 << HINTS; ++combination) {
        MPI_Request requests[2];
        MPI_Info info = hints(combination);
        int out = 10 * rank + behind, in = -1, one = 1, sum = 0;
        OK(MPIX_Exchange_init(&out, 1, MPI_INT, &in, 1, MPI_INT, next, last, info, MPI_COMM_WORLD,
                              &requests[0]));
        OK(MPIX_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, all, info, MPI_COMM_WORLD,
                               &requests[1]));
        OK(MPI_Info_free(&info));
        for (int start = 0; start < 2; ++start) {
            in = sum = -1;
            OK(MPI_Startall(2, requests));
            OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
            CHECK_EQ(in, 10 * before + rank);
            CHECK_EQ(sum, size);
        }
        OK(MPI_Request_free(&requests[0]));
        OK(MPI_Request_free(&requests[1]));
    }
}

/* All send to the next one, but rank 0 expects nothing from the last. */
static void one_sided(MPI_Group next, MPI_Group last) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Info info = hints(1);
    int out = 1, in = 0;
    ERR(MPIX_Exchange_init(&out, 1, MPI_INT, &in, 1, MPI_INT, next,
                           rank == 0 ? MPI_GROUP_EMPTY : last, info, MPI_COMM_WORLD, &request),
        MPI_ERR_NOT_SAME);
    CHECK(request == MPI_REQUEST_NULL);
    OK(MPI_Info_free(&info));
}

static void told(void) {
    MPI_Request request;
    MPI_Info info = hints(1);
    char text[4096];
    int one = 1, sum = 0, length = 0;
    OK(MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, info, &request));
    OK(MPIX_Explain(request, text, sizeof text, &length));
    CHECK(strstr(text, "measured: ") != NULL);
    OK(MPI_Request_free(&request));
    OK(MPI_Info_free(&info));
}

int main(int argc, char **argv) {
    MPI_Group all, next, last;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    int behind = (rank + 1) % size, before = (rank + size - 1) % size;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Group_incl(all, 1, &behind, &next));
    OK(MPI_Group_incl(all, 1, &before, &last));
    all_combinations(next, last, all);
    one_sided(next, last);
    told();
    OK(MPI_Group_free(&next));
    OK(MPI_Group_free(&last));
    OK(MPI_Group_free(&all));
    OK(MPI_Finalize());
    return 0;
}

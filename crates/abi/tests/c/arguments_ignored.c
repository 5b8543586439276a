/* Arguments that are not significant at a rank: whatever is passed for them, nobody looks at it; in
 * each form of a call, with counts of either length, on a communicator and between two groups.
 *
 * ranks: 1 2 3 4
 * spec: 69, 70, 71, 72, 73
 */

#include "check.h"

static int rank, size;
static MPI_Request request;

/* What no rank may look at. */
#define BAD_BUFFER ((void *)16)
#define BAD_COUNT (-7)
#define BAD_TYPE ((MPI_Datatype)0xdead0)
#define BAD_LIST NULL

static void finish(void) {
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void run_twice(void) {
    for (int i = 0; i < 2; i++) {
        OK(MPI_Start(&request));
        finish();
    }
    OK(MPI_Request_free(&request));
}

/* A call in three forms; `check` is made after each. */
#define ALL_FORMS(check, Name, name, ...)                                          \
    do {                                                                           \
        OK(MPI_##Name(__VA_ARGS__));                                               \
        check;                                                                     \
        OK(MPI_I##name(__VA_ARGS__, &request));                                    \
        finish();                                                                  \
        check;                                                                     \
        OK(MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request));               \
        run_twice();                                                               \
        check;                                                                     \
    } while (0)

#define WITH_COUNTS(check, Name, name, ...)                                        \
    do {                                                                           \
        ALL_FORMS(check, Name, name, __VA_ARGS__);                                 \
        OK(MPI_##Name##_c(__VA_ARGS__));                                           \
        check;                                                                     \
        OK(MPI_I##name##_c(__VA_ARGS__, &request));                                \
        finish();                                                                  \
        check;                                                                     \
        OK(MPI_##Name##_init_c(__VA_ARGS__, MPI_INFO_NULL, &request));             \
        run_twice();                                                               \
        check;                                                                     \
    } while (0)

static int in[8], out[8];

static void check_gathered(int is_root, int ranks) {
    for (int each = 0; is_root && each < ranks; each++) CHECK_EQ(out[each], 100 + each);
    memset(out, 0, sizeof out);
}

static void check_scattered(void) {
    CHECK_EQ(out[0], 100 + rank);
    out[0] = 0;
}

static void check_reduced(int is_root) {
    if (is_root) CHECK_EQ(out[0], size);
    out[0] = 0;
}

static void check_sums(const int *ones, int *sums, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        if (rank > 0) CHECK_EQ(sums[i], rank);
        CHECK_EQ(ones[i], 1);
        sums[i] = -1;
    }
}

static void check_far(int side, int own) {
    if (side) CHECK_EQ(out[0], 100 + own);
    memset(out, 0, sizeof out);
}

static void check_far_sum(int is_root, int others) {
    if (is_root) CHECK_EQ(out[0], others);
    memset(out, 0, sizeof out);
}

static void check_data(int idle, int data) {
    if (!idle) CHECK_EQ(data, 42);
}

static void rooted(int root) {
    MPI_Comm comm = MPI_COMM_WORLD;
    int here = rank == root, ones[4] = {1, 1, 1, 1}, places[4] = {0, 1, 2, 3};
    int many[4] = {100, 101, 102, 103};
    MPI_Count large[4] = {1, 1, 1, 1};
    MPI_Aint far[4] = {0, 1, 2, 3};
    in[0] = 100 + rank;
    WITH_COUNTS(check_gathered(here, size), Gather, gather, in, 1, MPI_INT, here ? out : BAD_BUFFER,
                here ? 1 : BAD_COUNT, here ? MPI_INT : BAD_TYPE, root, comm);
    ALL_FORMS(check_gathered(here, size), Gatherv, gatherv, in, 1, MPI_INT,
              here ? out : BAD_BUFFER, here ? ones : BAD_LIST, here ? places : BAD_LIST,
              here ? MPI_INT : BAD_TYPE, root, comm);
    OK(MPI_Gatherv_c(in, 1, MPI_INT, here ? out : BAD_BUFFER, here ? large : BAD_LIST,
                     here ? far : BAD_LIST, here ? MPI_INT : BAD_TYPE, root, comm));
    check_gathered(here, size);
    /* The root has its own block in place. */
    out[root] = 100 + root;
    OK(MPI_Gather(here ? MPI_IN_PLACE : in, here ? BAD_COUNT : 1, here ? BAD_TYPE : MPI_INT,
                  here ? out : BAD_BUFFER, here ? 1 : BAD_COUNT, here ? MPI_INT : BAD_TYPE, root,
                  comm));
    check_gathered(here, size);
    WITH_COUNTS(check_scattered(), Scatter, scatter, here ? many : BAD_BUFFER, here ? 1 : BAD_COUNT,
                here ? MPI_INT : BAD_TYPE, out, 1, MPI_INT, root, comm);
    ALL_FORMS(check_scattered(), Scatterv, scatterv, here ? many : BAD_BUFFER,
              here ? ones : BAD_LIST, here ? places : BAD_LIST, here ? MPI_INT : BAD_TYPE, out, 1,
              MPI_INT, root, comm);
    OK(MPI_Scatter(here ? many : BAD_BUFFER, here ? 1 : BAD_COUNT, here ? MPI_INT : BAD_TYPE,
                   here ? MPI_IN_PLACE : out, here ? BAD_COUNT : 1, here ? BAD_TYPE : MPI_INT, root,
                   comm));
    in[0] = 1;
    WITH_COUNTS(check_reduced(here), Reduce, reduce, in, here ? out : BAD_BUFFER, 1, MPI_INT,
                MPI_SUM,
                root, comm);
    WITH_COUNTS(check_reduced(here), Reduce, reduce, in, here ? out : NULL, 1, MPI_INT, MPI_SUM,
                root,
                comm);
    WITH_COUNTS(check_reduced(here), Reduce, reduce, in, here ? out : MPI_IN_PLACE, 1, MPI_INT,
                MPI_SUM,
                root, comm);
    WITH_COUNTS(check_reduced(here), Reduce, reduce, in, here ? out : in, 1, MPI_INT, MPI_SUM, root,
                comm);
}

/* What is sent in place has neither count nor datatype. */
static void in_place(void) {
    MPI_Comm comm = MPI_COMM_WORLD;
    int ones[4] = {1, 1, 1, 1}, places[4] = {0, 1, 2, 3}, bytes[4] = {0, 4, 8, 12};
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    out[rank] = 100 + rank;
    OK(MPI_Allgather(MPI_IN_PLACE, BAD_COUNT, BAD_TYPE, out, 1, MPI_INT, comm));
    check_gathered(1, size);
    out[rank] = 100 + rank;
    OK(MPI_Allgatherv(MPI_IN_PLACE, BAD_COUNT, BAD_TYPE, out, ones, places, MPI_INT, comm));
    check_gathered(1, size);
    out[rank] = 100 + rank;
    OK(MPI_Iallgather(MPI_IN_PLACE, BAD_COUNT, BAD_TYPE, out, 1, MPI_INT, comm, &request));
    finish();
    check_gathered(1, size);
    out[rank] = 100 + rank;
    for (int each = 0; each < size; each++) out[each] = 100 + rank;
    OK(MPI_Alltoall(MPI_IN_PLACE, BAD_COUNT, BAD_TYPE, out, 1, MPI_INT, comm));
    check_gathered(1, size);
    for (int each = 0; each < size; each++) out[each] = 100 + rank;
    OK(MPI_Alltoallv(MPI_IN_PLACE, BAD_LIST, BAD_LIST, BAD_TYPE, out, ones, places, MPI_INT, comm));
    check_gathered(1, size);
    for (int each = 0; each < size; each++) out[each] = 100 + rank;
    OK(MPI_Alltoallw(MPI_IN_PLACE, BAD_LIST, BAD_LIST, NULL, out, ones, bytes, types, comm));
    check_gathered(1, size);
    for (int each = 0; each < size; each++) out[each] = 100 + rank;
    OK(MPI_Ialltoallw(MPI_IN_PLACE, BAD_LIST, BAD_LIST, NULL, out, ones, bytes, types, comm,
                      &request));
    finish();
    check_gathered(1, size);
}

/* Nothing comes to the first rank of an exclusive scan. */
static void exscan(unsigned count) {
    MPI_Comm comm = MPI_COMM_WORLD;
    int *ones = malloc(count * sizeof *ones), *sums = malloc(count * sizeof *sums);
    void *nowhere[] = {NULL, BAD_BUFFER, ones, MPI_IN_PLACE};
    for (unsigned i = 0; i < count; i++) ones[i] = 1;
    for (int which = 0; which < 4; which++) {
        for (int round = 0; round < 3; round++) {
            WITH_COUNTS(check_sums(ones, sums, count), Exscan, exscan, ones,
                rank ? sums : nowhere[which], count,
                        MPI_INT, MPI_SUM, comm);
            OK(MPI_Exscan(ones, sums, count, MPI_INT, MPI_SUM, comm));
            check_sums(ones, sums, count);
        }
    }
    free(ones);
    free(sums);
}

/* Between two groups only the root and the far group have data. */
static void between(void) {
    MPI_Comm half, inter;
    int side = rank % 2, others = side ? (size + 1) / 2 : size / 2;
    OK(MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 3, &inter));
    int own, is_root = rank == 0;
    OK(MPI_Comm_rank(inter, &own));
    for (int turn = 0; turn < 2; turn++) {
        /* The root is rank 0 of the world; the others beside it are idle. */
        int root = side ? 0 : is_root ? MPI_ROOT : MPI_PROC_NULL;
        int idle = !side && !is_root, ones[4] = {1, 1, 1, 1}, places[4] = {0, 1, 2, 3};
        int many[4] = {100, 101, 102, 103};
        in[0] = 100 + own;
        WITH_COUNTS(check_gathered(is_root, others), Gather, gather, side ? in : BAD_BUFFER,
                    side ? 1 : BAD_COUNT, side ? MPI_INT : BAD_TYPE, is_root ? out : BAD_BUFFER,
                    is_root ? 1 : BAD_COUNT, is_root ? MPI_INT : BAD_TYPE, root, inter);
        ALL_FORMS(check_gathered(is_root, others), Gatherv, gatherv, side ? in : BAD_BUFFER,
                  side ? 1 : BAD_COUNT, side ? MPI_INT : BAD_TYPE, is_root ? out : BAD_BUFFER,
                  is_root ? ones : BAD_LIST, is_root ? places : BAD_LIST,
                  is_root ? MPI_INT : BAD_TYPE, root, inter);
        WITH_COUNTS(check_far(side, own), Scatter, scatter, is_root ? many : BAD_BUFFER,
                    is_root ? 1 : BAD_COUNT, is_root ? MPI_INT : BAD_TYPE, side ? out : BAD_BUFFER,
                    side ? 1 : BAD_COUNT, side ? MPI_INT : BAD_TYPE, root, inter);
        ALL_FORMS(check_far(side, own), Scatterv, scatterv, is_root ? many : BAD_BUFFER,
                  is_root ? ones : BAD_LIST, is_root ? places : BAD_LIST,
                  is_root ? MPI_INT : BAD_TYPE, side ? out : BAD_BUFFER, side ? 1 : BAD_COUNT,
                  side ? MPI_INT : BAD_TYPE, root, inter);
        in[0] = 1;
        WITH_COUNTS(check_far_sum(is_root, others), Reduce, reduce, side ? in : BAD_BUFFER,
                    is_root ? out : BAD_BUFFER, idle ? BAD_COUNT : 1, idle ? BAD_TYPE : MPI_INT,
                    idle ? (MPI_Op)0xdead0 : MPI_SUM, root, inter);
        int data = is_root ? 42 : 0;
        ALL_FORMS(
            check_data(idle, data), Bcast, bcast, idle ? BAD_BUFFER : (void *)&data,
                idle ? BAD_COUNT : 1,
            idle ? BAD_TYPE : MPI_INT, root, inter);
    }
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

/* To and from nobody nothing goes, whatever its buffer is; statuses may be ignored. */
static void messages(void) {
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Message message;
    MPI_Status status;
    int flag = 0;
    OK(MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, comm));
    OK(MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    OK(MPI_Sendrecv(in, 1, MPI_INT, MPI_PROC_NULL, 0, in, 1, MPI_INT, MPI_PROC_NULL, 0, comm,
                    &status));
    CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    OK(MPI_Mprobe(MPI_PROC_NULL, MPI_ANY_TAG, comm, &message, &status));
    CHECK(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL);
    OK(MPI_Mrecv(BAD_BUFFER, BAD_COUNT, BAD_TYPE, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == MPI_PROC_NULL);
    OK(MPI_Improbe(MPI_PROC_NULL, 3, comm, &flag, &message, MPI_STATUS_IGNORE));
    CHECK(flag && message == MPI_MESSAGE_NO_PROC);
    OK(MPI_Imrecv(BAD_BUFFER, BAD_COUNT, BAD_TYPE, &message, &request));
    CHECK(message == MPI_MESSAGE_NULL);
    OK(MPI_Wait(&request, &status));
    CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    ERR(MPI_Mrecv(in, 1, MPI_INT, &message, &status), MPI_ERR_REQUEST);
    ERR(MPI_Imrecv(in, 1, MPI_INT, &message, &request), MPI_ERR_REQUEST);
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int root = 0; root < size; root++) rooted(root);
    in_place();
    exscan(1);
    exscan(1000);
    exscan(100000);
    if (size > 1) between();
    messages();
    OK(MPI_Finalize());
    return 0;
}

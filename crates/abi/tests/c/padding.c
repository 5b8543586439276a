/* Messages some of whose bytes nobody has written, as the padding of structures, in turns with
 * messages of written bytes: what is received of the latter counts as written under a tool that
 * watches that, in whatever memory the library passes both of them on.
 *
 * ranks: 2
 * case: copied
 * case: in_pieces
 * set: MOTET_SINGLE_COPY=off
 * case: by_the_kernel
 * set: MOTET_SINGLE_COPY=on
 */

#include "check.h"

enum { ROUNDS = 12, LONGEST = 3 << 20 };

static const int LENGTHS[] = {8, 48, 200, 600, 1024, 5000, 40000, 70000, 600000, LONGEST};

struct pair {
    double value;
    int index; /* and four bytes that nobody writes */
};

static int rank, other;
static MPI_Comm ring;

/* Memory of which every second byte is written, or every one. */
static unsigned char *filled(int length, int is_whole, int from) {
    unsigned char *bytes = malloc(length);
    CHECK(bytes != NULL);
    for (int at = 0; at < length; at += is_whole ? 1 : 2) bytes[at] = (unsigned char)(at * 7 + from);
    return bytes;
}

static void check(const unsigned char *bytes, int length, int is_whole, int from) {
    for (int at = 0; at < length; at += is_whole ? 1 : 2)
        if (bytes[at] != (unsigned char)(at * 7 + from)) CHECK_EQ(bytes[at], at * 7 + from);
}

/* Each rank sends a message, and receives one. */
typedef void exchange(const void *, void *, int);

static void in_turns(const void *out, void *in, int length) {
    if (rank == 0) OK(MPI_Send(out, length, MPI_BYTE, other, 0, MPI_COMM_WORLD));
    OK(MPI_Recv(in, length, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (rank == 1) OK(MPI_Send(out, length, MPI_BYTE, other, 0, MPI_COMM_WORLD));
}

static void at_once(const void *out, void *in, int length) {
    MPI_Request requests[2];
    OK(MPI_Irecv(in, length, MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(out, length, MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

static void unexpected(const void *out, void *in, int length) {
    MPI_Request request;
    OK(MPI_Isend(out, length, MPI_BYTE, other, 2, MPI_COMM_WORLD, &request));
    OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, other, 3, NULL, 0, MPI_BYTE, other, 3, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    OK(MPI_Recv(in, length, MPI_BYTE, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void persistent(const void *out, void *in, int length) {
    MPI_Request requests[2];
    OK(MPI_Recv_init(in, length, MPI_BYTE, other, 4, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Send_init(out, length, MPI_BYTE, other, 4, MPI_COMM_WORLD, &requests[1]));
    for (int again = 0; again < 2; ++again) {
        OK(MPI_Startall(2, requests));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

/* What is sent to the left comes from the right. */
static void neighbours(const void *out, void *in, int length) {
    int half = length / 2;
    unsigned char *turned = malloc(length);
    CHECK(turned != NULL);
    MPI_Request request;
    OK(MPI_Neighbor_alltoall_init(out, half, MPI_BYTE, turned, half, MPI_BYTE, ring, MPI_INFO_NULL,
                                  &request));
    for (int again = 0; again < 2; ++again) {
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    OK(MPI_Request_free(&request));
    memcpy(in, turned + half, half);
    memcpy((unsigned char *)in + half, turned, half);
    free(turned);
}

/* The blocks of both ranks; the own one is not passed on. */
static void gathered(const void *out, void *in, int length) {
    unsigned char *both = malloc(2 * (size_t)length);
    CHECK(both != NULL);
    OK(MPI_Allgather(out, length, MPI_BYTE, both, length, MPI_BYTE, MPI_COMM_WORLD));
    memcpy(in, both + (size_t)other * length, length);
    free(both);
}

static void one_to_all(const void *out, void *in, int length) {
    for (int root = 0; root < 2; ++root) {
        unsigned char *bytes = malloc(length);
        CHECK(bytes != NULL);
        memcpy(bytes, out, length);
        OK(MPI_Bcast(bytes, length, MPI_BYTE, root, MPI_COMM_WORLD));
        if (root == other) memcpy(in, bytes, length);
        free(bytes);
    }
}

static void with_memory_of_the_library(const void *out, void *in, int length) {
    unsigned char *own = NULL, *others = NULL;
    OK(MPI_Alloc_mem(length, MPI_INFO_NULL, &own));
    OK(MPI_Alloc_mem(length, MPI_INFO_NULL, &others));
    memcpy(own, out, length);
    at_once(own, others, length);
    memcpy(in, others, length);
    OK(MPI_Free_mem(own));
    OK(MPI_Free_mem(others));
}

/* The smallest of all pairs, none of whose padding is written. */
static void smallest(void) {
    for (int count = 1; count < 20000; count = 5 * count + 2) {
        struct pair *in = malloc(count * sizeof *in), *out = malloc(count * sizeof *out);
        CHECK(in != NULL && out != NULL);
        for (int at = 0; at < count; ++at) {
            in[at].value = (at + rank) % 2 + at;
            in[at].index = 10 * at + rank;
        }
        OK(MPI_Allreduce(in, out, count, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD));
        for (int at = 0; at < count; ++at) {
            CHECK(out[at].value == at);
            CHECK_EQ(out[at].index, 10 * at + at % 2);
        }
        free(in);
        free(out);
    }
}

int main(int argc, char **argv) {
    exchange *const kinds[] = {in_turns, at_once, unexpected, persistent, neighbours, gathered,
                               one_to_all, with_memory_of_the_library};
    const int two = 2, is_periodic = 1;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    other = 1 - rank;
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &two, &is_periodic, 0, &ring));
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind) {
        for (size_t at = 0; at < sizeof LENGTHS / sizeof *LENGTHS; ++at) {
            int length = LENGTHS[at], rounds = length < 100000 ? ROUNDS : 3;
            for (int round = 0; round < rounds; ++round) {
                int is_whole = (round + rank) % 2;
                unsigned char *out = filled(length, is_whole, rank), *in = malloc(length);
                CHECK(in != NULL);
                kinds[kind](out, in, length);
                check(in, length, !is_whole, other);
                free(out);
                free(in);
            }
        }
        smallest();
    }
    OK(MPI_Comm_free(&ring));
    OK(MPI_Finalize());
    return 0;
}

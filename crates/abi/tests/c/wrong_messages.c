/* Wrong arguments of messages, probes and buffers, and messages that are too long: the class of the
 * error each time; nothing is sent, no request is made, and what is right afterwards works.
 *
 * ranks: 1 2 3
 * spec: 37, 61, 63
 */

#include "check.h"

#define COMM MPI_COMM_WORLD
static int rank, size, a[64], b[256], flag, n;
static MPI_Status status, statuses[4];

/* All the ways to send, with what may be wrong in each. */
#define SENDS(class, buffer, count, type, to, tag)                                         \
    do {                                                                                   \
        MPI_Request request;                                                               \
        ERR(MPI_Send(buffer, count, type, to, tag, COMM), class);                          \
        ERR(MPI_Ssend(buffer, count, type, to, tag, COMM), class);                         \
        ERR(MPI_Rsend(buffer, count, type, to, tag, COMM), class);                         \
        ERR(MPI_Bsend(buffer, count, type, to, tag, COMM), class);                         \
        NO_REQUEST(MPI_Isend(buffer, count, type, to, tag, COMM, &request), class);        \
        NO_REQUEST(MPI_Issend(buffer, count, type, to, tag, COMM, &request), class);       \
        NO_REQUEST(MPI_Irsend(buffer, count, type, to, tag, COMM, &request), class);       \
        NO_REQUEST(MPI_Ibsend(buffer, count, type, to, tag, COMM, &request), class);       \
        NO_REQUEST(MPI_Send_init(buffer, count, type, to, tag, COMM, &request), class);    \
        NO_REQUEST(MPI_Ssend_init(buffer, count, type, to, tag, COMM, &request), class);   \
        NO_REQUEST(MPI_Rsend_init(buffer, count, type, to, tag, COMM, &request), class);   \
        NO_REQUEST(MPI_Bsend_init(buffer, count, type, to, tag, COMM, &request), class);   \
        ERR(MPI_Sendrecv(buffer, count, type, to, tag, b, 1, MPI_INT, MPI_PROC_NULL, 0,    \
                         COMM, &status), class);                                           \
        ERR(MPI_Send_c(buffer, count, type, to, tag, COMM), class);                        \
        NO_REQUEST(MPI_Send_init_c(buffer, count, type, to, tag, COMM, &request), class);  \
    } while (0)

#define RECEIVES(class, buffer, count, type, from, tag)                                    \
    do {                                                                                   \
        MPI_Request request;                                                               \
        ERR(MPI_Recv(buffer, count, type, from, tag, COMM, &status), class);               \
        NO_REQUEST(MPI_Irecv(buffer, count, type, from, tag, COMM, &request), class);      \
        NO_REQUEST(MPI_Recv_init(buffer, count, type, from, tag, COMM, &request), class);  \
        ERR(MPI_Sendrecv(a, 1, MPI_INT, MPI_PROC_NULL, 0, buffer, count, type, from, tag,  \
                         COMM, &status), class);                                           \
        ERR(MPI_Recv_c(buffer, count, type, from, tag, COMM, &status), class);             \
    } while (0)

/* There is none afterwards. */
#define NO_REQUEST(call, class)           \
    do {                                  \
        request = (MPI_Request)0xdead0;   \
        ERR(call, class);                 \
        CHECK(request == MPI_REQUEST_NULL); \
    } while (0)

static void arguments(void) {
    MPI_Datatype open;
    OK(MPI_Type_contiguous(2, MPI_INT, &open));
    const int ranks[] = {size, -5, MPI_ROOT, MPI_UNDEFINED, 1 << 30, -(1 << 30)};
    for (int i = 0; i < 6; i++) {
        SENDS(MPI_ERR_RANK, a, 1, MPI_INT, ranks[i], 0);
        RECEIVES(MPI_ERR_RANK, a, 1, MPI_INT, ranks[i], 0);
        ERR(MPI_Probe(ranks[i], 0, COMM, &status), MPI_ERR_RANK);
        ERR(MPI_Iprobe(ranks[i], 0, COMM, &flag, &status), MPI_ERR_RANK);
    }
    SENDS(MPI_ERR_RANK, a, 1, MPI_INT, MPI_ANY_SOURCE, 0);
    const int tags[] = {-1, -3, -100, MPI_UNDEFINED};
    for (int i = 0; i < 4; i++) {
        SENDS(MPI_ERR_TAG, a, 1, MPI_INT, 0, tags[i]);
        RECEIVES(MPI_ERR_TAG, a, 1, MPI_INT, 0, tags[i]);
        ERR(MPI_Probe(0, tags[i], COMM, &status), MPI_ERR_TAG);
    }
    SENDS(MPI_ERR_TAG, a, 1, MPI_INT, 0, MPI_ANY_TAG);
    SENDS(MPI_ERR_COUNT, a, -1, MPI_INT, 0, 0);
    RECEIVES(MPI_ERR_COUNT, a, -1, MPI_INT, 0, 0);
    SENDS(MPI_ERR_TYPE, a, 1, open, 0, 0);
    RECEIVES(MPI_ERR_TYPE, a, 1, open, 0, 0);
    SENDS(MPI_ERR_TYPE, a, 1, MPI_DATATYPE_NULL, 0, 0);
    RECEIVES(MPI_ERR_TYPE, a, 1, MPI_DATATYPE_NULL, 0, 0);
    SENDS(MPI_ERR_BUFFER, NULL, 1, MPI_INT, 0, 0);
    RECEIVES(MPI_ERR_BUFFER, NULL, 1, MPI_INT, 0, 0);
    SENDS(MPI_ERR_BUFFER, MPI_IN_PLACE, 1, MPI_INT, 0, 0);
    RECEIVES(MPI_ERR_BUFFER, MPI_IN_PLACE, 1, MPI_INT, 0, 0);
    OK(MPI_Type_free(&open));
    ERR(MPI_Isend(a, 1, MPI_INT, 0, 0, COMM, NULL), MPI_ERR_ARG);
    ERR(MPI_Irecv(a, 1, MPI_INT, 0, 0, COMM, NULL), MPI_ERR_ARG);
    ERR(MPI_Sendrecv_replace(a, -1, MPI_INT, 0, 0, 0, 0, COMM, &status), MPI_ERR_COUNT);
    ERR(MPI_Sendrecv_replace(a, 1, MPI_INT, size, 0, 0, 0, COMM, &status), MPI_ERR_RANK);
}

/* Sends to itself so many integers. */
static MPI_Request send_to_self(int count, int tag) {
    MPI_Request request;
    OK(MPI_Isend(a, count, MPI_INT, rank, tag, COMM, &request));
    return request;
}

static void truncation(void) {
    MPI_Request send = send_to_self(4, 1), requests[3];
    for (int i = 0; i < 64; i++) b[i] = -1;
    ERR(MPI_Recv(b, 2, MPI_INT, rank, 1, COMM, &status), MPI_ERR_TRUNCATE);
    for (int i = 2; i < 64; i++) CHECK_EQ(b[i], -1);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));

    send = send_to_self(1, 1);
    ERR(MPI_Recv(NULL, 0, MPI_INT, rank, 1, COMM, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));

    send = send_to_self(4, 1);
    OK(MPI_Irecv(b, 3, MPI_INT, rank, 1, COMM, &requests[0]));
    ERR(MPI_Wait(&requests[0], &status), MPI_ERR_TRUNCATE);
    CHECK(requests[0] == MPI_REQUEST_NULL);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));

    /* Of several, one: the others are complete, or told to be pending. */
    requests[0] = send_to_self(5, 2);
    OK(MPI_Irecv(b, 1, MPI_INT, rank, 2, COMM, &requests[1]));
    OK(MPI_Irecv(b + 8, 1, MPI_INT, MPI_PROC_NULL, 2, COMM, &requests[2]));
    ERR(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
    ERR(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE);
    CHECK(requests[1] == MPI_REQUEST_NULL);
    for (int i = 0; i < 3; i += 2) {
        CHECK(statuses[i].MPI_ERROR == MPI_SUCCESS || statuses[i].MPI_ERROR == MPI_ERR_PENDING);
        if (statuses[i].MPI_ERROR == MPI_ERR_PENDING) OK(MPI_Wait(&requests[i], &status));
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }

    /* A persistent receive can be started again. */
    OK(MPI_Recv_init(b, 1, MPI_INT, rank, 3, COMM, &requests[0]));
    for (int round = 0; round < 4; round++) {
        send = send_to_self(1 + round % 2, 3);
        OK(MPI_Start(&requests[0]));
        if (round % 2)
            ERR(MPI_Wait(&requests[0], &status), MPI_ERR_TRUNCATE);
        else
            OK(MPI_Wait(&requests[0], &status));
        CHECK(requests[0] != MPI_REQUEST_NULL);
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    OK(MPI_Request_free(&requests[0]));
}

/* A collective that is given less room than there is data: the ranks that have too little room are
 * told, and the others go on. A rank that comes late may hear of the error of another one before it
 * sees its own. */
static void truncated_collective(void) {
    if (size < 2) return;
    int count = rank == 0 ? 8 : 4;
    int code = MPI_Bcast(a, count, MPI_INT, 0, COMM), class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) OK(MPI_Error_class(code, &class));
    int is_told = class == MPI_ERR_TRUNCATE || class == MPI_ERR_OTHER;
    CHECK(rank == 0 ? class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE : is_told);
    int own = class == MPI_ERR_TRUNCATE, any = 0;
    OK(MPI_Allreduce(&own, &any, 1, MPI_INT, MPI_LOR, COMM));
    CHECK(any);
}

static void buffers(void) {
    static char room[256 + MPI_BSEND_OVERHEAD];
    void *address;
    ERR(MPI_Bsend(a, 1, MPI_INT, rank, 5, COMM), MPI_ERR_BUFFER);
    ERR(MPI_Buffer_detach(&address, &n), MPI_ERR_BUFFER);
    ERR(MPI_Buffer_attach(room, -1), MPI_ERR_ARG);
    OK(MPI_Buffer_attach(room, sizeof room));
    ERR(MPI_Buffer_attach(room, sizeof room), MPI_ERR_BUFFER);
    ERR(MPI_Bsend(b, 256, MPI_INT, rank, 5, COMM), MPI_ERR_BUFFER);
    OK(MPI_Bsend(a, 1, MPI_INT, rank, 5, COMM));
    OK(MPI_Recv(b, 1, MPI_INT, rank, 5, COMM, MPI_STATUS_IGNORE));
    OK(MPI_Buffer_detach(&address, &n));
    CHECK(address == room);
}

static void probes(void) {
    MPI_Message message, copy;
    MPI_Request send = send_to_self(3, 6);
    OK(MPI_Mprobe(rank, 6, COMM, &message, &status));
    copy = message;
    ERR(MPI_Mrecv(b, 1, MPI_INT, &message, &status), MPI_ERR_TRUNCATE);
    CHECK(message == MPI_MESSAGE_NULL);
    ERR(MPI_Mrecv(b, 3, MPI_INT, &copy, &status), MPI_ERR_REQUEST);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    ERR(MPI_Mprobe(size, 6, COMM, &message, &status), MPI_ERR_RANK);
    ERR(MPI_Improbe(rank, -7, COMM, &flag, &message, &status), MPI_ERR_TAG);
    ERR(MPI_Iprobe(rank, 6, COMM, NULL, &status), MPI_ERR_ARG);
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(COMM, &rank));
    OK(MPI_Comm_size(COMM, &size));
    OK(MPI_Comm_set_errhandler(COMM, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    arguments();
    truncation();
    buffers();
    probes();
    OK(MPI_Barrier(COMM));
    truncated_collective();
    int one = 1, all = 0;
    OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, COMM));
    CHECK_EQ(all, size);
    OK(MPI_Finalize());
    return 0;
}

/* Persistent operations that are started again and again with other data.
 *
 * A task is one persistent operation of one rank. Each round fills its buffers with the data of
 * that round, and works out what the whole receive buffer must then look like: also the bytes that
 * must not be touched. What is sent is a function of who sends it, to whom, the place in the block
 * and the round; so whatever comes from elsewhere, or from another round, is seen. */

#ifndef RESTART_H
#define RESTART_H

#include "check.h"

enum { POISON = -0x5a5a5a5b, ANYTHING = 0x7fedcba9, MAX_RANKS = 16, EVERYBODY = 77 };

/* Elements of `width` integers, each in a place of `stride` integers. */
struct layout {
    int width, stride;
    MPI_Datatype type;
    MPI_Op op;
};

struct task;

/* What is done to a task; the rows of a table. */
struct operation {
    const char *name;
    /* Whether there is a form of it in place. */
    int can_be_in_place;
    /* Says how many elements the buffers have room for. */
    void (*size)(struct task *);
    void (*init)(struct task *, MPI_Info);
    void (*init_c)(struct task *, MPI_Info);
    /* Writes the data of a round, and what must come of it. */
    void (*data)(struct task *, int round);
};

struct task {
    const struct operation *operation;
    MPI_Comm comm;
    struct layout layout;
    int rank, size, root, count, in_place, tag;
    /* Ranks of the other group, if the communicator is between groups. */
    int far;
    /* Who takes part, if these are not all: the group, and its ranks in the communicator. Then `rank`,
     * `size` and `root` are those of the group. */
    MPI_Group group;
    const int *members;
    /* Room in elements; which arguments are given, and the counts of these. */
    int send_room, recv_room;
    enum { BUFFER, NOTHING, IN_PLACE } send_is, recv_is;
    int send_n, recv_n;
    int *send, *recv, *want;
    /* Blocks, as both forms of a call want them: in elements and in bytes. */
    int blocks_sent, blocks_received;
    struct blocks {
        int counts[MAX_RANKS], places[MAX_RANKS], bytes[MAX_RANKS];
        MPI_Count counts_c[MAX_RANKS];
        MPI_Aint places_c[MAX_RANKS], bytes_c[MAX_RANKS];
    } to, from;
    MPI_Datatype types[MAX_RANKS];
    MPI_Request request;
};

/* One component of an element: odd in the first, small enough for sums. */
static inline int value(int from, int to, int index, int round, int component) {
    unsigned x = (unsigned)from * 2654435761u + (unsigned)to * 40503u + (unsigned)index * 69069u +
                 (unsigned)round * 2246822519u + (unsigned)component * 374761393u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return (int)((x & 0xfffff) | 1);
}

/* Writes an element. */
static inline void put(const struct task *t, int *buffer, int place, int from, int to, int index,
                       int round) {
    for (int k = 0; k < t->layout.width; k++)
        buffer[place * t->layout.stride + k] = value(from, to, index, round, k);
}

/* x, then y, as maps a·z + b. Associative, but not commutative. */
static inline void compose(const int *x, const int *y, int *result) {
    unsigned a = (unsigned)x[0] * (unsigned)y[0];
    unsigned b = (unsigned)x[1] * (unsigned)y[0] + (unsigned)y[1];
    result[0] = (int)a;
    result[1] = (int)b;
}

/* The stride of the elements that the operator is used on. */
static int composed_stride = 2;

static inline void compose_all(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *len; i++) {
        int *right = (int *)inout + i * composed_stride;
        compose((const int *)in + i * composed_stride, right, right);
    }
}

/* Writes the reduction of the elements of the ranks from `first` up to, not including, `end`. */
static inline void fold(const struct task *t, int *buffer, int place, int first, int end, int to,
                        int index, int round) {
    int *result = buffer + place * t->layout.stride;
    for (int from = first; from < end; from++) {
        if (t->layout.width == 1) {
            int one = value(from, to, index, round, 0);
            result[0] = from == first ? one : result[0] + one;
        } else {
            int one[2] = {value(from, to, index, round, 0), value(from, to, index, round, 1)};
            if (from == first)
                memcpy(result, one, sizeof one);
            else
                compose(result, one, result);
        }
    }
}

/* Integers as they are. */
static inline struct layout plain(void) {
    return (struct layout){1, 1, MPI_INT, MPI_SUM};
}

/* Pairs with a gap behind them, and an operator of the program. */
static inline struct layout pairs(void) {
    struct layout layout = {2, 3, MPI_DATATYPE_NULL, MPI_OP_NULL};
    MPI_Datatype pair;
    composed_stride = layout.stride;
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_create_resized(pair, 0, (MPI_Aint)(3 * sizeof(int)), &layout.type));
    OK(MPI_Type_free(&pair));
    OK(MPI_Type_commit(&layout.type));
    OK(MPI_Op_create(compose_all, 0, &layout.op));
    return layout;
}

/* Frees what `pairs` has made. */
static inline void free_layout(struct layout *layout) {
    if (layout->width == 1) return;
    OK(MPI_Type_free(&layout->type));
    OK(MPI_Op_free(&layout->op));
}

/* Places blocks of these lengths from the last to the first, with a gap of one element behind each;
 * returns the room that they take. */
static inline int place_blocks(const struct task *t, struct blocks *blocks, int n) {
    int room = 0;
    for (int j = n - 1; j >= 0; j--) {
        blocks->places[j] = room;
        room += blocks->counts[j] + 1;
    }
    for (int j = 0; j < n; j++) {
        blocks->bytes[j] = blocks->places[j] * t->layout.stride * (int)sizeof(int);
        blocks->counts_c[j] = blocks->counts[j];
        blocks->places_c[j] = blocks->places[j];
        blocks->bytes_c[j] = blocks->bytes[j];
    }
    return room;
}

static inline void poison(int *buffer, int elements, const struct task *t) {
    for (int i = 0; i < elements * t->layout.stride; i++) buffer[i] = POISON;
}

/* Makes a task of a rank among so many, but does not initialise its operation. */
static inline void make_as(struct task *t, const struct operation *operation, MPI_Comm comm,
                           struct layout layout, int count, int in_place, int rank, int size) {
    int is_inter;
    *t = (struct task){.operation = operation, .comm = comm, .layout = layout, .count = count,
                       .in_place = in_place, .rank = rank, .size = size,
                       .request = MPI_REQUEST_NULL};
    OK(MPI_Comm_test_inter(comm, &is_inter));
    if (is_inter) OK(MPI_Comm_remote_size(comm, &t->far));
    t->root = (count + (int)strlen(operation->name)) % t->size;
    t->send_n = t->recv_n = count;
    for (int j = 0; j < MAX_RANKS; j++) t->types[j] = layout.type;
    operation->size(t);
    /* One more, so that there is always an address. */
    t->send = malloc((size_t)(t->send_room + 1) * (size_t)layout.stride * sizeof(int));
    t->recv = malloc((size_t)(t->recv_room + 1) * (size_t)layout.stride * sizeof(int));
    t->want = malloc((size_t)(t->recv_room + 1) * (size_t)layout.stride * sizeof(int));
    CHECK(t->send && t->recv && t->want);
}

/* The same, of the rank of the communicator. */
static inline void make(struct task *t, const struct operation *operation, MPI_Comm comm,
                        struct layout layout, int count, int in_place) {
    int rank, size;
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    make_as(t, operation, comm, layout, count, in_place, rank, size);
}

/* The data of a round is put into the buffers. */
static inline void fill(struct task *t, int round) {
    poison(t->send, t->send_room, t);
    poison(t->recv, t->recv_room, t);
    poison(t->want, t->recv_room, t);
    t->operation->data(t, round);
}

/* The receive buffer is what it must be, everywhere. */
static inline void verify(const struct task *t, int round) {
    for (int i = 0; i < t->recv_room * t->layout.stride; i++) {
        if (t->want[i] == ANYTHING || t->want[i] == t->recv[i]) continue;
        check_failed(__FILE__, __LINE__);
        fprintf(stderr, "%s (%d elements, %d wide, in place: %d) in round %d, integer %d of %d: "
                "expected %d, seen %d\n", t->operation->name, t->count, t->layout.width,
                t->in_place, round, i, t->recv_room * t->layout.stride, t->want[i], t->recv[i]);
        exit(99);
    }
}

/* Frees the request, which is not active, and the buffers. */
static inline void finish(struct task *t) {
    OK(MPI_Request_free(&t->request));
    CHECK(t->request == MPI_REQUEST_NULL);
    free(t->send);
    free(t->recv);
    free(t->want);
}

/* An inactive request is complete at once, and stays. */
static inline void expect_inactive(MPI_Request *request) {
    MPI_Request before = *request;
    MPI_Status status;
    int flag = 0, count = -1;
    OK(MPI_Wait(request, &status));
    CHECK(*request == before);
    CHECK_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, 0);
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Test(request, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 1);
    CHECK(*request == before);
    OK(MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 1);
}

enum { WAYS_TO_START = 6, WAYS_TO_COMPLETE = 9 };

/* Starts all requests; the ways differ in the order, also between ranks. */
static inline void start(MPI_Request *requests, int n, int way, int rank) {
    MPI_Request *turned = malloc((size_t)n * sizeof *turned);
    int half = n / 2;
    for (int i = 0; i < n; i++) turned[i] = requests[rank % 2 ? n - 1 - i : (i + rank) % n];
    switch (way % WAYS_TO_START) {
    case 0: OK(MPI_Startall(n, requests)); break;
    case 1: OK(MPI_Startall(n, turned)); break;
    case 2: for (int i = 0; i < n; i++) OK(MPI_Start(&requests[i])); break;
    case 3: for (int i = 0; i < n; i++) OK(MPI_Start(&turned[i])); break;
    case 4:
        OK(MPI_Startall(half, turned));
        OK(MPI_Startall(0, turned));
        OK(MPI_Startall(n - half, turned + half));
        break;
    default:
        for (int i = n - 1; i >= half; i--) OK(MPI_Start(&turned[i]));
        OK(MPI_Startall(half, turned));
    }
    free(turned);
}

static inline void complete_one_by_one(MPI_Request *requests, int n, int way) {
    int flag, index, left;
    switch (way) {
    case 0: for (int i = n - 1; i >= 0; i--) OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE)); break;
    case 1:
        for (left = n; left > 0;) {
            for (int i = left = 0; i < n; i++) {
                MPI_Status status;
                OK(MPI_Test(&requests[i], &flag, &status));
                left += !flag;
            }
        }
        break;
    case 2:
        for (left = n; left > 0; left--) {
            OK(MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE));
            CHECK(index >= 0 && index < n);
        }
        OK(MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE));
        CHECK_EQ(index, MPI_UNDEFINED);
        break;
    default:
        for (left = n; left > 0; left -= flag && index != MPI_UNDEFINED) {
            MPI_Status status;
            OK(MPI_Testany(n, requests, &index, &flag, &status));
        }
        OK(MPI_Testany(n, requests, &index, &flag, MPI_STATUS_IGNORE));
        CHECK(flag && index == MPI_UNDEFINED);
    }
}

static inline void complete_some(MPI_Request *requests, int n, int way, MPI_Status *statuses) {
    int *indices = malloc((size_t)n * sizeof *indices);
    int some, flag;
    if (way == 0) {
        OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
    } else if (way == 1) {
        do OK(MPI_Testall(n, requests, &flag, statuses)); while (!flag);
    } else if (way == 2) {
        for (int left = n; left > 0; left -= some) {
            OK(MPI_Waitsome(n, requests, &some, indices, statuses));
            CHECK(some > 0 && some <= left);
        }
        OK(MPI_Waitsome(n, requests, &some, indices, MPI_STATUSES_IGNORE));
        CHECK_EQ(some, MPI_UNDEFINED);
    } else if (way == 3) {
        for (int left = n; left > 0; left -= some) {
            OK(MPI_Testsome(n, requests, &some, indices, MPI_STATUSES_IGNORE));
            CHECK(some >= 0 && some <= left);
        }
    } else {
        for (int i = 0; i < n; i++) {
            for (flag = 0; !flag;) OK(MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE));
            OK(MPI_Request_get_status(requests[i], &flag, statuses));
            CHECK_EQ(flag, 1);
        }
        OK(MPI_Waitall(n, requests, statuses));
    }
    free(indices);
}

/* Completes all requests, which stay as they are: persistent and inactive. */
static inline void complete(MPI_Request *requests, int n, int way) {
    MPI_Request *before = malloc((size_t)n * sizeof *before);
    MPI_Status *statuses = malloc((size_t)n * sizeof *statuses);
    memcpy(before, requests, (size_t)n * sizeof *before);
    way %= WAYS_TO_COMPLETE;
    if (way < 4)
        complete_one_by_one(requests, n, way);
    else
        complete_some(requests, n, way - 4, statuses);
    for (int i = 0; i < n; i++) {
        CHECK(requests[i] == before[i]);
        expect_inactive(&requests[i]);
    }
    free(before);
    free(statuses);
}

/* So many rounds of all tasks at once. The ways to complete differ between ranks; those to start
 * are the same everywhere, but order the requests differently. */
static inline void play(struct task *tasks, int n, int rounds) {
    MPI_Request *requests = malloc((size_t)n * sizeof *requests);
    int rank = check_rank();
    for (int i = 0; i < n; i++) {
        requests[i] = tasks[i].request;
        expect_inactive(&requests[i]);
    }
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < n; i++) fill(&tasks[i], round);
        start(requests, n, round, rank);
        complete(requests, n, round + rank);
        for (int i = 0; i < n; i++) verify(&tasks[i], round);
    }
    free(requests);
}

#endif

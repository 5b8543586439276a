/* Partitioned communication: parts made ready by several threads and in all ways, restarts,
 * channels with the same arguments, other numbers of parts on the other side, and what may not be done.
 *
 * ranks: 1 2 3
 * spec: 5, 51, 99
 */

#include <pthread.h>
#include <sched.h>

#include "check.h"

enum { ITEMS = 16, PARTS = 8 };

static int rank, size, next, prev, flag;

struct share {
    MPI_Request request;
    int from, to;
};

static void *make_ready(void *share) {
    struct share *own = share;
    for (int part = own->from; part < own->to; part++) {
        OK(MPI_Pready(part, own->request));
        sched_yield();
    }
    return NULL;
}

static double value(int of, int round, int channel, int item) {
    return of * 1e6 + round * 1e4 + channel * 100 + item;
}

static void channels(void) {
    double out[2][ITEMS], in[2][ITEMS];
    MPI_Request requests[4]; /* Two that send, two that receive. */
    MPI_Status statuses[4];
    for (int each = 0; each < 2; each++) {
        OK(MPI_Psend_init(out[each], PARTS, ITEMS / PARTS, MPI_DOUBLE, next, 6, MPI_COMM_WORLD,
                          MPI_INFO_NULL, &requests[each]));
        OK(MPI_Precv_init(in[each], 4, ITEMS / 4, MPI_DOUBLE, prev, 6, MPI_COMM_WORLD,
                          MPI_INFO_NULL, &requests[2 + each]));
    }
    ERR(MPI_Pready(0, requests[0]), MPI_ERR_REQUEST);
    OK(MPI_Parrived(requests[2], 0, &flag));
    CHECK(flag);
    for (int round = 0; round < 10; round++) {
        for (int each = 0; each < 2; each++) {
            for (int item = 0; item < ITEMS; item++) {
                out[each][item] = value(rank, round, each, item);
                in[each][item] = -1;
            }
        }
        if (round % 2) {
            OK(MPI_Startall(4, requests));
        } else {
            for (int each = 3; each >= 0; each--) OK(MPI_Start(&requests[each]));
        }
        int last[] = {7, 6, 5};
        OK(MPI_Pready_list(3, last, requests[1]));
        ERR(MPI_Pready(5, requests[1]), MPI_ERR_ARG);
        OK(MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE));
        CHECK(!flag);
        OK(MPI_Pready_range(0, 4, requests[1]));
        struct share first = {requests[0], 0, 3}, second = {requests[0], 3, PARTS};
        pthread_t threads[2];
        CHECK_EQ(pthread_create(&threads[0], NULL, make_ready, &first), 0);
        CHECK_EQ(pthread_create(&threads[1], NULL, make_ready, &second), 0);
        if (round % 3 == 0) {
            for (flag = 0; !flag;) OK(MPI_Parrived(requests[2], 3, &flag));
            CHECK(in[0][ITEMS - 1] == value(prev, round, 0, ITEMS - 1));
        }
        OK(MPI_Waitall(4, requests, statuses));
        CHECK_EQ(pthread_join(threads[0], NULL), 0);
        CHECK_EQ(pthread_join(threads[1], NULL), 0);
        int count;
        OK(MPI_Get_count(&statuses[3], MPI_DOUBLE, &count));
        CHECK(count == ITEMS && statuses[3].MPI_SOURCE == prev && statuses[3].MPI_TAG == 6);
        for (int each = 0; each < 2; each++) {
            for (int item = 0; item < ITEMS; item++) {
                CHECK(in[each][item] == value(prev, round, each, item));
            }
        }
    }
    for (int each = 0; each < 4; each++) OK(MPI_Request_free(&requests[each]));
}

/* Data with gaps is read when the last part is ready; a message may have no part at all. */
static void derived(void) {
    double out[ITEMS], in[ITEMS / 2];
    static const int places[] = {0, 2, 4, 6, 7, 9, 11, 13};
    MPI_Datatype every_other;
    MPI_Request requests[4];
    OK(MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &every_other));
    OK(MPI_Type_commit(&every_other));
    OK(MPI_Psend_init(out, 2, 1, every_other, next, 8, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[0]));
    OK(MPI_Precv_init(in, 1, ITEMS / 2, MPI_DOUBLE, prev, 8, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[1]));
    OK(MPI_Psend_init(NULL, 0, 1, every_other, next, 8, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[2]));
    OK(MPI_Precv_init(NULL, 0, 1, every_other, prev, 8, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[3]));
    OK(MPI_Type_free(&every_other));
    for (int round = 0; round < 3; round++) {
        OK(MPI_Startall(4, requests));
        for (int item = 0; item < ITEMS; item++) out[item] = round * 100 + item;
        OK(MPI_Pready_range(0, 1, requests[0]));
        OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
        for (int item = 0; item < ITEMS / 2; item++) CHECK(in[item] == round * 100 + places[item]);
    }
    for (int each = 0; each < 4; each++) OK(MPI_Request_free(&requests[each]));
}

/* They meet neither other messages with the same tag nor those of another communicator. */
static void apart(void) {
    int part = rank, whole = -rank, in_parts = 0, in_whole = 0;
    MPI_Request requests[2];
    OK(MPI_Psend_init(&part, 1, 1, MPI_INT, next, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    OK(MPI_Precv_init(&in_parts, 1, 1, MPI_INT, prev, 9, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[1]));
    OK(MPI_Startall(2, requests));
    OK(MPI_Pready(0, requests[0]));
    OK(MPI_Sendrecv(&whole, 1, MPI_INT, next, 9, &in_whole, 1, MPI_INT, MPI_ANY_SOURCE,
                    MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_EQ(in_parts, prev);
    CHECK_EQ(in_whole, -prev);
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
    OK(MPI_Psend_init(&part, 3, 0, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[0]));
    OK(MPI_Start(&requests[0]));
    OK(MPI_Pready_range(0, 2, requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&requests[0]));
}

static void refused(void) {
    int data[4] = {0};
    MPI_Request send, receive, other;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Info info = MPI_INFO_NULL;
    ERR(MPI_Psend_init(data, -1, 1, MPI_INT, 0, 1, world, info, &other), MPI_ERR_ARG);
    CHECK(other == MPI_REQUEST_NULL);
    ERR(MPI_Psend_init(data, 2, -1, MPI_INT, 0, 1, world, info, &other), MPI_ERR_COUNT);
    ERR(MPI_Psend_init(data, 2, 2, MPI_INT, size, 1, world, info, &other), MPI_ERR_RANK);
    ERR(MPI_Psend_init(data, 2, 2, MPI_INT, 0, -9, world, info, &other), MPI_ERR_TAG);
    ERR(MPI_Psend_init(data, 2, 2, MPI_DATATYPE_NULL, 0, 1, world, info, &other), MPI_ERR_TYPE);
    ERR(MPI_Precv_init(data, 2, 2, MPI_INT, MPI_ANY_SOURCE, 1, world, info, &other),
        MPI_ERR_RANK);
    ERR(MPI_Precv_init(data, 2, 2, MPI_INT, 0, MPI_ANY_TAG, world, info, &other), MPI_ERR_TAG);
    OK(MPI_Psend_init(data, 2, 2, MPI_INT, MPI_PROC_NULL, 1, world, info, &send));
    OK(MPI_Precv_init(data, 2, 2, MPI_INT, MPI_PROC_NULL, 1, world, info, &receive));
    OK(MPI_Start(&send));
    ERR(MPI_Start(&send), MPI_ERR_REQUEST);
    ERR(MPI_Pready(2, send), MPI_ERR_ARG);
    ERR(MPI_Pready(-1, send), MPI_ERR_ARG);
    ERR(MPI_Pready_range(1, 0, send), MPI_ERR_ARG);
    ERR(MPI_Parrived(send, 0, &flag), MPI_ERR_REQUEST);
    ERR(MPI_Pready(0, receive), MPI_ERR_REQUEST);
    ERR(MPI_Parrived(receive, 2, &flag), MPI_ERR_ARG);
    ERR(MPI_Pready(0, MPI_REQUEST_NULL), MPI_ERR_REQUEST);
    OK(MPI_Pready_range(0, 1, send));
    ERR(MPI_Pready(0, send), MPI_ERR_REQUEST);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Ibarrier(world, &other));
    ERR(MPI_Pready(0, other), MPI_ERR_REQUEST);
    OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
}

int main(void) {
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    next = (rank + 1) % size;
    prev = (rank + size - 1) % size;
    channels();
    derived();
    apart();
    refused();
    return MPI_Finalize();
}

/* Lists of requests of every kind in every call that takes lists.
 *
 * ranks: 1 2 3
 * spec: 28, 30, 31, 32, 33, 34, 35, 36, 37, 59, 60
 */

#include "check.h"

enum { KINDS = 6 };

static int rank, size, next, prev;
static int in[2], out[2], sum[2];
static MPI_Request list[KINDS];

/* A receive and a send; persistent ones; a collective, and a persistent one. */
static void make(void) {
    OK(MPI_Recv_init(&in[1], 1, MPI_INT, prev, 1, MPI_COMM_WORLD, &list[2]));
    OK(MPI_Send_init(&out[1], 1, MPI_INT, next, 1, MPI_COMM_WORLD, &list[3]));
    OK(MPI_Allreduce_init(&out[0], &sum[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &list[5]));
}

static void begin(int round) {
    out[0] = rank + round;
    out[1] = -rank - round;
    in[0] = in[1] = sum[0] = sum[1] = 12345;
    OK(MPI_Irecv(&in[0], 1, MPI_INT, prev, 0, MPI_COMM_WORLD, &list[0]));
    OK(MPI_Isend(&out[0], 1, MPI_INT, next, 0, MPI_COMM_WORLD, &list[1]));
    OK(MPI_Startall(2, &list[2]));
    OK(MPI_Iallreduce(&out[0], &sum[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &list[4]));
    OK(MPI_Start(&list[5]));
}

static int is_persistent(int kind) {
    return kind == 2 || kind == 3 || kind == 5;
}

static void check_end(int round) {
    int total = size * (size - 1) / 2 + size * round;
    CHECK_EQ(in[0], prev + round);
    CHECK_EQ(in[1], -prev - round);
    CHECK_EQ(sum[0], total);
    CHECK_EQ(sum[1], total);
    for (int kind = 0; kind < KINDS; kind++) {
        CHECK_EQ(list[kind] != MPI_REQUEST_NULL, is_persistent(kind));
    }
}

/* What every call says of a list in which nothing is active. */
static void check_nothing_left(void) {
    int index = 7, flag = 0, count = 7, indices[KINDS];
    MPI_Status status, statuses[KINDS];
    status.MPI_ERROR = MPI_ERR_OTHER; /* An empty status says that there was none. */
    OK(MPI_Waitany(KINDS, list, &index, &status));
    CHECK_EQ(index, MPI_UNDEFINED);
    CHECK_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(status.MPI_ERROR, MPI_SUCCESS);
    index = 7;
    OK(MPI_Testany(KINDS, list, &index, &flag, &status));
    CHECK(flag && index == MPI_UNDEFINED && status.MPI_TAG == MPI_ANY_TAG);
    flag = 0;
    status.MPI_ERROR = MPI_ERR_OTHER;
    OK(MPI_Request_get_status_any(KINDS, list, &index, &flag, &status));
    CHECK(flag && index == MPI_UNDEFINED && status.MPI_ERROR == MPI_SUCCESS);
    OK(MPI_Waitsome(KINDS, list, &count, indices, statuses));
    CHECK_EQ(count, MPI_UNDEFINED);
    count = 7;
    OK(MPI_Testsome(KINDS, list, &count, indices, statuses));
    CHECK_EQ(count, MPI_UNDEFINED);
    count = 7;
    OK(MPI_Request_get_status_some(KINDS, list, &count, indices, statuses));
    CHECK_EQ(count, MPI_UNDEFINED);
    flag = 0;
    OK(MPI_Testall(KINDS, list, &flag, statuses));
    CHECK(flag && statuses[0].MPI_SOURCE == MPI_ANY_SOURCE);
}

static void by_waitall(void) {
    MPI_Status statuses[KINDS];
    memset(statuses, 0x55, sizeof statuses);
    OK(MPI_Waitall(KINDS, list, statuses));
    CHECK(statuses[0].MPI_SOURCE == prev && statuses[2].MPI_TAG == 1);
    /* Of a message the error is not set; an empty status, as of a send, has none. */
    for (int kind = 0; kind < KINDS; kind++) {
        int error = statuses[kind].MPI_ERROR;
        CHECK(error == 0x55555555 || (kind != 0 && kind != 2 && error == MPI_SUCCESS));
    }
}

static void by_waitany(void) {
    for (int left = KINDS; left > 0; left--) {
        int index;
        MPI_Status status;
        OK(MPI_Waitany(KINDS, list, &index, &status));
        CHECK(index >= 0 && index < KINDS);
        if (index == 0) CHECK_EQ(status.MPI_SOURCE, prev);
    }
}

static void by_waitsome(void) {
    for (int left = KINDS, count; left > 0; left -= count) {
        int indices[KINDS];
        OK(MPI_Waitsome(KINDS, list, &count, indices, MPI_STATUSES_IGNORE));
        CHECK(count > 0 && count <= left);
    }
}

static void by_testall(void) {
    int flag = 0, again = 0;
    while (!flag) OK(MPI_Request_get_status_all(KINDS, list, &flag, MPI_STATUSES_IGNORE));
    OK(MPI_Request_get_status_all(KINDS, list, &again, MPI_STATUSES_IGNORE));
    CHECK(again);
    CHECK(list[0] != MPI_REQUEST_NULL && list[4] != MPI_REQUEST_NULL);
    OK(MPI_Testall(KINDS, list, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
}

static void by_testany(void) {
    for (int left = KINDS; left > 0;) {
        int index, seen, flag;
        MPI_Status status;
        OK(MPI_Request_get_status_any(KINDS, list, &seen, &flag, &status));
        if (!flag) continue;
        CHECK(list[seen] != MPI_REQUEST_NULL);
        OK(MPI_Testany(KINDS, list, &index, &flag, &status));
        CHECK(flag && index >= 0);
        left--;
    }
}

static void by_testsome(void) {
    for (int left = KINDS; left > 0;) {
        int seen, count, indices[KINDS];
        OK(MPI_Request_get_status_some(KINDS, list, &seen, indices, MPI_STATUSES_IGNORE));
        OK(MPI_Testsome(KINDS, list, &count, indices, MPI_STATUSES_IGNORE));
        CHECK(count >= seen && count <= left);
        left -= count;
    }
}

static void by_test(void) {
    for (int kind = KINDS - 1; kind >= 0; kind--) {
        int flag = 0, seen = 0;
        MPI_Status status;
        while (!seen) OK(MPI_Request_get_status(list[kind], &seen, &status));
        OK(MPI_Test(&list[kind], &flag, &status));
        CHECK(flag);
    }
}

static void (*const completions[])(void) = {by_waitall, by_waitany, by_waitsome, by_testall,
                                            by_testany, by_testsome, by_test};

static void mixtures(void) {
    make();
    list[0] = list[1] = list[4] = MPI_REQUEST_NULL;
    check_nothing_left();
    for (int round = 0; round < 14; round++) {
        begin(round);
        completions[round % 7]();
        check_end(round);
        check_nothing_left();
    }
    OK(MPI_Request_free(&list[2]));
    OK(MPI_Request_free(&list[3]));
    OK(MPI_Request_free(&list[5]));
}

/* One of two receives gets too much: each status says what became of its own. */
static void errors_in_lists(void) {
    long two[2] = {1, 2};
    int small = -1, sent = 100 + rank, count, indices[2];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    for (int some = 0; some < 2; some++) {
        OK(MPI_Irecv(two, 1, MPI_LONG, prev, 1, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Irecv(&small, 1, MPI_INT, prev, 2, MPI_COMM_WORLD, &requests[1]));
        OK(MPI_Send(two, 2, MPI_LONG, next, 1, MPI_COMM_WORLD));
        OK(MPI_Send(&sent, 1, MPI_INT, next, 2, MPI_COMM_WORLD));
        memset(statuses, 0x55, sizeof statuses);
        if (some) {
            for (int flag = 0, ready = 0; !ready;) { /* Until both are over. */
                OK(MPI_Request_get_status(requests[1], &flag, MPI_STATUS_IGNORE));
                ready = flag;
            }
            ERR(MPI_Testsome(2, requests, &count, indices, statuses), MPI_ERR_IN_STATUS);
            CHECK_EQ(count, 2);
        } else {
            ERR(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
        }
        ERR(statuses[0].MPI_ERROR, MPI_ERR_TRUNCATE);
        CHECK_EQ(statuses[1].MPI_ERROR, MPI_SUCCESS);
        CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
        CHECK_EQ(small, 100 + prev);
    }
    int index = 7, flag = 0;
    OK(MPI_Irecv(two, 1, MPI_LONG, prev, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Send(two, 2, MPI_LONG, next, 1, MPI_COMM_WORLD));
    for (int code = MPI_SUCCESS; code == MPI_SUCCESS;) {
        CHECK(!flag);
        code = MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS) ERR(code, MPI_ERR_TRUNCATE);
    }
    CHECK(flag && requests[0] == MPI_REQUEST_NULL); /* What went wrong is over. */
    OK(MPI_Irecv(two, 1, MPI_LONG, prev, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Send(two, 2, MPI_LONG, next, 1, MPI_COMM_WORLD));
    ERR(MPI_Waitany(2, requests, &index, &statuses[0]), MPI_ERR_TRUNCATE);
    CHECK_EQ(index, 0);
}

static void wrong_lists(void) {
    int flag = 0, index = 0;
    MPI_Request twice[2], null = MPI_REQUEST_NULL, stale;
    OK(MPI_Ibarrier(MPI_COMM_WORLD, &twice[0]));
    stale = twice[1] = twice[0];
    ERR(MPI_Waitall(2, twice, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    CHECK(twice[0] == stale);
    ERR(MPI_Cancel(&twice[0]), MPI_ERR_REQUEST);
    ERR(MPI_Start(&twice[0]), MPI_ERR_REQUEST);
    ERR(MPI_Startall(1, twice), MPI_ERR_REQUEST);
    OK(MPI_Wait(&twice[0], MPI_STATUS_IGNORE));
    ERR(MPI_Wait(&stale, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    ERR(MPI_Request_free(&stale), MPI_ERR_REQUEST);
    ERR(MPI_Start(&null), MPI_ERR_REQUEST);
    ERR(MPI_Cancel(&null), MPI_ERR_REQUEST);
    ERR(MPI_Request_free(&null), MPI_ERR_REQUEST);
    ERR(MPI_Waitall(-1, twice, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
    ERR(MPI_Waitall(1, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    OK(MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE));
    CHECK_EQ(index, MPI_UNDEFINED);
    OK(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
}

/* More than a thread keeps room for, in the reverse order. */
static void long_list(void) {
    enum { MANY = 20000 };
    MPI_Request *requests = malloc(2 * MANY * sizeof *requests);
    int *values = malloc(2 * MANY * sizeof *values);
    for (int each = 0; each < MANY; each++) {
        OK(MPI_Irecv(&values[each], 1, MPI_INT, prev, each, MPI_COMM_WORLD, &requests[each]));
    }
    for (int each = 2 * MANY - 1; each >= MANY; each--) {
        values[each] = each * 3 + rank;
        OK(MPI_Isend(&values[each], 1, MPI_INT, next, each - MANY, MPI_COMM_WORLD,
                     &requests[each]));
    }
    OK(MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE));
    for (int each = 0; each < MANY; each++) {
        CHECK_EQ(values[each], (each + MANY) * 3 + prev);
        CHECK(requests[each] == MPI_REQUEST_NULL);
    }
    free(values);
    free(requests);
}

/* Short sends, which may be over when they begin, each in another call that ends requests; alone and
 * several in one list. */
static void sends(void) {
    enum { SENDS = 12 };
    MPI_Request requests[SENDS];
    int values[SENDS], index, flag, count, indices[SENDS], ended = 0;
    MPI_Status status, statuses[SENDS];
    for (int each = 0; each < SENDS; each++) {
        values[each] = each;
        OK(MPI_Isend(&values[each], 1, MPI_INT, next, each, MPI_COMM_WORLD, &requests[each]));
        CHECK(requests[each] != MPI_REQUEST_NULL);
        CHECK(MPI_Request_f2c(MPI_Request_c2f(requests[each])) == requests[each]);
    }
    for (int each = 0, value; each < SENDS; each++) {
        OK(MPI_Recv(&value, 1, MPI_INT, prev, each, MPI_COMM_WORLD, &status));
        CHECK(value == each && status.MPI_TAG == each && status.MPI_SOURCE == prev);
    }
    OK(MPI_Wait(&requests[0], &status));
    CHECK(requests[0] == MPI_REQUEST_NULL);
    do {
        OK(MPI_Request_get_status(requests[1], &flag, &status));
    } while (!flag);
    CHECK(requests[1] != MPI_REQUEST_NULL);
    do {
        OK(MPI_Test(&requests[1], &flag, &status));
    } while (!flag);
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(requests[1] == MPI_REQUEST_NULL && !flag);
    /* Not a persistent one, and no collective. */
    ERR(MPI_Start(&requests[2]), MPI_ERR_REQUEST);
    OK(MPI_Cancel(&requests[2]));
    CHECK(requests[2] != MPI_REQUEST_NULL);
    OK(MPI_Wait(&requests[2], &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(!flag);
    OK(MPI_Request_free(&requests[3]));
    CHECK(requests[3] == MPI_REQUEST_NULL);
    OK(MPI_Waitany(SENDS, requests, &index, &status));
    CHECK(index >= 4 && index < SENDS && requests[index] == MPI_REQUEST_NULL);
    do {
        OK(MPI_Testany(SENDS, requests, &index, &flag, &status));
    } while (!flag);
    CHECK(index >= 4 && index < SENDS && requests[index] == MPI_REQUEST_NULL);
    for (count = 0; count != MPI_UNDEFINED; ended += count > 0 ? count : 0) {
        OK(MPI_Waitsome(5, requests + 4, &count, indices, statuses));
    }
    CHECK(ended >= 3 && ended <= 5); /* two of all have ended before */
    for (int each = 4; each < 9; each++) CHECK(requests[each] == MPI_REQUEST_NULL);
    do {
        OK(MPI_Testsome(SENDS, requests, &count, indices, statuses));
    } while (count == 0);
    CHECK(count == MPI_UNDEFINED || count <= 3);
    OK(MPI_Testall(SENDS, requests, &flag, statuses));
    OK(MPI_Waitall(SENDS, requests, statuses));
    for (int each = 0; each < SENDS; each++) CHECK(requests[each] == MPI_REQUEST_NULL);
    OK(MPI_Waitany(SENDS, requests, &index, &status));
    CHECK_EQ(index, MPI_UNDEFINED);
    /* One that is over beside a receive that nothing can end yet. */
    int sent = 5, got = 0;
    MPI_Request pair[2];
    OK(MPI_Irecv(&got, 1, MPI_INT, prev, 99, MPI_COMM_WORLD, &pair[0]));
    OK(MPI_Isend(&sent, 1, MPI_INT, next, 98, MPI_COMM_WORLD, &pair[1]));
    OK(MPI_Waitany(2, pair, &index, &status));
    CHECK_EQ(index, 1);
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* nobody ends the receive before */
    OK(MPI_Recv(&sent, 1, MPI_INT, prev, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Isend(&sent, 1, MPI_INT, next, 99, MPI_COMM_WORLD, &pair[1]));
    OK(MPI_Waitall(2, pair, statuses));
    CHECK(got == 5 && statuses[0].MPI_TAG == 99);
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    next = (rank + 1) % size;
    prev = (rank + size - 1) % size;
    mixtures();
    sends();
    errors_in_lists();
    wrong_lists();
    long_list();
    return MPI_Finalize();
}

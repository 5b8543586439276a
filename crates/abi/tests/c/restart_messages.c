/* Persistent sends of all four modes and persistent receives, started ten times with other data
 * each time, all together; the receives are there before the sends that are ready.
 *
 * ranks: 1 2 3
 * spec: 5, 30, 34, 35
 */

#include "restart_messages.h"

enum { ROUNDS = 10 };

static void check_statuses(struct task *receives, const MPI_Status *statuses) {
    for (int i = 0; i < N_SENDS; i++) {
        int count = -1, flag = -1;
        CHECK_EQ(statuses[i].MPI_SOURCE, previous_rank(&receives[i]));
        CHECK_EQ(statuses[i].MPI_TAG, receives[i].tag);
        OK(MPI_Get_count(&statuses[i], receives[i].layout.type, &count));
        CHECK_EQ(count, receives[i].count);
        OK(MPI_Test_cancelled(&statuses[i], &flag));
        CHECK_EQ(flag, 0);
    }
}

static void all_modes(struct layout layout, int count, int is_large) {
    struct task sends[N_SENDS], receives[N_SENDS];
    MPI_Request to_start[2 * N_SENDS];
    MPI_Status statuses[N_SENDS];
    for (int i = 0; i < N_SENDS; i++) {
        make(&receives[i], &RECEIVE, MPI_COMM_WORLD, layout, count + i, 0);
        make(&sends[i], &SENDS[i], MPI_COMM_WORLD, layout, count + i, 0);
        receives[i].tag = sends[i].tag = 10 + i;
        (is_large ? RECEIVE.init_c : RECEIVE.init)(&receives[i], MPI_INFO_NULL);
        (is_large ? SENDS[i].init_c : SENDS[i].init)(&sends[i], MPI_INFO_NULL);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N_SENDS; i++) {
            fill(&sends[i], round);
            fill(&receives[i], round);
            to_start[i] = receives[i].request;
            to_start[N_SENDS + i] = sends[i].request;
        }
        /* All receives, then whatever may wait for them. */
        start(to_start, N_SENDS, round, receives[0].rank);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        start(to_start + N_SENDS, N_SENDS, round + 1, receives[0].rank);
        complete(to_start + N_SENDS, N_SENDS, round + receives[0].rank);
        if (round % 2) {
            OK(MPI_Waitall(N_SENDS, to_start, statuses));
            check_statuses(receives, statuses);
        } else {
            complete(to_start, N_SENDS, round + 3);
        }
        for (int i = 0; i < N_SENDS; i++) verify(&receives[i], round);
    }
    for (int i = 0; i < N_SENDS; i++) {
        finish(&sends[i]);
        finish(&receives[i]);
    }
}

/* To nobody, and from nobody. */
static void nobody(void) {
    int data = 7;
    MPI_Request requests[2];
    MPI_Status status;
    OK(MPI_Send_init(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Recv_init(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]));
    for (int round = 0; round < ROUNDS; round++) {
        OK(MPI_Startall(2, requests));
        OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        OK(MPI_Wait(&requests[1], &status));
        CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
        CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
        CHECK_EQ(data, 7);
        expect_inactive(&requests[0]);
        expect_inactive(&requests[1]);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

int main(int argc, char **argv) {
    static char room[1 << 20];
    void *address;
    int bytes;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Buffer_attach(room, (int)sizeof room));
    static const int COUNTS[] = {0, 1, 5000};
    for (int i = 0; i < 3 * 4; i++) {
        struct layout layout = i / 3 % 2 ? pairs() : plain();
        all_modes(layout, COUNTS[i % 3], i / 6);
        free_layout(&layout);
    }
    nobody();
    OK(MPI_Buffer_detach(&address, &bytes));
    CHECK(address == room);
    CHECK_EQ(bytes, sizeof room);
    OK(MPI_Finalize());
    return 0;
}

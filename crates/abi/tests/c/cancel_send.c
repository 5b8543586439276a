/* A send that is cancelled ends, whatever its receiver does: either nothing of it arrives, or the
 * whole message as it was when it was sent, although the buffer has been written since.
 *
 * ranks: 2
 * seconds: 90
 * case: kernel
 * case: pieces
 * set: MOTET_SINGLE_COPY=off
 */

#include "check.h"

#include <signal.h>
#include <unistd.h>

enum { MOST = 300000, TAG = 33, SENDS = 8 };

static int rank;
static int data[MOST];

/* A send of each kind; persistent ones are started. */
static MPI_Request begin(int kind, int count) {
    MPI_Request request;
    MPI_Comm comm = MPI_COMM_WORLD;
    switch (kind) {
    case 0: OK(MPI_Isend(data, count, MPI_INT, 1, TAG, comm, &request)); break;
    case 1: OK(MPI_Issend(data, count, MPI_INT, 1, TAG, comm, &request)); break;
    case 2: OK(MPI_Irsend(data, count, MPI_INT, 1, TAG, comm, &request)); break;
    case 3: OK(MPI_Ibsend(data, count, MPI_INT, 1, TAG, comm, &request)); break;
    case 4: OK(MPI_Send_init(data, count, MPI_INT, 1, TAG, comm, &request)); break;
    case 5: OK(MPI_Ssend_init(data, count, MPI_INT, 1, TAG, comm, &request)); break;
    case 6: OK(MPI_Rsend_init(data, count, MPI_INT, 1, TAG, comm, &request)); break;
    default: OK(MPI_Bsend_init(data, count, MPI_INT, 1, TAG, comm, &request));
    }
    if (kind >= 4) OK(MPI_Start(&request));
    return request;
}

static void fill(int count, int value) {
    for (int i = 0; i < count; i++) data[i] = value;
}

/* Cancels a send and waits for it, in one of three ways. Says whether it was cancelled. */
static int cancel(MPI_Request *request, int way) {
    MPI_Status status;
    int flag = 0, index;
    OK(MPI_Cancel(request));
    switch (way) {
    case 0: OK(MPI_Wait(request, &status)); break;
    case 1:
        while (!flag) OK(MPI_Test(request, &flag, &status));
        break;
    default: OK(MPI_Waitany(1, request, &index, &status));
    }
    OK(MPI_Test_cancelled(&status, &flag));
    return flag;
}

/* The receiver is stopped in a function of its own until the send has ended. */
static void one(int kind, int count, int way, pid_t receiver) {
    int persistent = kind >= 4, value = 7 + kind;
    if (rank == 0) {
        fill(count, value);
        MPI_Request request = begin(kind, count);
        int cancelled = cancel(&request, way);
        fill(count, -1);
        CHECK_EQ(kill(receiver, SIGUSR1), 0);
        OK(MPI_Send(&cancelled, 1, MPI_INT, 1, TAG + 1, MPI_COMM_WORLD));
        if (persistent) {
            /* It can be started again. */
            fill(count, value + 100);
            OK(MPI_Start(&request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            OK(MPI_Request_free(&request));
        } else {
            fill(count, value + 100);
            OK(MPI_Send(data, count, MPI_INT, 1, TAG, MPI_COMM_WORLD));
        }
    } else {
        int cancelled, signal;
        sigset_t wanted;
        sigemptyset(&wanted);
        sigaddset(&wanted, SIGUSR1);
        CHECK_EQ(sigwait(&wanted, &signal), 0);
        OK(MPI_Recv(&cancelled, 1, MPI_INT, 0, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int again = cancelled; again < 2; again++) {
            int expected = again ? value + 100 : value;
            fill(count, -5);
            OK(MPI_Recv(data, count, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (int i = 0; i < count; i++) CHECK_EQ(data[i], expected);
        }
    }
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* Two signals at once are one. */
}

/* So many are sent that most of them wait at their sender: those are taken back. */
static void many(pid_t receiver) {
    enum { MANY = 20000 };
    static MPI_Request requests[MANY];
    static int numbers[MANY];
    int taken_back = 0;
    if (rank == 0) {
        for (int i = 0; i < MANY; i++) {
            numbers[i] = i;
            OK(MPI_Issend(&numbers[i], 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &requests[i]));
        }
        for (int i = MANY - 1; i >= 0; i--) taken_back += cancel(&requests[i], 0);
        CHECK_EQ(kill(receiver, SIGUSR1), 0);
        CHECK(taken_back > 0 && taken_back < MANY);
        OK(MPI_Send(&taken_back, 1, MPI_INT, 1, TAG + 1, MPI_COMM_WORLD));
        OK(MPI_Send(&taken_back, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD));
    } else {
        int signal, number;
        sigset_t wanted;
        sigemptyset(&wanted);
        sigaddset(&wanted, SIGUSR1);
        CHECK_EQ(sigwait(&wanted, &signal), 0);
        OK(MPI_Recv(&taken_back, 1, MPI_INT, 0, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < MANY - taken_back; i++) {
            OK(MPI_Recv(&number, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_EQ(number, i);
        }
        OK(MPI_Recv(&number, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(number, taken_back);
    }
}

/* Nobody receives it, ever. */
static void unreceived(void) {
    for (int kind = 0; kind < SENDS && rank == 0; kind++) {
        MPI_Request request = begin(kind, MOST / 4);
        cancel(&request, 0);
        if (kind >= 4) OK(MPI_Request_free(&request));
    }
}

int main(int argc, char **argv) {
    static const int COUNTS[] = {0, 1, 1000, 5000, MOST};
    static char room[5 * MOST * sizeof(int)];
    int pid = getpid(), receiver = 0;
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR1);
    sigprocmask(SIG_BLOCK, &wanted, NULL);
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Buffer_attach(room, sizeof room));
    if (rank == 1) OK(MPI_Send(&pid, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    if (rank == 0) OK(MPI_Recv(&receiver, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int kind = 0; kind < SENDS; kind++) {
        for (int length = 0; length < 5; length++) one(kind, COUNTS[length], length % 3, receiver);
    }
    many(receiver);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    unreceived();
    OK(MPI_Finalize());
    return 0;
}

/* Calls of the C library whose instructions `ci/instructions` counts.
 *
 * Two ranks. Rank 0 runs under callgrind, which counts the instructions inside `counted` and
 * writes their sum down each time that it returns. A rank that polls has no stable count, so rank 0
 * makes a counted call only when the messages of its peer are there. The two ranks tell each other
 * so by two pipes in the folder COUNTED_PIPES, not by the library that is counted.
 *
 * Rank 0 prints a line for each counted call: `ROW TAB PORTIONS`. A call that cannot complete
 * before the peer answers is counted in portions; callgrind has a sum for each.
 *
 * COUNTED_PLANT=`ROW=LOOPS` adds so many loops of two instructions to each portion of a row, to
 * show that `ci/instructions` finds them. */

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    WINDOW = 32,            /* `ci/instructions` compares call k with call k + WINDOW */
    LARGE = (64 << 10) / 8, /* doubles in 64 KiB */
    BLOCK = 512,            /* bytes of each block of the exchange */
    PIECES = 64,            /* doubles that a strided call moves, with a gap behind each */
    PENDING = 1000,
    PAUSE_NS = 3000000 /* a peer that has entered a blocking call has sent its message by then */
};

struct row {
    const char *name;
    int warm, times;       /* calls that are not counted, and calls that are */
    void (*set_up)(void);  /* both ranks, before all calls */
    void (*ahead)(void);   /* the peer sends what rank 0 needs; NULL: `behind` sends it */
    void (*call)(void);    /* rank 0, counted */
    int (*more)(void);     /* both ranks in turns, until it says that all is complete, or NULL */
    void (*finish)(void);  /* rank 0, counted, after the last `more`, or NULL */
    void (*behind)(void);  /* the peer receives and waits */
    void (*clear)(void);   /* rank 0, not counted, or NULL */
    void (*tear_down)(void);
};

static int rank, hears, tells;
static long loops;
static MPI_Comm ring;
static MPI_Request request, requests[PENDING];
static MPI_Datatype strided;
static double in[LARGE], out[LARGE];
static char bytes[2][1024];

static void fail(const char *what) {
    fprintf(stderr, "instructions.c, rank %d: %s\n", rank, what);
    exit(1);
}

static int opened(const char *name, int how) {
    char path[4096];
    const char *folder = getenv("COUNTED_PIPES");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : ".", name);
    int pipe = open(path, how);
    if (pipe < 0) fail("cannot open a pipe in COUNTED_PIPES");
    return pipe;
}

static void tell(char what) {
    if (write(tells, &what, 1) != 1) fail("the other rank is gone");
}

static int hear(void) {
    char what;
    if (read(hears, &what, 1) != 1) fail("the other rank is gone");
    return what;
}

/* Callgrind counts from the begin of this function to its end. */
__attribute__((noinline)) static void counted(void (*call)(void)) {
    call();
    for (long left = loops; left > 0; left--) __asm__ volatile("" : "+r"(left));
}

static int is_complete;
static int (*more)(void);
static void call_more(void) { is_complete = more(); }

static void nothing(void) {}
static void start(void) { MPI_Start(&request); }
static void wait(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }
static void free_request(void) { MPI_Request_free(&request); }
static void start_and_wait(void) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void init_allreduce(void) {
    MPI_Allreduce_init(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
}
static void init_barrier(void) { MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request); }
static void init_exchange(void) {
    MPI_Neighbor_alltoall_init(bytes[0], BLOCK, MPI_BYTE, bytes[1], BLOCK, MPI_BYTE, ring,
                               MPI_INFO_NULL, &request);
}

static void allreduce(void) {
    MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void allreduce_of(int count) {
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void allreduce_16(void) { allreduce_of(16); }
static void allreduce_1024(void) { allreduce_of(1024); }
static void allgather(void) {
    MPI_Allgather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void alltoall(void) {
    MPI_Alltoall(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void bcast_from_0(void) { MPI_Bcast(in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); }
static void bcast_from_1(void) { MPI_Bcast(in, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD); }

static void make_strided(void) {
    MPI_Type_vector(PIECES, 1, 2, MPI_DOUBLE, &strided);
    MPI_Type_commit(&strided);
}
static void free_strided(void) { MPI_Type_free(&strided); }
static void strided_from_0(void) { MPI_Bcast(in, 1, strided, 0, MPI_COMM_WORLD); }
static void strided_from_1(void) { MPI_Bcast(in, 1, strided, 1, MPI_COMM_WORLD); }
static void init_strided(void) {
    make_strided();
    MPI_Bcast_init(in, 1, strided, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
}
static void free_strided_request(void) {
    free_request();
    free_strided();
}

static void send(int count) { MPI_Send(bytes[0], count, MPI_BYTE, 0, 0, MPI_COMM_WORLD); }
static void receive(int count) {
    MPI_Recv(bytes[1], count, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void pair(int count) {
    MPI_Irecv(bytes[1], count, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(bytes[0], count, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
static void swap_8(void) {
    MPI_Sendrecv(bytes[0], 8, MPI_BYTE, 1, 0, bytes[1], 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
static void halo_8(void) {
    for (int k = 0; k < 2; k++)
        MPI_Irecv(bytes[1] + 8 * k, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[k]);
    for (int k = 2; k < 4; k++)
        MPI_Isend(bytes[0], 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[k]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}
static void send_two(void) {
    send(8);
    send(8);
}
static void receive_two(void) {
    receive(8);
    receive(8);
}
static void send_8(void) { send(8); }
static void pair_8(void) { pair(8); }
static void receive_8(void) { receive(8); }
static void send_1024(void) { send(1024); }
static void pair_1024(void) { pair(1024); }
static void receive_1024(void) { receive(1024); }

static void begin_large(void) {
    MPI_Iallreduce(in, out, LARGE, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
}
static int test_large(void) {
    int flag = 0;
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    return flag;
}

static void begin_pending(void) {
    for (int k = 0; k < PENDING; k++)
        MPI_Iallreduce(&in[k], &out[k], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[k]);
}
static int test_last_pending(void) {
    int flag = 0;
    MPI_Request_get_status(requests[PENDING - 1], &flag, MPI_STATUS_IGNORE);
    return flag;
}
static void wait_pending(void) { MPI_Waitall(PENDING, requests, MPI_STATUSES_IGNORE); }

/* The first row comes first: until 32 copies are made, the library does not time them, and which
 * instructions copy does not depend on the time that copies take. */
static const struct row ROWS[] = {
    {"C iallreduce and wait, 64 KiB", 4, 8, nothing, begin_large, begin_large, test_large, NULL,
     nothing, NULL, nothing},
    {"C persistent allreduce of 8 B, start and wait", 8, 3 * WINDOW, init_allreduce, start,
     start_and_wait, NULL, NULL, wait, NULL, free_request},
    {"C persistent barrier, start and wait", 8, 3 * WINDOW, init_barrier, start, start_and_wait,
     NULL, NULL, wait, NULL, free_request},
    {"C persistent exchange of 2 x 512 B, start and wait", 8, 3 * WINDOW, init_exchange, start,
     start_and_wait, NULL, NULL, wait, NULL, free_request},
    {"C allreduce of 8 B", 8, 3 * WINDOW, nothing, NULL, allreduce, NULL, NULL, allreduce, NULL,
     nothing},
    {"C bcast of 8 B at the root", 8, 3 * WINDOW, nothing, NULL, bcast_from_0, NULL, NULL,
     bcast_from_0, NULL, nothing},
    {"C bcast of 8 B from the root", 8, 3 * WINDOW, nothing, bcast_from_1, bcast_from_1, NULL, NULL,
     nothing, NULL, nothing},
    {"C barrier", 8, 3 * WINDOW, nothing, NULL, barrier, NULL, NULL, barrier, NULL, nothing},
    {"C irecv, isend and waitall, 8 B", 8, 3 * WINDOW, nothing, send_8, pair_8, NULL, NULL,
     receive_8, NULL, nothing},
    {"C irecv, isend and waitall, 1 KiB", 8, 3 * WINDOW, nothing, send_1024, pair_1024, NULL, NULL,
     receive_1024, NULL, nothing},
    {"C two irecvs, two isends and waitall, 8 B", 8, 3 * WINDOW, nothing, send_two, halo_8, NULL,
     NULL, receive_two, NULL, nothing},
    {"C sendrecv, 8 B", 8, 3 * WINDOW, nothing, send_8, swap_8, NULL, NULL, receive_8, NULL,
     nothing},
    {"C allreduce_init of a known shape", 40, 3 * WINDOW, nothing, init_allreduce, init_allreduce,
     NULL, NULL, free_request, free_request, nothing},
    {"C allreduce of 128 B", 8, 3 * WINDOW, nothing, NULL, allreduce_16, NULL, NULL, allreduce_16,
     NULL, nothing},
    {"C allreduce of 8 KiB", 8, 3 * WINDOW, nothing, NULL, allreduce_1024, NULL, NULL,
     allreduce_1024, NULL, nothing},
    {"C allgather of 8 B", 8, 3 * WINDOW, nothing, NULL, allgather, NULL, NULL, allgather, NULL,
     nothing},
    {"C alltoall of 2 x 8 B", 8, 3 * WINDOW, nothing, NULL, alltoall, NULL, NULL, alltoall, NULL,
     nothing},
    {"C bcast of 64 strided doubles at the root", 8, 3 * WINDOW, make_strided, NULL, strided_from_0,
     NULL, NULL, strided_from_0, NULL, free_strided},
    {"C bcast of 64 strided doubles from the root", 8, 3 * WINDOW, make_strided, strided_from_1,
     strided_from_1, NULL, NULL, nothing, NULL, free_strided},
    {"C persistent bcast of 64 strided doubles from the root", 8, 3 * WINDOW, init_strided,
     start_and_wait, start_and_wait, NULL, NULL, nothing, NULL, free_strided_request},
    {"C 1000 pending iallreduces of 8 B, and waitall", 2, 4, nothing, begin_pending, begin_pending,
     test_last_pending, wait_pending, wait_pending, NULL, nothing},
};

/* Both ranks call `more` in turns until both are complete. The peer makes the first turn. */
static int rank_0_in_turns(int is_counted) {
    int portions = 0;
    for (is_complete = 0;;) {
        tell(is_complete);
        if (hear() && is_complete) return portions;
        if (is_complete) continue;
        portions++;
        if (is_counted) {
            counted(call_more);
        } else {
            call_more();
        }
    }
}

static void peer_in_turns(void) {
    for (is_complete = 0;;) {
        int other_is_complete = hear();
        if (!is_complete) call_more();
        tell(is_complete);
        if (is_complete && other_is_complete) return;
    }
}

/* In a first call both ranks may need each other, so the peer does not wait for rank 0 outside the
 * library then. */
static void turn_of_peer(const struct row *row, int is_counted) {
    int is_patient = row->ahead && is_counted;
    if (row->ahead) row->ahead();
    tell(0);
    if (more) peer_in_turns();
    if (is_patient) hear();
    row->behind();
    if (!is_patient) hear();
}

static void turn_of_rank_0(const struct row *row, int is_counted) {
    int portions = 1;
    const struct timespec pause = {0, PAUSE_NS};
    hear();
    if (!row->ahead) nanosleep(&pause, NULL);
    if (is_counted) {
        counted(row->call);
    } else {
        row->call();
    }
    if (more) portions += rank_0_in_turns(is_counted);
    if (row->finish) {
        portions++;
        if (is_counted) {
            counted(row->finish);
        } else {
            row->finish();
        }
    }
    if (row->clear) row->clear();
    tell(0);
    if (is_counted) printf("%s\t%d\n", row->name, portions);
}

static void run(const struct row *row) {
    const char *plant = getenv("COUNTED_PLANT");
    size_t length = strlen(row->name);
    int is_planted = plant && !strncmp(plant, row->name, length) && plant[length] == '=';
    loops = is_planted ? atol(plant + length + 1) : 0;
    more = row->more;
    row->set_up();
    for (int turn = 0; turn < row->warm + row->times; turn++) {
        if (rank == 0) {
            turn_of_rank_0(row, turn >= row->warm);
        } else {
            turn_of_peer(row, turn >= row->warm);
        }
    }
    row->tear_down();
}

int main(void) {
    int is_periodic = 1, two = 2;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* To open a pipe waits for its other end: both ranks begin with the same pipe. */
    if (rank == 0) tells = opened("from-0", O_WRONLY);
    hears = opened(rank == 0 ? "from-1" : "from-0", O_RDONLY);
    if (rank != 0) tells = opened("from-1", O_WRONLY);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &two, &is_periodic, 0, &ring);
    for (size_t row = 0; row < sizeof ROWS / sizeof *ROWS; row++) run(&ROWS[row]);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}

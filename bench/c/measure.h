/* What the programs of this directory share: ranks, forms, and how a batch of calls is timed. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BATCHES = 1001, FEWEST_BATCHES = 5 };

static int rank, size;
static MPI_Comm world;
static double seconds_each = 0.02, seconds_at_most = 10;
static int batches = 41;

enum form { BLOCKING, NONBLOCKING, PERSISTENT, N_FORMS };
static const char *const FORM_NAMES[N_FORMS] = {"blocking", "nonblocking", "persistent"};

static void begin(void) {
    MPI_Init(NULL, NULL);
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
}

static void fail(const char *what, int where, int expected, int seen) {
    fprintf(stderr, "rank %d: %s: element %d: expected %d, seen %d\n", rank, what, where, expected,
            seen);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* Ends the program with the words by which `bench/compare` knows that its figures do not count. */
static void wrong_data(const char *what, long long where, long long expected, long long seen) {
    fprintf(stderr, "wrong data: rank %d: %s: at %lld: expected %lld, seen %lld\n", rank, what,
            where, expected, seen);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static int by_value(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

/* Something that is measured: a batch of so many, with whatever it needs. */
typedef void (*batch)(const void *what, enum form form, int times, MPI_Request *requests);

/* Seconds for one batch on the rank that takes longest; the same on all ranks. */
static double batch_seconds(batch run, const void *what, enum form form, int times,
                            MPI_Request *requests) {
    MPI_Barrier(world);
    double begun = MPI_Wtime(), longest;
    run(what, form, times, requests);
    double own = MPI_Wtime() - begun;
    MPI_Allreduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, world);
    return longest;
}

/* How many calls make a batch that is so long that the clock does not matter; the same on all
 * ranks. Each length is tried twice, and the shorter time counts: the first calls of a program make
 * connections and touch pages, and a batch that seemed long for that would have a call or two. */
static int times_each(batch run, const void *what, enum form form, MPI_Request *requests,
                      int times_at_most, double *seconds) {
    int times = 1;
    for (;;) {
        double first = batch_seconds(run, what, form, times, requests);
        double second = batch_seconds(run, what, form, times, requests);
        *seconds = first < second ? first : second;
        if (*seconds * batches > seconds_each || times >= times_at_most) return times;
        times *= 2;
    }
}

/* The median of the batches, in microseconds for each of a batch; the same on all ranks. */
static double measure(batch run, const void *what, enum form form, MPI_Request *requests,
                      int times_at_most) {
    double taken[MAX_BATCHES], slowest[MAX_BATCHES], seconds;
    int times = times_each(run, what, form, requests, times_at_most, &seconds);
    int n_batches = batches;
    while (n_batches > FEWEST_BATCHES && seconds * n_batches > seconds_at_most) n_batches -= 2;
    for (int i = 0; i < n_batches; i++) {
        MPI_Barrier(world);
        double begun = MPI_Wtime();
        run(what, form, times, requests);
        taken[i] = MPI_Wtime() - begun;
    }
    MPI_Allreduce(taken, slowest, n_batches, MPI_DOUBLE, MPI_MAX, world);
    qsort(slowest, (size_t)n_batches, sizeof *slowest, by_value);
    return slowest[n_batches / 2] / times * 1e6;
}

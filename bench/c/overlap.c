/* How much of a collective is hidden behind a computation that does not call the library.
 *
 *   overlap [-o iallreduce|ibcast|ialltoall] [-f nonblocking|persistent] [-b BYTES]...
 *
 * For each length: `pure`, the median time of start and wait; then a computation in registers that
 * takes twice as long, alone (`alone`) and between start and wait (`both`). Hidden is the share
 * (pure + alone - both) / pure, between 0 and 1; all are of the slowest rank. Each call has other
 * data than the one before, and an element of each page that it delivers is checked.
 *
 * Lines as of motet_bench -t, with percent instead of microseconds; and `pure` in microseconds. */

#include "measure.h"

#include "compute.h"

#include <time.h>

enum { ROUNDS = 31, WARM = 5, PAGE = 1024, MAX_SIZES = 16 };

static int n, turn, *in, *out;

struct operation {
    const char *name;
    int (*nonblocking)(MPI_Request *);
    int (*persistent)(MPI_Request *);
};

static int iallreduce(MPI_Request *r) {
    return MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, world, r);
}
static int allreduce_init(MPI_Request *r) {
    return MPI_Allreduce_init(in, out, n, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, r);
}
static int ibcast(MPI_Request *r) { return MPI_Ibcast(in, n, MPI_INT, 0, world, r); }
static int bcast_init(MPI_Request *r) {
    return MPI_Bcast_init(in, n, MPI_INT, 0, world, MPI_INFO_NULL, r);
}
static int ialltoall(MPI_Request *r) {
    return MPI_Ialltoall(in, n, MPI_INT, out, n, MPI_INT, world, r);
}
static int alltoall_init(MPI_Request *r) {
    return MPI_Alltoall_init(in, n, MPI_INT, out, n, MPI_INT, world, MPI_INFO_NULL, r);
}

static const struct operation OPERATIONS[] = {
    {"iallreduce", iallreduce, allreduce_init},
    {"ibcast", ibcast, bcast_init},
    {"ialltoall", ialltoall, alltoall_init},
};
enum { REDUCED, FROM_ROOT, ALL_TO_ALL, N_OPERATIONS };

static void fill(int which) {
    turn = (turn + 1) % 1000;
    int blocks = which == ALL_TO_ALL ? size : which == FROM_ROOT && rank ? 0 : 1;
    for (int i = 0; i < blocks * n; i += PAGE) in[i] = turn + rank + i;
}

static void check(int which) {
    const int *result = which == FROM_ROOT ? in : out;
    int blocks = which == ALL_TO_ALL ? size : 1;
    for (int i = 0; i < blocks * n; i += PAGE) {
        int right = turn + i;
        if (which == REDUCED) right = size * (turn + i) + size * (size - 1) / 2;
        if (which == ALL_TO_ALL) right = turn + i / n + rank * n + i % n;
        if (result[i] != right) fail(OPERATIONS[which].name, i, right, result[i]);
    }
}

/* Seconds from start to the end of the wait with this much computation between, slowest rank. */
static double once(int which, enum form form, MPI_Request *request, long steps) {
    double longest;
    fill(which);
    MPI_Barrier(world);
    double begun = MPI_Wtime();
    if (form == PERSISTENT)
        MPI_Start(request);
    else
        OPERATIONS[which].nonblocking(request);
    compute(steps);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    double taken = MPI_Wtime() - begun;
    /* Before the check: it would take the core of a rank that has not ended. */
    MPI_Allreduce(&taken, &longest, 1, MPI_DOUBLE, MPI_MAX, world);
    check(which);
    return longest;
}

static double computation(long steps) {
    double longest;
    MPI_Barrier(world);
    double begun = MPI_Wtime();
    compute(steps);
    double taken = MPI_Wtime() - begun;
    MPI_Allreduce(&taken, &longest, 1, MPI_DOUBLE, MPI_MAX, world);
    return longest;
}

/* Seconds of a step of the computation. That twice as many steps take twice as long is checked: a
 * computation that takes no time would have nothing hidden behind it. */
static double step_seconds(void) {
    enum { STEPS = 100000, ATTEMPTS = 20 };
    for (int i = 0; i < ATTEMPTS; i++) {
        double once = computation(STEPS), twice = computation(2 * STEPS);
        if (twice > 1.8 * once && twice < 2.2 * once) return twice / (2 * STEPS);
    }
    fail("twice the computation does not take twice as long", 0, 2, 1);
    return 0;
}

/* Median of the first `count`. */
static double middle(double *taken, int count) {
    qsort(taken, (size_t)count, sizeof *taken, by_value);
    return taken[count / 2];
}

static void overlap(int which, enum form form, int block_bytes) {
    double pure[ROUNDS], alone[ROUNDS], both[ROUNDS];
    MPI_Request request = MPI_REQUEST_NULL;
    const struct operation *operation = &OPERATIONS[which];
    if (form == PERSISTENT) operation->persistent(&request);
    for (int i = -WARM; i < ROUNDS; i++) {
        double taken = once(which, form, &request, 0);
        if (i >= 0) pure[i] = taken;
    }
    double each = middle(pure, ROUNDS);
    long steps = (long)(2 * each / step_seconds()) + 1;
    for (int i = 0; i < ROUNDS; i++) { /* In turns, so that a disturbance hits both. */
        alone[i] = computation(steps);
        both[i] = once(which, form, &request, steps);
        pure[i] = once(which, form, &request, 0);
    }
    each = middle(pure, ROUNDS);
    double hidden = (each + middle(alone, ROUNDS) - middle(both, ROUNDS)) / each;
    hidden = hidden < 0 ? 0 : hidden > 1 ? 1 : hidden;
    if (form == PERSISTENT) MPI_Request_free(&request);
    if (rank) return;
    printf("overlap %s\t%d\t%d\t%s\t%.1f\n", operation->name, size, block_bytes, FORM_NAMES[form],
           100 * hidden);
    printf("pure %s\t%d\t%d\t%s\t%.3f\n", operation->name, size, block_bytes, FORM_NAMES[form],
           each * 1e6);
    fflush(stdout);
}

int main(int argc, char **argv) {
    int sizes[MAX_SIZES] = {65536, 1048576, 4194304}, n_sizes = 3, n_given = 0, forms = 6;
    const char *wanted = "";
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "-o")) wanted = argv[i + 1];
        if (!strcmp(argv[i], "-f")) forms = strcmp(argv[i + 1], "persistent") ? 2 : 4;
        if (!strcmp(argv[i], "-b") && n_given < MAX_SIZES && atoi(argv[i + 1]) >= 4) {
            sizes[n_given++] = atoi(argv[i + 1]);
            n_sizes = n_given;
        }
    }
    begin();
    int is_known = !*wanted;
    for (int which = 0; which < N_OPERATIONS; which++)
        is_known |= !strcmp(wanted, OPERATIONS[which].name);
    if (!is_known) {
        if (!rank) fprintf(stderr, "overlap: -o takes iallreduce, ibcast or ialltoall, not %s\n", wanted);
        MPI_Abort(world, 2);
    }
    for (int s = 0; s < n_sizes; s++) {
        n = sizes[s] / (int)sizeof(int);
        in = calloc((size_t)size * (size_t)n, sizeof(int));
        out = calloc((size_t)size * (size_t)n, sizeof(int));
        if (!in || !out) fail("no memory", 0, 0, 0);
        for (int which = 0; which < N_OPERATIONS; which++)
            for (int form = NONBLOCKING; form < N_FORMS; form++)
                if ((!*wanted || !strcmp(wanted, OPERATIONS[which].name)) && forms >> form & 1)
                    overlap(which, (enum form)form, sizes[s]);
        free(in);
        free(out);
    }
    MPI_Finalize();
    return 0;
}

/* What only shows when there is much of it.
 *
 *   many -o pending [-k COUNT]   nonblocking allreduces of 8 bytes, all begun before any wait
 *   many -o init [-k COUNT]      inits of a persistent allreduce of 8 bytes, the first and others
 *   many -o starts [-k COUNT]    starts and waits of one: for instruction counts, with one rank
 *
 * Lines as of motet_bench -t: name, ranks, COUNT, form, value; microseconds unless the name says
 * another unit. Results are checked. */

#include "measure.h"

#include <stdint.h>

static int64_t *in, *out;
static MPI_Request *requests;

/* Bytes of memory that this process uses, shared memory included. */
static double resident(void) {
    char line[256];
    long kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmRSS: %ld", &kilobytes) == 1) break;
    if (status) fclose(status);
    return 1024.0 * (double)kilobytes;
}

static double slowest(double own) {
    double longest;
    MPI_Allreduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, world);
    return longest;
}

static void show(const char *name, int count, enum form form, double value) {
    if (rank) return;
    printf("%s\t%d\t%d\t%s\t%.4f\n", name, size, count, FORM_NAMES[form], value);
    fflush(stdout);
}

static void begin_all(int from, int to) {
    for (int k = from; k < to; k++)
        MPI_Iallreduce(&in[k], &out[k], 1, MPI_INT64_T, MPI_SUM, world, &requests[k]);
}

static void check(int count, int64_t turn) {
    for (int k = 0; k < count; k++)
        if (out[k] != size * (k + turn)) fail("allreduce", k, size * (k + (int)turn), (int)out[k]);
}

static void pending(int count) {
    begin_all(0, 1); /* What is set up once is not counted. */
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    double bytes = resident(), times[4];
    MPI_Barrier(world);
    times[0] = MPI_Wtime();
    begin_all(0, count / 2);
    times[1] = MPI_Wtime();
    begin_all(count / 2, count);
    times[2] = MPI_Wtime();
    bytes = resident() - bytes;
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    times[3] = MPI_Wtime();
    check(count, 0);
    double halves = slowest(times[2] - times[1]) / slowest(times[1] - times[0]);
    show("pending each", count, NONBLOCKING, slowest(times[3] - times[0]) / count * 1e6);
    show("pending begin", count, NONBLOCKING, slowest(times[2] - times[0]) / count * 1e6);
    show("pending bytes", count, NONBLOCKING, slowest(bytes) / count);
    show("pending second half / first", count, NONBLOCKING, halves);
}

static void one_init(int k) {
    MPI_Allreduce_init(&in[k], &out[k], 1, MPI_INT64_T, MPI_SUM, world, MPI_INFO_NULL,
                       &requests[k]);
}

static void init(int count) {
    double *taken = malloc((size_t)count * sizeof *taken);
    if (!taken) fail("no memory", 0, 0, 0);
    double with_run = 0;
    for (int k = 0; k < count; k++) {
        MPI_Barrier(world);
        double begun = MPI_Wtime();
        one_init(k);
        taken[k] = MPI_Wtime() - begun;
        MPI_Start(&requests[k]);
        MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
        with_run += MPI_Wtime() - begun;
    }
    check(count, 0);
    show("init first", count, PERSISTENT, slowest(taken[0]) * 1e6);
    qsort(taken + 1, (size_t)count - 1, sizeof *taken, by_value);
    show("init", count, PERSISTENT, slowest(taken[count / 2]) * 1e6);
    show("init, start and wait", count, PERSISTENT, slowest(with_run) / count * 1e6);
    for (int k = 0; k < count; k++) MPI_Request_free(&requests[k]);
    free(taken);
}

static void starts(int count) {
    one_init(0);
    for (int k = 0; k < count; k++) {
        in[0] = k;
        MPI_Start(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        check(1, k);
    }
    MPI_Request_free(&requests[0]);
}

int main(int argc, char **argv) {
    const char *wanted = "pending";
    int count = 1000;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "-o")) wanted = argv[i + 1];
        if (!strcmp(argv[i], "-k") && atoi(argv[i + 1]) > 1) count = atoi(argv[i + 1]);
    }
    begin();
    in = malloc((size_t)count * sizeof *in);
    out = malloc((size_t)count * sizeof *out);
    requests = malloc((size_t)count * sizeof *requests);
    if (!in || !out || !requests) fail("no memory", 0, 0, 0);
    for (int k = 0; k < count; k++) {
        in[k] = k;
        out[k] = -1;
        requests[k] = MPI_REQUEST_NULL;
    }
    if (!strcmp(wanted, "pending")) pending(count);
    if (!strcmp(wanted, "init")) init(count);
    if (!strcmp(wanted, "starts")) starts(count);
    free(in);
    free(out);
    free(requests);
    MPI_Finalize();
    return 0;
}

/* The state of the machine, in a few milliseconds and without a library.
 *
 *   hop      nanoseconds of one hop of a cache line between two processors
 *   hop -c   steps of `compute` in a microsecond of processor time
 *
 * Two threads, each pinned to a processor of its own, write a flag in turns. A hop is half of a
 * round trip. The hypervisor of a virtual machine may place its processors close to each other or
 * far apart, and may change that within minutes. The times of all libraries follow the hop.
 *
 * Prints the 25th percentile of the batches and the fastest batch, with a tab between them: a busy
 * machine slows some batches, but not all of them. With a single processor it prints 0 and 0. */

#define _GNU_SOURCE
#include "compute.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 64, HOPS_PER_BATCH = 400, CALIBRATIONS = 50, CALIBRATION_STEPS = 40000 };

static struct {
    _Alignas(256) atomic_long turn;
    char rest[256 - sizeof(atomic_long)];
} line;

static double seconds_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int by_value(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

/* Pins the calling thread to a processor. */
static void pin(int processor) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* Waits for the turn. The other thread may share a processor with a third program, which the kernel
 * runs for milliseconds: the thread keeps polling, since a wait in the kernel is no hop. */
static void wait_for(long turn) {
    while (atomic_load_explicit(&line.turn, memory_order_acquire) != turn) {}
}

static void *answer(void *processor) {
    pin(*(int *)processor);
    for (long turn = 1; turn <= 2L * BATCHES * HOPS_PER_BATCH; turn += 2) {
        wait_for(turn);
        atomic_store_explicit(&line.turn, turn + 1, memory_order_release);
    }
    return NULL;
}

static void measure_hop(int first, int second) {
    double taken[BATCHES];
    pthread_t other;
    pin(first);
    if (pthread_create(&other, NULL, answer, &second)) exit(1);
    long turn = 0;
    for (int i = 0; i < BATCHES; i++) {
        double begun = seconds_of(CLOCK_MONOTONIC);
        for (int k = 0; k < HOPS_PER_BATCH; k++) {
            atomic_store_explicit(&line.turn, turn + 1, memory_order_release);
            wait_for(turn += 2);
        }
        taken[i] = (seconds_of(CLOCK_MONOTONIC) - begun) / (2 * HOPS_PER_BATCH) * 1e9;
    }
    pthread_join(other, NULL);
    qsort(taken, BATCHES, sizeof *taken, by_value);
    printf("%.1f\t%.1f\n", taken[BATCHES / 4], taken[0]);
}

static void calibrate(void) {
    double least = 1e9;
    for (int i = 0; i < CALIBRATIONS; i++) {
        double begun = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        compute(CALIBRATION_STEPS);
        double taken = seconds_of(CLOCK_THREAD_CPUTIME_ID) - begun;
        if (taken < least) least = taken;
    }
    printf("%.2f\n", CALIBRATION_STEPS / (least * 1e6));
}

/* The first two processors that the process may use; fewer if there are fewer. */
static int two_processors(int *found) {
    cpu_set_t allowed;
    int count = 0;
    if (sched_getaffinity(0, sizeof allowed, &allowed)) return 0;
    for (int processor = 0; processor < CPU_SETSIZE && count < 2; processor++)
        if (CPU_ISSET(processor, &allowed)) found[count++] = processor;
    return count;
}

int main(int words, char **word) {
    int processors[2];
    if (words == 2 && !strcmp(word[1], "-c"))
        calibrate();
    else if (two_processors(processors) < 2)
        printf("0\t0\n");
    else
        measure_hop(processors[0], processors[1]);
    return 0;
}

/* What the memory system of the machine needs at least: no library, two processes on two cores.
 *
 * one_way   a line written by one process until the other has read it: half of there and back
 * two_way   both write a payload and its number in one line, and read the other's: the least that
 *           a barrier or an allreduce of 8 bytes needs
 * switch    two processes of one core, each of which yields it until the other has written its line:
 *           half of there and back
 * memcpy    a private buffer copied into shared pages, on an otherwise idle machine
 *
 * Lines as of motet_bench -t: name, processes, bytes, "limit", microseconds; medians of batches.
 * What is read is checked. With -q only two_way, in some milliseconds. */

#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 41, TIMES = 20000, FEW_TIMES = 1000, SWITCHES = 200, LONGEST = 16 << 20,
       LINES_APART = 4, COPY_BYTES = 64 << 20 };

/* A line; the next one follows at a distance at which no prefetch brings both. */
struct line {
    _Atomic uint64_t number;
    uint64_t payload;
    char rest[64 * LINES_APART - 16];
};

struct shared {
    _Alignas(256) struct line slots[2][2]; /* of each process, for odd and even turns */
    _Alignas(4096) char pages[LONGEST];
};

static struct shared *shared;
static int self;
static int is_alone = 1; /* whether the process has a core of its own */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void fail(const char *what) {
    fprintf(stderr, "limits: %s\n", what);
    exit(1);
}

static void write_line(uint64_t turn) {
    struct line *line = &shared->slots[self][turn % 2];
    line->payload = turn * 3 + (uint64_t)self;
    atomic_store_explicit(&line->number, turn, memory_order_release);
}

static void read_line(uint64_t turn) {
    struct line *line = &shared->slots[!self][turn % 2];
    while (atomic_load_explicit(&line->number, memory_order_acquire) != turn)
        if (!is_alone) sched_yield();
    if (line->payload != turn * 3 + (uint64_t)!self) fail("another payload than written");
}

/* A line that has been read at turn `t` is not written again before turn `t + 2`, and by then its
 * reader has answered turn `t + 1`, which it did after reading. */
static void two_way(uint64_t turn) {
    write_line(turn);
    read_line(turn);
}

static void there_and_back(uint64_t turn) {
    if (self) {
        read_line(turn);
        write_line(turn);
    } else {
        write_line(turn);
        read_line(turn);
    }
}

static int by_value(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

static double median(double *taken) {
    qsort(taken, BATCHES, sizeof *taken, by_value);
    return taken[BATCHES / 2];
}

/* Microseconds for each turn, on process 0. */
static double turns(void (*once)(uint64_t), int times, uint64_t *turn) {
    double taken[BATCHES];
    for (int i = 0; i < BATCHES; i++) {
        double begun = now();
        for (int k = 0; k < times; k++) once(++*turn);
        taken[i] = (now() - begun) / times * 1e6;
    }
    return median(taken);
}

/* Microseconds for each copy. */
static double copies(size_t bytes) {
    double taken[BATCHES];
    char *from = malloc(bytes);
    if (!from) fail("no memory");
    size_t times = COPY_BYTES / BATCHES / bytes + 1;
    memset(from, 1, bytes);
    memset(shared->pages, 2, bytes);
    for (int i = 0; i < BATCHES; i++) {
        double begun = now();
        for (size_t k = 0; k < times; k++) {
            from[0] = from[bytes - 1] = (char)(i + (int)k);
            memcpy(shared->pages, from, bytes);
            if (((volatile char *)shared->pages)[bytes - 1] != from[0]) fail("another copy");
        }
        taken[i] = (now() - begun) / (double)times * 1e6;
    }
    free(from);
    return median(taken);
}

/* Each process stays on a core of its own, where there are two, or both on the first one. */
static void settle(void) {
    static cpu_set_t allowed; /* when the program began */
    cpu_set_t one;
    if (!CPU_COUNT(&allowed) && sched_getaffinity(0, sizeof allowed, &allowed)) return;
    CPU_ZERO(&one);
    for (int core = 0, seen = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET(core, &allowed) || seen++ != self * is_alone) continue;
        CPU_SET(core, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
}

static void show(const char *name, size_t bytes, double microseconds) {
    if (!self) printf("%s\t2\t%zu\tlimit\t%.4f\n", name, bytes, microseconds);
}

int main(int words, char **word) {
    int is_quick = words == 2 && !strcmp(word[1], "-q");
    int times = is_quick ? FEW_TIMES : TIMES;
    uint64_t turn = 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) fail("no shared memory");
    pid_t child = fork();
    if (child < 0) fail("no second process");
    self = child == 0;
    settle();
    turns(two_way, times, &turn); /* warm, and both on their way */
    show("two_way", 8, turns(two_way, times, &turn));
    if (!is_quick) show("one_way", 8, turns(there_and_back, times, &turn) / 2);
    if (!is_quick) {
        is_alone = 0;
        settle();
        show("switch", 8, turns(there_and_back, SWITCHES, &turn) / 2);
    }
    if (self) return 0;
    int status = 0;
    if (waitpid(child, &status, 0) != child || status) fail("the second process has failed");
    if (is_quick) return 0;
    for (size_t bytes = 4096; bytes <= LONGEST; bytes *= 4) show("memcpy", bytes, copies(bytes));
    return 0;
}

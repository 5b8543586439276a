/* Memory of malloc in the shared heap: the allocator keeps what the C standard and POSIX promise, all
 * ranks map the heaps of the others, collectives read and write there, and a child of fork has a copy.
 *
 * ranks: 1 2 3 5
 * set: MOTET_SHARED_HEAP=1
 * never: MOTET_SHARED_HEAP is set
 * case: allocator
 * case: collectives
 * case: fork
 * case: threads
 * case: handlers
 */

#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { LARGE = 1 << 20, SMALL = 100 };

static int rank, size;

/* Mappings of process heaps, that of this process included: those of the first page, as a mapping may have
 * several parts. */
static int heaps(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];
    int count = 0;
    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps)) count += strstr(line, "motet-heap") && strstr(line, " 00000000 ");
    fclose(maps);
    return count;
}

static int has(const unsigned char *block, size_t bytes, int value) {
    for (size_t at = 0; at < bytes; at++)
        if (block[at] != value) return 0;
    return 1;
}

static void lengths(void) {
    unsigned char *block = malloc(LARGE), *other;
    CHECK(block != NULL && (uintptr_t)block % _Alignof(max_align_t) == 0);
    CHECK(malloc_usable_size(block) >= LARGE && heaps() == 1);
    memset(block, 1, LARGE);
    block = realloc(block, 3 * LARGE);
    CHECK(has(block, LARGE, 1));
    memset(block, 2, 3 * LARGE);
    other = malloc(LARGE);
    memset(other, 3, LARGE);
    block = realloc(block, 9 * LARGE);
    CHECK(has(block, 3 * LARGE, 2) && has(other, LARGE, 3));
    block = realloc(block, SMALL);
    CHECK(has(block, SMALL, 2));
    block = realloc(block, LARGE);
    CHECK(has(block, SMALL, 2));
    free(other);
    other = calloc(LARGE / 8, 8);
    CHECK(has(other, LARGE, 0));
    free(other);
    free(block);
    free(NULL);
    block = realloc(NULL, LARGE);
    CHECK(block != NULL);
    CHECK(realloc(block, 0) == NULL);
}

static void refusals(void) {
    volatile size_t most = SIZE_MAX / 2;
    unsigned char *block = malloc(LARGE);
    memset(block, 4, LARGE);
    errno = 0;
    CHECK(malloc(most) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(calloc(most, 4) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(reallocarray(block, most, 4) == NULL && errno == ENOMEM);
    CHECK(realloc(block, most) == NULL && has(block, LARGE, 4));
    free(block);
}

static void alignments(void) {
    for (size_t alignment = 8; alignment <= 1 << 21; alignment *= 2) {
        void *block = NULL;
        CHECK(posix_memalign(&block, alignment, LARGE) == 0 && (uintptr_t)block % alignment == 0);
        memset(block, 5, LARGE);
        free(block);
        block = aligned_alloc(alignment, LARGE);
        CHECK(block != NULL && (uintptr_t)block % alignment == 0);
        free(block);
    }
    void *block = NULL;
    CHECK(posix_memalign(&block, 24, LARGE) == EINVAL && block == NULL);
    block = valloc(LARGE);
    CHECK((uintptr_t)block % (size_t)sysconf(_SC_PAGESIZE) == 0);
    free(block);
}

/* Blocks of many lengths, each filled with a value of its own, are freed in another order. */
static void many(void) {
    enum { BLOCKS = 300 };
    unsigned char *blocks[BLOCKS];
    size_t bytes[BLOCKS];
    for (int round = 0; round < 3; round++) {
        for (int at = 0; at < BLOCKS; at++) {
            bytes[at] = (size_t)(at * 7919 % 100 + 1) * 1000;
            blocks[at] = malloc(bytes[at]);
            memset(blocks[at], at % 256, bytes[at]);
        }
        for (int at = 0; at < BLOCKS; at++) {
            int other = at * 7 % BLOCKS;
            CHECK(has(blocks[other], bytes[other], other % 256));
            free(blocks[other]);
        }
    }
}

static void collectives(void) {
    const int n = LARGE / 8;
    double *in = malloc(LARGE), *out = malloc(LARGE), *all = malloc((size_t)size * LARGE);
    double *blocks = malloc((size_t)size * LARGE);
    MPI_Request request;
    MPI_Allgather_init(in, n, MPI_DOUBLE, all, n, MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < n; i++) in[i] = rank + i + round;
        MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Start(&request);
        for (int i = 0; i < n; i++)
            CHECK(out[i] == size * (size - 1) / 2.0 + (double)size * (i + round));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int of = 0; of < size; of++)
            for (int i = 0; i < n; i++) CHECK(all[of * n + i] == of + i + round);
        for (int to = 0; to < size; to++)
            for (int i = 0; i < n; i++) blocks[to * n + i] = rank * 100 + to + i;
        MPI_Request pending;
        MPI_Ialltoall(blocks, n, MPI_DOUBLE, all, n, MPI_DOUBLE, MPI_COMM_WORLD, &pending);
        MPI_Wait(&pending, MPI_STATUS_IGNORE);
        for (int of = 0; of < size; of++)
            for (int i = 0; i < n; i++) CHECK(all[of * n + i] == of * 100 + rank + i);
        if (rank == round % size) memcpy(out, in, LARGE);
        MPI_Bcast(out, n, MPI_DOUBLE, round % size, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) CHECK(out[i] == round % size + i + round);
        /* The next round has other blocks, at other addresses. */
        free(blocks);
        double *between = malloc((size_t)(round + 1) * 20000);
        blocks = malloc((size_t)size * LARGE);
        free(between);
    }
    MPI_Request_free(&request);
    CHECK(heaps() == size);
    free(in), free(out), free(all), free(blocks);
}

static void forks(void) {
    unsigned char *block = malloc(LARGE);
    memset(block, 6, LARGE);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        unsigned char *own = malloc(LARGE);
        int is_right = has(block, LARGE, 6) && own != NULL;
        memset(own, 8, LARGE);
        block = realloc(block, 2 * LARGE);
        memset(block, 7, 2 * LARGE);
        free(own);
        free(block);
        _exit(is_right ? 0 : 1);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(has(block, LARGE, 6));
    free(block);
    CHECK(system("exit 3") >> 8 == 3);
}

/* A child that goes on, and has a child itself. */
static void forks_twice(void) {
    unsigned char *block = malloc(LARGE);
    memset(block, 6, LARGE);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0) {
            block = realloc(block, 1000);
            int is_right = has(block, 1000, 6);
            unsigned char *own = malloc(LARGE);
            memset(own, 9, LARGE);
            free(block);
            free(own);
            _exit(is_right ? 0 : 1);
        }
        int status = 1;
        memset(block, 7, LARGE);
        int is_right = waitpid(grandchild, &status, 0) == grandchild && status == 0;
        _exit(is_right && has(block, LARGE, 7) ? 0 : 1);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(has(block, LARGE, 6));
    free(block);
}

/* Handlers of fork that a program has registered before it allocated anything large: one takes a lock
 * that a thread holds while it allocates, one moves a block, and one writes in the child. */
static pthread_mutex_t allocating = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *moved;
static volatile int is_over;

static void prepare(void) {
    pthread_mutex_lock(&allocating);
    if (moved) moved = realloc(moved, malloc_usable_size(moved) + 40000);
}

static void in_parent(void) { pthread_mutex_unlock(&allocating); }

static void in_child(void) {
    if (moved) moved[0] = 42;
    pthread_mutex_unlock(&allocating);
}

__attribute__((constructor)) static void register_handlers(void) {
    pthread_atfork(prepare, in_parent, in_child);
}

static void *allocate_under_lock(void *unused) {
    while (!is_over) {
        pthread_mutex_lock(&allocating);
        free(malloc(LARGE));
        pthread_mutex_unlock(&allocating);
        usleep(50);
    }
    return unused;
}

static void handlers(void) {
    pthread_t thread;
    moved = malloc(LARGE);
    memset(moved, 6, LARGE);
    CHECK(pthread_create(&thread, NULL, allocate_under_lock, NULL) == 0);
    for (int round = 0; round < 50; round++) {
        pid_t child = fork();
        if (child == 0) _exit(moved[0] == 42 && has(moved + 1, LARGE - 1, 6) ? 0 : 1);
        int status = 1;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        CHECK(has(moved, LARGE, 6));
    }
    is_over = 1;
    CHECK(pthread_join(thread, NULL) == 0);
}

static void *allocate(void *thread) {
    int value = *(int *)thread;
    for (int round = 0; round < 500; round++) {
        size_t bytes = (size_t)(round % 40 + 10) * 1000;
        unsigned char *block = malloc(bytes);
        memset(block, value, bytes);
        block = realloc(block, bytes + 30000);
        if (!has(block, bytes, value)) return NULL;
        free(block);
    }
    return thread;
}

/* Threads allocate while one of them forks. */
static void threads(void) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int values[THREADS];
    for (int at = 0; at < THREADS; at++) {
        values[at] = at;
        CHECK(pthread_create(&threads[at], NULL, allocate, &values[at]) == 0);
    }
    for (int at = 0; at < 5; at++) forks();
    for (int at = 0; at < THREADS; at++) {
        void *end = NULL;
        CHECK(pthread_join(threads[at], &end) == 0 && end == &values[at]);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *name = argc > 1 ? argv[1] : "";
    if (!strcmp(name, "allocator")) {
        lengths();
        refusals();
        alignments();
        many();
    } else if (!strcmp(name, "collectives")) {
        collectives();
    } else if (!strcmp(name, "fork")) {
        forks();
        forks_twice();
    } else if (!strcmp(name, "handlers")) {
        handlers();
    } else {
        threads();
    }
    return MPI_Finalize();
}

/* Children that a rank makes by fork. A child has a copy of all memory of the rank, also of what
 * MPI_Alloc_mem gave it; it may exit and exec, whatever the rank does meanwhile; and it is no rank:
 * what it calls of MPI is an error that says so, in the child only.
 *
 * ranks: 1 2
 * seconds: 60
 *
 * case: memory
 * case: exits
 * case: executes
 * case: returns
 * set: MOTET_INITIAL_ERRHANDLER=mpi_errors_return
 * case: fatal
 * stderr: a child process that rank 0 has made by fork
 * case: aborts
 * stderr: a child process that rank 0 has made by fork
 * case: before
 * case: after
 * case: sessions
 * case: progress
 * set: MOTET_PROGRESS=thread
 * case: many_threads
 */

#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int rank, size;

static void begin(void) {
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
}

/* How a child has ended: its code, or -1. */
static int end_of(pid_t child) {
    int status;
    CHECK(child > 0);
    while (waitpid(child, &status, 0) < 0) CHECK_EQ(errno, EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The rank is a rank as before. */
static void talk(void) {
    int sum = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(sum, size);
}

static void finish(void) {
    talk();
    OK(MPI_Finalize());
}

/* Neither sees what the other writes after the fork, whoever writes first. */
static void memory(void) {
    enum { LARGE = 3000001, SMALL = 100, PARTS = 4 };
    unsigned char *parts[PARTS], told;
    const int lengths[PARTS] = {SMALL, LARGE, SMALL, LARGE};
    int wait_for_parent[2];
    begin();
    for (int i = 0; i < PARTS; i++) {
        OK(MPI_Alloc_mem(lengths[i], MPI_INFO_NULL, &parts[i]));
        memset(parts[i], 10 + i, lengths[i]);
    }
    /* One that is free again lies between those that are not. */
    OK(MPI_Free_mem(parts[2]));
    parts[2] = NULL;
    for (int round = 0; round < 3; round++) {
        CHECK_EQ(pipe(wait_for_parent), 0);
        pid_t child = fork();
        if (child > 0)
            for (int i = 0; i < PARTS; i++)
                if (parts[i]) memset(parts[i], 50 + i, lengths[i]);
        if (child == 0) {
            if (read(wait_for_parent[0], &told, 1) != 1) _exit(1);
            for (int i = 0; i < PARTS; i++)
                for (int at = 0; parts[i] && at < lengths[i]; at++)
                    if (parts[i][at] != 10 + i) _exit(2);
            for (int i = 0; i < PARTS; i++)
                if (parts[i]) memset(parts[i], 90 + i, lengths[i]);
            for (int i = 0; i < PARTS; i++)
                if (parts[i] && parts[i][lengths[i] - 1] != 90 + i) _exit(3);
            _exit(0);
        }
        CHECK_EQ(write(wait_for_parent[1], "x", 1), 1);
        CHECK_EQ(end_of(child), 0);
        close(wait_for_parent[0]);
        close(wait_for_parent[1]);
        for (int i = 0; i < PARTS; i++)
            for (int at = 0; parts[i] && at < lengths[i]; at++) CHECK_EQ(parts[i][at], 50 + i);
        /* It is memory that all ranks map, as before. */
        int next = (rank + 1) % size, before = (rank + size - 1) % size;
        OK(MPI_Sendrecv(parts[1], LARGE, MPI_BYTE, next, 1, parts[3], LARGE, MPI_BYTE, before, 1,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int at = 0; at < LARGE; at++) CHECK_EQ(parts[3][at], 51);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int i = 0; i < PARTS; i++)
            if (parts[i]) memset(parts[i], 10 + i, lengths[i]);
    }
    for (int i = 0; i < PARTS; i++)
        if (parts[i]) OK(MPI_Free_mem(parts[i]));
    finish();
}

static void bye(void) {}

/* By exit, with all that is done at the end of a process, by _exit, and by signals. */
static void exits(void) {
    begin();
    atexit(bye);
    for (int i = 0; i < 6; i++) {
        pid_t child = fork();
        if (child == 0 && i % 2) _exit(i);
        if (child == 0) exit(i);
        talk();
        CHECK_EQ(end_of(child), i);
    }
    const int signals[] = {SIGKILL, SIGSEGV, SIGABRT};
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) raise(signals[i]);
        talk();
        CHECK_EQ(end_of(child), -1);
    }
    finish();
}

static void executes(void) {
    char *words[] = {"true", NULL};
    pid_t child;
    void *memory;
    begin();
    OK(MPI_Alloc_mem(1 << 20, MPI_INFO_NULL, &memory));
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(system("exit 0"), 0);
        CHECK_EQ(posix_spawnp(&child, "true", NULL, NULL, words, environ), 0);
        talk();
        CHECK_EQ(end_of(child), 0);
        child = fork();
        if (child == 0) {
            execvp("true", words);
            _exit(127);
        }
        CHECK_EQ(end_of(child), 0);
        child = vfork();
        if (child == 0) {
            execvp("true", words);
            _exit(127);
        }
        CHECK_EQ(end_of(child), 0);
    }
    OK(MPI_Free_mem(memory));
    finish();
}

/* Of class MPI_ERR_OTHER, with a text about the child. */
static int is_named(int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int class = -1, len;
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &len);
    if (class == MPI_ERR_OTHER && strstr(text, "a child process that rank")) return 1;
    fprintf(stderr, "class %d: %s\n", class, text);
    return 0;
}

/* What a child calls. */
static int all_named(MPI_Session session, MPI_Request request) {
    int flag = 0, a = 0, all = 1;
    void *memory;
    MPI_Comm comm;
    MPI_Session other;
    all &= is_named(MPI_Comm_rank(MPI_COMM_WORLD, &a));
    all &= is_named(MPI_Barrier(MPI_COMM_WORLD));
    all &= is_named(MPI_Send(&a, 1, MPI_INT, 0, 0, MPI_COMM_SELF));
    all &= is_named(MPI_Wait(&request, MPI_STATUS_IGNORE));
    all &= is_named(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    all &= is_named(MPI_Alloc_mem(100, MPI_INFO_NULL, &memory));
    all &= is_named(MPI_Init(NULL, NULL));
    all &= is_named(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
    all &= is_named(MPI_Session_finalize(&session));
    all &= is_named(MPI_Comm_size(MPI_COMM_WORLD, &a));
    /* As after MPI_Finalize, so that what finalizes at the end of a program leaves it alone. */
    all &= MPI_Initialized(&flag) == MPI_SUCCESS && flag;
    all &= MPI_Finalized(&flag) == MPI_SUCCESS && flag;
    all &= is_named(MPI_Finalize());
    return all;
}

static void returns(void) {
    MPI_Session session;
    MPI_Request request;
    int got = 0;
    begin();
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Irecv(&got, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &request));
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) exit(all_named(session, request) ? 0 : 1);
        talk();
        CHECK_EQ(end_of(child), 0);
    }
    OK(MPI_Send(&(int){7}, 1, MPI_INT, rank, 3, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(got, 7);
    OK(MPI_Session_finalize(&session));
    finish();
}

static void fatal(void) {
    begin();
    pid_t child = fork();
    if (child == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        _exit(1);
    }
    CHECK_EQ(end_of(child), MPI_ERR_OTHER);
    finish();
}

static void aborts(void) {
    begin();
    pid_t child = fork();
    if (child == 0) {
        MPI_Abort(MPI_COMM_WORLD, 5);
        _exit(1);
    }
    CHECK_EQ(end_of(child), 5);
    finish();
}

/* The child is as old as the rank; only one of them can be it. */
static void before(void) {
    pid_t child = fork();
    if (child == 0) exit(3);
    begin();
    talk();
    CHECK_EQ(end_of(child), 3);
    finish();
}

static void after(void) {
    begin();
    finish();
    pid_t child = fork();
    if (child == 0) exit(4);
    CHECK_EQ(end_of(child), 4);
}

/* The last session keeps the seat until the process exits: its own, not that of a child. */
static void sessions(void) {
    MPI_Session session;
    for (int i = 0; i < 2; i++) {
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        pid_t child = fork();
        if (child == 0) exit(5);
        CHECK_EQ(end_of(child), 5);
        OK(MPI_Session_finalize(&session));
        child = fork();
        if (child == 0) exit(6);
        CHECK_EQ(end_of(child), 6);
    }
}

static void progress(void) { exits(); }

static int more = 1;

static void *allocate(void *unused) {
    (void)unused;
    while (__atomic_load_n(&more, __ATOMIC_RELAXED)) {
        void *memory;
        OK(MPI_Alloc_mem(200000, MPI_INFO_NULL, &memory));
        memset(memory, 1, 200000);
        OK(MPI_Free_mem(memory));
    }
    return NULL;
}

static void *make_children(void *unused) {
    (void)unused;
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) _exit(0);
        CHECK_EQ(end_of(child), 0);
    }
    return NULL;
}

/* While others allocate, and make children too. */
static void many_threads(void) {
    pthread_t threads[4];
    int provided;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (int i = 0; i < 4; i++) {
        void *(*work)(void *) = i < 2 ? allocate : make_children;
        CHECK_EQ(pthread_create(&threads[i], NULL, work, NULL), 0);
    }
    for (int i = 2; i < 4; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
    __atomic_store_n(&more, 0, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
    finish();
}

#define CASE(name) {#name, name}
static const struct { const char *name; void (*work)(void); } CASES[] = {
    CASE(memory), CASE(exits), CASE(executes), CASE(returns), CASE(fatal), CASE(aborts),
    CASE(before), CASE(after), CASE(sessions), CASE(progress), CASE(many_threads),
};

int main(int argc, char **argv) {
    CHECK_EQ(argc, 2);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        if (strcmp(CASES[i].name, argv[1]) == 0) CASES[i].work();
    return 0;
}

/* Runs a command beside programs that disturb it, and ends all of them.
 *
 *   disturb [-t SECONDS] [-g FILE] [-q FILE] [-n NICE] [-b SOURCE] KIND COUNT COMMAND [ARGUMENT]...
 *
 * none      no program
 * session   COUNT busy loops in the session of the command
 * other     COUNT busy loops, each in a session of its own
 * group     as `other`, in the control group of the command: with -g, which names the file
 *           `cgroup.procs` of the group that the command and the loops enter
 * pulse     COUNT loops that are busy every other 5 ms, each in a session of its own
 * build     COUNT chains of short-lived processes, each chain in a session of its own. Each process
 *           compiles SOURCE, as `make` does; without -b it reads a file and computes
 *
 * The session matters since Linux can share processors between sessions instead of between
 * processes (kernel.sched_autogroup_enabled). The caller makes this program lead a session.
 *
 * -q names the file `cgroup.procs` of a group that the command enters without the loops; -n is the
 * nice value of the command, while the loops keep that of the caller.
 *
 * The exit code is that of the command, or 124 if the command takes longer than SECONDS. No
 * descendant survives, also not after a signal or after the end of the caller: this process adopts
 * orphans (PR_SET_CHILD_SUBREAPER), and kills its descendants until there are none. */

#define _GNU_SOURCE
#include "compute.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMED_OUT = 124, BROKEN = 125, PULSE_MS = 5, MAX_COUNT = 1024 };
enum { STEPS_OF_A_PROCESS = 20000000 };

static int caught; /* the signal that ended the wait for the command */
static const char *build_source;
static sigset_t awaited;

static void fail(const char *what) {
    fprintf(stderr, "disturb: %s: %s\n", what, strerror(errno));
    exit(BROKEN);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_ms(long ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void loop(void) {
    for (;;) compute(1000);
}

/* Busy in even intervals of 5 ms of the clock and asleep in odd ones. */
static void pulse(void) {
    for (;;) {
        double interval = PULSE_MS * 1e-3, time = now();
        long number = (long)(time / interval);
        if (number % 2 == 0) {
            while ((long)(now() / interval) == number) compute(1000);
        } else {
            double left = (double)(number + 1) * interval - time;
            struct timespec rest = {0, (long)(left * 1e9)};
            nanosleep(&rest, NULL);
        }
    }
}

/* What stands for a compiler: reads a file, computes, and ends. */
static void read_and_compute(void) {
    char block[65536];
    int file = open("/proc/self/exe", O_RDONLY);
    for (long got = 1; file >= 0 && got > 0;) got = read(file, block, sizeof block);
    compute(STEPS_OF_A_PROCESS);
    _exit(0);
}

static void build(void) {
    for (;;) {
        pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (!build_source) read_and_compute();
            int nothing = open("/dev/null", O_RDWR);
            dup2(nothing, 2);
            execlp("cc", "cc", "-O2", "-c", build_source, "-o", "/dev/null", (char *)NULL);
            _exit(1);
        }
        if (child > 0)
            waitpid(child, NULL, 0);
        else
            sleep_ms(10); /* no more processes are allowed now */
    }
}

struct kind {
    const char *name;
    void (*run)(void);
    int has_own_session;
};

static const struct kind KINDS[] = {
    {"none", NULL, 0},  {"session", loop, 0}, {"other", loop, 1},
    {"group", loop, 1}, {"pulse", pulse, 1},  {"build", build, 1},
};
enum { N_KINDS = sizeof KINDS / sizeof *KINDS };

/* Starts a child that dies with this process. */
static pid_t start(void) {
    pid_t self = getpid(), child = fork();
    if (child < 0) fail("fork");
    if (child) return child;
    sigprocmask(SIG_UNBLOCK, &awaited, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(BROKEN);
    return 0;
}

static void start_disturbers(const struct kind *kind, long count) {
    for (long i = 0; kind->run && i < count; i++) {
        if (start()) continue;
        if (kind->has_own_session) setsid();
        int nothing = open("/dev/null", O_RDWR);
        for (int file = 0; file < 3; file++) dup2(nothing, file);
        kind->run();
        _exit(0);
    }
}

static void enter(const char *cgroup_procs) {
    int file = open(cgroup_procs, O_WRONLY);
    if (file < 0 || write(file, "0", 1) != 1) fail(cgroup_procs);
    close(file);
}

/* What changes for the command alone. */
struct change {
    const char *cgroup_procs;
    int nice;
};

static pid_t start_command(struct change change, char **command) {
    pid_t child = start();
    if (child) return child;
    if (change.cgroup_procs) enter(change.cgroup_procs);
    if (change.nice && setpriority(PRIO_PROCESS, 0, change.nice)) fail("nice");
    execvp(command[0], command);
    fprintf(stderr, "disturb: %s: %s\n", command[0], strerror(errno));
    _exit(BROKEN);
}

/* Kills each child. The children of one that ends become children of this process. */
static void kill_children(void) {
    char path[64];
    long child;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *children = fopen(path, "r");
    if (!children) fail(path);
    while (fscanf(children, "%ld", &child) == 1 && child > 1) kill((pid_t)child, SIGKILL);
    fclose(children);
}

/* Ends all descendants. A launcher has a moment to end its ranks itself. */
static void end_all(pid_t command) {
    if (command) {
        kill(command, SIGTERM);
        double begun = now();
        while (now() - begun < 0.5 && waitpid(command, NULL, WNOHANG) == 0) sleep_ms(5);
    }
    for (;;) {
        pid_t ended;
        kill_children();
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0) {}
        if (ended < 0) return; /* there are no children */
        sleep_ms(1);
    }
}

/* Waits for the command and collects the orphans; -1 if the time is over or a signal came. */
static int wait_for(pid_t command, double end) {
    for (;;) {
        int status;
        pid_t ended;
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
            if (ended == command) return status;
        double left = end - now();
        if (left <= 0) return -1;
        struct timespec time = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
        int signal_number = sigtimedwait(&awaited, NULL, &time);
        if (signal_number > 0 && signal_number != SIGCHLD) {
            caught = signal_number;
            return -1;
        }
    }
}

static void set_up(void) {
    static const int SIGNALS[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};
    sigemptyset(&awaited);
    for (int i = 0; i < 4; i++) sigaddset(&awaited, SIGNALS[i]);
    sigprocmask(SIG_BLOCK, &awaited, NULL);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1)) fail("PR_SET_CHILD_SUBREAPER");
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

int main(int words, char **word) {
    const char *cgroup_procs = NULL;
    struct change change = {NULL, 0};
    double seconds = 60;
    int option;
    set_up();
    while ((option = getopt(words, word, "+t:g:q:n:b:")) != -1) {
        if (option == 't') seconds = atof(optarg);
        if (option == 'g') cgroup_procs = optarg;
        if (option == 'q') change.cgroup_procs = optarg;
        if (option == 'n') change.nice = atoi(optarg);
        if (option == 'b') build_source = optarg;
        if (option == '?') return BROKEN;
    }
    const struct kind *kind = KINDS;
    while (kind < KINDS + N_KINDS && (optind >= words || strcmp(kind->name, word[optind]))) kind++;
    long count = optind + 2 < words ? atol(word[optind + 1]) : -1;
    if (kind == KINDS + N_KINDS || count < 0 || count > MAX_COUNT) {
        fprintf(stderr, "disturb [-t SECONDS] [-g FILE] [-q FILE] [-n NICE] [-b SOURCE] "
                        "KIND COUNT COMMAND...\n");
        return BROKEN;
    }
    if (cgroup_procs) enter(cgroup_procs);
    start_disturbers(kind, count);
    pid_t command = start_command(change, word + optind + 2);
    int status = wait_for(command, now() + seconds);
    end_all(status == -1 ? command : 0);
    if (caught) return 128 + caught;
    if (status == -1) return TIMED_OUT;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

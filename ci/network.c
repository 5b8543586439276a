/* What has to be right between hosts, in one program.
 *
 *   network run SECONDS         reductions of all lengths, each checked, for so long
 *   network until-error         reductions until one fails; each rank says how long it took to fail
 *   network any-until-error     the same with other collectives in turn, in three forms
 *   network receive RANK        all others wait for a message from this rank, which computes
 *   network compute SECONDS     rank 0 computes for so long while the others wait for it
 *   network cancel              rank 0 cancels sends to the last rank, which comes to the library
 *                               later: each has come whole, or not at all
 *   network overlap PERCENT     so much of the time that messages take must be hidden behind a
 *                               computation, in forms that allow it
 *
 * What fails is told in the file that NETWORK_NOTES names, too: the way of the output may be cut.
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST = 1 << 18 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int rank, ranks;

/* Says something, in the notes as well; and ends. */
static void end_with(int status, const char *text) {
    printf("rank %d: %s\n", rank, text);
    fflush(stdout);
    const char *name = getenv("NETWORK_NOTES");
    FILE *notes = name ? fopen(name, "a") : NULL;
    if (notes) {
        fprintf(notes, "rank %d: %s\n", rank, text);
        fclose(notes);
        /* The launcher ends all when one has ended: let them tell first. */
        sleep(5);
    }
    _exit(status);
}

/* What failed, after how long. */
static void tell(int code, double since) {
    char text[MPI_MAX_ERROR_STRING], line[MPI_MAX_ERROR_STRING + 64];
    int length = 0;
    double took = now() - since;
    MPI_Error_string(code, text, &length);
    snprintf(line, sizeof line, "failed after %.3f s: %s", took, text);
    end_with(3, line);
}

/* One reduction of so many numbers. The result is checked. */
static int reduce(long *from, long *into, int count, long round) {
    for (int at = 0; at < count; at++) from[at] = round + rank + at;
    int code = MPI_Allreduce(from, into, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (code != MPI_SUCCESS) return code;
    for (int at = 0; at < count; at++) {
        long right = ranks * (round + at) + (long)ranks * (ranks - 1) / 2;
        if (into[at] != right) {
            char line[200];
            snprintf(line, sizeof line, "wrong: %ld is not %ld at %d of %d in round %ld", into[at],
                     right, at, count, round);
            end_with(9, line);
        }
    }
    return code;
}

/* One of several collectives, in one of three forms, by its number. */
static int any(long *from, long *into, int count, long round) {
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request = MPI_REQUEST_NULL;
    int root = (int)(round / 7 % ranks), form = (int)(round / 3 % 3), code = MPI_SUCCESS;
    switch (round % 7) {
    case 0:
        return MPI_Barrier(world);
    case 1:
        if (form == 0) return MPI_Bcast(from, count, MPI_LONG, root, world);
        code = form == 1 ? MPI_Ibcast(from, count, MPI_LONG, root, world, &request)
                         : MPI_Bcast_init(from, count, MPI_LONG, root, world, MPI_INFO_NULL, &request);
        break;
    case 2:
        if (form == 0) return MPI_Reduce(from, into, count, MPI_LONG, MPI_SUM, root, world);
        code = MPI_Ireduce(from, into, count, MPI_LONG, MPI_SUM, root, world, &request);
        form = 1;
        break;
    case 3:
        if (form == 0) return MPI_Allreduce(from, into, count, MPI_LONG, MPI_SUM, world);
        code = form == 1 ? MPI_Iallreduce(from, into, count, MPI_LONG, MPI_SUM, world, &request)
                         : MPI_Allreduce_init(from, into, count, MPI_LONG, MPI_SUM, world,
                                              MPI_INFO_NULL, &request);
        break;
    case 4:
        count /= ranks;
        return MPI_Allgather(from, count, MPI_LONG, into, count, MPI_LONG, world);
    case 5:
        count /= ranks;
        code = MPI_Ialltoall(from, count, MPI_LONG, into, count, MPI_LONG, world, &request);
        form = 1;
        break;
    default:
        return MPI_Scan(from, into, count, MPI_LONG, MPI_SUM, world);
    }
    if (code == MPI_SUCCESS && form == 2) code = MPI_Start(&request);
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (form == 2 && request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    return code;
}

static int receive(int from) {
    int sum = 0;
    return MPI_Recv(&sum, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Sends of all lengths, standard and synchronous, that rank 0 cancels while the last rank is outside
 * of the library. Those that have not been cancelled are received, and then another one. */
static void cancel(long *data) {
    static const int COUNTS[] = {0, 1, 100, 2000, 20000, LONGEST};
    MPI_Comm world = MPI_COMM_WORLD;
    int to = ranks - 1, gone = 0, cancelled = 0;
    for (int number = 0; number < 12; number++) {
        int count = COUNTS[number / 2];
        if (rank == 0) {
            MPI_Request request;
            MPI_Status status;
            for (int at = 0; at < count; at++) data[at] = number;
            if (number % 2) MPI_Issend(data, count, MPI_LONG, to, 1, world, &request);
            else MPI_Isend(data, count, MPI_LONG, to, 1, world, &request);
            MPI_Cancel(&request);
            MPI_Wait(&request, &status);
            MPI_Test_cancelled(&status, &cancelled);
            gone += cancelled;
            for (int at = 0; at < count; at++) data[at] = number + 100;
            MPI_Send(&cancelled, 1, MPI_INT, to, 2, world);
            MPI_Send(data, count, MPI_LONG, to, 1, world);
        } else if (rank == to) {
            usleep(100000);
            MPI_Recv(&cancelled, 1, MPI_INT, 0, 2, world, MPI_STATUS_IGNORE);
            for (int again = cancelled; again < 2; again++) {
                long right = number + 100 * again;
                MPI_Recv(data, count, MPI_LONG, 0, 1, world, MPI_STATUS_IGNORE);
                for (int at = 0; at < count; at++)
                    if (data[at] != right) end_with(9, "wrong: not what was sent");
            }
        }
        MPI_Barrier(world);
    }
    if (rank == 0) printf("%d of 12 sends were cancelled, all came right\n", gone);
}

enum { ROUNDS = 60 };

/* Begins an exchange in a ring, or a reduction, and says how many requests it has. */
static int begin(int is_reduction, int form, long *from, long *into, MPI_Request *requests) {
    MPI_Comm world = MPI_COMM_WORLD;
    int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    if (form == 2) {
        MPI_Startall(is_reduction ? 1 : 2, requests);
    } else if (is_reduction) {
        MPI_Iallreduce(from, into, 1, MPI_LONG, MPI_SUM, world, requests);
    } else {
        MPI_Irecv(into, 1, MPI_LONG, last, 0, world, requests);
        MPI_Isend(from, 1, MPI_LONG, next, 0, world, requests + 1);
    }
    return is_reduction ? 1 : 2;
}

/* The mean time of a round beyond its computation, in seconds. Form 0 computes when all has come,
 * form 1 (nonblocking) and form 2 (persistent) while it is on its way. */
static double visible(int is_reduction, int form, double computation, long *from, long *into) {
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request requests[2];
    if (form == 2 && is_reduction) {
        MPI_Allreduce_init(from, into, 1, MPI_LONG, MPI_SUM, world, MPI_INFO_NULL, requests);
    } else if (form == 2) {
        MPI_Recv_init(into, 1, MPI_LONG, (rank + ranks - 1) % ranks, 0, world, requests);
        MPI_Send_init(from, 1, MPI_LONG, (rank + 1) % ranks, 0, world, requests + 1);
    }
    int count = is_reduction ? 1 : 2;
    MPI_Barrier(world);
    double begun = now();
    for (int round = 0; round < ROUNDS; round++) {
        from[0] = round + rank;
        count = begin(is_reduction, form, from, into, requests);
        if (form == 0) MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        double since = now();
        while (now() - since < computation) continue;
        if (form != 0) MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        long right = is_reduction ? ranks * round + (long)ranks * (ranks - 1) / 2
                                  : round + (rank + ranks - 1) % ranks;
        if (into[0] != right) end_with(9, "wrong: not what was sent");
    }
    double took = now() - begun;
    for (int at = 0; form == 2 && at < count; at++) MPI_Request_free(requests + at);
    return took / ROUNDS - computation;
}

/* How much of an exchange and of a reduction is hidden behind a computation of four milliseconds. */
static void overlap(int percent, long *from, long *into) {
    const char *what[] = {"exchange", "allreduce"}, *forms[] = {"", "nonblocking", "persistent"};
    for (int is_reduction = 0; is_reduction < 2; is_reduction++) {
        double apart = visible(is_reduction, 0, 0.004, from, into);
        for (int form = 1; form < 3; form++) {
            double rest = visible(is_reduction, form, 0.004, from, into);
            double hidden = 100 * (1 - rest / apart);
            printf("rank %d: %-9s %-11s %.3f ms apart, %.3f ms visible, hidden %.0f %%\n", rank,
                   what[is_reduction], forms[form], 1e3 * apart, 1e3 * rest, hidden);
            if (hidden < percent) end_with(9, "too little is hidden");
        }
    }
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "run";
    int number = argc > 2 ? atoi(argv[2]) : 0;
    alarm(80);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    long *from = malloc(LONGEST * sizeof *from), *into = malloc(LONGEST * sizeof *into);
    long round = 0, goes_on = 1, all = 1;
    double begun = now(), last = begun;
    int code = MPI_SUCCESS;
    if (strcmp(what, "run") == 0 || strcmp(what, "until-error") == 0) {
        int is_endless = what[0] == 'u';
        printf("rank %d of %d begins\n", rank, ranks);
        fflush(stdout);
        while (all > 0) {
            code = reduce(from, into, 1 + (int)(round * 7919 % (round % 8 ? 500 : LONGEST)), round);
            if (code != MPI_SUCCESS) tell(code, last);
            last = now();
            goes_on = is_endless || now() - begun < number;
            code = MPI_Allreduce(&goes_on, &all, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
            if (code != MPI_SUCCESS) tell(code, last);
            last = now();
            round++;
        }
        printf("rank %d of %d: %ld rounds are right\n", rank, ranks, round);
    } else if (strcmp(what, "any-until-error") == 0) {
        printf("rank %d of %d begins\n", rank, ranks);
        fflush(stdout);
        for (;; round++, last = now()) {
            code = any(from, into, 1 + (int)(round * 7919 % (round % 8 ? 500 : LONGEST)), round);
            if (code != MPI_SUCCESS) tell(code, last);
        }
    } else if (strcmp(what, "receive") == 0) {
        if (rank == number) sleep(1000);
        code = receive(number);
        if (code != MPI_SUCCESS) tell(code, begun);
    } else if (strcmp(what, "cancel") == 0) {
        cancel(from);
    } else if (strcmp(what, "overlap") == 0) {
        overlap(number, from, into);
    } else if (strcmp(what, "compute") == 0) {
        int word = 1;
        if (rank == 0) {
            while (now() - begun < number) continue;
            for (int to = 1; to < ranks; to++)
                MPI_Send(&word, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
        } else {
            code = receive(0);
            if (code != MPI_SUCCESS) tell(code, begun);
            printf("rank %d of %d: waited for %.1f s\n", rank, ranks, now() - begun);
        }
    }
    free(from);
    free(into);
    MPI_Finalize();
    return 0;
}

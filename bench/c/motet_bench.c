/* How long the operations of an MPI library take: messages, every collective in its three forms
 * (blocking, nonblocking, persistent), and many operations pending at once.
 *
 * Compiled once against the standard mpi.h it runs on each library with the standard binary
 * interface: only the path of the libraries changes. README.md says how.
 *
 * What is measured: a batch of calls one after the other, between two clock readings; the slowest
 * rank counts; the median of the batches is shown. Each call has other data than the one before, and
 * the first element of each block that it delivers is checked within the measured time (some
 * nanoseconds); all elements are checked before and after. Wrong data ends the program. */

#include "measure.h"

#include "collectives.h"

enum { PENDING = 1000, WINDOW = 64, MAX_SIZES = 16 };

static void collective_batch(const void *what, enum form form, int times, MPI_Request *request) {
    const struct operation *operation = what;
    for (int i = 0; i < times; i++) {
        fill_blocks(operation, FIRST);
        call_once(operation, form, request);
        check_blocks(operation, FIRST);
    }
}

/* All elements, as a call of its own. */
static void check_all(const struct operation *operation, enum form form, MPI_Request *request) {
    fill_blocks(operation, EACH);
    call_once(operation, form, request);
    check_blocks(operation, EACH);
}

/* Begins with turn 0, since only ranks 0 and 1 have counted the turns of latency and bandwidth. */
static double collective(const struct operation *operation, enum form form) {
    MPI_Request request = MPI_REQUEST_NULL;
    int is_empty = n == 0;
    n += is_empty; /* Steps of no element would not end. */
    turn = 0;
    if (form == PERSISTENT) operation->persistent(&request);
    check_all(operation, form, &request);
    double median = measure(collective_batch, operation, form, &request, 1 << 20);
    check_all(operation, form, &request);
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    n -= is_empty;
    return median;
}

/* There and back between ranks 0 and 1; half of it counts. */
static void latency_batch(const void *what, enum form form, int times, MPI_Request *requests) {
    (void)what;
    for (int i = 0; i < times && rank < 2; i++) {
        for (int way = 0; way < 2; way++) {
            int is_sender = way == rank, *buffer = is_sender ? in : out;
            MPI_Request *request = &requests[!is_sender];
            turn = (turn + 1) % 1000;
            if (is_sender) in[0] = turn;
            if (form == BLOCKING && is_sender)
                MPI_Send(buffer, n, MPI_INT, 1 - rank, 1, world);
            else if (form == BLOCKING)
                MPI_Recv(buffer, n, MPI_INT, 1 - rank, 1, world, MPI_STATUS_IGNORE);
            else if (form == NONBLOCKING && is_sender)
                MPI_Isend(buffer, n, MPI_INT, 1 - rank, 1, world, request);
            else if (form == NONBLOCKING)
                MPI_Irecv(buffer, n, MPI_INT, 1 - rank, 1, world, request);
            else
                MPI_Start(request);
            if (form != BLOCKING) MPI_Wait(request, MPI_STATUS_IGNORE);
            if (!is_sender && out[0] != turn) fail("latency", 0, turn, out[0]);
        }
    }
}

static double latency(enum form form) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int is_persistent = form == PERSISTENT && rank < 2;
    if (is_persistent) {
        MPI_Send_init(in, n, MPI_INT, 1 - rank, 1, world, &requests[0]);
        MPI_Recv_init(out, n, MPI_INT, 1 - rank, 1, world, &requests[1]);
    }
    double median = measure(latency_batch, NULL, form, requests, 1 << 20) / 2;
    for (int i = 0; is_persistent && i < 2; i++) MPI_Request_free(&requests[i]);
    return median;
}

/* Many messages from rank 0 to rank 1, then a short one back. */
static void bandwidth_batch(const void *what, enum form form, int times, MPI_Request *requests) {
    (void)what;
    for (int i = 0; i < times && rank < 2; i++) {
        turn = (turn + 1) % 1000;
        if (rank == 0) in[0] = turn;
        for (int k = 0; k < WINDOW; k++) {
            if (form == BLOCKING && rank == 0)
                MPI_Send(in, n, MPI_INT, 1, 1, world);
            else if (form == BLOCKING)
                MPI_Recv(out, n, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
            else if (form == NONBLOCKING && rank == 0)
                MPI_Isend(in, n, MPI_INT, 1, 1, world, &requests[k]);
            else if (form == NONBLOCKING)
                MPI_Irecv(out, n, MPI_INT, 0, 1, world, &requests[k]);
        }
        if (form == PERSISTENT) MPI_Startall(WINDOW, requests);
        if (form != BLOCKING) MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        if (rank == 0) {
            MPI_Recv(out, 1, MPI_INT, 1, 2, world, MPI_STATUS_IGNORE);
            if (out[0] != turn) fail("bandwidth", 0, turn, out[0]);
        } else {
            if (out[0] != turn) fail("bandwidth", 0, turn, out[0]);
            MPI_Send(out, 1, MPI_INT, 0, 2, world);
        }
    }
}

static double bandwidth(enum form form) {
    static MPI_Request requests[WINDOW];
    int is_persistent = form == PERSISTENT && rank < 2;
    for (int k = 0; is_persistent && k < WINDOW; k++) {
        if (rank == 0)
            MPI_Send_init(in, n, MPI_INT, 1, 1, world, &requests[k]);
        else
            MPI_Recv_init(out, n, MPI_INT, 0, 1, world, &requests[k]);
    }
    double median = measure(bandwidth_batch, NULL, form, requests, 1 << 14) / WINDOW;
    for (int k = 0; is_persistent && k < WINDOW; k++) MPI_Request_free(&requests[k]);
    return median;
}

/* Reductions of an element each, all started before the first of them is waited for. */
static void pending_batch(const void *what, enum form form, int times, MPI_Request *requests) {
    (void)what;
    for (int i = 0; i < times; i++) {
        turn = (turn + 1) % 1000;
        for (int k = 0; k < PENDING; k++) {
            in[k] = turn + k;
            if (form == NONBLOCKING)
                MPI_Iallreduce(&in[k], &out[k], 1, MPI_INT, MPI_SUM, world, &requests[k]);
            else if (form == BLOCKING)
                MPI_Allreduce(&in[k], &out[k], 1, MPI_INT, MPI_SUM, world);
        }
        if (form == PERSISTENT) MPI_Startall(PENDING, requests);
        if (form != BLOCKING) MPI_Waitall(PENDING, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; k < PENDING; k++)
            if (out[k] != size * (turn + k)) fail("pending", k, size * (turn + k), out[k]);
    }
}

/* Begins with turn 0, as a collective does. */
static double pending(enum form form) {
    static MPI_Request requests[PENDING];
    turn = 0;
    for (int k = 0; form == PERSISTENT && k < PENDING; k++)
        MPI_Allreduce_init(&in[k], &out[k], 1, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &requests[k]);
    double median = measure(pending_batch, NULL, form, requests, 64) / PENDING;
    for (int k = 0; form == PERSISTENT && k < PENDING; k++) MPI_Request_free(&requests[k]);
    return median;
}

static int is_tsv = 0, forms_wanted = 7;

/* A row of the table, or a line for each form. */
static void row(const char *name, int block_bytes, const double *median) {
    if (rank) return;
    if (!is_tsv) printf("%-22s %8d", name, block_bytes);
    for (int form = 0; form < N_FORMS; form++) {
        if (!(forms_wanted >> form & 1)) continue;
        if (is_tsv)
            printf("%s\t%d\t%d\t%s\t%.4f\n", name, size, block_bytes, FORM_NAMES[form], median[form]);
        else
            printf(" %12.3f", median[form]);
    }
    if (!is_tsv) printf("\n");
    fflush(stdout);
}

static int is_wanted(const struct operation *operation, const char *wanted) {
    if (is_across(operation->pattern) && size < 2) return 0;
    return !strcmp(wanted, "all") || !strcmp(wanted, operation->name);
}

/* Buffers and types for blocks of so many bytes. */
static void prepare(const char *wanted, int block_bytes) {
    int with_gaps = 0;
    for (int i = 0; i < N_COLLECTIVES; i++)
        with_gaps |= is_wanted(&COLLECTIVES[i], wanted) && has_gaps(COLLECTIVES[i].layout);
    make_buffers(block_bytes, PENDING, with_gaps);
    if (!with_gaps) return;
    make_types(STRIDED);
    make_types(INDEXED);
}

static void run(const char *wanted, const int *sizes, int n_sizes) {
    for (int s = 0; s < n_sizes; s++) {
        prepare(wanted, sizes[s]);
        double median[N_FORMS];
        int is_all = !strcmp(wanted, "all"), is_last = s == n_sizes - 1;
        struct { const char *name; double (*work)(enum form); int is_wanted; } others[] = {
            {"latency", latency, size > 1}, {"bandwidth", bandwidth, size > 1},
            {"pending", pending, is_last},
        };
        for (int i = 0; i < 3; i++) {
            if (!others[i].is_wanted || (!is_all && strcmp(wanted, others[i].name))) continue;
            for (int form = 0; form < N_FORMS; form++)
                if (forms_wanted >> form & 1) median[form] = others[i].work((enum form)form);
            row(others[i].name, i == 2 ? (int)sizeof(int) : sizes[s], median);
        }
        for (int i = 0; i < N_COLLECTIVES; i++) {
            const struct operation *operation = &COLLECTIVES[i];
            if (!is_wanted(operation, wanted)) continue;
            if (operation->pattern == NOTHING && !is_last) continue;
            for (int form = 0; form < N_FORMS; form++)
                if (forms_wanted >> form & 1) median[form] = collective(operation, (enum form)form);
            row(operation->name, operation->pattern == NOTHING ? 0 : sizes[s], median);
        }
        release(in);
        release(out);
        free_types();
    }
}

static void usage(void) {
    printf("motet_bench [-o OPERATION] [-b BYTES]... [-f FORM] [-s SECONDS] [-m SECONDS]"
           " [-r BATCHES] [-a] [-t] [-l]\n"
           "  -o  one operation (all); -l lists them\n"
           "  -b  bytes of a block (8, 1024, 65536, 1048576)\n"
           "  -f  one form: blocking, nonblocking, persistent (all three)\n"
           "  -s  seconds for each figure (0.02)\n"
           "  -m  seconds after which a figure has fewer batches, but 5 (10)\n"
           "  -r  batches of calls for each figure (41), of which the median counts\n"
           "  -a  buffers are memory of MPI_Alloc_mem\n"
           "  -t  lines of operation, ranks, bytes, form, microseconds, with tabs between\n");
}

static void list(void) {
    printf("latency\nbandwidth\npending\n");
    for (int i = 0; i < N_COLLECTIVES; i++) printf("%s\n", COLLECTIVES[i].name);
}

int main(int argc, char **argv) {
    int sizes[MAX_SIZES] = {8, 1024, 65536, 1048576}, n_sizes = 4, n_given = 0;
    const char *wanted = "all";
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "-l")) return list(), 0;
        if (!strcmp(argv[i], "-t")) {
            is_tsv = 1;
            continue;
        }
        if (!strcmp(argv[i], "-a")) {
            asks_library = 1;
            continue;
        }
        i++;
        if (!strcmp(argv[i - 1], "-o")) {
            wanted = value;
        } else if (!strcmp(argv[i - 1], "-b") && n_given < MAX_SIZES && atoi(value) >= 4) {
            sizes[n_given++] = atoi(value);
            n_sizes = n_given;
        } else if (!strcmp(argv[i - 1], "-s") && atof(value) > 0) {
            seconds_each = atof(value);
        } else if (!strcmp(argv[i - 1], "-m") && atof(value) > 0) {
            seconds_at_most = atof(value);
        } else if (!strcmp(argv[i - 1], "-r") && atoi(value) > 0 && atoi(value) <= MAX_BATCHES) {
            batches = atoi(value);
        } else if (!strcmp(argv[i - 1], "-f")) {
            forms_wanted = 0;
            for (int form = 0; form < N_FORMS; form++)
                if (!strcmp(value, FORM_NAMES[form])) forms_wanted = 1 << form;
        } else {
            return usage(), 2;
        }
    }
    begin();
    if (size > MAX_RANKS) fail("too many ranks", 0, MAX_RANKS, size);
    make_grid(1);
    if (size > 1) make_halves();
    if (!rank && !is_tsv) {
        char version[MPI_MAX_LIBRARY_VERSION_STRING];
        int length;
        MPI_Get_library_version(version, &length);
        printf("%.*s\n%d ranks, microseconds\n%-22s %8s", (int)strcspn(version, "\n"), version, size,
               "operation", "bytes");
        for (int form = 0; form < N_FORMS; form++)
            if (forms_wanted >> form & 1) printf(" %12s", FORM_NAMES[form]);
        printf("\n");
    }
    run(wanted, sizes, n_sizes);
    free_communicators();
    MPI_Finalize();
    return 0;
}

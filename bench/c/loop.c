/* The time of one turn of a loop, as a program sees it: communication, spacing and all delays.
 *
 *   loop [-o OPERATION] [-b BYTES] [-f FORM]... [-s SPACING] [-k STEPS] [-t SECONDS] [-e SEED] [-p]
 *
 * OPERATION  step       allreduce (sum) of BYTES, exchange of 800 B with both neighbours of a ring,
 *                       spacing, allreduce (maximum) of BYTES; as of an iterative solver
 *            overlap    the same, but nonblocking and persistent forms start the first allreduce
 *                       and the exchange before the spacing and wait for them after it
 *            mixed      six collectives of several lengths, spacing: an allreduce of 8 B, a bcast of
 *                       BYTES, an alltoall of a quarter, an allreduce of a half, a gather of a
 *                       quarter, a reduce_scatter_block of a half
 *            bcast, allreduce, or another one of `collectives.h`: this call, spacing
 * BYTES      8, or another multiple of 8: of the operands of a reduction, or of a block of a rank.
 *            The v and w forms have blocks of two lengths with this mean, but not those of
 *            neighbours. Derived types have gaps: their blocks take twice this room.
 * SPACING    none, barrier (MPI_Barrier), MICROSECONDS of computation, or random:MICROSECONDS
 * STEPS      steps of the computation in a microsecond (`hop -c`), so that each library computes
 *            the same. A rank that loses its processor takes longer for them.
 * SEED       of the random spacing. Each rank draws its own series, each block of 16 turns of which
 *            has the stated mean.
 *
 * Each turn has other data than the one before. Each turn checks three values of each block that it
 * delivers, and a turn before and one after the measurement check all of them. Wrong data ends the
 * program with the words "wrong data". -p plants a wrong value.
 *
 * Prints a line for each form, with tabs: form, then microseconds of a turn: median, 10th and 90th
 * percentile, mean, least, most; then turns, windows, turns in a window, turns that were checked.
 * One rank times windows of turns of at least 20 us, or single turns that are longer: rank 0, but
 * the last rank in calls in which rank 0 depends on no other one. The ranks on which that rank depends
 * may run ahead in rooted calls and scans: those figures are rates. The percentiles are of windows.
 * The mean is the time of all turns, until all ranks have ended them, over their number. */

#include "compute.h"
#include "measure.h"

#include "collectives.h"

#include <stdint.h>

enum { N_VALUES = 100, RANDOM_BLOCK = 16, MAX_WINDOWS = 1 << 18, MIN_TURNS = 8, PLANTED_TURN = 5 };
static const double MIN_WINDOW_SECONDS = 20e-6;

enum body { STEP, OVERLAP, MIXED, N_STEPS, COLLECTIVE = N_STEPS };
static const char *const STEP_NAMES[N_STEPS] = {"step", "overlap", "mixed"};
enum spacing { NONE, BARRIER, WORK, RANDOM };

/* The calls of a turn of `mixed`: their blocks are such a part of the bytes, but at least 8 B. */
static const struct {
    const char *name;
    int divisor;
} PARTS_OF_MIX[] = {{"allreduce", 1 << 30}, {"bcast", 1}, {"alltoall", 4}, {"allreduce", 2},
                    {"gather", 4}, {"reduce_scatter_block", 2}};
enum { N_PARTS = sizeof PARTS_OF_MIX / sizeof *PARTS_OF_MIX };
static const struct operation *calls_of_mix[N_PARTS];

static enum body body = STEP;
static const struct operation *collective; /* the body COLLECTIVE */
static int block_bytes = 8;
static enum spacing spacing = NONE;
static double spacing_us, steps_per_us = 100, seconds = 0.3;
static uint64_t seed = 1, random_state;
static int block[RANDOM_BLOCK], next_of_block = RANDOM_BLOCK;
static int is_planted;

static int left, right, watch; /* neighbours, and the rank that takes the time */
static int64_t turns_begun;
static int n_values; /* operands of each allreduce of a step */
static int64_t *sum_in, *sum_out, *max_in, *max_out;
static int64_t to_right[N_VALUES], to_left[N_VALUES], from_left[N_VALUES], from_right[N_VALUES];

/* Requests of a turn: the first allreduce, four of the exchange, the second allreduce; or one of each
 * call of a mix, or of the only call. */
enum { SUM, EXCHANGE, MAX = 5, N_REQUESTS };
_Static_assert((int)N_PARTS <= (int)N_REQUESTS, "each call of a mix has a request");
static MPI_Request requests[N_REQUESTS];

static void expect(const char *what, int64_t expected, int64_t seen) {
    if (expected != seen) wrong_data(what, turns_begun, expected, seen);
}

static uint64_t draw(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Uniform between 0 and twice the mean: a block has each of 16 equally distant values once, in
 * random order, so that each block has the stated mean whatever the number of blocks. */
static double random_us(void) {
    if (next_of_block == RANDOM_BLOCK) {
        for (int i = 0; i < RANDOM_BLOCK; i++) {
            int other = (int)(draw() % (uint64_t)(i + 1));
            block[i] = block[other];
            block[other] = i;
        }
        next_of_block = 0;
    }
    return spacing_us * 2 * (block[next_of_block++] + 0.5) / RANDOM_BLOCK;
}

/* Each form has the same series. */
static void restart_random(void) {
    random_state = seed * 0x9E3779B97F4A7C15u + (uint64_t)rank * 0xD1B54A32D192ED03u + 1;
    for (int i = 0; i < RANDOM_BLOCK; i++) draw();
    next_of_block = RANDOM_BLOCK;
}

static const struct operation *find_collective(const char *name) {
    for (int i = 0; i < N_COLLECTIVES; i++)
        if (!strcmp(name, COLLECTIVES[i].name)) return &COLLECTIVES[i];
    return NULL;
}

static void space(void) {
    if (spacing == BARRIER) MPI_Barrier(world);
    if (spacing == WORK) compute((long)(spacing_us * steps_per_us));
    if (spacing == RANDOM) compute((long)(random_us() * steps_per_us));
}

/* The value of a rank at a place of the message that it sends in this turn. */
static int64_t value(int of_rank, int place, int to) {
    return turns_begun * 1000003 + of_rank * 1009 + place * 2 + to;
}

static int is_planted_now(void) {
    return is_planted && turns_begun == PLANTED_TURN && rank == 0;
}

static void prepare_step(enum sample sample) {
    for (int i = 0; i < n_values; i += distance(n_values, sample)) {
        sum_in[i] = turns_begun + rank + i;
        max_in[i] = turns_begun * size + (rank + turns_begun + i) % size;
        sum_out[i] = max_out[i] = -1;
    }
    if (is_planted_now()) sum_in[0]++;
    for (int i = 0; i < N_VALUES; i += distance(N_VALUES, sample)) {
        to_right[i] = value(rank, i, 0);
        to_left[i] = value(rank, i, 1);
    }
}

static void check_step(enum sample sample) {
    for (int i = 0; i < n_values; i += distance(n_values, sample)) {
        expect("sum", (turns_begun + i) * size + (int64_t)size * (size - 1) / 2, sum_out[i]);
        expect("maximum", turns_begun * size + size - 1, max_out[i]);
    }
    for (int i = 0; i < N_VALUES; i += distance(N_VALUES, sample)) {
        expect("exchange, from the left", value(left, i, 0), from_left[i]);
        expect("exchange, from the right", value(right, i, 1), from_right[i]);
    }
}

static void exchange(void) {
    MPI_Sendrecv(to_right, N_VALUES, MPI_INT64_T, right, 1, from_left, N_VALUES, MPI_INT64_T, left,
                 1, world, MPI_STATUS_IGNORE);
    MPI_Sendrecv(to_left, N_VALUES, MPI_INT64_T, left, 2, from_right, N_VALUES, MPI_INT64_T, right,
                 2, world, MPI_STATUS_IGNORE);
}

static void start_sum(enum form form) {
    if (form == PERSISTENT)
        MPI_Start(&requests[SUM]);
    else
        MPI_Iallreduce(sum_in, sum_out, n_values, MPI_INT64_T, MPI_SUM, world, &requests[SUM]);
}

static void start_exchange(enum form form) {
    MPI_Request *four = &requests[EXCHANGE];
    if (form == PERSISTENT) {
        MPI_Startall(4, four);
        return;
    }
    MPI_Irecv(from_left, N_VALUES, MPI_INT64_T, left, 1, world, &four[0]);
    MPI_Irecv(from_right, N_VALUES, MPI_INT64_T, right, 2, world, &four[1]);
    MPI_Isend(to_right, N_VALUES, MPI_INT64_T, right, 1, world, &four[2]);
    MPI_Isend(to_left, N_VALUES, MPI_INT64_T, left, 2, world, &four[3]);
}

static void start_and_wait_max(enum form form) {
    if (form == PERSISTENT)
        MPI_Start(&requests[MAX]);
    else
        MPI_Iallreduce(max_in, max_out, n_values, MPI_INT64_T, MPI_MAX, world, &requests[MAX]);
    MPI_Wait(&requests[MAX], MPI_STATUS_IGNORE);
}

static void step_blocking(void) {
    MPI_Allreduce(sum_in, sum_out, n_values, MPI_INT64_T, MPI_SUM, world);
    exchange();
    space();
    MPI_Allreduce(max_in, max_out, n_values, MPI_INT64_T, MPI_MAX, world);
}

static void step_by_requests(enum form form) {
    start_sum(form);
    if (body == OVERLAP) {
        start_exchange(form);
        space();
        MPI_Waitall(MAX, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Wait(&requests[SUM], MPI_STATUS_IGNORE);
        start_exchange(form);
        MPI_Waitall(4, &requests[EXCHANGE], MPI_STATUSES_IGNORE);
        space();
    }
    start_and_wait_max(form);
}

static void run_step(enum form form, enum sample sample) {
    prepare_step(sample);
    if (form == BLOCKING)
        step_blocking();
    else
        step_by_requests(form);
    check_step(sample);
}

static void run_collective(enum form form, enum sample sample) {
    fill_blocks(collective, sample);
    if (is_planted_now()) in[0]++;
    call_once(collective, form, requests);
    space();
    check_blocks(collective, sample);
}

/* A call of a mix. From now on its blocks are those of all calls. */
static const struct operation *begin_part(int part) {
    int bytes = block_bytes / PARTS_OF_MIX[part].divisor / 8 * 8;
    n = (bytes < 8 ? 8 : bytes) / (int)sizeof(int);
    return calls_of_mix[part];
}

static void run_mixed(enum form form, enum sample sample) {
    for (int part = 0; part < N_PARTS; part++) {
        const struct operation *call = begin_part(part);
        fill_blocks(call, sample);
        if (part == 0 && is_planted_now()) in[0]++;
        call_once(call, form, &requests[part]);
        check_blocks(call, sample);
    }
    space();
}

static void run_turn(enum form form, enum sample sample) {
    turns_begun++;
    if (body == COLLECTIVE)
        run_collective(form, sample);
    else if (body == MIXED)
        run_mixed(form, sample);
    else
        run_step(form, sample);
}

static void begin_form(enum form form) {
    for (int i = 0; i < N_REQUESTS; i++) requests[i] = MPI_REQUEST_NULL;
    if (form != PERSISTENT) return;
    if (body == COLLECTIVE) {
        collective->persistent(requests);
        return;
    }
    if (body == MIXED) {
        for (int part = 0; part < N_PARTS; part++) begin_part(part)->persistent(&requests[part]);
        return;
    }
    MPI_Request *four = &requests[EXCHANGE];
    MPI_Allreduce_init(sum_in, sum_out, n_values, MPI_INT64_T, MPI_SUM, world, MPI_INFO_NULL,
                       &requests[SUM]);
    MPI_Recv_init(from_left, N_VALUES, MPI_INT64_T, left, 1, world, &four[0]);
    MPI_Recv_init(from_right, N_VALUES, MPI_INT64_T, right, 2, world, &four[1]);
    MPI_Send_init(to_right, N_VALUES, MPI_INT64_T, right, 1, world, &four[2]);
    MPI_Send_init(to_left, N_VALUES, MPI_INT64_T, left, 2, world, &four[3]);
    MPI_Allreduce_init(max_in, max_out, n_values, MPI_INT64_T, MPI_MAX, world, MPI_INFO_NULL,
                       &requests[MAX]);
}

static void end_form(enum form form) {
    for (int i = 0; form == PERSISTENT && i < N_REQUESTS; i++)
        if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
}

/* What the rank that takes the time says, on all ranks. */
static double of_watch(double number) {
    MPI_Bcast(&number, 1, MPI_DOUBLE, watch, world);
    return number;
}

/* Seconds of a turn, roughly, after a tenth of the time of the measurement. With random spacing the
 * turns are whole blocks. */
static double warm(enum form form) {
    double begun = MPI_Wtime(), each = 0;
    int is_over = 0;
    for (long times = spacing == RANDOM ? RANDOM_BLOCK : 1; !is_over; times *= 2) {
        double before = MPI_Wtime();
        for (long i = 0; i < times; i++) run_turn(form, THREE);
        double now = MPI_Wtime(), next = 2 * (now - before);
        each = (now - before) / (double)times;
        is_over = (int)of_watch(now - begun > seconds / 10 || now - begun + next > seconds);
    }
    return of_watch(each);
}

struct taken {
    double windows[MAX_WINDOWS]; /* seconds of a turn */
    double seconds;              /* of all turns */
    int n_windows;
    long turns_per_window, turns;
};
static struct taken taken;

/* How many windows come next, on all ranks: for a tenth of the time, as far as the rank that takes
 * it knows. Many short turns may be followed by a long stall, so a batch is at most four times as
 * long as all windows before it. */
static long next_batch(double each) {
    if (taken.turns) each = taken.seconds / (double)taken.turns;
    double wanted = seconds / 10 / (each * (double)taken.turns_per_window);
    double allowed = 16 + 4.0 * taken.n_windows;
    long batch = (long)(wanted < allowed ? wanted : allowed);
    long least = spacing == RANDOM ? RANDOM_BLOCK : 1;
    batch = batch / least * least;
    if (batch > MAX_WINDOWS / 8) batch = MAX_WINDOWS / 8;
    return (long)of_watch((double)(batch < least ? least : batch));
}

/* Windows until the time is over. That rank decides between batches, outside of the time. */
static void take_windows(enum form form, double each) {
    taken.turns_per_window = (long)(MIN_WINDOW_SECONDS / each) + 1;
    taken.seconds = taken.n_windows = taken.turns = 0;
    for (int is_over = 0; !is_over;) {
        long batch = next_batch(each);
        MPI_Barrier(world);
        double begun = MPI_Wtime(), before = begun;
        for (long i = 0; i < batch; i++) {
            for (long k = 0; k < taken.turns_per_window; k++) run_turn(form, THREE);
            double now = MPI_Wtime();
            taken.windows[taken.n_windows++] = (now - before) / (double)taken.turns_per_window;
            before = now;
        }
        MPI_Barrier(world); /* a rank that ran ahead has not ended what the others still do */
        taken.seconds += MPI_Wtime() - begun;
        taken.turns += batch * taken.turns_per_window;
        is_over = (taken.seconds >= seconds && taken.turns >= MIN_TURNS) ||
                  taken.n_windows + MAX_WINDOWS / 8 > MAX_WINDOWS;
        is_over = (int)of_watch(is_over);
    }
}

/* Microseconds of a turn in the window at this share of the windows, which are in order. */
static double percentile(double share) {
    return taken.windows[(int)(share * (taken.n_windows - 1) + 0.5)] * 1e6;
}

static void measure_form(enum form form) {
    begin_form(form);
    int64_t before = turns_begun;
    run_turn(form, EACH);
    restart_random();
    take_windows(form, warm(form));
    run_turn(form, EACH);
    end_form(form);
    if (rank != watch) return;
    qsort(taken.windows, (size_t)taken.n_windows, sizeof *taken.windows, by_value);
    printf("%s\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%ld\t%d\t%ld\t%lld\n", FORM_NAMES[form],
           percentile(0.5), percentile(0.1), percentile(0.9),
           taken.seconds / (double)taken.turns * 1e6, percentile(0), percentile(1), taken.turns,
           taken.n_windows, taken.turns_per_window, (long long)(turns_begun - before));
    fflush(stdout);
}

static void refuse(const char *what, const char *word) {
    fprintf(stderr, "loop: no %s: %s\n", what, word);
    exit(2);
}

static void read_operation(const char *word) {
    body = COLLECTIVE;
    for (int i = 0; i < N_STEPS; i++)
        if (!strcmp(word, STEP_NAMES[i])) body = (enum body)i;
    collective = find_collective(word);
    if (body == COLLECTIVE && !collective) refuse("operation", word);
}

static unsigned read_form(const char *word) {
    for (int i = 0; i < N_FORMS; i++)
        if (!strcmp(word, FORM_NAMES[i])) return 1u << i;
    refuse("form", word);
    return 0;
}

static void read_bytes(const char *word) {
    block_bytes = atoi(word);
    if (block_bytes <= 0 || block_bytes % 8) refuse("multiple of 8 B", word);
}

static void read_spacing(const char *word) {
    const char *number = strncmp(word, "random:", 7) ? word : word + 7;
    spacing_us = atof(number);
    spacing = number != word ? RANDOM : !strcmp(word, "barrier") ? BARRIER : WORK;
    if (spacing == WORK && spacing_us <= 0) spacing = NONE;
    if ((spacing == NONE && strcmp(word, "none")) || (spacing == RANDOM && spacing_us <= 0))
        refuse("spacing", word);
}

static int64_t *values(void) {
    int64_t *made = calloc((size_t)n_values, sizeof *made);
    if (!made) fail("no memory", 0, 0, 0);
    return made;
}

/* Whether rank 0 needs nothing of the other ranks in a call, and so may run ahead of them. */
static int is_ahead(enum pattern pattern) {
    return pattern == FROM_ROOT || pattern == PARTS || pattern == PREFIX ||
           pattern == PREFIX_BEFORE || pattern == FROM_ROOT_ACROSS;
}

/* What the collective needs: buffers, and its communicator or type. */
static void make_collective(void) {
    if (is_across(collective->pattern) && size < 2) fail("too few ranks", 0, 2, size);
    is_uneven = 1;
    make_buffers(block_bytes, 1, has_gaps(collective->layout));
    make_types(collective->layout);
    if (is_over_grid(collective->pattern)) make_grid(MAX_DIMENSIONS);
    if (is_across(collective->pattern)) make_halves();
}

static void make_data(void) {
    if (size > MAX_RANKS) fail("too many ranks", 0, MAX_RANKS, size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    watch = body == COLLECTIVE && is_ahead(collective->pattern) ? size - 1 : 0;
    n_values = block_bytes / (int)sizeof(int64_t);
    sum_in = values(), sum_out = values(), max_in = values(), max_out = values();
    if (body == COLLECTIVE) make_collective();
    if (body == MIXED) make_buffers(block_bytes, 1, 0);
    for (int part = 0; part < N_PARTS; part++)
        calls_of_mix[part] = find_collective(PARTS_OF_MIX[part].name);
}

int main(int words, char **word) {
    unsigned forms = 0;
    for (int i = 1; i < words; i++) {
        const char *option = word[i], *next = i + 1 < words ? word[i + 1] : "";
        if (!strcmp(option, "-p")) {
            is_planted = 1;
            continue;
        }
        if (!strcmp(option, "-o")) read_operation(next);
        if (!strcmp(option, "-b")) read_bytes(next);
        if (!strcmp(option, "-f")) forms |= read_form(next);
        if (!strcmp(option, "-s")) read_spacing(next);
        if (!strcmp(option, "-k")) steps_per_us = atof(next);
        if (!strcmp(option, "-t")) seconds = atof(next);
        if (!strcmp(option, "-e")) seed = strtoull(next, NULL, 10);
        i++;
    }
    begin();
    make_data();
    for (int form = 0; form < N_FORMS; form++)
        if (!forms || forms >> form & 1) measure_form((enum form)form);
    free_types();
    free_communicators();
    MPI_Finalize();
    return 0;
}

/* The persistent collectives between two groups of ranks, of different sizes, all at once and each
 * by itself: started ten times with other data each.
 *
 * ranks: 2 3 5
 * spec: 5, 47, 48, 86, 87, 88, 89, 91
 */

#include "restart_collectives.h"

enum { ROUNDS = 10, FAR_ID = 100 };

/* Which group this rank is in: the even ones of the world, or the odd. The root is in the first. */
static int group;

/* What the ranks are called in the data: those of the second group go on at FAR_ID. */
static int own_id(int rank) {
    return group * FAR_ID + rank;
}

static int far_id(int rank) {
    return (1 - group) * FAR_ID + rank;
}

/* Whether this rank is the root; whether it is in the group that the root works with. */
static int at_root(const struct task *t) {
    return group == 0 && t->rank == t->far % t->size;
}

static void set_root(struct task *t) {
    /* The other group has to know the same: its own size is `far` there. */
    t->root = at_root(t) ? MPI_ROOT : group == 0 ? MPI_PROC_NULL : t->size % t->far;
    t->send_is = t->recv_is = NOTHING;
}

static void between_bcast(struct task *t) {
    set_root(t);
    if (at_root(t) || group == 1) t->recv_is = BUFFER;
    t->recv_room = t->recv_is == BUFFER ? t->count : 0;
}

static void data_between_bcast(struct task *t, int round) {
    if (t->recv_is == NOTHING) return;
    int root = at_root(t) ? own_id(t->rank) : far_id(t->root);
    if (at_root(t)) put_all(t, t->recv, 0, root, EVERYBODY, t->count, round);
    put_all(t, t->want, 0, root, EVERYBODY, t->count, round);
}

/* Blocks from each of the other group, or to each of them. */
static int far_blocks(struct task *t, struct blocks *blocks, int varying, int len) {
    for (int j = 0; j < t->far; j++) blocks->counts[j] = varying ? block(t, j) : len;
    int room = place_blocks(t, blocks, t->far);
    for (int j = 0; !varying && j < t->far; j++) blocks->places[j] = j * len;
    return varying ? room : t->far * len;
}

static void gather_between(struct task *t, int varying) {
    set_root(t);
    t->send_n = varying ? block(t, t->rank) : t->count;
    if (group == 1) t->send_is = BUFFER, t->send_room = t->send_n;
    if (at_root(t)) t->recv_is = BUFFER, t->recv_room = far_blocks(t, &t->from, varying, t->count);
}

static void between_gather(struct task *t) { gather_between(t, 0); }
static void between_gatherv(struct task *t) { gather_between(t, 1); }

static void data_between_gather(struct task *t, int round) {
    if (t->send_is == BUFFER) put_all(t, t->send, 0, own_id(t->rank), EVERYBODY, t->send_n, round);
    for (int j = 0; t->recv_is == BUFFER && j < t->far; j++)
        put_all(t, t->want, t->from.places[j], far_id(j), EVERYBODY, t->from.counts[j], round);
}

static void scatter_between(struct task *t, int varying) {
    set_root(t);
    t->recv_n = varying ? block(t, t->rank) : t->count;
    if (group == 1) t->recv_is = BUFFER, t->recv_room = t->recv_n;
    if (at_root(t)) t->send_is = BUFFER, t->send_room = far_blocks(t, &t->to, varying, t->count);
}

static void between_scatter(struct task *t) { scatter_between(t, 0); }
static void between_scatterv(struct task *t) { scatter_between(t, 1); }

static void data_between_scatter(struct task *t, int round) {
    for (int j = 0; t->send_is == BUFFER && j < t->far; j++)
        put_all(t, t->send, t->to.places[j], own_id(t->rank), j, t->to.counts[j], round);
    if (t->recv_is == BUFFER) put_all(t, t->want, 0, far_id(t->root), t->rank, t->recv_n, round);
}

/* What one group sends is longer than what the other sends. */
static int sent(const struct task *t, int from_group) {
    return t->count * (1 + from_group);
}

static void between_allgather(struct task *t) {
    t->send_room = t->send_n = sent(t, group);
    t->recv_n = sent(t, 1 - group);
    t->recv_room = far_blocks(t, &t->from, 0, t->recv_n);
}

static void between_allgatherv(struct task *t) {
    t->send_room = t->send_n = block(t, t->rank);
    t->recv_room = far_blocks(t, &t->from, 1, 0);
}

static void between_alltoall(struct task *t) {
    t->send_n = sent(t, group);
    t->recv_n = sent(t, 1 - group);
    t->send_room = far_blocks(t, &t->to, 0, t->send_n);
    t->recv_room = far_blocks(t, &t->from, 0, t->recv_n);
}

static void between_alltoallv(struct task *t) {
    for (int j = 0; j < t->far; j++) t->to.counts[j] = t->from.counts[j] = block(t, t->rank + j);
    t->send_room = place_blocks(t, &t->to, t->far);
    t->recv_room = place_blocks(t, &t->from, t->far);
}

static void data_between_alltoall(struct task *t, int round) {
    for (int j = 0; j < t->far; j++) {
        put_all(t, t->send, t->to.places[j], own_id(t->rank), j, t->to.counts[j], round);
        put_all(t, t->want, t->from.places[j], far_id(j), t->rank, t->from.counts[j], round);
    }
}

static void between_reduce(struct task *t) {
    set_root(t);
    if (group == 1) t->send_is = BUFFER, t->send_room = t->count;
    if (at_root(t)) t->recv_is = BUFFER, t->recv_room = t->count;
}

static void between_allreduce(struct task *t) {
    t->send_room = t->recv_room = t->count;
}

/* The elements of the result are those of the whole from here. */
static int result_place(const struct task *t) {
    int place = 0;
    for (int j = 0; j < t->rank; j++) place += t->from.counts[j];
    return place;
}

static void data_between_reduction(struct task *t, int round) {
    if (t->send_is == BUFFER) put_all(t, t->send, 0, own_id(t->rank), EVERYBODY, t->send_room, round);
    for (int i = 0; i < t->recv_room; i++)
        fold(t, t->want, i, far_id(0), far_id(t->far), EVERYBODY, result_place(t) + i, round);
}

/* Both groups have the same in all. */
static void between_reduce_scatter_block(struct task *t) {
    t->recv_room = t->recv_n = t->count * t->far;
    t->send_room = t->count * t->far * t->size;
    for (int j = 0; j < t->size; j++) t->from.counts[j] = t->from.counts_c[j] = t->recv_n;
}

/* The first rank has nothing, the last has that of the first too. */
static void between_reduce_scatter(struct task *t) {
    between_reduce_scatter_block(t);
    t->from.counts[0] -= t->recv_n;
    t->from.counts[t->size - 1] += t->recv_n;
    for (int j = 0; j < t->size; j++) t->from.counts_c[j] = t->from.counts[j];
    t->recv_room = t->recv_n = t->from.counts[t->rank];
}

static const struct operation BETWEEN[] = {
    COLLECTIVE(Barrier, size_barrier, data_barrier, 0),
    COLLECTIVE(Bcast, between_bcast, data_between_bcast, 0),
    COLLECTIVE(Gather, between_gather, data_between_gather, 0),
    COLLECTIVE(Gatherv, between_gatherv, data_between_gather, 0),
    COLLECTIVE(Scatter, between_scatter, data_between_scatter, 0),
    COLLECTIVE(Scatterv, between_scatterv, data_between_scatter, 0),
    COLLECTIVE(Allgather, between_allgather, data_between_gather, 0),
    COLLECTIVE(Allgatherv, between_allgatherv, data_between_gather, 0),
    COLLECTIVE(Alltoall, between_alltoall, data_between_alltoall, 0),
    COLLECTIVE(Alltoallv, between_alltoallv, data_between_alltoall, 0),
    COLLECTIVE(Alltoallw, between_alltoallv, data_between_alltoall, 0),
    COLLECTIVE(Reduce, between_reduce, data_between_reduction, 0),
    COLLECTIVE(Allreduce, between_allreduce, data_between_reduction, 0),
    COLLECTIVE(Reduce_scatter_block, between_reduce_scatter_block, data_between_reduction, 0),
    COLLECTIVE(Reduce_scatter, between_reduce_scatter, data_between_reduction, 0),
};
enum { N_BETWEEN = sizeof BETWEEN / sizeof *BETWEEN };

static MPI_Comm between_groups(void) {
    MPI_Comm local, result;
    int rank;
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    group = rank % 2;
    OK(MPI_Comm_split(MPI_COMM_WORLD, group, rank, &local));
    OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - group, 5, &result));
    OK(MPI_Comm_free(&local));
    return result;
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    MPI_Comm between = between_groups();
    for (int variant = 0; variant < 8; variant++) {
        static struct task tasks[N_BETWEEN];
        struct layout layout = variant % 2 ? pairs() : plain();
        for (int i = 0; i < N_BETWEEN; i++) {
            make(&tasks[i], &BETWEEN[i], between, layout, variant / 4 ? 700 : 3, 0);
            void (*init)(struct task *, MPI_Info) =
                variant / 2 % 2 ? BETWEEN[i].init_c : BETWEEN[i].init;
            init(&tasks[i], MPI_INFO_NULL);
        }
        free_layout(&layout);
        for (int i = 0; i < N_BETWEEN; i++) play(&tasks[i], 1, ROUNDS);
        play(tasks, N_BETWEEN, ROUNDS);
        for (int i = 0; i < N_BETWEEN; i++) finish(&tasks[i]);
    }
    OK(MPI_Comm_free(&between));
    OK(MPI_Finalize());
    return 0;
}

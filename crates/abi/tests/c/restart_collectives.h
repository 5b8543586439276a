/* The persistent collectives as tasks: the 17 on all ranks, and the 5 among neighbours. */

#ifndef RESTART_COLLECTIVES_H
#define RESTART_COLLECTIVES_H

#include "restart.h"

#define INIT(name) init_##name
#define CALL(name, ...) MPI_##name##_init(__VA_ARGS__)
#define COUNTS counts
#define PLACES places
#define BYTES bytes
#include "restart_inits.h"
#undef INIT
#undef CALL
#undef COUNTS
#undef PLACES
#undef BYTES
#define INIT(name) init_c_##name
#define CALL(name, ...) CALL_C(name, __VA_ARGS__)
#define CALL_C(name, ...) MPI_##name##_init_c(__VA_ARGS__)
/* The one that has no counts. */
#define MPI_Barrier_init_c MPI_Barrier_init
#define COUNTS counts_c
#define PLACES places_c
#define BYTES bytes_c
#include "restart_inits.h"

/* The length of the j-th block, where these differ: some are empty. */
static inline int block(const struct task *t, int j) {
    return t->count * (j % 3);
}

static inline int is_root(const struct task *t) {
    return t->rank == t->root;
}

/* Writes elements that one rank sends to another (or to everybody). */
static inline void put_all(const struct task *t, int *buffer, int place, int from, int to, int len,
                         int round) {
    for (int i = 0; i < len; i++) put(t, buffer, place + i, from, to, i, round);
}

/* What this rank contributes: to the send buffer, or in place. */
static inline void contribute(const struct task *t, int place_in_place, int to, int len,
                              int round) {
    if (t->send_is == IN_PLACE)
        put_all(t, t->recv, place_in_place, t->rank, to, len, round);
    else
        put_all(t, t->send, 0, t->rank, to, len, round);
}

/* In place, what was put there stays unless something else is to come. */
static inline void stays(const struct task *t) {
    size_t bytes = (size_t)t->recv_room * (size_t)t->layout.stride * sizeof(int);
    memcpy(t->want, t->recv, bytes);
}

static inline void size_barrier(struct task *t) {
    (void)t;
}

static inline void data_barrier(struct task *t, int round) {
    (void)t, (void)round;
}

static inline void size_bcast(struct task *t) {
    t->recv_room = t->count;
}

static inline void data_bcast(struct task *t, int round) {
    if (is_root(t)) put_all(t, t->recv, 0, t->rank, EVERYBODY, t->count, round);
    put_all(t, t->want, 0, t->root, EVERYBODY, t->count, round);
}

/* Gather and allgather: the receivers have a block of everybody. */
static inline void size_gather_at(struct task *t, int receives, int varying) {
    t->send_n = varying ? block(t, t->rank) : t->count;
    t->send_is = t->in_place && receives ? IN_PLACE : BUFFER;
    t->recv_is = receives ? BUFFER : NOTHING;
    t->send_room = t->send_is == BUFFER ? t->send_n : 0;
    for (int j = 0; j < t->size; j++) t->from.counts[j] = varying ? block(t, j) : t->count;
    int room = place_blocks(t, &t->from, t->size);
    if (!varying)
        for (int j = 0; j < t->size; j++) t->from.places[j] = j * t->count;
    t->recv_room = !receives ? 0 : varying ? room : t->size * t->count;
}

static inline void data_gather(struct task *t, int round) {
    contribute(t, t->from.places[t->rank], EVERYBODY, t->send_n, round);
    for (int j = 0; t->recv_is == BUFFER && j < t->size; j++)
        put_all(t, t->want, t->from.places[j], j, EVERYBODY, t->from.counts[j], round);
}

static inline void size_gather(struct task *t) { size_gather_at(t, is_root(t), 0); }
static inline void size_gatherv(struct task *t) { size_gather_at(t, is_root(t), 1); }
static inline void size_allgather(struct task *t) { size_gather_at(t, 1, 0); }
static inline void size_allgatherv(struct task *t) { size_gather_at(t, 1, 1); }

static inline void size_scatter_of(struct task *t, int varying) {
    t->recv_n = varying ? block(t, t->rank) : t->count;
    t->send_is = is_root(t) ? BUFFER : NOTHING;
    t->recv_is = t->in_place && is_root(t) ? IN_PLACE : BUFFER;
    t->recv_room = t->recv_is == BUFFER ? t->recv_n : 0;
    for (int j = 0; j < t->size; j++) t->to.counts[j] = varying ? block(t, j) : t->count;
    int room = place_blocks(t, &t->to, t->size);
    if (!varying)
        for (int j = 0; j < t->size; j++) t->to.places[j] = j * t->count;
    t->send_room = !is_root(t) ? 0 : varying ? room : t->size * t->count;
}

static inline void data_scatter(struct task *t, int round) {
    for (int j = 0; is_root(t) && j < t->size; j++)
        put_all(t, t->send, t->to.places[j], t->rank, j, t->to.counts[j], round);
    if (t->recv_is == BUFFER) put_all(t, t->want, 0, t->root, t->rank, t->recv_n, round);
}

static inline void size_scatter(struct task *t) { size_scatter_of(t, 0); }
static inline void size_scatterv(struct task *t) { size_scatter_of(t, 1); }

static inline void size_alltoall_of(struct task *t, int varying) {
    for (int j = 0; j < t->size; j++) {
        /* The same both ways, so that it can be in place. */
        int len = varying ? block(t, t->rank + j) : t->count;
        t->to.counts[j] = t->from.counts[j] = len;
    }
    int room = place_blocks(t, &t->to, t->size);
    place_blocks(t, &t->from, t->size);
    for (int j = 0; !varying && j < t->size; j++)
        t->to.places[j] = t->from.places[j] = j * t->count;
    t->recv_room = varying ? room : t->size * t->count;
    t->send_is = t->in_place ? IN_PLACE : BUFFER;
    t->send_room = t->in_place ? 0 : t->recv_room;
}

static inline void data_alltoall(struct task *t, int round) {
    int *own = t->in_place ? t->recv : t->send;
    for (int j = 0; j < t->size; j++) {
        put_all(t, own, t->to.places[j], t->rank, j, t->to.counts[j], round);
        put_all(t, t->want, t->from.places[j], j, t->rank, t->from.counts[j], round);
    }
}

static inline void size_alltoall(struct task *t) { size_alltoall_of(t, 0); }
static inline void size_alltoallv(struct task *t) { size_alltoall_of(t, 1); }

static inline void size_reduce_at(struct task *t, int receives) {
    t->send_is = t->in_place && receives ? IN_PLACE : BUFFER;
    t->recv_is = receives ? BUFFER : NOTHING;
    t->send_room = t->send_is == BUFFER ? t->count : 0;
    t->recv_room = receives ? t->count : 0;
}

static inline void size_reduce(struct task *t) { size_reduce_at(t, is_root(t)); }
static inline void size_allreduce(struct task *t) { size_reduce_at(t, 1); }

/* The result is that of the ranks before `end`; nothing comes if there are none. */
static inline void data_reduction(struct task *t, int end, int round) {
    contribute(t, 0, EVERYBODY, t->count, round);
    stays(t);
    for (int i = 0; end > 0 && t->recv_is == BUFFER && i < t->count; i++)
        fold(t, t->want, i, 0, end, EVERYBODY, i, round);
}

static inline void data_reduce(struct task *t, int round) { data_reduction(t, t->size, round); }
static inline void data_scan(struct task *t, int round) { data_reduction(t, t->rank + 1, round); }
static inline void data_exscan(struct task *t, int round) { data_reduction(t, t->rank, round); }

static inline void size_reduce_scatter_of(struct task *t, int varying) {
    int total = 0;
    for (int j = 0; j < t->size; j++) {
        t->from.counts[j] = varying ? block(t, j) : t->count;
        t->from.counts_c[j] = t->from.counts[j];
        t->from.places[j] = total;
        total += t->from.counts[j];
    }
    t->recv_n = t->from.counts[t->rank];
    t->send_is = t->in_place ? IN_PLACE : BUFFER;
    t->send_room = t->in_place ? 0 : total;
    t->recv_room = t->in_place ? total : t->recv_n;
    t->send_n = total;
}

static inline void data_reduce_scatter(struct task *t, int round) {
    contribute(t, 0, EVERYBODY, t->send_n, round);
    stays(t);
    /* In place, what lies behind the own block is not defined: but nothing is written in gaps. */
    for (int i = t->recv_n; i < t->recv_room; i++)
        for (int k = 0; k < t->layout.width; k++) t->want[i * t->layout.stride + k] = ANYTHING;
    for (int i = 0; i < t->recv_n; i++)
        fold(t, t->want, i, 0, t->size, EVERYBODY, t->from.places[t->rank] + i, round);
}

static inline void size_reduce_scatter_block(struct task *t) { size_reduce_scatter_of(t, 0); }
static inline void size_reduce_scatter(struct task *t) { size_reduce_scatter_of(t, 1); }

#define COLLECTIVE(name, size, data, can_be_in_place) \
    {#name, can_be_in_place, size, init_##name, init_c_##name, data}

/* All of them, as rows of name, sizes, data, and whether there is a form in place. */
#define ALL_COLLECTIVES(ROW) \
    ROW(Barrier, size_barrier, data_barrier, 0) \
    ROW(Bcast, size_bcast, data_bcast, 0) \
    ROW(Gather, size_gather, data_gather, 1) \
    ROW(Gatherv, size_gatherv, data_gather, 1) \
    ROW(Scatter, size_scatter, data_scatter, 1) \
    ROW(Scatterv, size_scatterv, data_scatter, 1) \
    ROW(Allgather, size_allgather, data_gather, 1) \
    ROW(Allgatherv, size_allgatherv, data_gather, 1) \
    ROW(Alltoall, size_alltoall, data_alltoall, 1) \
    ROW(Alltoallv, size_alltoallv, data_alltoall, 1) \
    ROW(Alltoallw, size_alltoallv, data_alltoall, 1) \
    ROW(Reduce, size_reduce, data_reduce, 1) \
    ROW(Allreduce, size_allreduce, data_reduce, 1) \
    ROW(Reduce_scatter_block, size_reduce_scatter_block, data_reduce_scatter, 1) \
    ROW(Reduce_scatter, size_reduce_scatter, data_reduce_scatter, 1) \
    ROW(Scan, size_allreduce, data_scan, 1) \
    ROW(Exscan, size_allreduce, data_exscan, 1)

#define LISTED(name, size, data, can_be_in_place) COLLECTIVE(name, size, data, can_be_in_place),
static const struct operation COLLECTIVES[] = {ALL_COLLECTIVES(LISTED)};
enum { N_COLLECTIVES = sizeof COLLECTIVES / sizeof *COLLECTIVES };

/* A graph in which edges are there twice if there are few ranks, with loops: the k-th edge of each
 * rank goes this many ranks on. */
enum { DEGREE = 4 };
static const int OFFSETS[DEGREE] = {1, 2, 0, 3};

static inline int edge(const struct task *t, int k, int direction) {
    return ((t->rank + direction * OFFSETS[k]) % t->size + t->size) % t->size;
}

/* A communicator with that graph. */
static inline MPI_Comm graph(MPI_Comm comm) {
    struct task t;
    int sources[DEGREE], destinations[DEGREE];
    MPI_Comm result;
    OK(MPI_Comm_rank(comm, &t.rank));
    OK(MPI_Comm_size(comm, &t.size));
    for (int k = 0; k < DEGREE; k++) {
        sources[k] = edge(&t, k, -1);
        destinations[k] = edge(&t, k, 1);
    }
    OK(MPI_Dist_graph_create_adjacent(comm, DEGREE, sources, MPI_UNWEIGHTED, DEGREE, destinations,
                                      MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &result));
    return result;
}

/* `sends_varying`: blocks for each destination, of lengths that differ by edge. */
static inline void size_neighbours(struct task *t, int sends_blocks, int varying) {
    for (int k = 0; k < DEGREE; k++) {
        t->to.counts[k] = varying ? block(t, k) : t->count;
        t->from.counts[k] = !varying ? t->count
                            : sends_blocks ? block(t, k)
                                           : block(t, edge(t, k, -1));
    }
    int to = place_blocks(t, &t->to, DEGREE), from = place_blocks(t, &t->from, DEGREE);
    for (int k = 0; !varying && k < DEGREE; k++)
        t->to.places[k] = t->from.places[k] = k * t->count;
    t->send_n = sends_blocks || !varying ? t->count : block(t, t->rank);
    t->send_room = !sends_blocks ? t->send_n : varying ? to : DEGREE * t->count;
    t->recv_room = varying ? from : DEGREE * t->count;
}

static inline void size_neighbor_allgather(struct task *t) { size_neighbours(t, 0, 0); }
static inline void size_neighbor_allgatherv(struct task *t) { size_neighbours(t, 0, 1); }
static inline void size_neighbor_alltoall(struct task *t) { size_neighbours(t, 1, 0); }
static inline void size_neighbor_alltoallv(struct task *t) { size_neighbours(t, 1, 1); }

static inline void data_neighbor_allgather(struct task *t, int round) {
    put_all(t, t->send, 0, t->rank, EVERYBODY, t->send_n, round);
    for (int k = 0; k < DEGREE; k++)
        put_all(t, t->want, t->from.places[k], edge(t, k, -1), EVERYBODY, t->from.counts[k], round);
}

static inline void data_neighbor_alltoall(struct task *t, int round) {
    for (int k = 0; k < DEGREE; k++) {
        put_all(t, t->send, t->to.places[k], t->rank, k, t->to.counts[k], round);
        put_all(t, t->want, t->from.places[k], edge(t, k, -1), k, t->from.counts[k], round);
    }
}

static const struct operation AMONG_NEIGHBOURS[] = {
    COLLECTIVE(Neighbor_allgather, size_neighbor_allgather, data_neighbor_allgather, 0),
    COLLECTIVE(Neighbor_allgatherv, size_neighbor_allgatherv, data_neighbor_allgather, 0),
    COLLECTIVE(Neighbor_alltoall, size_neighbor_alltoall, data_neighbor_alltoall, 0),
    COLLECTIVE(Neighbor_alltoallv, size_neighbor_alltoallv, data_neighbor_alltoall, 0),
    COLLECTIVE(Neighbor_alltoallw, size_neighbor_alltoallv, data_neighbor_alltoall, 0),
};
enum { N_AMONG_NEIGHBOURS = sizeof AMONG_NEIGHBOURS / sizeof *AMONG_NEIGHBOURS };

#endif

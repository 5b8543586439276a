/* Persistent sends of the four modes, and persistent receives, as tasks: rank r sends to r + 1. */

#ifndef RESTART_MESSAGES_H
#define RESTART_MESSAGES_H

#include "restart.h"

static inline int next_rank(const struct task *t) {
    return (t->rank + 1) % t->size;
}

static inline int previous_rank(const struct task *t) {
    return (t->rank + t->size - 1) % t->size;
}

static inline void size_send(struct task *t) {
    t->send_room = t->count;
}

static inline void size_receive(struct task *t) {
    t->recv_room = t->count + 2; /* More than comes. */
}

static inline void data_send(struct task *t, int round) {
    for (int i = 0; i < t->count; i++) put(t, t->send, i, t->rank, t->tag, i, round);
}

static inline void data_receive(struct task *t, int round) {
    for (int i = 0; i < t->count; i++) put(t, t->want, i, previous_rank(t), t->tag, i, round);
}

#define SEND(name)                                                                         \
    static inline void init_##name(struct task *t, MPI_Info info) {                        \
        (void)info;                                                                        \
        OK(MPI_##name##_init(t->send, t->count, t->layout.type, next_rank(t), t->tag,      \
                             t->comm, &t->request));                                       \
    }                                                                                      \
    static inline void init_c_##name(struct task *t, MPI_Info info) {                      \
        (void)info;                                                                        \
        OK(MPI_##name##_init_c(t->send, t->count, t->layout.type, next_rank(t), t->tag,    \
                               t->comm, &t->request));                                     \
    }

SEND(Send)
SEND(Bsend)
SEND(Ssend)
SEND(Rsend)

static inline void init_Recv(struct task *t, MPI_Info info) {
    (void)info;
    OK(MPI_Recv_init(t->recv, t->recv_room, t->layout.type, previous_rank(t), t->tag, t->comm,
                     &t->request));
}

static inline void init_c_Recv(struct task *t, MPI_Info info) {
    (void)info;
    OK(MPI_Recv_init_c(t->recv, t->recv_room, t->layout.type, MPI_ANY_SOURCE, t->tag, t->comm,
                       &t->request));
}

static const struct operation SENDS[] = {
    {"Send", 0, size_send, init_Send, init_c_Send, data_send},
    {"Bsend", 0, size_send, init_Bsend, init_c_Bsend, data_send},
    {"Ssend", 0, size_send, init_Ssend, init_c_Ssend, data_send},
    {"Rsend", 0, size_send, init_Rsend, init_c_Rsend, data_send},
};
enum { N_SENDS = sizeof SENDS / sizeof *SENDS, READY = 3 };

static const struct operation RECEIVE = {"Recv", 0, size_receive, init_Recv, init_c_Recv,
                                         data_receive};

#endif

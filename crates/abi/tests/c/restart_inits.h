/* The init of each operation in one of its two forms: included twice, with other meanings of
 *   INIT(name)             the name of the function that is written here
 *   CALL(name, ...)        the call
 *   COUNTS, PLACES, BYTES  the arrays of the form
 * and, if AMONG_A_GROUP is there, with a group of ranks that take part. */

#define S (t->send_is == BUFFER ? t->send : t->send_is == IN_PLACE ? MPI_IN_PLACE : NULL)
#define R (t->recv_is == BUFFER ? t->recv : t->recv_is == IN_PLACE ? MPI_IN_PLACE : NULL)
/* What is said of a buffer that is not one does not count. */
#define SN (t->send_is == IN_PLACE ? 0 : t->send_n)
#define RN (t->recv_is == IN_PLACE ? 0 : t->recv_n)
#define ST (t->send_is == IN_PLACE ? MPI_DATATYPE_NULL : t->layout.type)
#define RT (t->recv_is == IN_PLACE ? MPI_DATATYPE_NULL : t->layout.type)
#define V (t->send_is == IN_PLACE ? NULL : t->to.COUNTS), \
          (t->send_is == IN_PLACE ? NULL : t->to.PLACES), ST
#define W (t->send_is == IN_PLACE ? NULL : t->to.COUNTS), \
          (t->send_is == IN_PLACE ? NULL : t->to.BYTES), (t->send_is == IN_PLACE ? NULL : t->types)
#define TYPE t->layout.type
#define OP t->layout.op
#ifdef AMONG_A_GROUP
#define ROOT t->members[t->root]
#define END t->group, info, t->comm, &t->request
#else
#define ROOT t->root
#define END t->comm, info, &t->request
#endif

#define ROW(name, ...)                                              \
    static inline void INIT(name)(struct task *t, MPI_Info info) {  \
        OK(CALL(name, __VA_ARGS__));                                \
    }

ROW(Barrier, END)
ROW(Bcast, R, t->recv_n, TYPE, ROOT, END)
ROW(Gather, S, SN, ST, R, t->recv_n, TYPE, ROOT, END)
ROW(Gatherv, S, SN, ST, R, t->from.COUNTS, t->from.PLACES, TYPE, ROOT, END)
ROW(Scatter, S, t->send_n, TYPE, R, RN, RT, ROOT, END)
ROW(Scatterv, S, t->to.COUNTS, t->to.PLACES, TYPE, R, RN, RT, ROOT, END)
ROW(Allgather, S, SN, ST, R, t->recv_n, TYPE, END)
ROW(Allgatherv, S, SN, ST, R, t->from.COUNTS, t->from.PLACES, TYPE, END)
ROW(Alltoall, S, SN, ST, R, t->recv_n, TYPE, END)
ROW(Alltoallv, S, V, R, t->from.COUNTS, t->from.PLACES, TYPE, END)
ROW(Alltoallw, S, W, R, t->from.COUNTS, t->from.BYTES, t->types, END)
ROW(Reduce, S, R, t->send_n, TYPE, OP, ROOT, END)
ROW(Allreduce, S, R, t->send_n, TYPE, OP, END)
ROW(Reduce_scatter_block, S, R, t->recv_n, TYPE, OP, END)
ROW(Reduce_scatter, S, R, t->from.COUNTS, TYPE, OP, END)
ROW(Scan, S, R, t->send_n, TYPE, OP, END)
ROW(Exscan, S, R, t->send_n, TYPE, OP, END)
#ifndef AMONG_A_GROUP
ROW(Neighbor_allgather, S, t->send_n, TYPE, R, t->recv_n, TYPE, END)
ROW(Neighbor_allgatherv, S, t->send_n, TYPE, R, t->from.COUNTS, t->from.PLACES, TYPE, END)
ROW(Neighbor_alltoall, S, t->send_n, TYPE, R, t->recv_n, TYPE, END)
ROW(Neighbor_alltoallv, S, t->to.COUNTS, t->to.PLACES, TYPE, R, t->from.COUNTS, t->from.PLACES,
    TYPE, END)
ROW(Neighbor_alltoallw, S, t->to.COUNTS, t->to.bytes_c, t->types, R, t->from.COUNTS,
    t->from.bytes_c, t->types, END)
#endif

#undef S
#undef R
#undef SN
#undef RN
#undef ST
#undef RT
#undef V
#undef W
#undef TYPE
#undef OP
#undef ROOT
#undef END
#undef ROW

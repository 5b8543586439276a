/* Values that are no handles of a kind. */

#ifndef WRONG_H
#define WRONG_H

#include "check.h"

enum kind { NO_KIND, COMM, GROUP, TYPE, OP, INFO, HANDLER, REQUEST, MESSAGE, SESSION };

struct wrong {
    enum kind kind;
    uintptr_t value;
};

enum { MAX_WRONG = 200 };
static struct wrong wrongs[MAX_WRONG];
static int n_wrongs = 0;

static inline void wrong(enum kind kind, uintptr_t value) {
    CHECK(n_wrongs < MAX_WRONG);
    wrongs[n_wrongs++] = (struct wrong){kind, value};
}

/* Constants and live objects of all kinds, and values that are nothing. */
static inline void collect_wrongs(void) {
    static int place;
    MPI_Comm comm;
    MPI_Group group;
    MPI_Datatype type;
    MPI_Info info;
    MPI_Request request;
    n_wrongs = 0;
    wrong(COMM, (uintptr_t)MPI_COMM_WORLD);
    wrong(COMM, (uintptr_t)MPI_COMM_SELF);
    wrong(GROUP, (uintptr_t)MPI_GROUP_EMPTY);
    wrong(TYPE, (uintptr_t)MPI_INT);
    wrong(OP, (uintptr_t)MPI_SUM);
    wrong(INFO, (uintptr_t)MPI_INFO_ENV);
    wrong(HANDLER, (uintptr_t)MPI_ERRORS_RETURN);
    wrong(MESSAGE, (uintptr_t)MPI_MESSAGE_NO_PROC);
    wrong(NO_KIND, (uintptr_t)MPI_WIN_NULL);
    wrong(NO_KIND, (uintptr_t)MPI_FILE_NULL);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    wrong(COMM, (uintptr_t)comm);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    wrong(GROUP, (uintptr_t)group);
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    wrong(TYPE, (uintptr_t)type);
    OK(MPI_Info_create(&info));
    wrong(INFO, (uintptr_t)info);
    OK(MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &request));
    wrong(REQUEST, (uintptr_t)request);
    /* Nothing at all. */
    static const uintptr_t NOTHING[] = {0, 1, 2, 0xff, 0x17f, 0x7ff, 0xfff, 0x1000, 0x1001,
                                        0xdead0, 0x7fffffff, 0x80000000, 0xffffffff,
                                        UINTPTR_MAX, UINTPTR_MAX - 1, UINTPTR_MAX / 2,
                                        UINTPTR_MAX / 2 + 1};
    for (size_t i = 0; i < sizeof NOTHING / sizeof *NOTHING; i++) wrong(NO_KIND, NOTHING[i]);
    wrong(NO_KIND, (uintptr_t)&place);
    wrong(NO_KIND, (uintptr_t)&collect_wrongs);
    /* What may look like a handle: each kind, with a place or a generation that never was. */
    for (uintptr_t kind = 0; kind < 20; kind++) {
        wrong(NO_KIND, kind << 56 | (uintptr_t)0xfffffe << 32);
        wrong(NO_KIND, kind << 56 | 0xffffffff);
        wrong(NO_KIND, kind << 56 | 0x00ffffff);
    }
}

/* Frees the objects that were made for it. */
static inline void free_wrongs(void) {
    for (int i = 0; i < n_wrongs; i++) {
        uintptr_t value = wrongs[i].value;
        if (value < 4096) continue;
        switch (wrongs[i].kind) {
        case COMM: OK(MPI_Comm_free(&(MPI_Comm){(MPI_Comm)value})); break;
        case GROUP: OK(MPI_Group_free(&(MPI_Group){(MPI_Group)value})); break;
        case TYPE: OK(MPI_Type_free(&(MPI_Datatype){(MPI_Datatype)value})); break;
        case INFO: OK(MPI_Info_free(&(MPI_Info){(MPI_Info)value})); break;
        case REQUEST: OK(MPI_Request_free(&(MPI_Request){(MPI_Request)value})); break;
        default: break;
        }
    }
}

/* A loop over all that are not of this kind. */
#define FOR_WRONG(kind_of_handle, ctype, variable)                                   \
    for (int wrong_i = 0; wrong_i < n_wrongs; wrong_i++)                             \
        for (ctype variable = (ctype)wrongs[wrong_i].value, *wrong_once = &variable; \
             wrong_once && wrongs[wrong_i].kind != kind_of_handle; wrong_once = NULL)

#endif

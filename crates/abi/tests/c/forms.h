/* A collective in all of its forms: blocking, nonblocking and persistent (started three times), each
 * with counts of either width. Before each run `fill_TEST(turn)` writes the data, after it
 * `look_TEST(turn)` checks what has come; turns differ. */

#ifndef FORMS_H
#define FORMS_H

#include "check.h"

static int turn = 0;

#define ONCE(test, call) \
    do {                 \
        ++turn;          \
        fill_##test();   \
        OK(call);        \
        look_##test();   \
    } while (0)

#define WAITED(test, call)                      \
    do {                                        \
        MPI_Request request = MPI_REQUEST_NULL; \
        ++turn;                                 \
        fill_##test();                          \
        OK(call);                               \
        CHECK(request != MPI_REQUEST_NULL);     \
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE)); \
        CHECK(request == MPI_REQUEST_NULL);     \
        look_##test();                          \
    } while (0)

#define STARTED(test, call)                            \
    do {                                               \
        MPI_Request request = MPI_REQUEST_NULL;        \
        OK(call);                                      \
        CHECK(request != MPI_REQUEST_NULL);            \
        for (int start = 0; start < 3; ++start) {      \
            ++turn;                                    \
            fill_##test();                             \
            OK(MPI_Start(&request));                   \
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE)); \
            CHECK(request != MPI_REQUEST_NULL);        \
            look_##test();                             \
        }                                              \
        OK(MPI_Request_free(&request));                \
        CHECK(request == MPI_REQUEST_NULL);            \
    } while (0)

/* The names are those of the blocking and the nonblocking form; then come the arguments, up to the
 * communicator. */
#define FORMS(test, name, iname, ...)                                              \
    do {                                                                           \
        ONCE(test, MPI_##name(__VA_ARGS__));                                       \
        WAITED(test, MPI_##iname(__VA_ARGS__, &request));                          \
        STARTED(test, MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request));    \
    } while (0)

#define LARGE_FORMS(test, name, iname, ...)                                          \
    do {                                                                             \
        ONCE(test, MPI_##name##_c(__VA_ARGS__));                                     \
        WAITED(test, MPI_##iname##_c(__VA_ARGS__, &request));                        \
        STARTED(test, MPI_##name##_init_c(__VA_ARGS__, MPI_INFO_NULL, &request));    \
    } while (0)

/* The same arguments do for both widths. */
#define ALL_FORMS(test, name, iname, ...)           \
    do {                                            \
        FORMS(test, name, iname, __VA_ARGS__);      \
        LARGE_FORMS(test, name, iname, __VA_ARGS__);\
    } while (0)

#endif

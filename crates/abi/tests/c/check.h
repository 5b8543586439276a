/* What the programs of this folder check with: a failure says where, on which rank, what was
 * expected and what was seen, and ends the job. */

#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rank in the world; -1 while nobody knows. */
static inline int check_rank(void) {
    int is_initialized = 0, is_finalized = 0, rank = -1;
    MPI_Initialized(&is_initialized);
    MPI_Finalized(&is_finalized);
    if (is_initialized && !is_finalized) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static inline void check_failed(const char *file, int line) {
    fprintf(stderr, "%s:%d: rank %d: ", file, line, check_rank());
}

/* A condition. */
#define CHECK(condition)                                     \
    do {                                                     \
        if (!(condition)) {                                  \
            check_failed(__FILE__, __LINE__);                \
            fprintf(stderr, "expected: %s\n", #condition);   \
            exit(99);                                        \
        }                                                    \
    } while (0)

/* Two integers that must be equal. */
#define CHECK_EQ(seen, expected)                                                          \
    do {                                                                                  \
        long long check_seen = (long long)(seen), check_expected = (long long)(expected); \
        if (check_seen != check_expected) {                                               \
            check_failed(__FILE__, __LINE__);                                             \
            fprintf(stderr, "%s: expected %lld, seen %lld\n", #seen, check_expected,      \
                    check_seen);                                                          \
            exit(99);                                                                     \
        }                                                                                 \
    } while (0)

/* Two texts that must be equal. */
#define CHECK_TEXT(seen, expected)                                                            \
    do {                                                                                      \
        const char *check_seen = (seen), *check_expected = (expected);                        \
        if (strcmp(check_seen, check_expected) != 0) {                                        \
            check_failed(__FILE__, __LINE__);                                                 \
            fprintf(stderr, "%s: expected \"%s\", seen \"%s\"\n", #seen, check_expected,      \
                    check_seen);                                                              \
            exit(99);                                                                         \
        }                                                                                     \
    } while (0)

/* A call of the library that must succeed. */
#define OK(call)                                                            \
    do {                                                                    \
        int check_code = (call);                                            \
        if (check_code != MPI_SUCCESS) {                                    \
            char check_words[MPI_MAX_ERROR_STRING] = "";                    \
            int check_len = 0;                                              \
            MPI_Error_string(check_code, check_words, &check_len);          \
            check_failed(__FILE__, __LINE__);                               \
            fprintf(stderr, "%s: error %d: %s\n", #call, check_code, check_words); \
            exit(99);                                                       \
        }                                                                   \
    } while (0)

/* A call (or an error in a status) that must be of a class (the error handler must be MPI_ERRORS_RETURN). */
#define ERR(call, expected_class)                                                       \
    do {                                                                                \
        int check_code = (call), check_class = -1;                                      \
        if (check_code != MPI_SUCCESS) MPI_Error_class(check_code, &check_class);       \
        if (check_class != (expected_class)) {                                          \
            check_failed(__FILE__, __LINE__);                                           \
            fprintf(stderr, "%s: expected %s (%d), seen class %d of code %d\n", #call,  \
                    #expected_class, (int)(expected_class), check_class, check_code);   \
            exit(99);                                                                   \
        }                                                                               \
    } while (0)

#endif

/* What the programs check with that throw out of callbacks: that the exception comes back out of
 * the call, and that the library is whole afterwards. */

#ifndef EXCEPTIONS_H
#define EXCEPTIONS_H

#include "check.h"

/* What is thrown: not derived from anything, so that no other handler catches it. */
struct Thrown {
    int value;
};

/* The call must throw a `Thrown` with this value. */
#define THROWS(call, expected)                                              \
    do {                                                                    \
        int check_caught = -1;                                              \
        try {                                                               \
            (void)(call);                                                   \
        } catch (const Thrown &thrown) {                                    \
            check_caught = thrown.value;                                    \
        }                                                                   \
        if (check_caught != (expected)) {                                   \
            check_failed(__FILE__, __LINE__);                               \
            fprintf(stderr, "%s: expected exception %d, seen %d\n", #call,  \
                    (int)(expected), check_caught);                         \
            exit(99);                                                       \
        }                                                                   \
        CHECK_EQ(std::uncaught_exceptions(), 0);                            \
    } while (0)

/* All ranks still work together, also on a communicator that is made now. */
static inline void whole(void) {
    MPI_Comm copy;
    int ranks = 0, sum = 0, one = 1;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy));
    CHECK_EQ(sum, ranks);
    OK(MPI_Comm_free(&copy));
}

#endif

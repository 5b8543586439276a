/* Counts and displacements beyond what an int can hold, in memory of which hardly a page is touched.
 *
 * ranks: 1 2 3
 * spec: 45
 */

#include <sys/mman.h>
#include <sys/resource.h>

#include "forms.h"

static const MPI_Count MANY = (MPI_Count)3 << 30;

static int rank, size;
static signed char *huge;

static void fill_nothing(void) { huge[0] = (signed char)turn; }
static void look_nothing(void) { CHECK_EQ(huge[0], (signed char)turn); }

/* One rank alone, in place: whatever the count, nothing moves. */
static void alone(void) {
    MPI_Comm comm = MPI_COMM_SELF;
    void *in = MPI_IN_PLACE;
    MPI_Count counts[] = {MANY};
    MPI_Aint places[] = {0};
    MPI_Datatype types[] = {MPI_SIGNED_CHAR}, type = MPI_SIGNED_CHAR;
    LARGE_FORMS(nothing, Bcast, Ibcast, huge, MANY, type, 0, comm);
    LARGE_FORMS(nothing, Gather, Igather, in, 0, type, huge, MANY, type, 0, comm);
    LARGE_FORMS(nothing, Gatherv, Igatherv, in, 0, type, huge, counts, places, type, 0, comm);
    LARGE_FORMS(nothing, Scatter, Iscatter, huge, MANY, type, in, 0, type, 0, comm);
    LARGE_FORMS(nothing, Scatterv, Iscatterv, huge, counts, places, type, in, 0, type, 0, comm);
    LARGE_FORMS(nothing, Allgather, Iallgather, in, 0, type, huge, MANY, type, comm);
    LARGE_FORMS(nothing, Allgatherv, Iallgatherv, in, 0, type, huge, counts, places, type, comm);
    LARGE_FORMS(nothing, Alltoall, Ialltoall, in, 0, type, huge, MANY, type, comm);
    LARGE_FORMS(nothing, Alltoallv, Ialltoallv, in, NULL, NULL, type, huge, counts, places, type,
                comm);
    LARGE_FORMS(nothing, Alltoallw, Ialltoallw, in, NULL, NULL, NULL, huge, counts, places, types,
                comm);
    LARGE_FORMS(nothing, Reduce, Ireduce, in, huge, MANY, type, MPI_SUM, 0, comm);
    LARGE_FORMS(nothing, Allreduce, Iallreduce, in, huge, MANY, type, MPI_SUM, comm);
    LARGE_FORMS(nothing, Scan, Iscan, in, huge, MANY, type, MPI_SUM, comm);
    LARGE_FORMS(nothing, Exscan, Iexscan, in, huge, MANY, type, MPI_SUM, comm);
    LARGE_FORMS(nothing, Reduce_scatter, Ireduce_scatter, in, huge, counts, type, MPI_SUM, comm);
    LARGE_FORMS(nothing, Reduce_scatter_block, Ireduce_scatter_block, in, huge, MANY, type, MPI_SUM,
                comm);
}

/* Of each rank a few bytes, which lie far from each other. */
static MPI_Aint far_off(int of_rank) { return of_rank * (MPI_Aint)MANY; }

static signed char sent[8];

static void fill_far(void) {
    for (int i = 0; i < 8; ++i) sent[i] = (signed char)(10 * rank + i + turn);
    for (int from = 0; from < size; ++from) memset(huge + far_off(from), -1, 3);
}
static void look_far(void) {
    for (int from = 0; from < size; ++from) {
        for (int i = 0; i < 2; ++i)
            CHECK_EQ(huge[far_off(from) + i], (signed char)(10 * from + i + turn));
        CHECK_EQ(huge[far_off(from) + 2], -1);
    }
}

static void far_apart(void) {
    MPI_Count two[3], twos[3];
    MPI_Aint places[3], zeros[3];
    MPI_Datatype types[3];
    for (int i = 0; i < size; ++i) {
        two[i] = twos[i] = 2;
        places[i] = far_off(i);
        zeros[i] = 0;
        types[i] = MPI_SIGNED_CHAR;
    }
    LARGE_FORMS(far, Allgatherv, Iallgatherv, sent, 2, MPI_SIGNED_CHAR, huge, two, places,
                MPI_SIGNED_CHAR, MPI_COMM_WORLD);
    LARGE_FORMS(far, Alltoallv, Ialltoallv, sent, twos, zeros, MPI_SIGNED_CHAR, huge, two, places,
                MPI_SIGNED_CHAR, MPI_COMM_WORLD);
    LARGE_FORMS(far, Alltoallw, Ialltoallw, sent, twos, zeros, types, huge, two, places, types,
                MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    size_t room = (size_t)MANY * size + 4096;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    huge = mmap(NULL, room, PROT_READ | PROT_WRITE, flags, -1, 0);
    CHECK(huge != MAP_FAILED);
    alone();
    far_apart();
    struct rusage usage;
    CHECK_EQ(getrusage(RUSAGE_SELF, &usage), 0);
    CHECK(usage.ru_maxrss < 512 * 1024); /* KiB */
    munmap(huge, room);
    OK(MPI_Finalize());
    return 0;
}

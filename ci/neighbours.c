/* Whether ranks on one host share memory, and talk to others by the network: each says how many
 * share memory with it, and how much went by the network while the ranks of each host exchanged
 * a long message, and then while the first ranks of all hosts did. Its argument is the number of
 * ranks that are to share memory.
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 8 << 20 };

/* The bytes that all interfaces of this host have sent and received, the loop as well. */
static unsigned long long traffic(void) {
    FILE *file = fopen("/proc/net/dev", "r");
    char line[512];
    unsigned long long sum = 0;
    while (file && fgets(line, sizeof line, file)) {
        unsigned long long received = 0, sent = 0;
        const char *numbers = strchr(line, ':'), *form = "%llu %*u %*u %*u %*u %*u %*u %*u %llu";
        if (numbers && sscanf(numbers + 1, form, &received, &sent) == 2) sum += received + sent;
    }
    if (file) fclose(file);
    return sum;
}

/* The KiB that went by the network of this host while its ranks of a communicator, if they are of
 * it, passed a message on in a ring. */
static long exchange(MPI_Comm comm, char *from, char *into) {
    MPI_Barrier(MPI_COMM_WORLD);
    unsigned long long before = traffic();
    MPI_Barrier(MPI_COMM_WORLD);
    if (comm != MPI_COMM_NULL) {
        int rank = 0, ranks = 1;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks);
        MPI_Sendrecv(from, LENGTH, MPI_CHAR, (rank + 1) % ranks, 0, into, LENGTH, MPI_CHAR,
                     (rank + ranks - 1) % ranks, 0, comm, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return (long)((traffic() - before) >> 10);
}

int main(int argc, char **argv) {
    int wanted = argc > 1 ? atoi(argv[1]) : 1, rank = -1, ranks = -1, near = -1, place = -1;
    MPI_Comm host = MPI_COMM_NULL, firsts = MPI_COMM_NULL;
    char *from = calloc(LENGTH, 1), *into = calloc(LENGTH, 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &near);
    MPI_Comm_rank(host, &place);
    MPI_Comm_split(MPI_COMM_WORLD, place == 0 ? 0 : MPI_UNDEFINED, 0, &firsts);
    long within = exchange(host, from, into), between = exchange(firsts, from, into);
    int right = near == wanted && within < LENGTH >> 14 && between > LENGTH >> 10;
    printf("rank %d of %d: %d share memory, %ld KiB by the network within a host, %ld KiB between: "
           "%s\n", rank, ranks, near, within, between, right ? "right" : "wrong");
    MPI_Comm_free(&host);
    if (firsts != MPI_COMM_NULL) MPI_Comm_free(&firsts);
    free(from);
    free(into);
    MPI_Finalize();
    return right ? 0 : 9;
}

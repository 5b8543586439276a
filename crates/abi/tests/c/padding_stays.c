/* The padding of structures stays in the process that sends them: rank 0 has a secret in it, and
 * rank 1 finds that nowhere in its memory, what it shares with rank 0 included, after messages and
 * collectives of all lengths. That it would, shows a message that takes structures for bytes.
 *
 * ranks: 2
 * case: copied
 * case: in_pieces
 * set: MOTET_SINGLE_COPY=off
 */

#include "check.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LONGEST = 30000, SECRET = 7 };

struct item {
    char letter; /* and seven bytes of padding */
    double value;
};
struct pair {
    double value;
    int index; /* and four bytes of padding, too few for a secret */
};

static int rank;
static MPI_Datatype type;

/* Byte `at` of the secret. As it is not told in a row, the program has none itself. */
static unsigned char secret(int at) { return (unsigned char)(0xd3 ^ (at * 29)); }

static struct item *items(int count) {
    struct item *made = malloc(count * sizeof *made);
    CHECK(made != NULL);
    for (int at = 0; at < count; ++at) {
        unsigned char *padding = (unsigned char *)&made[at] + offsetof(struct item, letter) + 1;
        for (int byte = 0; rank == 0 && byte < SECRET; ++byte) padding[byte] = secret(byte);
        for (int byte = 0; rank != 0 && byte < SECRET; ++byte) padding[byte] = 0;
        made[at].letter = (char)('a' + at % 26);
        made[at].value = at;
    }
    return made;
}

static int has_secret(const unsigned char *bytes, size_t length) {
    for (size_t at = 0; at + SECRET <= length; ++at) {
        int same = 0;
        while (same < SECRET && bytes[at + same] == secret(same)) ++same;
        if (same == SECRET) return 1;
    }
    return 0;
}

/* Whether the secret is in a mapping, in those of its pages that exist. */
static int is_in(unsigned char *start, size_t length) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *exists = malloc(length / page);
    CHECK(exists != NULL);
    int is_known = mincore(start, length, exists) == 0, found = 0;
    for (size_t at = 0; is_known && !found && at < length;) {
        size_t end = at;
        while (end < length && exists[end / page] & 1) end += page;
        found = has_secret(start + at, end - at);
        at = end > at ? end : at + page;
    }
    free(exists);
    return found;
}

/* Whether the secret is anywhere in the memory that this process can write. */
static int is_anywhere(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    static struct { unsigned long from, to; } places[4096];
    int count = 0, found = 0;
    char line[4200], rights[8];
    while (count < 4096 && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %7s", &places[count].from, &places[count].to, rights) == 3 &&
            rights[0] == 'r' && rights[1] == 'w')
            ++count;
    fclose(maps);
    CHECK(count > 0 && count < 4096);
    for (int at = 0; at < count && !found; ++at)
        found = is_in((unsigned char *)places[at].from, places[at].to - places[at].from);
    return found;
}

static void check(const struct item *received, int count) {
    for (int at = 0; at < count; ++at) {
        CHECK_EQ(received[at].letter, 'a' + at % 26);
        CHECK(received[at].value == at);
    }
}

static void messages(struct item *own, int count) {
    MPI_Request request;
    if (rank == 0) {
        OK(MPI_Send(own, count, type, 1, 0, MPI_COMM_WORLD));
        OK(MPI_Send_init(own, count, type, 1, 0, MPI_COMM_WORLD, &request));
    } else {
        OK(MPI_Recv(own, count, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Recv_init(own, count, type, 0, 0, MPI_COMM_WORLD, &request));
    }
    OK(MPI_Start(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&request));
    check(own, count);
}

static void collectives(struct item *own, int count) {
    struct item *all = malloc(2 * (size_t)count * sizeof *all);
    struct pair *in = malloc(count * sizeof *in), *out = malloc(count * sizeof *out);
    CHECK(all != NULL && in != NULL && out != NULL);
    OK(MPI_Bcast(own, count, type, 0, MPI_COMM_WORLD));
    OK(MPI_Allgather(own, count, type, all, count, type, MPI_COMM_WORLD));
    check(all, count);
    check(all + count, count);
    for (int at = 0; at < count; ++at) in[at] = (struct pair){at - rank, at};
    OK(MPI_Allreduce(in, out, count, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD));
    for (int at = 0; at < count; ++at) CHECK(out[at].value == at - 1);
    free(all);
    free(in);
    free(out);
}

int main(int argc, char **argv) {
    const int ones[] = {1, 1};
    const MPI_Aint places[] = {offsetof(struct item, letter), offsetof(struct item, value)};
    const MPI_Datatype fields[] = {MPI_CHAR, MPI_DOUBLE};
    MPI_Datatype packed;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Type_create_struct(2, ones, places, fields, &packed));
    OK(MPI_Type_create_resized(packed, 0, sizeof(struct item), &type));
    OK(MPI_Type_commit(&type));
    for (int count = 1; count <= LONGEST; count = 7 * count + 3) {
        struct item *own = items(count);
        messages(own, count);
        collectives(own, count);
        if (rank == 1) CHECK(!is_anywhere());
        OK(MPI_Barrier(MPI_COMM_WORLD));
        free(own);
    }
    struct item *own = items(LONGEST);
    OK(MPI_Bcast(own, LONGEST * (int)sizeof *own, MPI_BYTE, 0, MPI_COMM_WORLD));
    if (rank == 1) CHECK(is_anywhere());
    free(own);
    OK(MPI_Type_free(&packed));
    OK(MPI_Type_free(&type));
    OK(MPI_Finalize());
    return 0;
}

/* Persistent collectives among the members of a group, in its order: all of them at once, for several
 * groups, started ten times with other data each; also by those who are no members, and whose
 * buffers nobody touches.
 *
 * ranks: 1 2 3 4
 * spec: 103, 104, 107, 108, 109, 111, 121, 123
 */

#include <mpix.h>

#include "restart_collectives.h"

#undef INIT
#undef CALL
#undef CALL_C
#undef COUNTS
#undef PLACES
#undef BYTES
#define AMONG_A_GROUP
#define INIT(name) among_##name
#define CALL(name, ...) MPIX_##name##_init(__VA_ARGS__)
#define COUNTS counts
#define PLACES places
#define BYTES bytes
#include "restart_inits.h"
#undef INIT
#undef CALL
#undef COUNTS
#undef PLACES
#undef BYTES
#define INIT(name) among_c_##name
#define CALL(name, ...) CALL_C(name, __VA_ARGS__)
#define CALL_C(name, ...) MPIX_##name##_init_c(__VA_ARGS__)
#define MPIX_Barrier_init_c MPIX_Barrier_init
#define COUNTS counts_c
#define PLACES places_c
#define BYTES bytes_c
#include "restart_inits.h"

enum { ROUNDS = 10, MAX_TASKS = 400 };

#define AMONG(name, size, data, can_be_in_place) \
    {#name, can_be_in_place, size, among_##name, among_c_##name, data},
static const struct operation OPERATIONS[] = {ALL_COLLECTIVES(AMONG)};

static void size_nothing(struct task *t) {
    /* Something, that must stay as it is. */
    t->send_room = t->recv_room = 5;
    t->send_is = t->recv_is = NOTHING;
}

static void data_nothing(struct task *t, int round) {
    (void)t, (void)round;
}

static const struct operation OUTSIDE = {"a rank outside", 0, size_nothing, NULL, NULL, data_nothing};

static struct task tasks[MAX_TASKS];
static int n_tasks = 0;

/* A task for each operation among these ranks, in place and not. */
static void add_all(struct layout layout, const int *members, int n, MPI_Group group) {
    int rank, place = -1;
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    for (int i = 0; i < n; i++)
        if (members[i] == rank) place = i;
    for (int i = 0; i < N_COLLECTIVES; i++) {
        const struct operation *operation = &OPERATIONS[i];
        for (int in_place = 0; in_place <= operation->can_be_in_place; in_place++) {
            CHECK(n_tasks < MAX_TASKS);
            struct task *t = &tasks[n_tasks++];
            make_as(t, place < 0 ? &OUTSIDE : operation, MPI_COMM_WORLD, layout, 4, in_place,
                    place < 0 ? 0 : place, n);
            t->root = (4 + (int)strlen(operation->name)) % n; /* that of `make_as`, outside too */
            t->group = group;
            t->members = members;
            (i % 2 ? operation->init : operation->init_c)(t, MPI_INFO_NULL);
        }
    }
}

int main(int argc, char **argv) {
    static int members[4][MAX_RANKS];
    int size, n[4] = {0};
    MPI_Group world;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int i = 0; i < size; i++) {
        members[0][n[0]++] = size - 1 - i;
        if (i % 2) members[1][n[1]++] = i;
        if (i % 3 != 1) members[2][n[2]++] = size - 1 - i;
    }
    members[3][n[3]++] = size - 1;
    for (int i = 0; i < 4; i++) {
        MPI_Group group;
        if (n[i] == 0) continue;
        struct layout layout = i % 2 ? plain() : pairs();
        OK(MPI_Group_incl(world, n[i], members[i], &group));
        add_all(layout, members[i], n[i], group);
        OK(MPI_Group_free(&group));
        free_layout(&layout);
    }
    OK(MPI_Group_free(&world));
    play(tasks, n_tasks, ROUNDS);
    for (int i = 0; i < n_tasks; i++) finish(&tasks[i]);
    OK(MPI_Finalize());
    return 0;
}

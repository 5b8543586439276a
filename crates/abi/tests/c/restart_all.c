/* All persistent operations at once: the collectives of all ranks and of neighbours, in place and
 * not, on several communicators, sends and receives. Everything that they were made with is freed
 * before they are started. Ten rounds with other data each; in one array and one by one, in orders
 * that differ between ranks; completed in every way there is, another on each rank.
 *
 * ranks: 1 2 3 4
 * spec: 5, 6, 30, 31, 32, 33, 34, 35, 36, 40, 43, 47, 48, 50, 51, 55
 */

#include "restart_collectives.h"
#include "restart_messages.h"

enum { ROUNDS = 20, MAX_TASKS = 200 };

static struct task tasks[MAX_TASKS];
static int n_tasks = 0;

static void add(const struct operation *operation, MPI_Comm comm, struct layout layout, int count,
                int in_place, MPI_Info info) {
    CHECK(n_tasks < MAX_TASKS);
    struct task *task = &tasks[n_tasks++];
    make(task, operation, comm, layout, count, in_place);
    (n_tasks % 3 ? operation->init : operation->init_c)(task, info);
}

static void add_all(MPI_Comm comm, struct layout layout, int count, MPI_Info info) {
    MPI_Comm with_graph = graph(comm);
    for (int i = 0; i < N_COLLECTIVES; i++)
        for (int in_place = 0; in_place <= COLLECTIVES[i].can_be_in_place; in_place++)
            add(&COLLECTIVES[i], comm, layout, count, in_place, info);
    for (int i = 0; i < N_AMONG_NEIGHBOURS; i++)
        add(&AMONG_NEIGHBOURS[i], with_graph, layout, count, 0, info);
    OK(MPI_Comm_free(&with_graph));
}

static void add_messages(MPI_Comm comm, struct layout layout, int count) {
    for (int i = 0; i < N_SENDS; i++) {
        if (i == READY) continue; /* Nobody knows when the receive has been started. */
        struct task *receive = &tasks[n_tasks++], *send = &tasks[n_tasks++];
        make(receive, &RECEIVE, comm, layout, count, 0);
        make(send, &SENDS[i], comm, layout, count, 0);
        receive->tag = send->tag = i;
        RECEIVE.init(receive, MPI_INFO_NULL);
        SENDS[i].init(send, MPI_INFO_NULL);
    }
}

int main(int argc, char **argv) {
    static char room[1 << 20];
    void *address;
    int bytes, rank;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Buffer_attach(room, (int)sizeof room));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    struct layout ints = plain(), gaps = pairs();
    MPI_Comm copy, reversed;
    MPI_Info info;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "a key that nobody knows", "a value"));
    add_all(copy, ints, 5, info);
    add_all(reversed, gaps, 3, info);
    add_all(copy, ints, 5, MPI_INFO_NULL); /* The same once more is another operation. */
    add_messages(copy, gaps, 100);
    add_messages(MPI_COMM_WORLD, ints, 2000);
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_free(&reversed));
    free_layout(&gaps);
    play(tasks, n_tasks, ROUNDS);
    for (int i = 0; i < n_tasks; i++) finish(&tasks[i]);
    OK(MPI_Buffer_detach(&address, &bytes));
    OK(MPI_Finalize());
    return 0;
}

/* Each persistent collective by itself, in both forms, in place and not, with integers and with
 * pairs that have gaps and an operator of the program: started ten times with other data each time.
 *
 * ranks: 1 2 3 4
 * spec: 3, 5, 30, 35, 40, 42, 56, 78
 */

#include "restart_collectives.h"

enum { ROUNDS = 10 };

static void all_of(const struct operation *operations, int n, MPI_Comm comm) {
    static const int COUNTS_TRIED[] = {0, 1, 500};
    for (int variant = 0; variant < n * 3 * 2 * 2; variant++) {
        const struct operation *operation = &operations[variant % n];
        int count = COUNTS_TRIED[variant / n % 3];
        int has_pairs = variant / n / 3 % 2, in_place = variant / n / 6 % 2;
        int is_large = (variant / n + has_pairs + in_place) % 2;
        if (in_place && !operation->can_be_in_place) continue;
        struct layout layout = has_pairs ? pairs() : plain();
        struct task task;
        make(&task, operation, comm, layout, count, in_place);
        (is_large ? operation->init_c : operation->init)(&task, MPI_INFO_NULL);
        play(&task, 1, ROUNDS);
        finish(&task);
        free_layout(&layout);
    }
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    all_of(COLLECTIVES, N_COLLECTIVES, MPI_COMM_WORLD);
    MPI_Comm with_graph = graph(MPI_COMM_WORLD);
    all_of(AMONG_NEIGHBOURS, N_AMONG_NEIGHBOURS, with_graph);
    OK(MPI_Comm_free(&with_graph));
    OK(MPI_Finalize());
    return 0;
}

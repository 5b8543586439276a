/* The communicators of collectives beside the one of all ranks: a periodic grid, in which neighbours
 * exchange data, and two halves of the ranks with an intercommunicator between them. */

enum { MAX_DIMENSIONS = 2, MAX_NEIGHBOURS = 2 * MAX_DIMENSIONS };

static MPI_Comm grid = MPI_COMM_NULL;
/* In the order of their blocks: the one before and the one behind in each dimension. */
static int n_neighbours, neighbours[MAX_NEIGHBOURS];

static MPI_Comm halves = MPI_COMM_NULL;
/* Ranks of the first half, which has rank 0; the second half has one more if their number is odd. */
static int first_half;
/* What names rank 0 as the root of a call over `halves`. */
static int root_across;

/* A grid of at most so many dimensions; a ring where the number of ranks makes no grid of two. */
static void make_grid(int max_dimensions) {
    int sizes[MAX_DIMENSIONS] = {0}, periods[MAX_DIMENSIONS] = {1, 1};
    MPI_Dims_create(size, max_dimensions, sizes);
    int n_dimensions = sizes[1] > 1 ? 2 : 1;
    MPI_Cart_create(world, n_dimensions, sizes, periods, 0, &grid);
    for (int i = 0; i < n_dimensions; i++)
        MPI_Cart_shift(grid, i, 1, &neighbours[2 * i], &neighbours[2 * i + 1]);
    n_neighbours = 2 * n_dimensions;
}

/* Needs two ranks. */
static void make_halves(void) {
    first_half = size / 2;
    int is_second = rank >= first_half;
    MPI_Comm half;
    MPI_Comm_split(world, is_second, rank, &half);
    MPI_Intercomm_create(half, 0, world, is_second ? 0 : first_half, 1, &halves);
    MPI_Comm_free(&half);
    root_across = is_second ? 0 : rank ? MPI_PROC_NULL : MPI_ROOT;
}

static void free_communicators(void) {
    if (grid != MPI_COMM_NULL) MPI_Comm_free(&grid);
    if (halves != MPI_COMM_NULL) MPI_Comm_free(&halves);
}

/* An exchange with the neighbours in the grid by messages, as most programs write it. It moves the
 * data of `neighbor_alltoall`. `halo` waits for all messages in one call, `polled_halo` polls them as
 * task runtimes do.
 *
 * Block k goes to neighbour k with the tag k: there it is the one from the opposite direction. */

static MPI_Request halo_requests[2 * MAX_NEIGHBOURS];

static int *halo_block(int *blocks, int block) {
    return blocks + (size_t)block * (size_t)n;
}

static int halo_blocking(void) {
    int error = MPI_SUCCESS;
    for (int k = 0; k < n_neighbours && !error; k++)
        error = MPI_Sendrecv(halo_block(in, k), n, MPI_INT, neighbours[k], k, halo_block(out, k ^ 1),
                             n, MPI_INT, neighbours[k ^ 1], k, grid, MPI_STATUS_IGNORE);
    return error;
}

static void halo_begin(void) {
    for (int k = 0; k < n_neighbours; k++)
        MPI_Irecv(halo_block(out, k), n, MPI_INT, neighbours[k], k ^ 1, grid, &halo_requests[k]);
    for (int k = 0; k < n_neighbours; k++)
        MPI_Isend(halo_block(in, k), n, MPI_INT, neighbours[k], k, grid,
                  &halo_requests[n_neighbours + k]);
}

static int halo_wait(void) {
    return MPI_Waitall(2 * n_neighbours, halo_requests, MPI_STATUSES_IGNORE);
}

static int halo_poll(void) {
    int is_over = 0, error = MPI_SUCCESS;
    while (!is_over && !error)
        error = MPI_Testall(2 * n_neighbours, halo_requests, &is_over, MPI_STATUSES_IGNORE);
    return error;
}

static int halo_nonblocking(MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    halo_begin();
    return halo_wait();
}

/* Frees the requests of the operation before: its buffers may have gone. */
static int halo_persistent(MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    for (int k = 0; k < 2 * MAX_NEIGHBOURS; k++)
        if (halo_requests[k] && halo_requests[k] != MPI_REQUEST_NULL)
            MPI_Request_free(&halo_requests[k]);
    for (int k = 0; k < n_neighbours; k++)
        MPI_Recv_init(halo_block(out, k), n, MPI_INT, neighbours[k], k ^ 1, grid, &halo_requests[k]);
    for (int k = 0; k < n_neighbours; k++)
        MPI_Send_init(halo_block(in, k), n, MPI_INT, neighbours[k], k, grid,
                      &halo_requests[n_neighbours + k]);
    return MPI_SUCCESS;
}

static int halo_restart(void) {
    MPI_Startall(2 * n_neighbours, halo_requests);
    return halo_wait();
}

/* Receives and sends one message after the other, and polls each. */
static int polled_halo_blocking(void) {
    int error = MPI_SUCCESS;
    for (int k = 0; k < n_neighbours && !error; k++) {
        MPI_Request request;
        int is_over = 0;
        MPI_Irecv(halo_block(out, k ^ 1), n, MPI_INT, neighbours[k ^ 1], k, grid, &request);
        MPI_Send(halo_block(in, k), n, MPI_INT, neighbours[k], k, grid);
        while (!is_over && !error) error = MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
    }
    return error;
}

static int polled_halo_nonblocking(MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    halo_begin();
    return halo_poll();
}

static int polled_halo_restart(void) {
    MPI_Startall(2 * n_neighbours, halo_requests);
    return halo_poll();
}

"""A pool of the ranks of a job, in the two ways that need no new processes.

    mpiexec -n 3 python -m mpi4py.futures pool.py executor
    mpiexec -n 3 python pool.py communicator
"""

import sys

from mpi4py import MPI
from mpi4py.futures import MPICommExecutor, MPIPoolExecutor


def work(executor):
    assert list(executor.map(abs, range(-5, 0))) == [5, 4, 3, 2, 1]
    print("the pool has worked", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["executor"]:
        with MPIPoolExecutor() as pool:
            work(pool)
    else:
        with MPICommExecutor(MPI.COMM_WORLD, root=0) as pool:
            if pool is not None:
                work(pool)

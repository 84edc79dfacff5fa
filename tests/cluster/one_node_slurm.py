"""A real SLURM of one node, started by hand for the length of a with block.

It needs Debian's `slurm-wlm` and `munge` and the rights of root, and neither systemd nor cgroups
nor an accounting service.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

CONFIGURATION = Path("/etc/slurm/slurm.conf")
MARK = "# Written by kneewear's tests/cluster; removed when they end.\n"
PATIENCE = 30

TEXT = """{mark}
ClusterName=kneewear
SlurmctldHost={host}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MinJobAge=300
KillWait=2
SlurmdTimeout=10
ReturnToService=2
SchedulerParameters=batch_sched_delay=0
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={host} CPUs={cores} RealMemory={memory} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=60 State=UP
"""


def what_is_missing() -> str:
    """Why SLURM cannot be started here; empty when it can."""
    missing = [name for name in ("slurmctld", "slurmd", "sbatch", "munged") if not _path(name)]
    if missing:
        return f"needs {', '.join(missing)} (Debian: apt-get install slurm-wlm munge)"
    if os.getuid() != 0:
        return "needs the rights of root to start the daemons"
    if CONFIGURATION.exists() and not CONFIGURATION.read_text().startswith(MARK):
        return f"{CONFIGURATION} belongs to another cluster"
    return ""


class Node:
    """The one node and its controller."""

    def __init__(self, folder: Path, cores: int) -> None:
        self.folder = folder
        self.host = socket.gethostname().partition(".")[0]
        for name in ("state", "spool"):
            (folder / name).mkdir(parents=True)
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
        text = TEXT.format(
            mark=MARK.strip(), host=self.host, folder=folder, cores=cores, memory=memory
        )
        CONFIGURATION.parent.mkdir(exist_ok=True)
        CONFIGURATION.write_text(text)

    def start(self) -> None:
        """Start the authentication and both daemons, and wait for the node."""
        self.start_munge()
        _daemon("slurmctld")
        self.start_node()

    def start_munge(self) -> None:
        """Start munge unless it runs; its folder does not outlive a reboot."""
        if subprocess.run(["munge", "-n"], capture_output=True, check=False).returncode == 0:
            return
        Path("/run/munge").mkdir(mode=0o755, exist_ok=True)
        shutil.chown("/run/munge", "munge", "munge")
        subprocess.run(["runuser", "-u", "munge", "--", _path("munged"), "--force"], check=True)

    def start_node(self) -> None:
        """Start the daemon of the node and wait until it takes jobs."""
        _daemon("slurmd")
        deadline = time.monotonic() + PATIENCE
        while "idle" not in (state := self.state()) and "mix" not in state:
            if time.monotonic() > deadline:
                log = (self.folder / "slurmctld.log").read_text()[-2000:]
                raise TimeoutError(f"the node is {state}\n{log}")
            time.sleep(0.2)

    def state(self) -> str:
        """State of the node in SLURM's words."""
        return subprocess.run(
            ["sinfo", "--noheader", "--format=%T"],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        ).stdout.strip()

    def kill_node(self) -> None:
        """Kill -9 of the node's daemon, of its step daemons and of all their jobs at once."""
        daemon = int((self.folder / "slurmd.pid").read_text())
        started = [daemon]
        for process in _processes():
            if b"slurmstepd" in process[1]:
                started += [process[0], *_children(process[0])]
        for number in started:
            _kill(number)

    def stop(self) -> None:
        """Cancel the jobs, stop the daemons and remove the configuration."""
        if not CONFIGURATION.exists():
            return
        subprocess.run(["scancel", "--user=root"], check=False, timeout=PATIENCE)
        deadline = time.monotonic() + PATIENCE
        while self.jobs() and time.monotonic() < deadline:
            time.sleep(0.2)
        for name in ("slurmd", "slurmctld"):
            file = self.folder / f"{name}.pid"
            if file.exists():
                _kill(int(file.read_text()), signal.SIGTERM)
        CONFIGURATION.unlink(missing_ok=True)

    def jobs(self) -> str:
        """Jobs that wait or run, a line each."""
        answer = subprocess.run(
            ["squeue", "--noheader"], capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        return answer.stdout


@contextmanager
def one_node(folder: Path, cores: int = 2) -> Iterator[Node]:
    """Run SLURM for the length of a block; munge is left running."""
    node = Node(folder, cores)
    try:
        node.start()
        yield node
    finally:
        node.stop()


def _path(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def _daemon(name: str) -> None:
    subprocess.run([str(_path(name))], check=True, timeout=PATIENCE)


def _kill(number: int, how: int = signal.SIGKILL) -> None:
    with suppress(ProcessLookupError):
        os.kill(number, how)


def _processes() -> list[tuple[int, bytes, int]]:
    """Number, command and parent of all processes."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            found.append((int(folder.name), (folder / "cmdline").read_bytes(), parent))
        except OSError:
            continue
    return found


def _children(number: int) -> list[int]:
    """Processes that descend from one."""
    offspring = [one for one, _, parent in _processes() if parent == number]
    return offspring + [each for one in offspring for each in _children(one)]

"""Long fuzzing of the readers, in processes of their own so that a crash or a hang is counted.

`python -m tests.faults.fuzz --count 100000 mesh points` runs random mutations of real files;
`--total 1000000` shares executions out among all readers, in rounds that each represent the whole;
`--guided` lets atheris choose mutations by the code they reach (`pip install atheris`).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from random import Random
from typing import Any

from tests.faults.readers import READERS, Outcome, Reader

# Executions of one process; seconds of the processor, and by the clock, after which one hangs. A
# busy machine may keep a process waiting for a long time.
CHUNK = 2000
PATIENCE = 20
PATIENCE_BY_THE_CLOCK = 600

# Shares of the executions of all readers, roughly by their speed, and executions of a round.
SHARES = {
    "mesh": 0.70,
    "points": 0.12,
    "curves": 0.08,
    "table": 0.06,
    "settings": 0.03,
    "damaged result": 0.007,
    "result": 0.003,
}
ROUND = 20_000


def run(name: str, count: int, seed: int, folder: Path) -> dict[str, Any]:
    """Execute random mutations; counts, and the files that brought a process down."""
    total, faults, start = Outcome(), [], time.perf_counter()
    context = multiprocessing.get_context("fork")
    for first in range(0, count, CHUNK):
        ours, theirs = context.Pipe(duplex=False)
        work = folder / f"{name}-{first}"
        work.mkdir()
        numbers = range(first, min(first + CHUNK, count))
        process = context.Process(target=_chunk, args=(READERS[name], numbers, seed, work, theirs))
        process.start()
        theirs.close()
        with contextlib.suppress(EOFError):
            while True:
                kind, report = ours.recv()
                if kind == "fault":
                    faults.append(report)
                    continue
                for field in ("executions", "past_head", "accepted", "refused"):
                    setattr(total, field, getattr(total, field) + report[field])
                break
        process.join()
        if process.exitcode:
            code = process.exitcode
            kind = signal.Signals(-code).name if code < 0 else f"exit {code}"
            kept = [str(path) for path in work.iterdir() if path.is_file()]
            faults.append(f"{kind} at a file kept in {kept}")
        else:
            for path in sorted(work.rglob("*"), reverse=True):
                path.unlink() if path.is_file() else path.rmdir()
            work.rmdir()
    seconds = time.perf_counter() - start
    return {
        "reader": name,
        "executions": total.executions,
        "past_head": round(total.past_head / max(total.executions, 1), 3),
        "accepted": total.accepted,
        "refused": total.refused,
        "seconds": round(seconds, 1),
        "faults": faults,
    }


def _chunk(reader: Reader, numbers: range, seed: int, work: Path, pipe: Any) -> None:
    """Some executions of one process; every tenth mutation goes on from the one before."""
    seeds, outcome = list(reader.seeds().items()), Outcome()
    before: dict[str, bytes] = {}
    with reader.watched(outcome):
        for number in numbers:
            random = Random(f"{seed} {number}")
            file, content = random.choice(seeds)
            if random.random() < 0.1:
                content = before.get(file, content)
            content = before[file] = reader.mutate(content, random)
            signal.setitimer(signal.ITIMER_PROF, PATIENCE)
            signal.alarm(PATIENCE_BY_THE_CLOCK)
            try:
                reader.execute(work / file, content, random, outcome)
            except Exception:
                kept = work.parent / f"fault-{number}-{file}"
                kept.write_bytes(content)
                pipe.send(("fault", f"{traceback.format_exc(limit=-3)} kept in {kept}"))
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)
    pipe.send(("counts", vars(outcome)))


def run_rounds(total: int, seed: int, folder: Path) -> None:
    """Rounds over all readers until so many executions are done; each reports the counts so far."""
    names = ("executions", "past_head", "accepted", "refused", "seconds")
    so_far: dict[str, dict[str, float]] = {name: dict.fromkeys(names, 0) for name in SHARES}
    faults: list[str] = []
    for number in range(math.ceil(total / ROUND)):
        for name, share in SHARES.items():
            work = folder / f"{number}-{name}"
            work.mkdir()
            found = run(name, round(share * ROUND), seed + number, work)
            found["past_head"] *= found["executions"]
            for field in names:
                so_far[name][field] += found[field]
            faults += found["faults"]
        counts = {name: sum(one[name] for one in so_far.values()) for name in names}
        counts["past_head"] = round(counts["past_head"] / counts["executions"], 3)
        report = {"readers": {name: one["executions"] for name, one in so_far.items()}}
        print(json.dumps(counts | report | {"faults": faults}), flush=True)


def guide(name: str, count: int, seed: int, folder: Path) -> None:
    """Let atheris choose the mutations; its process ends with the count."""
    import atheris  # a tool of its own, not among the requirements

    reader, outcome, start = READERS[name], Outcome(), time.perf_counter()
    seeds = reader.seeds()
    corpus = folder / "corpus"
    corpus.mkdir()
    names = sorted(seeds)
    for number, file in enumerate(names):
        (corpus / file).write_bytes(bytes([number]) + seeds[file])

    def split(data: bytes) -> tuple[str, bytes]:
        return names[data[0] % len(names)] if data else names[0], data[1:]

    def mutate(data: bytes, size: int, number: int) -> bytes:
        file, content = split(data)
        try:
            content = reader.mutate(content, Random(number))
        except Exception:  # a mutation needs a file that is still whole
            content = reader.mutate(seeds[file], Random(number))
        return (bytes([names.index(file)]) + content)[:size]

    def read(data: bytes) -> None:
        file, content = split(data)
        reader.execute(folder / file, content, Random(len(content)), outcome)
        if outcome.executions in (count // 2, count):
            share = outcome.past_head / outcome.executions
            counts = {"reader": name, "guided": True, "executions": outcome.executions}
            report = counts | {"past_head": round(share, 3), "accepted": outcome.accepted}
            print(
                json.dumps(report | {"seconds": round(time.perf_counter() - start, 1)}), flush=True
            )

    for owner, _ in reader.body:
        functions = [f for f in vars(owner).items() if callable(f[1]) and hasattr(f[1], "__code__")]
        for key, function in functions:
            if getattr(function, "__module__", "").startswith("kneewear"):
                setattr(owner, key, atheris.instrument_func(function))
    options = [f"-runs={count}", f"-seed={seed}", "-max_len=20000", f"-timeout={PATIENCE}"]
    stack = contextlib.ExitStack()
    stack.enter_context(reader.watched(outcome))
    atheris.Setup([sys.argv[0], *options, str(corpus)], read, custom_mutator=mutate)
    atheris.Fuzz()


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.fuzz", description=__doc__)
    parser.add_argument("reader", nargs="*", default=list(READERS))
    parser.add_argument("--count", type=int, default=10_000, help="executions of each reader")
    parser.add_argument("--total", type=int, help="executions of all readers together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--guided", action="store_true", help="by atheris; one reader only")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="fuzz-", dir=os.environ.get("FUZZ_FOLDER")))
    if asked.guided:
        guide(asked.reader[0], asked.count, asked.seed, folder)
    if asked.total:
        run_rounds(asked.total, asked.seed, folder)
        return
    for name in asked.reader:
        print(json.dumps(run(name, asked.count, asked.seed, folder)), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Draws mixes of pods, runs each with pods/pods.c on partitions of this machine's processors, and writes what they took.

    gcc -O1 -static -o pods pods/pods.c -lm
    sudo ./measure.py ./pods manycore.csv 540              # seconds at most
    sudo ./measure.py ./pods few.csv 3600 1=48 2=48        # mixes on one and on two processors

Partitions are cpusets with scheduling domains of their own, so that four processors are as a machine of four. With cgroup v1 they
are only the processors that the pods may run on, which comes to the same where a partition is one processor or all. Mixes of one
number of processors run side by side, one on each partition. Pods alone are run first: a pod without a limit as one thread on a
processor of its own, which is what it takes alone if it has no more threads than there are processors; any other pod with all its
threads, on the smallest partition that has a processor for each, or as many as its mix has.
"""
import csv
import os
import pathlib
import random
import subprocess
import sys
import time
from dataclasses import dataclass, replace

UNIFIED = pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists()  # cgroup v2
ROOT = pathlib.Path("/sys/fs/cgroup" if UNIFIED else "/sys/fs/cgroup/cpu")
PROCESSORS = os.cpu_count()
WINDOW, ALONE, OVERHEAD = 7.0, 4.0, 0.85  # seconds

REQUESTS = [10, 20, 50, 100, 200, 500, 1000, 2000, 4000, 8000]  # thousandths of a core
LOADINGS = [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1]
BURSTS = [0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200]  # ms
THREADS = [1, 1, 1, 1, 2, 2, 4, 8, 16]


@dataclass(frozen=True)
class Pod:
    request: int  # thousandths of a core
    limit: int  # thousandths of a core, 0 for none
    loading: float  # of each thread
    burst: float  # ms
    threads: int
    kind: str  # e: exponential, c: constant
    seed: int

    def weight(self):
        """The weight that a kubelet gives for the request: of shares, by the linear conversion of cgroup v2."""
        shares = max(2, self.request * 1024 // 1000)
        return 1 + (shares - 2) * 9999 // 262142

    def text(self):
        return f"{self.weight()}:{self.limit}:{self.loading:g}:{self.burst:g}:{self.threads}:{self.kind}:{self.seed}"

    def alone(self, processors):
        """What takes as long alone on so many processors, relative to its own time, whatever its weight."""
        if self.limit or self.threads > processors:
            return replace(self, request=100)
        return replace(self, request=100, threads=1, seed=7)


def draw_pod(rng, processors, limited):
    threads = [n for n in THREADS if n <= 4 * processors]
    pod = Pod(rng.choice(REQUESTS), 0, rng.choice(LOADINGS), rng.choice(BURSTS), rng.choice(threads), rng.choice("eec"), rng.randrange(10**6))
    if limited and rng.random() < 0.4:
        limit = pod.loading * pod.threads * rng.uniform(0.5, 2) * 1000
        pod = replace(pod, limit=max(50, round(limit / 10) * 10))
    return pod


def draw_mix(rng, processors):
    """Pods that would use 30 to 120 % of the processors, if they did not wait."""
    limited, target, pods, load = rng.random() < 0.5, rng.uniform(0.3, 1.2) * processors, [], 0
    for _ in range(1000):
        pod = draw_pod(rng, processors, limited)
        uses = pod.loading * pod.threads
        if load + uses <= target * 1.05 and len(pods) < 40:
            pods.append(pod)
            load += uses
        if load > target * 0.95 and len(pods) > 1:
            return pods
    return draw_mix(rng, processors)


def width(pod, processors):
    """The number of processors on which a pod runs alone."""
    return min(processors, next(n for n in (1, 2, 4, 8, 16) if n >= pod.threads))


class Machine:
    """The partitions, and what ran on them so far."""

    def __init__(self, program, end):
        self.program, self.end, self.rows = program, end, {}
        if UNIFIED:
            (ROOT / "cgroup.subtree_control").write_text("+cpu +cpuset")

    def partitions(self, processors):
        """Yields the control group and the processors of each partition."""
        for old in ROOT.glob("part*"):
            old.rmdir()
        for first in range(0, PROCESSORS, processors):
            part, cpus = ROOT / f"part{first}", range(first, first + processors)
            part.mkdir()
            if UNIFIED:
                isolate(part, cpus)
            yield part, cpus

    def run(self, processors, lines, seconds):
        """Runs lines of pods.c, as many at a time as there are partitions. Lines that there is no time for are left out."""
        parts = list(self.partitions(processors))
        rounds = [lines[i : i + len(parts)] for i in range(0, len(lines), len(parts))]
        for some in rounds:
            if time.monotonic() + seconds + OVERHEAD > self.end:
                print(f"no time for {len(lines)} lines on {processors} processors", flush=True)
                return
            before = stolen()
            running = []
            for (part, cpus), (name, pods) in zip(parts, some):
                may_run = [] if UNIFIED else ["taskset", "-c", f"{cpus[0]}-{cpus[-1]}"]
                p = subprocess.Popen([*may_run, self.program, part], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                running.append(p)
                p.stdin.write(f"{name} {seconds} {' '.join(pods)}\n")
                p.stdin.close()
            for p in running:
                for row in csv.reader(p.stdout):
                    self.rows[row[0], int(row[1])] = (int(row[2]), float(row[3]))
                if p.wait():
                    sys.exit(f"{self.program} failed")
            if stolen() - before > 0.01 * seconds * PROCESSORS:
                print(f"{some[0][0]}: {stolen() - before:.2f} s stolen", flush=True)


def isolate(part, cpus):
    """Gives a partition its processors, with scheduling domains of their own."""
    if len(cpus) < PROCESSORS:
        (part / "cpuset.cpus").write_text(f"{cpus[0]}-{cpus[-1]}")
        # The last processors stay with the root, which must have some: their partition is a member with no others in it.
        if cpus[-1] + 1 < PROCESSORS:
            (part / "cpuset.cpus.partition").write_text("root")
            if (part / "cpuset.cpus.partition").read_text().strip() != "root":
                sys.exit(f"{part}: {(part / 'cpuset.cpus.partition').read_text()}")
    (part / "cgroup.subtree_control").write_text("+cpu")


def stolen():
    """Seconds that the hypervisor has kept from the processors."""
    return int(pathlib.Path("/proc/stat").read_text().split()[8]) / 100


def main():
    program, out, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    counts = {4: 48, 8: 24, 16: 16}
    if sys.argv[4:]:
        counts = {int(p): int(n) for p, n in (argument.split("=") for argument in sys.argv[4:])}
    rng = random.Random(20261126)
    mixes = {p: {f"{p}-{i + 1}": draw_mix(rng, p) for i in range(count)} for p, count in counts.items()}
    machine = Machine(program, time.monotonic() + seconds)
    print("stolen since boot:", stolen(), flush=True)

    alone = {}  # by number of processors
    for processors, some in mixes.items():
        for pod in (pod for pods in some.values() for pod in pods):
            lone = pod.alone(processors)
            if lone.loading < 1 or lone.limit or lone.threads > 1:
                known = alone.setdefault(width(lone, processors), {})
                known.setdefault(lone, f"alone-{width(lone, processors)}-{len(known) + 1}")
    print({n: len(pods) for n, pods in alone.items()}, {n: sum(map(len, some.values())) for n, some in mixes.items()}, flush=True)
    for processors, pods in sorted(alone.items()):
        machine.run(processors, [(name, [pod.text()]) for pod, name in pods.items()], ALONE)
    for processors, some in mixes.items():
        machine.run(processors, [(name, [pod.text() for pod in pods]) for name, pods in some.items()], WINDOW)
    # The same by themselves, with nothing on the other partitions, and side by side once more.
    fewest = min(mixes)
    again = list(mixes[fewest].items())[:4]
    machine.run(fewest, [(f"again-{name}", [pod.text() for pod in pods]) for name, pods in again], WINDOW)
    for name, pods in again[:3]:
        machine.run(fewest, [(f"single-{name}", [pod.text() for pod in pods])], WINDOW)

    with open(out, "w", newline="") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow("mix,processors,pod,request,weight,limit,loading,burst_ms,threads,kind,seed,bursts,alone,together,dilation".split(","))
        for processors, some in mixes.items():
            for name, pods in some.items():
                for i, pod in enumerate(pods):
                    for prefix in ("", "again-", "single-"):
                        if (prefix + name, i + 1) not in machine.rows:
                            continue
                        bursts, together = machine.rows[prefix + name, i + 1]
                        lone, own = pod.alone(processors), 1.0
                        if lone in (known := alone.get(width(lone, processors), {})):
                            own = machine.rows.get((known[lone], 1), (0, float("nan")))[1]
                        kind = {"e": "exponential", "c": "constant"}[pod.kind]
                        writer.writerow([prefix + name, processors, i + 1, pod.request, pod.weight(), pod.limit or "", pod.loading, pod.burst, pod.threads,
                                         kind, pod.seed, bursts, f"{own:.4f}", f"{together:.4f}", f"{together / own:.4f}"])
    print("stolen since boot:", stolen(), flush=True)


if __name__ == "__main__":
    main()

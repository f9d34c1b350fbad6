#!/usr/bin/env python3
"""Measures how much jobs of unlike kinds slow each other down on one GPU, in pairs and in threes.

    ./measure.py --out FOLDER --suffix h100 --seconds 560

Each kind of job is a function that does one unit of work, some milliseconds alone. Two processes of each kind are started once and
wait; the controller names those that run, with a window of time in which they count their units. Dilation is the rate alone,
the mean of the runs alone at the beginning and at the end, over the rate together. Needs PyTorch and CuPy.
"""
import argparse
import csv
import itertools
import math
import pathlib
import random
import statistics
import subprocess
import sys
import time

KINDS = {}


def kind(name):
    """Registers what prepares a kind of job: a function that returns one which starts a unit of work."""

    def register(prepare):
        KINDS[name] = prepare
        return prepare

    return register


def graphed(unit):
    """Returns what launches a unit as one graph, so that its rate does not depend on how fast the host launches kernels."""
    import torch

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            unit()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        unit()
    return graph.replay


def gemm(size, dtype, launches):
    import torch

    a, b = (torch.randn(size, size, device="cuda", dtype=dtype) for _ in range(2))
    c = torch.empty_like(a)
    return lambda: [torch.mm(a, b, out=c) for _ in range(launches)]


@kind("gemm fp32 (size 4096)")
def gemm_large():
    import torch

    return gemm(4096, torch.float32, 2)


@kind("gemm bf16 (size 256)")
def gemm_short():
    """Kernels of some microseconds on a few of the multiprocessors."""
    import torch

    return graphed(gemm(256, torch.bfloat16, 1000))


@kind("gemm bf16 (size 8192)")
def gemm_tensor():
    import torch

    return gemm(8192, torch.bfloat16, 4)


@kind("stream")
def stream():
    import torch

    a, b = (torch.randn(2**28, device="cuda") for _ in range(2))
    return lambda: [a.copy_(b) for _ in range(8)]


@kind("stream in cache")
def stream_cache():
    import torch

    a = torch.randn(2**22, device="cuda")  # 16 MiB, of 50 MB of second-level cache
    return graphed(lambda: [a.add_(1) for _ in range(600)])


def kernel(code, name):
    import cupy

    return cupy.RawKernel(code, name)


@kind("chase")
def chase():
    """Few warps that follow pointers through the memory: latency, at low occupancy."""
    import cupy

    n = 2**26
    step = kernel(
        """extern "C" __global__ void chase(const unsigned *next, unsigned steps, unsigned n, unsigned *out) {
            unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u % n;
            for (unsigned i = 0; i < steps; i++) at = next[at];
            out[blockIdx.x * blockDim.x + threadIdx.x] = at;
        }""",
        "chase",
    )
    # A linear congruential generator of full period modulo 2^26 makes one cycle.
    following = (cupy.arange(n, dtype=cupy.uint64) * 1664525 + 1013904223) % n
    following, out = following.astype(cupy.uint32), cupy.empty(4 * 32, cupy.uint32)
    return lambda: step((4,), (32,), (following, cupy.uint32(10000), cupy.uint32(n), out))


@kind("fp64")
def fp64():
    import cupy

    multiply = kernel(
        """extern "C" __global__ void multiply(double *x, int turns) {
            double a = x[blockIdx.x * blockDim.x + threadIdx.x], b = a + 1, c = a + 2, d = a + 3;
            for (int i = 0; i < turns; i++) a = a * 0.99 + 0.1, b = b * 0.99 + 0.1, c = c * 0.99 + 0.1, d = d * 0.99 + 0.1;
            x[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
        }""",
        "multiply",
    )
    x = cupy.random.random(132 * 8 * 256)
    return lambda: multiply((132 * 8,), (256,), (x, cupy.int32(20000)))


@kind("atomics")
def atomics():
    import cupy

    count = kernel(
        """extern "C" __global__ void count(unsigned *bins, int turns) {
            unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
            for (int i = 0; i < turns; i++) r = r * 1664525u + 1013904223u, atomicAdd(&bins[r >> 22], 1u);
        }""",
        "count",
    )
    bins = cupy.zeros(1024, cupy.uint32)
    return lambda: count((132 * 4,), (256,), (bins, cupy.int32(300)))


@kind("copy to device")
def copy():
    import torch

    host, device = torch.randn(2**24).pin_memory(), torch.empty(2**24, device="cuda")
    return lambda: [device.copy_(host, non_blocking=True) for _ in range(3)]


def convnet(batch, passes):
    import torch

    layers = [torch.nn.Conv2d(3, 64, 7, stride=4, padding=3), torch.nn.ReLU()]
    for width, stride in [(64, 1)] * 4 + [(128, 2)] + [(128, 1)] * 4 + [(256, 2)] + [(256, 1)] * 4:
        before = next(m for m in reversed(layers) if isinstance(m, torch.nn.Conv2d)).out_channels
        layers += [torch.nn.Conv2d(before, width, 3, stride=stride, padding=1), torch.nn.BatchNorm2d(width), torch.nn.ReLU()]
    net = torch.nn.Sequential(*layers).cuda().half().eval().to(memory_format=torch.channels_last)
    images = torch.randn(batch, 3, 224, 224, device="cuda", dtype=torch.half).to(memory_format=torch.channels_last)

    @torch.no_grad()
    def unit():
        for _ in range(passes):
            net(images)

    return graphed(unit)


@kind("convnet (batch size 1)")
def convnet_one():
    return convnet(1, 6)


@kind("convnet (batch size 32)")
def convnet_many():
    return convnet(32, 6)


def token(tokens):
    """The products of a transformer that generates one token at a time: matrices are read for one vector."""
    import torch

    width, layers = 4096, 12
    weights = [[torch.randn(width, n, device="cuda", dtype=torch.bfloat16) / 64 for n in (3 * width, width, 2 * width)] for _ in range(layers)]
    keys = torch.randn(32, 2048, 128, device="cuda", dtype=torch.bfloat16)
    first = torch.randn(1, width, device="cuda", dtype=torch.bfloat16)

    @torch.no_grad()
    def unit():
        x = first
        for _ in range(tokens):
            for into, out, up in weights:
                q = (x @ into)[:, :width].view(32, 1, 128)
                a = torch.softmax(q @ keys.transpose(1, 2) / 11, -1) @ keys
                x = torch.nn.functional.layer_norm(x + a.view(1, width) @ out + (x @ up)[:, :width], (width,))

    return graphed(unit)


@kind("decode")
def decode():
    return token(4)


@kind("decode and sample")
def decode_sample():
    """A token at a time, after each of which the host takes half a millisecond, by the clock."""
    import torch

    one = token(1)

    def unit():
        for _ in range(4):
            one()
            torch.cuda.synchronize()
            until = time.monotonic() + 0.0005
            while time.monotonic() < until:
                pass

    return unit


@kind("train")
def train():
    import torch

    net = torch.nn.Sequential(*[m for _ in range(6) for m in (torch.nn.Linear(2048, 2048), torch.nn.GELU())]).cuda().bfloat16()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4, capturable=True)
    x = torch.randn(512, 2048, device="cuda", dtype=torch.bfloat16)

    def unit():
        for _ in range(3):
            optimizer.zero_grad()
            (net(x) - x).square().mean().backward()
            optimizer.step()

    return graphed(unit)


def serve(idle):
    """Requests of 4 ms and pauses that make up this part of the time: quantiles of an exponential distribution, shuffled, so that
    a few of them have its mean."""
    import torch

    work, busy, count = gemm(4096, torch.bfloat16, 22), 0.004, 16
    pauses = [-math.log(1 - (i + 0.5) / count) for i in range(count)]
    mean, left = statistics.mean(pauses), []

    def unit():
        work()
        torch.cuda.synchronize()
        if not left:
            left.extend(random.sample(pauses, count))
        time.sleep(left.pop() / mean * busy * idle / (1 - idle))

    return unit


@kind("inference (idle 30)")
def serve_30():
    return serve(0.3)


@kind("inference (idle 60)")
def serve_60():
    return serve(0.6)


@kind("inference (idle 80)")
def serve_80():
    return serve(0.8)


def work(name):
    """Does units of work whenever standard input says so: a line has the beginning and the end of a window."""
    import torch

    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    unit = KINDS[name]()

    def timed():
        unit()
        torch.cuda.synchronize()
        return time.monotonic()

    for _ in range(3):
        timed()
    print("ready", flush=True)
    for line in sys.stdin:
        begin, end = map(float, line.split())
        done, before = 0.0, time.monotonic()
        while before < end:
            after = timed()
            # Of units that were under way at an end of the window, the part within counts.
            done += max(0, min(after, end) - max(before, begin)) / (after - before)
            before = after
        print(done / (end - begin), flush=True)


class Controller:
    def __init__(self, window, settle, names):
        self.window, self.settle = window, settle
        self.workers = {}
        for name in names:
            for copy in range(2):
                self.workers[name, copy] = subprocess.Popen([sys.executable, __file__, "--work", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for (name, copy), w in self.workers.items():
            if w.stdout.readline() != "ready\n":
                sys.exit(f"{name} did not start")

    def run(self, names):
        """Returns the rates of jobs that run together, in units a second."""
        begin = time.monotonic() + self.settle
        running = [self.workers[name, names[:i].count(name)] for i, name in enumerate(names)]
        for w in running:
            w.stdin.write(f"{begin} {begin + self.window}\n")
            w.stdin.flush()
        return [float(w.stdout.readline()) for w in running]

    def stop(self):
        for w in self.workers.values():
            w.stdin.close()
        for w in self.workers.values():
            w.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", help="be a job of this kind")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."), help="folder")
    parser.add_argument("--suffix", default="gpu", help="of the names of files")
    parser.add_argument("--window", type=float, default=1.1, help="seconds")
    parser.add_argument("--settle", type=float, default=0.2, help="seconds before a window")
    parser.add_argument("--seconds", type=float, default=540, help="for all")
    parser.add_argument("--triples", type=int, default=60, help="at most")
    parser.add_argument("--repeats", type=int, default=15, help="pairs that are measured once more")
    parser.add_argument("--names", default=",".join(KINDS), help="of kinds, with commas")
    o = parser.parse_args()
    if o.work:
        return work(o.work)
    end = time.monotonic() + o.seconds
    rng = random.Random(26)
    names = o.names.split(",")
    controller = Controller(o.window, o.settle, names)
    print(f"{len(names)} kinds are ready, {end - time.monotonic():.0f} s are left", flush=True)
    rounds = []  # of runs: the phase, the jobs and their rates
    each = o.window + o.settle + 0.03

    def measure(phase, combinations, reserve):
        for c in combinations:
            if time.monotonic() + each > end - reserve:
                print(f"{phase}: no time for all", flush=True)
                return
            rounds.append((phase, c, controller.run(list(c))))

    pairs = list(itertools.combinations_with_replacement(names, 2))
    triples = list(itertools.combinations(names, 3))
    rng.shuffle(pairs), rng.shuffle(triples)
    last = each * len(names)
    measure("alone", [(n,) for n in names], 0)
    print({c[0]: round(r[0], 2) for _, c, r in rounds}, flush=True)
    measure("pair", pairs, last)
    measure("repeat", pairs[: o.repeats], last)
    measure("triple", triples[: o.triples], last)
    measure("alone", [(n,) for n in names], 0)
    controller.stop()

    alone = {n: [r[0] for phase, c, r in rounds if phase == "alone" and c == (n,)] for n in names}
    with open(o.out / f"gpu-alone-{o.suffix}.csv", "w") as f:
        f.write("job,first,second\n" + "".join(f"{n},{','.join(f'{r:.4f}' for r in rates)}\n" for n, rates in alone.items()))
    for phase in ("pair", "repeat", "triple"):
        with open(o.out / f"gpu-{phase}s-{o.suffix}.csv", "w", newline="") as f:
            writer = csv.writer(f, lineterminator="\n")
            writer.writerow(["run", "job", "dilation"])
            for i, (_, c, rates) in enumerate([r for r in rounds if r[0] == phase]):
                for name, rate in zip(c, rates):
                    writer.writerow([i + 1, name, f"{statistics.mean(alone[name]) / rate:.4f}"])
    for name, rates in alone.items():
        print(f"{name:28} {rates}", flush=True)


if __name__ == "__main__":
    main()

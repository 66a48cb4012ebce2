#!/usr/bin/env python3
"""What each step of S @ x costs the caller, in microseconds of the host. JSON lines on standard
output, of kind "python" and case "step", as python_speed.py writes its own.

    python/bench/python_steps.py [--device cuda|cpu] [--rounds 9] > steps.jsonl

The matrix is an 8 x 8 identity in f64, so small that the device never holds the caller up. The
steps, for each library that is here (the contestant):

    launch     runs of the C++ plan in a loop of C++
    convert    a call into an array, on a stream that the call names
    stream     the same on the current stream, which is looked up (on a CPU there is none)
    allocate   a call that makes its result
    method     S @ x, by the method of the operator
    empty      a new array of the library's own, without lanky
    call       a function of Python that does nothing; each of the above but launch holds one

A line has the time of a call (median_us, min_us and us, as in python_speed.py), and `beyond_us`,
the median of the differences to the step before in the same round: what that step adds. Rounds time
each step once, over as many calls as a CUDA stream queues, and the steps take turns."""

import argparse
import statistics
import time

import numpy as np
import scipy.sparse
from python_speed import HOST_CALLS, Cpu, Gpu, environment, tell

import lanky

N = 8
DTYPE = "float64"
# Each step and the one that it goes beyond.
STEPS = {
    "launch": None,
    "convert": "launch",
    "stream": "convert",
    "allocate": "stream",
    "method": "allocate",
    "empty": "call",
    "call": None,
}


def nothing():
    """The least that a call costs."""


def steps_of(matrix, x, out, empty, stream):
    """Each step as a function that makes a number of calls, and the product as it is checked."""
    a = lanky.sparse(matrix)
    plan = a._plan()

    def repeated(call):
        def run(calls):
            for _ in range(calls):
                call()

        return run

    return {
        "launch": lambda calls: plan.repeat(x, out, calls),
        "convert": repeated(lambda: plan.multiply(x, out, 1.0, 0.0, stream)),
        "stream": repeated(lambda: plan.multiply(x, out, 1.0, 0.0, None)),
        "allocate": repeated(lambda: plan.multiply(x)),
        "method": repeated(lambda: a @ x),
        "empty": repeated(empty),
        "call": repeated(nothing),
    }, (lambda: a @ x)


def libraries(world):
    """For each library its name, and the arguments of steps_of()."""
    csr = scipy.sparse.csr_array(np.eye(N, dtype=DTYPE))
    x, out = np.arange(float(N)), np.zeros(N)
    if isinstance(world, Gpu):
        own_x, cupy = world.array(x), world.cupy
        dtype, stream = np.dtype(DTYPE), 0  # both libraries' current stream is the default one

        def empty():
            return cupy.ndarray((N,), dtype)

        yield world.own_dense, (world.matrix(csr), own_x, world.array(out), empty, stream)
    else:
        yield world.own_dense, (csr, x, out, lambda: np.empty(N), None)
    if world.torch is not None:
        tensor = world.tensor(x)
        stream = 0 if isinstance(world, Gpu) else None
        yield (
            "torch",
            (
                world.sparse_tensor(csr),
                tensor,
                world.tensor(out),
                lambda: tensor.new_empty((N,)),
                stream,
            ),
        )


def measure(world, device, library, arguments, rounds):
    steps, product = steps_of(*arguments)
    facts = {"kind": "python", "case": "step", "dtype": "f64", "m": N, "n": N, "nnz": N}
    facts |= {"device": device, "contestant": f"lanky-{library}"}
    if not np.array_equal(world.numpy(product()), np.arange(float(N))):
        return tell({**facts, "status": "wrong"})
    for run in steps.values():  # kernels are loaded, and caches warm
        run(HOST_CALLS)
    times = {step: [] for step in steps}
    for _ in range(rounds):
        for step, run in steps.items():
            world.sync()
            start = time.perf_counter()
            run(HOST_CALLS)
            times[step].append(1e6 * (time.perf_counter() - start) / HOST_CALLS)
            world.sync()
    for step, each in times.items():
        before = times.get(STEPS[step])
        beyond = [own - other for own, other in zip(each, before)] if before else each
        tell(
            {
                **facts,
                "step": step,
                "status": "ok",
                "calls": HOST_CALLS,
                "median_us": statistics.median(each),
                "min_us": min(each),
                "us": each,
                "beyond": STEPS[step] or "",
                "beyond_us": statistics.median(beyond),
            }
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    world = Gpu() if options.device == "cuda" else Cpu()
    tell(environment(world, options.device))
    for library, arguments in libraries(world):
        measure(world, options.device, library, arguments, options.rounds)


if __name__ == "__main__":
    main()

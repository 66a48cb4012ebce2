#!/usr/bin/env python3
"""Gram products of a tall matrix whose rows are spread over GPUs: each GPU multiplies its own rows, and
NCCL adds up the small results. lanky beside cuBLAS (torch.mm). JSON lines of kind "distributed_gram".

    torchrun --standalone --nproc-per-node 2 python/bench/gram_speed.py OUT.jsonl

Q [rows, columns] stands by rows, as torch's matrices do. "weak": --bytes on each GPU; "strong": so many
in all. "us" is the product with the sum over the GPUs, and "sum_us" that sum alone: the median of
batches, each as long as the slowest rank took. "error" is the largest of any entry against a product
in double precision, in blocks of rows, over eps |Q|^T |Q|."""

import argparse
import json
import math
import os
import statistics
import time

import torch
import torch.distributed as dist

import lanky

BATCHES = 9
COLUMNS = (4, 16, 64)
DTYPES = {"f64": torch.float64, "f32": torch.float32}
# Of lanky, which sums as a tree. cuBLAS promises no order: errors of a chain grow as sqrt(rows).
BOUND = 32


def environment(rank):
    return {
        "kind": "env",
        "schema": 1,
        "gpu": torch.cuda.get_device_name(rank),
        "ranks": dist.get_world_size(),
        "lanky": lanky.version,
        "build": lanky.build_description(),
        "commit": os.environ.get("LANKY_COMMIT", "unknown"),
        "torch": torch.__version__,
        "nccl": ".".join(map(str, torch.cuda.nccl.version())),
        "nccl_nvls": os.environ.get("NCCL_NVLS_ENABLE", "unset"),
        "utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def slowest(value):
    """The largest value of all ranks."""
    tensor = torch.tensor([value], dtype=torch.float64, device="cuda")
    dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
    return tensor.item()


def batch_us(run, count):
    torch.cuda.synchronize()
    dist.barrier()
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(count):
        run()
    torch.cuda.synchronize()
    return slowest((time.perf_counter() - began) * 1e6 / count)


def compared_us(runs):
    """{name: microseconds}; the runs take turns."""
    counts = {}
    for name, run in runs.items():
        batch_us(run, 3)
        counts[name] = min(500, max(3, int(2e4 / batch_us(run, 3))))
    times = {name: [] for name in runs}
    for _ in range(BATCHES):
        for name, run in runs.items():
            times[name].append(batch_us(run, counts[name]))
    return {name: statistics.median(values) for name, values in times.items()}


def reference(q):
    """Q^T Q and |Q|^T |Q| over all ranks, in double precision, summed block by block."""
    sums = torch.zeros(2, q.shape[1], q.shape[1], dtype=torch.float64, device="cuda")
    for block in q.split(1 << 20):
        wide = block.double()
        sums[0] += wide.T @ wide
        sums[1] += wide.abs().T @ wide.abs()
    dist.all_reduce(sums)
    return sums


def compare(case, rows, columns, dtype):
    q = torch.rand(rows, columns, dtype=DTYPES[dtype], device="cuda") * 2 - 1
    wanted, size = reference(q)
    small = torch.empty(columns, columns, dtype=q.dtype, device="cuda")
    products = {
        "lanky": lambda: lanky.gram(q, out=small),
        "cublas": lambda: torch.mm(q.T, q, out=small),
    }

    def with_sum(product):
        product()
        dist.all_reduce(small)

    runs = {name: lambda product=product: with_sum(product) for name, product in products.items()}
    runs["sum alone"] = lambda: dist.all_reduce(small)
    times = compared_us(runs)
    for name in products:
        runs[name]()
        bound = BOUND if name == "lanky" else math.sqrt(rows)
        error = ((small.double() - wanted).abs() / size).max().item() / torch.finfo(q.dtype).eps
        yield {
            "kind": "distributed_gram",
            "case": case,
            "ranks": dist.get_world_size(),
            "dtype": dtype,
            "rows": rows * dist.get_world_size(),
            "columns": columns,
            "contestant": name,
            "status": "ok" if error <= bound else "wrong",
            "us": times[name],
            "sum_us": times["sum alone"],
            "error": error,
            "bound": bound,
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("out")
    parser.add_argument("--bytes", type=int, default=1 << 31)
    options = parser.parse_args()
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    torch.manual_seed(rank + 1)
    with open(options.out if rank == 0 else os.devnull, "w", encoding="utf-8") as file:
        print(json.dumps(environment(rank)), file=file, flush=True)
        for dtype in DTYPES:
            for columns in COLUMNS:
                rows = options.bytes // (columns * DTYPES[dtype].itemsize)
                for case, own in (("weak", rows), ("strong", rows // dist.get_world_size())):
                    for line in compare(case, own, columns, dtype):
                        print(json.dumps(line), file=file, flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

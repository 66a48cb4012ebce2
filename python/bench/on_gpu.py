"""What the benchmarks of solvers on a GPU have in common."""

import json
import sys
import time

import cupy

import lanky


def synchronized(call):
    """The result of call() and its seconds, with all that it gave to the GPU."""
    cupy.cuda.Device().synchronize()
    began = time.perf_counter()
    result = call()
    cupy.cuda.Device().synchronize()
    return result, time.perf_counter() - began


def print_environment(**rivals):
    """The line of kind "env"; `rivals`: modules by name, None for one that is not there."""
    environment = {
        "kind": "env",
        "gpu": cupy.cuda.runtime.getDeviceProperties(0)["name"].decode(),
        "lanky": lanky.version,
        "build": lanky.build_description(),
        "cupy": cupy.__version__,
        **{name: module.__version__ if module else None for name, module in rivals.items()},
        "argv": " ".join(sys.argv[1:]),
        "utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    print(json.dumps(environment), flush=True)

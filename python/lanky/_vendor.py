"""NVIDIA's libraries from PyPI's packages, which the loader does not find by itself."""


def prepare() -> None:
    """Loads cuBLASLt where a package of NVIDIA's has it, so that lanky finds it by its name.

    lanky computes without it: dense products without a skinny side then go another way, or are an
    error that names it."""
    try:
        from cuda.pathfinder import DynamicLibNotFoundError, load_nvidia_dynamic_lib
    except ImportError:
        return
    try:
        load_nvidia_dynamic_lib("cublasLt")
    except DynamicLibNotFoundError:
        return

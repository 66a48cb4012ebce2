"""Exceptions for what is neither a wrong argument nor a lack of memory."""

from typing import Any


class Error(RuntimeError):
    """A failure that lanky reports; `code` names its kind: "io", "parse", "unsupported",
    "no_device", "device" or "no_convergence"."""

    __module__ = "lanky"

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> Any:
        return (type(self), (str(self), self.code))


class NoConvergence(Error):
    """A solver ended before what was asked for had converged. `eigenvalues` and `eigenvectors`
    hold what has converged; of `lanky.svds()`, `eigenvalues` are the singular values, and
    `eigenvectors` the right singular vectors as columns."""

    __module__ = "lanky"

    def __init__(self, message: str, eigenvalues: Any = None, eigenvectors: Any = None) -> None:
        super().__init__(message, "no_convergence")
        self.eigenvalues = eigenvalues
        self.eigenvectors = eigenvectors

    def __reduce__(self) -> Any:
        return (type(self), (str(self), self.eigenvalues, self.eigenvectors))

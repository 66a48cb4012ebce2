"""The exception for what is neither a wrong argument nor a lack of memory."""

from typing import Any


class Error(RuntimeError):
    """A failure that lanky reports; `code` names its kind: "io", "parse", "unsupported",
    "no_device" or "device"."""

    __module__ = "lanky"

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> Any:
        return (type(self), (str(self), self.code))

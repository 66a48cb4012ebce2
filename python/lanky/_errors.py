"""The exception for what is neither a wrong argument nor a lack of memory."""


class Error(RuntimeError):
    """A failure that lanky reports; `code` names its kind: "io", "parse", "unsupported",
    "no_device" or "device"."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self):
        return (type(self), (str(self), self.code))

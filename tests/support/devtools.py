"""A headless Chromium that a test steers: the DevTools protocol over a pipe, with the standard library alone."""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import time

NAMES = ("chromium-headless-shell", "/usr/lib/chromium/chromium-headless-shell", "headless_shell")
PATIENCE = 120  # seconds for an answer; the machine may be busy


def find_browser():
    """Path of the program, None where there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class BrowserError(Exception):
    """The browser does not answer, or says that a command failed."""


class Browser:
    """One page. Errors of its scripts and requests for anything but the page are kept in `complaints`."""

    def __init__(self, program):
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()

        def hand_over():  # in the child: the protocol is spoken on descriptors 3 and 4
            read, write = os.dup(commands), os.dup(answers)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [program, "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=hand_over, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.numbers, self.unread, self.session = itertools.count(1), b"", None
        self.complaints, self.loads, self.page = [], 0, ""
        target = self.call("Target.getTargets")["targetInfos"][0]["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Performance.enable", timeDomain="threadTicks")

    def close(self):
        self.process.terminate()
        self.process.wait(30)
        os.close(self.commands)
        os.close(self.answers)

    def call(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        unsent = json.dumps(message).encode() + b"\0"
        while unsent:
            unsent = unsent[os.write(self.commands, unsent):]
        while True:
            answer = self.receive()
            if answer.get("id") != number:
                continue
            if "error" in answer:
                raise BrowserError(f"{method}: {answer['error']['message']}")
            return answer["result"]

    def receive(self):
        """The next message; events are noted on the way."""
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self.unread:
            ready, _, _ = select.select([self.answers], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self.answers, 1 << 20) if ready else b""
            if not part:
                raise BrowserError("the browser has ended" if ready else f"no answer within {PATIENCE} s")
            self.unread += part
        text, self.unread = self.unread.split(b"\0", 1)
        message = json.loads(text)
        self.note(message.get("method"), message.get("params", {}))
        return message

    def note(self, method, event):
        if method == "Page.loadEventFired":
            self.loads += 1
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(event["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(event["args"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.complaints.append(event["entry"]["text"])
        elif method == "Network.requestWillBeSent" and event["request"]["url"].split("#")[0] != self.page:
            self.complaints.append(f"asks for {event['request']['url'][:200]}")

    def open(self, path):
        self.page, loads = path.as_uri(), self.loads
        self.call("Page.navigate", url=self.page)
        while self.loads == loads:
            self.receive()

    def run(self, expression):
        """The value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise BrowserError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def busy_ms(self):
        """What the page's scripts, styles and layout have taken of a processor so far: others may use it too."""
        metrics = {metric["name"]: metric["value"] for metric in self.call("Performance.getMetrics")["metrics"]}
        return 1000 * sum(metrics[f"{part}Duration"] for part in ("Script", "RecalcStyle", "Layout"))

    def size(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, medium="", scheme="light"):
        self.call("Emulation.setEmulatedMedia", media=medium,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def middle(self, selector):
        """Where the middle of an element is, once it has been scrolled into view."""
        place = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{place}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        return self.run(f"(() => {{ const box = {place}.getBoundingClientRect();"
                        " return [box.x + box.width / 2, box.y + box.height / 2]; })()")

    def hover(self, selector):
        x, y = self.middle(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector):
        x, y = self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, selector, text):
        """In the place of what a field holds."""
        self.click(selector)
        self.run(f"document.querySelector({json.dumps(selector)}).select()")
        if text:
            self.call("Input.insertText", text=text)
        else:
            for kind in ("keyDown", "keyUp"):
                self.call("Input.dispatchKeyEvent", type=kind, key="Delete", windowsVirtualKeyCode=46)

    def screenshot(self, path, height=None):
        """Of what is seen; of the page's first `height` pixels where that is given."""
        clip = {}
        if height:
            width = self.run("innerWidth")
            clip = {"clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1},
                    "captureBeyondViewport": True}
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **clip)["data"]))

    def pdf(self, path):
        data = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"]
        path.write_bytes(base64.b64decode(data))

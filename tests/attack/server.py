"""A server that sends too much, too little, too slowly, or what is no HTTP: `lanky fetch` ends in time with the right
bytes or a clean error, never counts a wrong archive as there, and goes on once the server is sound."""

import random as random_module
import socket
import time

from case import MIB
from served import INDEX, Offer, fetch_test

SHARE = 2  # of the time

ENDLESS = 160 * MIB  # bytes that an endless answer sends at once; then it goes on as a drip
LIMIT = 40  # seconds: retries, each with two seconds of patience


def raw(handler, data):
    """Bytes in place of an answer."""
    handler.wfile.write(data)
    handler.close_connection = True
    return True


def answer(handler, content, *headers, status=b"200 OK"):
    """An answer of these headers and this content, whose length is told."""
    head = (b"HTTP/1.1 " + status, *headers, b"Content-Length: " + str(len(content)).encode())
    return raw(handler, b"\r\n".join(head) + b"\r\n\r\n" + content)


def file_of(handler):
    return handler.server.files[handler.path]


def drip(handler, data, pause, seconds):
    end = time.monotonic() + seconds
    for byte in data:
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()
        if time.monotonic() > end or handler.server.stop_waiting.wait(pause):
            return


def flood(handler, piece):
    """More and more, and then 50 kB/s for ever."""
    for _ in range(ENDLESS // len(piece)):
        handler.wfile.write(piece)
    while not handler.server.stop_waiting.wait(0.02):
        handler.wfile.write(piece[:1000])


# Faults, for Server.faults: each draws what it does when it is made.


def truncated(random):
    part = random.random()
    return lambda handler: fetch_test.cut(int(part * len(file_of(handler).content)))(handler)


def wrong_length(random):
    """A Content-Length that is no length of what is sent."""
    text = random.choice((b"0", b"-1", b"1", b"99999999999999999999", b"1e9", b"x", b"5, 6", b"10000000000"))

    def fault(handler):
        return raw(handler, b"HTTP/1.1 200 OK\r\nContent-Length: " + text + b"\r\n\r\n" + file_of(handler).content)

    return fault


def endless(random):
    piece = random.choice((b"\0" * 65536, random.randbytes(65536), b"\n" * 65536,
                           b"d41d8cd98f00b204e9800998ecf8427e " * 2000))
    chunked = random.random() < 0.5

    def fault(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + (b"Transfer-Encoding: chunked\r\n\r\n" if chunked else b"\r\n"))
        size = f"{len(piece):x}\r\n".encode()
        flood(handler, size + piece + b"\r\n" if chunked else piece)
        return True

    return fault


def endless_headers(random):
    line = random.choice((b"X-Header: " + b"x" * 60000 + b"\r\n", b"X: y\r\n" * 1000,
                          b'ETag: "' + b"e" * 90000 + b'"\r\n'))

    def fault(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        flood(handler, line)
        return True

    return fault


def huge_headers(random):
    size = random.choice((5000, 100_000, 300_000))

    return lambda handler: answer(handler, file_of(handler).content, b'ETag: "' + b"e" * size + b'"')


def garbage_status(random):
    line = random.choice((b"HTTP/1.1 999 OK", b"HTTP/9.9 200 OK", b"HTTP/1.1 -5", b"HTTP/1.1", b"", b"\0\0\0",
                          b"GET / HTTP/1.1", b"HTTP/1.1 200", b"HTTP/1.1 99999999999999999999 OK",
                          b"HTTP/1.1 204 No Content",
                          b"HTTP/1.1 304 Not Modified", b"HTTP/1.1 101 Switching Protocols", b"ICY 200 OK"))
    return lambda handler: raw(handler, line + b"\r\nContent-Length: 5\r\n\r\nhello")


def endless_continues(_):
    def fault(handler):
        flood(handler, b"HTTP/1.1 100 Continue\r\n\r\n")
        return True

    return fault


def noise(random):
    data = random.randbytes(random.choice((1, 100, 5000)))
    return lambda handler: raw(handler, data)


def broken_chunks(random):
    text = random.choice((b"zz\r\nhello\r\n", b"-5\r\nhello\r\n", b"ffffffffffffffffffff\r\nhello\r\n", b"5\r\nhello",
                          b"5;" + b"x" * 70000 + b"\r\nhello\r\n0\r\n\r\n", b"0\r\n\r\n"))
    return lambda handler: raw(handler, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + text)


def encoded(random):
    """A Content-Encoding that nobody asked for."""
    name = random.choice((b"gzip", b"br", b"deflate", b"identity, gzip"))

    return lambda handler: answer(handler, file_of(handler).content, b"Content-Encoding: " + name)


def trailing(random):
    """Bytes behind the gzip stream, which are no part of it."""
    more = random.choice((b"\0", b"\0" * 5000, b"garbage", random.randbytes(3000)))
    return lambda handler: fetch_test.becomes(fetch_test.File(file_of(handler).content + more))(handler)


def damaged(random):
    draws = random_module.Random(random.random())

    def fault(handler):
        data = bytearray(file_of(handler).content)
        for _ in range(draws.choice((1, 3, 50))):
            data[draws.randrange(len(data))] ^= 1 << draws.randrange(8)
        return answer(handler, bytes(data))

    return fault


def changed_etag(random):
    """The line is cut; what comes then is of another time."""
    etags = [random.choice(('"a"', 'W/"a"', '"b"', "", "no quotes", '"' + "x" * 3000 + '"')) for _ in range(2)]
    after = random.randrange(1, 400)

    def fault(handler):
        file = file_of(handler)
        file.etag = etags[0] if file.etag != etags[0] else etags[1]
        return fetch_test.cut(after)(handler)

    return fault


def wrong_range(random):
    """206 with a range that was not asked for."""
    text = random.choice((b"bytes 0-0/1", b"bytes 5-1/10", b"bytes */7", b"bytes 0-99999999999999999999/*",
                          b"bytes x-y/z", b"lines 1-2/3", b"bytes -5--1/10", b""))
    first_fails = random.random() < 0.5

    def fault(handler):
        if first_fails and not handler.headers.get("Range"):
            return fetch_test.cut(100)(handler)
        return answer(handler, file_of(handler).content, b'ETag: "a"', b"Content-Range: " + text,
                      status=b"206 Partial Content")

    return fault


def redirected(random):
    """To itself, to nowhere, to other protocols."""
    target = random.choice((None, None, "/nowhere", "file:///etc/passwd", "http://127.0.0.1:1/",
                            "gopher://127.0.0.1:1/", "http://", "//", "/" + "a" * 100_000, "ftp://127.0.0.1:1/x",
                            "\x01\x02"))
    code = random.choice((301, 302, 303, 307, 308))
    return lambda handler: fetch_test.status(code, Location=target or handler.path)(handler)


def refused(random):
    code = random.choice((400, 401, 403, 404, 407, 408, 410, 416, 425, 429, 500, 503, 599))
    after = random.choice(("0", "-1", "99999999999", "soon", "Wed, 21 Oct 2099 07:28:00 GMT", "0.5"))
    return lambda handler: fetch_test.status(code, Retry_After=after)(handler)


def slow_drip(random):
    """Less than the thousand bytes a second that count as a connection."""
    pause = random.choice((0.01, 0.3))
    headers_too = random.random() < 0.5

    def fault(handler):
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
        if not headers_too:
            handler.wfile.write(head)
            head = b""
        drip(handler, head + b"\x1f\x8b" * 50000, pause, 15)
        handler.close_connection = True
        return True

    return fault


def silent(random):
    at_once = random.random() < 0.5

    def fault(handler):
        if not at_once:
            handler.server.stop_waiting.wait(6)
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True
        return True

    return fault


FAULTS = (truncated, wrong_length, endless, endless_headers, huge_headers, garbage_status, endless_continues, noise,
          broken_chunks, encoded, trailing, damaged, changed_etag, wrong_range, redirected, refused, slow_drip, silent)


def attack(case):
    fault = case.random.choice(FAULTS)
    with Offer(case) as offer:
        name = case.random.choice(list(offer.contents))
        path = case.random.choice((offer.path(name), offer.path(name), offer.path(name) + ".md5", INDEX))
        what = {INDEX: "index"}.get(path, "MD5" if path.endswith(".md5") else "archive")
        case.attack = f"{fault.__name__.replace('_', ' ')}, {what}"
        sound = dict(offer.server.files)
        offer.server.files.setdefault(path, fetch_test.File(b"d41d8cd98f00b204e9800998ecf8427e\n"))
        made = fault(case.random)
        offer.server.faults[path] = [made] * case.random.choice((1, 2, 20))
        more = case.random.choice(((), (), ("--verify",), ("--connections", "1")))
        ran = case.finish(offer.start(*more), LIMIT)
        offer.judge(ran)
        offer.server.faults.clear()
        offer.server.files = sound
        for file in sound.values():
            file.etag = '"sound"'
        offer.complete()

"""The scripted S3 server.

In a test:      server = FaultServer(); server.put("b", "key", b"data")
As a process:   python3 -m tests.faults.server --port P --script FILE

A script is JSON: {"region": …, "verify": true, "objects": […], "rules": […]}.
Each rule has "when" (kind: get, head, list, any; key; nth: which matching
request, counted from 1; times: how often it applies) and what happens then:

  status, headers, body   this answer instead of the right one
  delay_ms                wait before the answer
  stall_after, seconds    stop sending after so many body bytes
  rst_after               reset the connection after so many body bytes
  range                   ignore | nocr | shift:N | short_cl:N |
                          short_chunked:N | short_close:N | long:N
  content_range           this text in Content-Range
  etag                    this ETag instead of the object's
  cut                     end a listing page after so many bytes
  piece                   send the body so many bytes at a time

Every request is logged with what was really sent.
"""

import argparse
import asyncio
import collections
import email.utils
import hashlib
import html
import json
import socket
import struct
import sys
import threading
import time
import urllib.parse

from tests.faults import sigv4
from tests.support import pattern

PIECE = 1 << 18
Request = collections.namedtuple("Request", "method target headers")


class Object:
    """One object: real bytes, or a pattern of any size."""

    def __init__(self, data=None, size=None, generation=0, etag=None, mtime=None,
                 headers=None, storage_class=None):
        self.data = data
        self.size = len(data) if data is not None else size
        self.generation = generation
        if etag is None:
            digest = hashlib.md5(data if data is not None
                                 else f"{size}/{generation}".encode())
            etag = f'"{digest.hexdigest()}"'
        self.etag = etag
        self.mtime = mtime if mtime is not None else 1_700_000_000
        self.headers = headers or {}
        self.storage_class = storage_class

    def read(self, offset, length):
        if self.data is not None:
            return self.data[offset:offset + length]
        return pattern.read(offset, length, self.generation)


class Entry:
    """A line of the log."""

    def __init__(self, kind, key, request):
        self.kind = kind
        self.key = key
        self.method = request.method
        self.target = request.target
        self.headers = request.headers
        self.time = time.monotonic()
        self.status = 0
        self.sent = 0
        self.range = request.headers.get("range")
        self.rules = []

    def as_dict(self):
        return {"kind": self.kind, "key": self.key, "method": self.method,
                "target": self.target, "status": self.status, "sent": self.sent,
                "range": self.range, "rules": self.rules}


class Rule:
    """What to do wrong, when, and how often it was done."""

    def __init__(self, what):
        self.what = dict(what)
        when = self.what.pop("when", {})
        self.kind = when.get("kind", "any")
        self.key = when.get("key")
        self.nth = when.get("nth")
        self.times = when.get("times", 1 << 60)
        self.name = what.get("name", ",".join(self.what))
        self.seen = 0
        self.applied = 0

    def matches(self, kind, key):
        if self.kind not in ("any", kind) or (self.key is not None and self.key != key):
            return False
        self.seen += 1
        if self.nth is not None and self.seen != self.nth:
            return False
        if self.applied >= self.times:
            return False
        self.applied += 1
        return True


class FaultServer:
    """Runs in a thread of its own until stop()."""

    def __init__(self, script=None, host="127.0.0.1", port=0):
        script = script or {}
        self.region = script.get("region", "us-east-1")
        self.verify = script.get("verify", True)
        self.token = script.get("token")
        self.page_size = script.get("page_size", 1000)
        self.encoding = script.get("encoding", "pct20")
        self.etag_in_lists = script.get("etag_in_lists", True)
        self.ifmatch = script.get("ifmatch", "honour")
        self.base_path = script.get("base_path", "")
        self.skew_seconds = script.get("skew_seconds", 0)
        self.delay_ms = script.get("delay_ms", {})
        self.secrets = {"testkey": "testsecret"}
        self.buckets = {}
        self.log = []
        self.rules = [Rule(rule) for rule in script.get("rules", [])]
        self._pages = {}
        self._lock = threading.Lock()
        for item in script.get("objects", []):
            item = dict(item)
            bucket, key = item.pop("bucket", "b"), item.pop("key")
            if "text" in item:
                item["data"] = item.pop("text").encode()
            self.put(bucket, key, Object(**item))
        for item in script.get("generate", []):
            self.generate(**item)
        self.host = host
        self._socket = socket.socket(
            socket.AF_INET6 if ":" in host else socket.AF_INET)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind((host, port))
        self.port = self._socket.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._tasks = set()
        self._thread = threading.Thread(target=self._main, daemon=True)

    # ---- what a test says and asks

    @property
    def url(self):
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}{self.base_path}"

    def start(self):
        self._thread.start()
        return self

    def stop(self):
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._socket.close()

    def put(self, bucket, key, value=b"", **more):
        """Puts bytes, or an Object."""
        if not isinstance(value, Object):
            value = Object(data=value, **more)
        with self._lock:
            keys = self.buckets.setdefault(bucket, {})
            keys[key if isinstance(key, bytes) else key.encode()] = value
            self._pages.clear()
        return value

    def generate(self, bucket, prefix, count, size=4096, width=6):
        """Puts `count` pattern objects PREFIX000000, PREFIX000001, …"""
        with self._lock:
            keys = self.buckets.setdefault(bucket, {})
            for i in range(count):
                keys[f"{prefix}{i:0{width}d}".encode()] = Object(size=size, generation=i % 7)
            self._pages.clear()

    def remove(self, bucket, key):
        with self._lock:
            del self.buckets[bucket][key if isinstance(key, bytes) else key.encode()]
            self._pages.clear()

    def rule(self, **what):
        """Adds a rule; returns it, so that a test can see that it applied."""
        rule = Rule(what)
        self.rules.append(rule)
        return rule

    def count(self, kind=None, since=0):
        return sum(1 for e in self.log[since:] if kind is None or e.kind == kind)

    def sent(self, key=None, since=0):
        """Body bytes of GETs really sent."""
        return sum(e.sent for e in self.log[since:]
                   if e.kind == "get" and (key is None or e.key == key))

    def ranges(self, key=None, since=0):
        """(start, end) of each GET, end exclusive, in order of arrival."""
        out = []
        for e in self.log[since:]:
            if e.kind == "get" and e.range and (key is None or e.key == key):
                start, _, end = e.range.removeprefix("bytes=").partition("-")
                out.append((int(start), int(end) + 1))
        return out

    # ---- the server

    def _main(self):
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, sock=self._socket, backlog=512))
        try:
            self._loop.run_forever()
        finally:
            server.close()
            for task in list(self._tasks):
                task.cancel()
            self._loop.run_until_complete(
                asyncio.gather(*self._tasks, return_exceptions=True))
            self._loop.close()

    async def _serve(self, reader, writer):
        task = asyncio.current_task()
        self._tasks.add(task)
        # asyncio sets it only on sockets that it made itself; without it each
        # answer of a head and a body waits 40 ms for an acknowledgement.
        writer.get_extra_info("socket").setsockopt(
            socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        writer.transport.set_write_buffer_limits(high=1 << 20)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError,
                asyncio.LimitOverrunError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _one(self, reader, writer):
        """One request and its answer; False ends the connection."""
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        headers = {}
        for line in lines[1:]:
            if line:
                name, _, value = line.partition(":")
                headers[name.strip().lower()] = value.strip()
        length = int(headers.get("content-length", "0"))
        if length:
            await reader.readexactly(length)
        request = Request(method, target, headers)
        bucket, key, query = self._locate(request)
        kind = self._kind(request, key)
        if kind == "list":
            key = query.get("prefix", b"")
        entry = Entry(kind, key.decode("utf-8", "surrogateescape"), request)
        self.log.append(entry)
        rules = [rule for rule in self.rules if rule.matches(kind, entry.key)]
        what = {}
        for rule in rules:
            what.update(rule.what)
            entry.rules.append(rule.name)
        delay = what.get("delay_ms", self.delay_ms.get(kind, 0))
        if delay:
            await asyncio.sleep(delay / 1000)
        if "status" in what:
            return await self._error(writer, entry, what["status"], what.get("code", "Scripted"),
                                     "as scripted", what)
        try:
            if self.verify and not (what.get("anonymous") and
                                    "authorization" not in headers):
                sigv4.check(method, target, headers, self.secrets, self.region,
                            time.time() + self.skew_seconds, self.token)
        except sigv4.Refused as refused:
            return await self._refuse(writer, entry, refused)
        if bucket not in self.buckets:
            return await self._error(writer, entry, 404, "NoSuchBucket", "no such bucket", {})
        if kind == "list":
            return await self._list(writer, entry, bucket, query, what)
        return await self._object(writer, entry, bucket, key, what)

    def _locate(self, request):
        path, _, query = request.target.partition("?")
        path = path.removeprefix(self.base_path)
        bucket, _, key = path.lstrip("/").partition("/")
        query = dict(
            (urllib.parse.unquote(n), urllib.parse.unquote_to_bytes(v))
            for n, _, v in (part.partition("=") for part in query.split("&") if part))
        return urllib.parse.unquote(bucket), urllib.parse.unquote_to_bytes(key), query

    @staticmethod
    def _kind(request, key):
        if request.method == "HEAD":
            return "head"
        return "get" if key else "list"

    def _date(self):
        return email.utils.formatdate(time.time() + self.skew_seconds, usegmt=True)

    async def _head(self, writer, status, headers, entry):
        entry.status = status
        lines = [f"HTTP/1.1 {status} {'OK' if status < 300 else 'Scripted'}"]
        if not any(n.lower() == "date" for n in headers):
            lines.append(f"Date: {self._date()}")
        lines += [f"{n}: {v}" for n, v in headers.items() if v is not None]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        await writer.drain()

    async def _refuse(self, writer, entry, refused):
        status = {"RequestTimeTooSkewed": 403, "AuthorizationHeaderMalformed": 400,
                  "InvalidToken": 400}.get(refused.code, 403)
        more = {}
        if refused.code == "AuthorizationHeaderMalformed":
            more = {"headers": {"x-amz-bucket-region": self.region},
                    "xml": f"<Region>{self.region}</Region>"}
        return await self._error(writer, entry, status, refused.code, refused.message, more)

    async def _error(self, writer, entry, status, code, message, what):
        body = what.get("body")
        if body is None:
            body = (f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code>'
                    f"<Message>{html.escape(message)}</Message>{what.get('xml', '')}</Error>")
        body = body if isinstance(body, bytes) else body.encode()
        if entry.method == "HEAD" or status in (204, 304):
            body = b""
        headers = {"Content-Type": "application/xml"}
        if entry.method != "HEAD":
            headers["Content-Length"] = str(len(body))
        headers.update(what.get("headers", {}))
        await self._head(writer, status, headers, entry)
        writer.write(body)
        await writer.drain()
        return headers.get("Connection") != "close"

    # ---- objects

    async def _object(self, writer, entry, bucket, key, what):
        item = self.buckets[bucket].get(key)
        if item is None:
            return await self._error(writer, entry, 404, "NoSuchKey", "no such key", {})
        etag = what.get("etag", item.etag)
        wanted = entry.headers.get("if-match")
        if wanted is not None and self.ifmatch == "honour" and wanted != etag:
            return await self._error(writer, entry, 412, "PreconditionFailed", "changed", {})
        headers = {"Last-Modified": email.utils.formatdate(item.mtime, usegmt=True),
                   "Accept-Ranges": "bytes", "ETag": etag}
        if item.storage_class:
            headers["x-amz-storage-class"] = item.storage_class
        headers.update(item.headers)
        if entry.method == "HEAD":
            headers["Content-Length"] = str(item.size)
            await self._head(writer, 200, headers, entry)
            return True
        return await self._get(writer, entry, item, headers, what)

    async def _get(self, writer, entry, item, headers, what):
        start, end, status = 0, item.size, 200
        mode, _, number = what.get("range", "").partition(":")
        number = int(number or 0)
        if entry.range and mode != "ignore":
            first, _, last = entry.range.removeprefix("bytes=").partition("-")
            start, end = int(first), min(int(last) + 1 if last else item.size, item.size)
            if start >= item.size:
                return await self._error(writer, entry, 416, "InvalidRange", "beyond", {})
            status = 206
            shift = number if mode == "shift" else 0
            if mode != "nocr":
                headers["Content-Range"] = what.get(
                    "content_range",
                    f"bytes {start + shift}-{end - 1 + shift}/{item.size}")
            start, end = max(0, start + shift), end + shift
            if mode == "long":
                end += number
        length = end - start
        send = length - number if mode in ("short_cl", "short_chunked", "short_close") else length
        chunked = mode == "short_chunked"
        if chunked:
            headers["Transfer-Encoding"] = "chunked"
        elif mode == "short_close":
            headers["Connection"] = "close"
        else:
            headers["Content-Length"] = str(send if mode == "short_cl" else length)
        headers.update(what.get("headers", {}))
        await self._head(writer, status, headers, entry)
        whole = await self._body(writer, entry, item, start, send, what, chunked)
        return whole and mode != "short_close"

    async def _body(self, writer, entry, item, start, send, what, chunked):
        piece = what.get("piece", PIECE)
        stall, rst = what.get("stall_after"), what.get("rst_after")
        stop = min([n for n in (stall, rst) if n is not None] or [send + 1])
        done = 0
        while done < send:
            if done >= stop:
                if stall is not None and done >= stall:
                    await asyncio.sleep(what.get("seconds", 1 << 20))
                    stop, stall = send + 1, None
                    continue
                self._reset(writer)
                return False
            step = min(piece, send - done, max(1, stop - done))
            data = item.read(start + done, step)
            if chunked:
                data = f"{len(data):x}\r\n".encode() + data + b"\r\n"
            writer.write(data)
            await writer.drain()
            done += step
            entry.sent += step
        if chunked:
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        return True

    @staticmethod
    def _reset(writer):
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    # ---- listings

    def _name(self, key, encode):
        if encode:
            quoted = urllib.parse.quote(key, safe="/-_.~")
            return quoted.replace("%20", "+") if self.encoding == "plus" else quoted
        text = key.decode("utf-8", "surrogateescape")
        return "".join(c if c >= " " or c in "\t\n\r" else f"&#x{ord(c):x};"
                       for c in html.escape(text))

    def _entries(self, bucket, prefix, delimiter):
        """Sorted (name, object or None) under the prefix; None: a prefix."""
        out, last = [], None
        for key in sorted(self.buckets[bucket]):
            if not key.startswith(prefix):
                continue
            if delimiter:
                at = key.find(delimiter, len(prefix))
                if at >= 0:
                    common = key[:at + 1]
                    if common != last:
                        out.append((common, None))
                        last = common
                    continue
            out.append((key, self.buckets[bucket][key]))
        return out

    def _page(self, bucket, query):
        """The body of one page, kept until the bucket changes."""
        identity = (bucket, tuple(sorted(query.items())))
        with self._lock:
            if identity in self._pages:
                return self._pages[identity]
        prefix, delimiter = query.get("prefix", b""), query.get("delimiter", b"")
        encode = query.get("encoding-type") == b"url" and self.encoding != "none"
        size = min(int(query.get("max-keys", b"1000")), self.page_size)
        whole = (bucket, prefix, delimiter)
        entries = self._pages.get(whole)
        if entries is None:
            entries = self._pages[whole] = self._entries(bucket, prefix, delimiter)
        start = 0
        if "continuation-token" in query:
            start = int(query["continuation-token"].split(b"/")[-1])
        page = entries[start:start + size]
        more = start + size < len(entries)
        out = ['<?xml version="1.0" encoding="UTF-8"?>',
               '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
               f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>",
               f"<Prefix>{self._name(prefix, encode)}</Prefix>"]
        if encode:
            out.append("<EncodingType>url</EncodingType>")
        if more:
            out.append(f"<NextContinuationToken>a+b/{start + size}</NextContinuationToken>")
        for name, item in page:
            if item is None:
                out.append(f"<CommonPrefixes><Prefix>{self._name(name, encode)}"
                           "</Prefix></CommonPrefixes>")
                continue
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(item.mtime))
            etag = f"<ETag>{html.escape(item.etag)}</ETag>" if self.etag_in_lists else ""
            out.append(f"<Contents><Key>{self._name(name, encode)}</Key>"
                       f"<LastModified>{stamp}</LastModified>{etag}<Size>{item.size}</Size>"
                       f"<StorageClass>{item.storage_class or 'STANDARD'}</StorageClass></Contents>")
        out.append("</ListBucketResult>")
        body = "".join(out).encode("utf-8", "surrogateescape")
        with self._lock:
            self._pages[identity] = body
        return body

    async def _list(self, writer, entry, bucket, query, what):
        body = self._page(bucket, query)
        if "list_body" in what:
            body = what["list_body"].encode()
        if "cut" in what:
            body = body[:what["cut"]]
        await self._head(writer, 200, {"Content-Type": "application/xml",
                                       "Content-Length": str(len(body))}, entry)
        piece = what.get("piece", len(body) or 1)
        for at in range(0, len(body), piece):
            writer.write(body[at:at + piece])
            await writer.drain()
        entry.sent = len(body)
        return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", help="JSON file")
    parser.add_argument("--log", help="append each request as a line of JSON")
    arguments = parser.parse_args()
    script = {}
    if arguments.script:
        with open(arguments.script, encoding="utf-8") as file:
            script = json.load(file)
    server = FaultServer(script, port=arguments.port).start()
    print(server.url, flush=True)
    written = 0
    try:
        while True:
            time.sleep(0.2)
            if arguments.log:
                with open(arguments.log, "a", encoding="utf-8") as file:
                    for entry in server.log[written:]:
                        file.write(json.dumps(entry.as_dict()) + "\n")
                        written += 1
    except KeyboardInterrupt:
        server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())

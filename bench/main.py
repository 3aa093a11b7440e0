"""Runs the rows and prints Markdown tables: see scripts/bench."""

import argparse
import os
import pathlib
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import time

from bench import clients, rows
from tests.faults.server import FaultServer
from tests.support import mounts, pattern, servers, shards

MIB = 1 << 20
OURS, PEERS = 5, 3
CONNECTIONS = 16


class Bench:
    """The data, the stores, and the table so far."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.work = pathlib.Path(arguments.work)
        self.lines = []
        self.started = time.monotonic()

    # ---- data and stores

    def prepare(self):
        local = self.work / "local"
        size = self.arguments.big_mib * MIB
        print("making data …", file=sys.stderr)
        local.mkdir(parents=True)
        with open(local / "big.bin", "wb") as file:
            for at in range(0, size, 16 * MIB):
                file.write(pattern.read(at, min(16 * MIB, size - at), 1))
        self.samples = shards.make(local / "wds", self.arguments.shards,
                                   self.arguments.shard_mib * MIB)
        (local / "many").mkdir()
        for i in range(5000):
            (local / "many" / f"f{i:05d}").write_bytes(b"x" * 4096)
        self.store = servers.Versitygw(self.work / "store")
        self.store.directory.mkdir()
        self.store.start()
        client = servers.client(self.store.url)
        client.create_bucket(Bucket=clients.BUCKET)
        shards.upload(client, local, clients.BUCKET)
        self.front = servers.Front(self.store.port, directory=self.work / "front")
        self.front.directory.mkdir()
        self.front.start()
        os.sync()  # What was just written is not to be written during a row.
        self.gcs = None
        if servers.tool("gcsfuse") and servers.tool("fake-gcs-server"):
            self.gcs = FakeGcs(self.work / "gcs", local)
            self.gcs.start(60)
            self.gcs_front = servers.Front(self.gcs.port, directory=self.work / "gcsfront")
            self.gcs_front.directory.mkdir()
            self.gcs_front.start()

    def finish(self):
        for server in ("store", "front", "gcs", "gcs_front"):
            if getattr(self, server, None):
                getattr(self, server).stop()

    # ---- one figure

    def client(self, kind, far):
        if kind is clients.Gcsfuse:
            kind.gcs_url = (self.gcs_front if far else self.gcs).url if self.gcs else None
        if not kind.available():
            return None
        return kind(self.work, (self.front if far else self.store).url)

    def runs(self, kind):
        count = PEERS if kind.peer else OURS
        return min(count, self.arguments.repeats or count)

    def measure(self, kind, far, figure, asked, warm=False, same_mount=False):
        """Once: figure, GETs, bytes × asked, CPU s per GB, RSS MB."""
        client = self.client(kind, far)
        if client is None:
            return None
        # Cold is the client, not the store: its files stay in memory, as for
        # the direct download.
        client.forget()
        client.start()
        try:
            if warm:
                figure(client.path)
                if not same_mount:
                    time.sleep(1)
                    client.stop()
                    client.start()
                rows.drop_page_cache()
            before, cpu = len(self.front.requests()), client.cpu_seconds()
            value = figure(client.path)
            cpu = client.cpu_seconds() - cpu
            moved = [size for k, size, _ in self.front.requests()[before:] if k == "get"]
            return (value, len(moved), sum(moved) / asked if asked else 0,
                    cpu / (asked / 1e9) if asked else cpu, client.rss_bytes() / 1e6)
        except subprocess.TimeoutExpired:
            return "> 60 s"
        finally:
            client.stop()
            client.forget()

    def rounds(self, kinds, far, figure, asked, reference, how):
        """All clients once, then again: a machine that drifts drifts for all.
        Returns the reference's values and for each client its own, or why
        there are none."""
        values, results = [], {kind: [] for kind in kinds}
        for number in range(min(OURS, self.arguments.repeats or OURS)):
            if reference:
                values.append(reference[1]())
            for kind in kinds:
                if isinstance(results[kind], str) or number >= self.runs(kind):
                    continue
                try:
                    got = self.measure(kind, far, figure, asked, **how)
                except Exception as error:  # noqa: BLE001 - a cell, not the end
                    got = f"failed: {str(error)[:60]}"
                if got is None or isinstance(got, str):
                    results[kind] = got or "not installed"
                else:
                    results[kind].append(got)
                print(kind.name, got, file=sys.stderr)
        return values, results

    # ---- tables

    def table(self, title, unit, kinds, far, figure, asked, reference=None, digits=0, **how):
        if self.arguments.row and not any(w in title for w in self.arguments.row):
            return
        out = [f"\n**{title}** ({'store 30 ms away' if far else 'no latency'})\n",
               f"| client | {unit} | ratio | GETs | bytes × asked | CPU s/GB | RSS MB |",
               "|---|---|---|---|---|---|---|"]
        values, results = self.rounds(kinds, far, figure, asked, reference, how)
        base = None
        if reference:
            base = statistics.median(values)
            out.append(f"| {reference[0]} | {base:.{digits}f} | 1.00 | | | | |")
        for kind in kinds:
            got = results[kind]
            if isinstance(got, str):
                if got != "not installed":
                    out.append(f"| {kind.name} | {got} | | | | | |")
                continue
            value, gets, times, cpu, rss = (statistics.median(c) for c in zip(*got))
            if base is None and kind is clients.Local:
                base = value
            ratio = f"{value / base:.2f}" if base else ""
            counted = far and kind not in (clients.Local, clients.Gcsfuse)
            requests = f"{gets:.0f} | {times:.3f}" if counted else " | "
            cost = f"{cpu:.2f} | {rss:.0f}" if kind is not clients.Local else " | "
            out.append(f"| {kind.name} | {value:.{digits}f} | {ratio} | {requests} | {cost} |")
        self.lines += out
        print("\n".join(out), flush=True)

    def run(self):
        self.prepare()
        big = self.arguments.big_mib * MIB
        data = self.arguments.shards * self.arguments.shard_mib * MIB
        cold = [clients.Shardfs, clients.ShardfsNone, clients.S3fs, clients.Gcsfuse, clients.Rclone]
        others = [clients.S3fs, clients.Rclone]
        warm = [clients.Local, clients.Shardfs, clients.S3fs, clients.Gcsfuse, clients.Rclone]

        def straight(server):
            return lambda: rows.direct(server.url, clients.BUCKET, "big.bin", big, CONNECTIONS)

        self.table("cold sequential", "MB/s", cold, False, rows.sequential, big,
                   ("direct, 16 connections", straight(self.store)))
        self.table("cold sequential far", "MB/s", [clients.Shardfs16, *cold], True,
                   rows.sequential, big, ("direct, 16 connections", straight(self.front)))
        self.table("warm sequential after a remount", "MB/s", warm, False, rows.sequential, big,
                   warm=True)
        self.table("cold mmap", "MB/s", cold[:1] + cold[2:], False, rows.mapped, big)
        self.table("cold epoch", "samples/s", [clients.Shardfs, *others], True,
                   lambda path: rows.epoch(path, self.arguments.shards), data)
        self.table("second epoch", "samples/s", [clients.Local, clients.Shardfs, *others], False,
                   lambda path: rows.epoch(path, self.arguments.shards), data, warm=True,
                   same_mount=True)
        self.table("random 128 KiB", "ms, median", cold[:1] + cold[2:], True, rows.scattered,
                   200 * 131072, digits=2)
        self.table("ls -l of 5,000", "s", [clients.Shardfs, *others], False, rows.long_listing, 0,
                   digits=3)
        self.listing_on_the_scripted_server()

    def listing_on_the_scripted_server(self):
        title = "ls -l of 5,000, scripted server"
        if self.arguments.row and not any(w in title for w in self.arguments.row):
            return
        port = servers.free_port()
        script = self.work / "listing.json"
        script.write_text('{"generate": [{"bucket": "%s", "prefix": "many/", "count": 5000}]}'
                          % clients.BUCKET)
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.server", "--port", str(port), "--script", script],
            cwd=mounts.ROOT, stdout=subprocess.DEVNULL)
        try:
            end = time.monotonic() + 20
            while not servers.reachable(f"http://127.0.0.1:{port}/"):
                if time.monotonic() > end:
                    raise RuntimeError("the scripted server does not start")
                time.sleep(0.05)
            times = []
            for _ in range(OURS + 1):  # The first run makes the server's pages.
                client = clients.Shardfs(self.work, f"http://127.0.0.1:{port}")
                client.forget()
                client.start()
                try:
                    times.append(rows.long_listing(client.path))
                finally:
                    client.stop()
            line = f"\n**{title}**: {statistics.median(times[1:]):.3f} s"
            self.lines.append(line)
            print(line, flush=True)
        finally:
            process.terminate()
            process.wait(10)


class FakeGcs(servers.Server):
    """fake-gcs-server with the local files as its objects."""

    name = "fake-gcs-server"

    def __init__(self, directory, local):
        super().__init__(directory)
        self.data = self.directory / "data"
        self.data.mkdir(parents=True)
        # It keeps its objects in memory, several times over: the big file only.
        (self.data / clients.BUCKET).mkdir()
        os.link(local / "big.bin", self.data / clients.BUCKET / "big.bin")
        self._own = False

    def command(self):
        return [servers.tool("fake-gcs-server"), "-scheme", "http", "-host", "127.0.0.1",
                "-port", str(self.port), "-public-host", f"127.0.0.1:{self.port}",
                "-external-url", self.url, "-backend", "memory", "-data", str(self.data)]


def versions():
    out = [f"shardfs {mounts.run('--version').stdout.splitlines()[0]}",
           f"kernel {platform.release()}, {len(os.sched_getaffinity(0))} cores"]
    for name, words in (("s3fs", ["--version"]), ("gcsfuse", ["--version"]),
                        ("rclone", ["--version"]), ("versitygw", ["--version"])):
        path = servers.tool(name)
        if path:
            done = subprocess.run([path, *words], capture_output=True, text=True, check=False)
            text = (done.stdout or done.stderr).strip().splitlines()
            out.append(text[0] if text else name)
    return "; ".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work")
    parser.add_argument("--row", action="append", help="only tables whose title has this")
    parser.add_argument("--repeats", type=int, help="at most so many repeats")
    parser.add_argument("--big-mib", type=int, default=1024)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--shard-mib", type=int, default=128)
    parser.add_argument("--out", help="write the Markdown here, too")
    bench = Bench(parser.parse_args())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    try:
        print(versions(), flush=True)
        bench.run()
        print(f"\n{(time.monotonic() - bench.started) / 60:.1f} minutes")
        if bench.arguments.out:
            pathlib.Path(bench.arguments.out).write_text(
                versions() + "\n" + "\n".join(bench.lines) + "\n", encoding="utf-8")
    finally:
        bench.finish()
        shutil.rmtree(bench.work, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The measurements: each reads from a directory and gives one figure."""

import json
import mmap
import os
import random
import statistics
import subprocess
import sys
import time

from tests.support import mounts, servers, shards

MIB = 1 << 20
LIMIT = 60


def drop_page_cache():
    subprocess.run(["sync"], check=False)
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("1\n")


def sequential(path):
    """MB/s of one `dd bs=1M` of the big file."""
    size = os.stat(path / "big.bin").st_size
    start = time.monotonic()
    subprocess.run(["dd", f"if={path}/big.bin", "of=/dev/null", "bs=1M"], check=True,
                   capture_output=True, timeout=LIMIT)
    return size / (time.monotonic() - start) / 1e6


def mapped(path):
    """MB/s of a walk through a mapping, a byte a page."""
    size = os.stat(path / "big.bin").st_size
    with open(path / "big.bin", "rb") as file:
        start = time.monotonic()
        with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as view:
            total = 0
            for at in range(0, size, 4096):
                total += view[at]
                if at % (64 * MIB) == 0 and time.monotonic() - start > LIMIT:
                    raise subprocess.TimeoutExpired("mmap", LIMIT)
        return size / (time.monotonic() - start) / 1e6


def epoch(path, count, workers=2):
    """Samples a second of the WebDataset job."""
    done = subprocess.run(
        [sys.executable, str(mounts.ROOT / "examples" / "train_webdataset.py"),
         f"{path}/wds/{shards.pattern(count)}", f"--workers={workers}", "--no-verify"],
        capture_output=True, text=True, timeout=LIMIT, check=True)
    result = json.loads(done.stdout.splitlines()[-1])
    return result["samples"] / result["seconds"]


def scattered(path, count=200, size=131072, seed=1):
    """Milliseconds (median) of reads at random places."""
    rng = random.Random(seed)
    total = os.stat(path / "big.bin").st_size
    times = []
    with open(path / "big.bin", "rb", buffering=0) as file:
        begin = time.monotonic()
        for _ in range(count):
            at = rng.randrange(total - size)
            start = time.monotonic()
            if len(os.pread(file.fileno(), size, at)) != size:
                raise RuntimeError("short read")
            times.append(time.monotonic() - start)
            if time.monotonic() - begin > LIMIT:
                raise subprocess.TimeoutExpired("random", LIMIT)
    return statistics.median(times) * 1000


def long_listing(path):
    """Seconds of `ls -l` of the folder of 5,000."""
    start = time.monotonic()
    out = subprocess.run(["ls", "-l", str(path / "many")], check=True, capture_output=True,
                         timeout=LIMIT).stdout
    if out.count(b"\n") != 5001:
        raise RuntimeError("not 5,000 entries")
    return time.monotonic() - start


def direct(url, bucket, key, size, connections, part=8 * MIB):
    """MB/s of curl fetching ranges on `connections` connections."""
    signed = servers.client(url).generate_presigned_url(
        "get_object", Params={"Bucket": bucket, "Key": key})
    lines = []
    for at in range(0, size, part):
        lines += [f'url = "{signed}"', f"range = {at}-{min(at + part, size) - 1}",
                  'output = "/dev/null"', "next"]
    start = time.monotonic()
    subprocess.run(["curl", "-sS", "-f", "-Z", "--parallel-max", str(connections),
                    "--parallel-immediate", "-K", "-"],
                   input="\n".join(lines[:-1]).encode(), check=True, timeout=LIMIT,
                   capture_output=True)
    return size / (time.monotonic() - start) / 1e6

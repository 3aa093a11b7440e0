"""kill -9 while the cache fills: right bytes afterwards, and what the index
had is not fetched again."""

import os
import random
import sqlite3
import subprocess
import time

import pytest

from tests.faults.server import Object
from tests.support import pattern

MIB = 1 << 20
ROUNDS = int(os.environ.get("SHARDFS_KILL_ROUNDS", "10"))
FULL = 64 * MIB


@pytest.mark.timeout(1200)
def test_kill_while_filling(faults, mount, cache_dir):
    server = faults()
    rng = random.Random(int(os.environ.get("SHARDFS_SEED", "7")))
    reused = 0
    m = None
    for number in range(ROUNDS):
        generation = number // 4  # The same object for four kills, then another.
        if number % 4 == 0:
            key = f"f{generation}"
            server.put("b", key, Object(size=FULL, generation=generation))
            want = pattern.read(0, FULL, generation)
        if m is None:
            m = mount(server, "s3://b", metadata_ttl=1)
        else:
            m.start()
        known = indexed_blocks_of(cache_dir, key)
        before = len(server.log)
        reader = subprocess.Popen(["cat", str(m.path / key)], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        time.sleep(rng.random() * 0.25)
        m.kill()
        reader.wait(20)
        m.start()
        assert (m.path / key).read_bytes() == want, f"round {number}"
        for start, end in server.ranges(key, before):
            again = {b for b in range(start // 65536, -(-end // 65536)) if b in known}
            assert not again, f"round {number}: fetched again {sorted(again)[:5]}"
        reused += len(known)
        m.kill()
    assert reused > 0


def indexed_blocks_of(cache_dir, key):
    path = f"{cache_dir}/v1/index.sqlite"
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
    try:
        rows = db.execute(
            "SELECT c.chunk, c.present FROM chunks c JOIN objects o ON o.id = c.object "
            "WHERE o.key = ?", (key.encode(),)).fetchall()
        if not rows:
            rows = db.execute(
                "SELECT c.chunk, c.present FROM chunks c JOIN objects o ON o.id = c.object "
                "WHERE CAST(o.key AS TEXT) = ?", (key,)).fetchall()
    finally:
        db.close()
    return {chunk * 64 + bit for chunk, mask in rows for bit in range(64)
            if (mask & (1 << 64) - 1) >> bit & 1}

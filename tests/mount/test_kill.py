"""kill -9 while the cache fills: right bytes afterwards, and what the index
had is not fetched again."""

import os
import random
import subprocess
import time

import pytest

from tests.faults.server import Object
from tests.support import pattern

MIB = 1 << 20
ROUNDS = int(os.environ.get("SHARDFS_KILL_ROUNDS", "10"))
FULL = 64 * MIB


@pytest.mark.timeout(3600)
def test_kill_while_filling(faults, mount):
    server = faults()
    rng = random.Random(int(os.environ.get("SHARDFS_SEED", "7")))
    m = mount(server, "s3://b", metadata_ttl=0, start=False)
    kept = killed_busy = 0
    for number in range(ROUNDS):
        generation = number // 4  # The same object for four kills, then another.
        key = f"f{generation}"
        if number % 4 == 0:
            server.put("b", key, Object(size=FULL, generation=generation))
            want = pattern.read(0, FULL, generation)
        m.start()
        reader = subprocess.Popen(["cat", str(m.path / key)], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        time.sleep(rng.random() * 0.25)
        m.kill()
        killed_busy += reader.wait(20) != 0
        m.start()
        with open(m.path / key, "rb") as file:
            known = int(os.getxattr(file.fileno(), "user.shardfs.cached_bytes"))
            before = len(server.log)
            assert file.read() == want, f"round {number}"
        time.sleep(0.05)  # The server logs what it has sent.
        assert server.sent(key, before) <= FULL - known, f"round {number}"
        kept += known
        m.kill()
    assert killed_busy > ROUNDS // 4, "the kills came too late"
    assert kept > 0, "nothing was ever kept"
    print(f"{ROUNDS} rounds, {killed_busy} while reading, {kept >> 20} MiB used again")

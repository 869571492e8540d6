#!/bin/bash
# Builds everything and runs all tests, as root on Debian 12. Leaves nothing behind but the packages
# that it installs. The last lines are CTest's, the status is CTest's.
#
#     tests/run.sh [-R REGEX] [--keep]
#
# -R REGEX  only the tests whose names match
# --keep    keep the build, and say where it is
# AUTO_GPUS_BUILD_DIR names a folder to build in; it is kept.
set -uo pipefail
umask 022
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
build=${AUTO_GPUS_BUILD_DIR:-}
regex='' keep='' worker=''

die() {
    printf 'run: %s\n' "$*" >&2
    exit 2
}

# After an accident: bats and the demo take down what they started when they are interrupted.
clean_up() {
    local status=$?
    trap '' INT TERM HUP
    [[ -z $worker ]] || end_worker
    [[ -z $scratch ]] || rm -rf --one-file-system "$scratch"
    exit "$status"
}

end_worker() {
    local i folder
    kill -INT -- "-$worker" 2>/dev/null
    for ((i = 0; i < 100; i++)); do
        kill -0 -- "-$worker" 2>/dev/null || break
        sleep 0.2
    done
    kill -KILL -- "-$worker" 2>/dev/null
    [[ -r ${AUTO_GPUS_SNAPSHOT:-} ]] || return 0
    # A test of the cluster itself may have left one that nobody watches.
    for folder in /tmp/*/state; do
        folder=${folder%/state}
        [[ ! -e $folder/slurm.conf ]] || grep -qxF "tmp $folder" "$AUTO_GPUS_SNAPSHOT" ||
            "$here/cluster/cluster" down "$folder"
    done
    "$here/leaves_nothing.sh" 20 >&2
}

# in_group COMMAND...: runs it in a process group of its own, so that an end of ours can end all of it.
# Bash acts on a signal at once while it waits.
in_group() {
    set -m
    "$@" </dev/null &
    worker=$!
    set +m
    wait "$worker"
    local status=$?
    worker=''
    return "$status"
}

# quietly WHAT COMMAND...: what it prints is shown when it fails.
quietly() {
    local what=$1
    shift
    echo "run: $what"
    in_group "$@" >"$build/run.log" 2>&1 && return
    grep -vE '^\[[0-9/% ]+\] ' "$build/run.log" | tail -n 60 >&2
    die "$what failed"
}

while (($# > 0)); do
    case $1 in
        -R) regex=${2:?run: -R needs a regular expression}; shift 2 ;;
        --keep) keep=yes; shift ;;
        *) die "unknown argument '$1'; known are -R REGEX and --keep" ;;
    esac
done
((EUID == 0)) || die "the tests start Slurm's daemons, which only root can: run this as root"

scratch=''
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

in_group "$here/setup.sh" || exit 2
if [[ -z $build ]]; then
    build=$(mktemp -d /tmp/auto-gpus.XXXXXX)
    [[ -n $keep ]] || scratch=$build
fi
mkdir -p "$build"
build=$(cd "$build" && pwd)
chmod 755 "$build"  # the jobs' user reads what is installed there
command -v ninja >/dev/null && generator=Ninja || generator='Unix Makefiles'

quietly "configuring in $build" cmake -S "$root" -B "$build" -G "$generator" -DAUTO_GPUS_WERROR=ON
quietly "building with $(c++ --version | head -n 1)" cmake --build "$build" --parallel 2
echo "run: testing"
export AUTO_GPUS_SNAPSHOT=$build/snapshot
"$here/cluster/cluster" snapshot >"$AUTO_GPUS_SNAPSHOT"
in_group ctest --test-dir "$build" --output-on-failure -j2 \
    ${regex:+-R "($regex)|^leaves_nothing\$"}

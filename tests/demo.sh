#!/usr/bin/env bash
# A Slurm cluster of two nodes with four simulated GPUs each, two of them broken, and a day's jobs on
# it. Shows each command and what came of it; takes root on Debian 12. Leaves nothing behind but the
# packages that it installs.
#
# AUTO_GPUS_BUILD and AUTO_GPUS_PREFIX: a build and its installation, used instead of new ones.
set -uo pipefail
umask 022

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/cluster/lib.sh
. "$here/cluster/lib.sh"

longest_command=60  # seconds, where a second or two is usual
scratch='' builder='' pid=''

clean_up() {
    local status=$?
    trap '' INT TERM HUP PIPE
    [[ -z $builder ]] || kill -KILL -- "-$builder" 2>/dev/null
    [[ -z $pid ]] || disown "$pid"  # its end is no news
    if [[ -n $scratch ]]; then
        cluster down "$scratch/cluster" || exit 1
        rm -rf --one-file-system "$scratch"
    fi
    exit "$status"
}

fail() {
    echo "demo: $1" >&2
    [[ ! -s $scratch/log ]] || tail -n 30 "$scratch/log" >&2
    exit 1
}

# quietly WHAT COMMAND...: what it prints is shown when it fails.
quietly() {
    local what=$1
    shift
    "$@" >"$scratch/log" 2>&1 </dev/null || fail "$what failed"
    : >"$scratch/log"
}

# in_group COMMAND...: in a process group of its own, which clean_up ends.
in_group() {
    local status=0
    setsid "$@" &
    builder=$!
    wait "$builder" || status=$?
    builder=''
    return "$status"
}

build() {
    local build=$scratch/build
    quietly "the configuration" in_group cmake -S "$here/.." -B "$build" -DBUILD_TESTING=ON
    quietly "the build" in_group cmake --build "$build" --parallel "$(nproc)" \
        --target spank_auto_gpus auto-gpus fake_cuda cuda-task
    quietly "the installation" "$here/install.sh" cmake "$build" "$scratch/installed"
    AUTO_GPUS_BUILD=$build AUTO_GPUS_PREFIX=$scratch/installed
}

# What a site has: the plugin in plugstack.conf, a driver and CUDA programs on its nodes.
start_cluster() {
    local driver=$AUTO_GPUS_BUILD/tests/driver plugin
    plugin=$(find "$AUTO_GPUS_PREFIX/" -name 'spank_auto_gpus.so' -print -quit)
    [[ -n $plugin ]] || fail "there is no plugin below $AUTO_GPUS_PREFIX"
    cluster up "$scratch/cluster" --nodes 2 --gpus 4 --owner $$ --libcuda "$driver/libcuda.so.1" ||
        fail "the cluster did not start"
    use_cluster "$scratch/cluster"
    install -m 755 "$driver/cuda-task" "$CLUSTER_DIR/driver/"
    plugstack "optional $plugin"
    node1=$(node 1) node2=$(node 2)
    gpus "$node1" ok ctx:214 hangK@init ok
    gpus "$node2" ok ok ok ok
    set_times "$node1"
    set_times "$node2"
}

# set_times NODE: its driver takes as long as one with persistence mode does.
set_times() {
    echo 'driver init=35ms context=300ms' >>"$CLUSTER_DIR/driver/$1.gpus"
}

write_job() {
    cat >"$CLUSTER_DIR/work/job.sh" <<'END'
#!/bin/sh
#SBATCH --gres=gpu:4 --auto-gpus=2 --output=job.out
echo "the script has $CUDA_VISIBLE_DEVICES"
srun printenv CUDA_VISIBLE_DEVICES
srun --auto-gpus=1 printenv CUDA_VISIBLE_DEVICES
END
}

# The colours of a terminal, or none.
bold='' plain=''
if [[ -t 1 ]]; then
    bold=$'\e[1m' plain=$'\e[0m'
fi

explain() {
    printf '\n# %s\n' "$1"
}

# shows STATUS COMMAND: types the command, as a user would, and fails if it ends otherwise.
shows() {
    local expected=$1 command=$2 status=0
    printf '%s$ %s%s\n' "$bold" "$command" "$plain"
    background as_user PATH="$CLUSTER_DIR/driver:/usr/local/bin:/usr/bin:/bin" \
        LD_LIBRARY_PATH="$CLUSTER_DIR/driver" timeout "$longest_command" sh -c "$command" 2>&1
    wait "$pid" || status=$?
    pid=''
    # shellcheck disable=SC2016  # as it is typed
    ((status == 0)) || printf '%s$ echo $?%s\n%s\n' "$bold" "$plain" "$status"
    ((status == expected)) || fail "that command was to end with $expected, not with $status"
}

run_jobs() {
    explain "$node1 has four GPUs. One has an ECC error, one hangs in cuInit. Two good ones are enough:"
    shows 0 "srun -w $node1 --gres=gpu:4 --auto-gpus=2 printenv CUDA_VISIBLE_DEVICES"

    explain 'There are not four good ones. The task ends at once, and says why:'
    shows 75 "srun -w $node1 --gres=gpu:4 --auto-gpus=4 printenv CUDA_VISIBLE_DEVICES"

    explain 'A batch script asks for itself and for the sruns in it; the second srun asks for less:'
    shows 0 'cat job.sh'
    shows 0 "sbatch --wait -w $node1 job.sh"
    shows 0 'cat job.out'

    explain 'Without the option, a CUDA program finds out by itself: it hangs with the third GPU,'
    shows 124 "srun -w $node1 --gres=gpu:4 timeout 3 cuda-task"
    explain 'and it meets the second one when it has made a context on the first:'
    shows 1 "srun -w $node1 --gres=gpu:2 cuda-task"
    explain 'With the option it runs:'
    shows 0 "srun -w $node1 --gres=gpu:4 --auto-gpus=2 cuda-task"

    explain "All GPUs of $node2 are well, and auto-gpus is silent:"
    shows 0 "srun -w $node2 --gres=gpu:4 --auto-gpus=2 printenv CUDA_VISIBLE_DEVICES"

    explain 'More than the allocation has is refused before any GPU is tried:'
    shows 78 "srun -w $node2 --gres=gpu:4 --auto-gpus=9 printenv CUDA_VISIBLE_DEVICES"
    explain 'A mistake is refused where it is typed, before the job waits in the queue:'
    shows 255 "srun -w $node2 --gres=gpu:4 --auto-gpus=two printenv CUDA_VISIBLE_DEVICES"
}

((EUID == 0)) || die "demo: only root can start Slurm's daemons"
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
trap 'exit 141' PIPE
scratch=$(mktemp -d /tmp/agd.XXXXXX) && chmod 755 "$scratch" || exit 1

if [[ -z ${AUTO_GPUS_BUILD:-} || -z ${AUTO_GPUS_PREFIX:-} ]]; then
    echo 'Installing packages and building; about two minutes.'
    # A signal waits for it to end: half-installed packages are no good.
    quietly "tests/setup.sh" "$here/setup.sh"
    build
fi
start_cluster
write_job
run_jobs

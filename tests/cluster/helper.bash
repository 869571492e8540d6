# Common to all .bats files that run on a cluster: one cluster for each file, an idle one for each test.
#
#     load helper
#     setup_file() { start_cluster --gpus 2; }     # where the defaults do not fit
#     @test "..." {
#         run srun_user -w "$(node 1)" --gres=gpu:2 printenv CUDA_VISIBLE_DEVICES
#         [ "$output" = 0,1 ]
#     }
# shellcheck shell=bash

bats_require_minimum_version 1.5.0
# shellcheck source=tests/cluster/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# cluster_obstacle: prints why no cluster can be started here, if none can.
cluster_obstacle() {
    local program
    ((EUID == 0)) || echo "only root can start Slurm's daemons"
    for program in slurmctld slurmd srun munged; do
        command -v "$program" >/dev/null || echo "$program is not installed"
    done
}

# need_cluster: skips a test where no cluster can be started.
need_cluster() {
    local obstacle
    obstacle=$(cluster_obstacle)
    [[ -z $obstacle ]] || skip "${obstacle//$'\n'/, }"
}

# start_cluster [OPTION]...: see `cluster --help`. It ends with this file, however that ends. The
# simulated driver, when it has been built, is in CLUSTER_DIR/driver, and so is cuda-task.
# shellcheck disable=SC2120  # called from .bats files
start_cluster() {
    local built=${AUTO_GPUS_BUILD:-/nonexistent}/tests/driver
    [[ -z $(cluster_obstacle) ]] || return 0
    CLUSTER_DIR=$(mktemp -d /tmp/agc.XXXXXX)
    export CLUSTER_DIR
    [[ ! -e $built/libcuda.so.1 ]] || set -- --libcuda "$built/libcuda.so.1" "$@"
    cluster up "$CLUSTER_DIR" --owner $$ "$@"
    use_cluster "$CLUSTER_DIR"
    [[ ! -e $built/cuda-task ]] || install -m 755 "$built/cuda-task" "$CLUSTER_DIR/driver/"
}

setup_file() {
    # shellcheck disable=SC2119  # the defaults
    start_cluster
}

setup() {
    need_cluster
    use_cluster "$CLUSTER_DIR"
    fresh_driver
}

teardown() {
    [[ -d ${CLUSTER_DIR:-} ]] || return 0
    if [[ -z ${BATS_TEST_COMPLETED:-} ]]; then
        printf 'status %s, output:\n%s\n' "${status-}" "${output-}"
        show_logs "$CLUSTER_DIR" 30
    fi
    settle
}

teardown_file() {
    [[ -z ${CLUSTER_DIR:-} ]] || cluster down "$CLUSTER_DIR"
}

# run_user COMMAND...: bats' run, as the user of the jobs.
run_user() {
    run as_user "$@"
}

# need_fence: skips a test where GPUs cannot be fenced on this host.
need_fence() {
    [[ $FENCED == yes ]] || skip "GPUs are not fenced: $FENCED_WHY"
}

# need_driver: skips a test where the simulated driver has not been built.
need_driver() {
    [[ -e $CLUSTER_DIR/driver/cuda-task ]] ||
        skip "no simulated driver: AUTO_GPUS_BUILD is not a folder with a build"
}

# use_plugin [WORD]...: plugstack.conf names the installed plugin, the simulated driver and these words.
use_plugin() {
    local plugin
    [[ -n ${AUTO_GPUS_PREFIX:-} ]] || skip "no plugin: AUTO_GPUS_PREFIX is not set"
    plugin=$(find "$AUTO_GPUS_PREFIX/" -name '*auto_gpus*.so' -print -quit)
    if ! as_user test -r "${plugin:-/nonexistent}"; then
        echo "no plugin below $AUTO_GPUS_PREFIX that $job_user can read" >&2
        return 1
    fi
    plugstack "optional $plugin libcuda=$CLUSTER_DIR/driver/libcuda.so.1 $*"
}

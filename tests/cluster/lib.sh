# For tests that use a cluster: source this, then call use_cluster DIR.
# shellcheck shell=bash

cluster_tools=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/cluster/common.sh
. "$cluster_tools/common.sh"

cluster() {
    "$cluster_tools/cluster" "$@"
}

# use_cluster DIR: sets what DIR/env says: SLURM_CONF, CLUSTER_DIR, CLUSTER_NAME, NODES, MINORS,
# GPUS_PER_NODE, FENCED, FENCED_WHY, CGROUP_ROOT.
use_cluster() {
    # shellcheck source=/dev/null
    . "$1/env"
}

# as_user [NAME=VALUE]... COMMAND...: as the user of the jobs, in his folder, with a known environment
# and none of bats' descriptors.
as_user() {
    if [[ -n ${in_background:-} ]]; then
        become_user "$@"
    else
        (become_user "$@")
    fi
}

become_user() {
    cd "$CLUSTER_DIR/work" || exit
    exec setpriv --reuid "$job_user" --regid "$(id -g "$job_user")" --clear-groups \
        env -i --default-signal=INT,QUIT PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 SHELL=/bin/sh \
        USER="$job_user" LOGNAME="$job_user" HOME="$CLUSTER_DIR/work" \
        TMPDIR="$CLUSTER_DIR/work/tmp" SLURM_CONF="$SLURM_CONF" "$@" 3>&- 4>&-
}

# background as_user|srun_user ARGUMENTS...: sets `pid` to the command's own, for signals and `wait`.
background() {
    in_background=yes "$@" </dev/null &
    # shellcheck disable=SC2034  # the caller's
    pid=$!
}

# srun_user [NAME=VALUE]... SRUN-ARGUMENTS...
srun_user() {
    local variables=()
    while [[ ${1:-} =~ ^[A-Za-z_][A-Za-z0-9_]*= ]]; do
        variables+=("$1")
        shift
    done
    as_user "${variables[@]}" srun "$@" </dev/null
}

# node N: the name of the Nth node, from 1.
node() {
    echo "${NODES[$1 - 1]}"
}

# device NODE INDEX: the path of its device node; 1 when the cluster has none.
device() {
    local minors
    read -ra minors <<<"${MINORS[$1]:-}"
    [[ -n ${minors[$2]:-} ]] && echo "/dev/nvidia${minors[$2]}"
}

# uuid NODE INDEX: the same for the same node and index, another for any other.
uuid() {
    local digits
    digits=$(md5sum <<<"$1 $2")
    echo "GPU-${digits:0:8}-${digits:8:4}-${digits:12:4}-${digits:16:4}-${digits:20:12}"
}

# pci NODE INDEX: unique among the nodes of a cluster.
pci() {
    printf '0000:%02x:%02x.0\n' $((${1##*n} % 15 * 16 + 16 + $2 % 16)) $(($2 / 16))
}

# gpus NODE BEHAVIOUR...: the node gets one GPU for each. A behaviour may be followed by other keys of
# the steering file, which win: gpus "$(node 1)" ok 'ctx:214 model="NVIDIA A100"'.
gpus() {
    local node=$1 behaviour path index=0
    local file=$CLUSTER_DIR/driver/$node.gpus
    shift
    for behaviour in "$@"; do
        path=$(device "$node" "$index") || path=""
        gpu_line "$behaviour" model '"NVIDIA H100 80GB HBM3"' uuid "$(uuid "$node" "$index")" \
            pci "$(pci "$node" "$index")" total 81559M used 0M mode default speed 10 device "$path"
        index=$((index + 1))
    done >"$file.new"
    mv "$file.new" "$file"
}

# gpu_line BEHAVIOUR KEY VALUE...: a key without a value, and one that BEHAVIOUR brings, is left out.
gpu_line() {
    local behaviour=$1 line=gpu
    shift
    while (($# > 0)); do
        [[ -z $2 || " $behaviour" == *" $1="* ]] || line+=" $1=$2"
        shift 2
    done
    echo "$line behaviour=$behaviour"
}

# fresh_driver: every GPU of every node is healthy, and the simulated driver remembers nothing.
fresh_driver() {
    local node all=()
    while ((${#all[@]} < GPUS_PER_NODE)); do
        all+=(ok)
    done
    for node in "${NODES[@]}"; do
        gpus "$node" "${all[@]}"
    done
    find "$CLUSTER_DIR/driver/locks" "$CLUSTER_DIR/driver/state" -type f -delete
    : >"$CLUSTER_DIR/driver/calls.log"
}

# driver_calls NODE [CALL [RESULT]]: these lines of the simulated driver's log.
driver_calls() {
    awk -v node="$1" -v call="${2:-}" -v result="${3:-}" \
        '$3 == node && (call == "" || $5 == call) && (result == "" || $7 == result)' \
        "$CLUSTER_DIR/driver/calls.log"
}

# plugstack LINE...: becomes plugstack.conf, for srun and for every step that starts from now on.
plugstack() {
    printf '%s\n' "$@" >"$CLUSTER_DIR/plugstack.conf.new"
    mv "$CLUSTER_DIR/plugstack.conf.new" "$CLUSTER_DIR/plugstack.conf"
}

# slurm_log NODE: the log of its slurmd and of the steps there.
slurm_log() {
    cat "$CLUSTER_DIR/log/slurmd-$1"
}

no_jobs() {
    local jobs
    jobs=$(timeout 5 squeue -h -o %A 2>/dev/null) && [[ -z $jobs ]]
}

# settle: ends whatever runs, and waits until the next test finds an idle cluster.
settle() {
    no_jobs || timeout 5 scancel --user="$job_user"
    wait_until 20 no_jobs && wait_until 20 nodes_idle "${#NODES[@]}"
}

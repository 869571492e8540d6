#!/usr/bin/env bash
# Ten failures on a real Slurm cluster, as a terminal shows them, in Markdown: the section "Ten failures"
# of README.md. Names and times that differ from run to run are replaced. Takes root, a build and its
# installation in AUTO_GPUS_BUILD and AUTO_GPUS_PREFIX, and some seconds.
#
#     failures.sh                    prints the section
#     failures.sh --check README.md  compares it with the one there
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/cluster/lib.sh
. "$here/../cluster/lib.sh"

scratch=''
title='## Ten failures'

clean_up() {
    local status=$?
    trap '' INT TERM
    if [[ -n $scratch ]]; then
        cluster down "$scratch/c" >&2 || status=1
        rm -rf --one-file-system "$scratch"
    fi
    exit "$status"
}

start_cluster() {
    local driver=$AUTO_GPUS_BUILD/tests/driver
    scratch=$(mktemp -d /tmp/agf.XXXXXX)
    chmod 755 "$scratch"
    cluster up "$scratch/c" --nodes 1 --gpus 4 --libcuda "$driver/libcuda.so.1" || exit
    use_cluster "$scratch/c"
    plugin=$(find "$AUTO_GPUS_PREFIX/" -name '*auto_gpus*.so' -print -quit)
    # shellcheck disable=SC2016  # the script's
    printf '#!/bin/sh\necho "it ran, on $CUDA_VISIBLE_DEVICES"\n' >"$CLUSTER_DIR/work/train"
    chmod 755 "$CLUSTER_DIR/work/train"
    mkdir "$CLUSTER_DIR/nvml"
    install -m 755 "$driver/libnvidia-ml.so.1" "$CLUSTER_DIR/nvml/"
}

gpu_names=(GPU-1b2c3d4e-0b1c-4f6a-9d2e-5a7c11d0e9f1 GPU-5f6a7b8c-6e0d-4c57-8b34-2f90aa6d7c12
    GPU-9d0e1f2a-33c9-47f1-a6e5-c8b1403e5d23 GPU-c3d4e5f6-91a7-4e08-bd60-7e2f95a8b634)
gpu_places=(0000:17:00.0 0000:2a:00.0 0000:3d:00.0 0000:63:00.0)

# node_has BEHAVIOUR BEHAVIOUR BEHAVIOUR BEHAVIOUR [LINE]...: what is wrong with the node's four GPUs.
node_has() {
    local i keys=()
    fresh_driver
    for i in 0 1 2 3; do
        keys+=("$1 uuid=${gpu_names[i]} pci=${gpu_places[i]}")
        shift
    done
    gpus "$(node 1)" "${keys[@]}"
    (($# == 0)) || printf '%s\n' "$@" >>"$CLUSTER_DIR/driver/$(node 1).gpus"
}

# steady: what differs from run to run, as a terminal of some site might have shown it.
steady() {
    sed -E "s|$CLUSTER_DIR/driver|/usr/lib64|g; s/$(node 1)/gpu07/g; s/\b[0-9]+\.[0-9]{2} s\b/0.31 s/g"
}

# failure HEADING COMMAND [WORD]...: how the command ends, our lines first and then srun's; WORDs are
# variables of srun's environment.
failure() {
    local text
    printf '\n%s\n\n```console\n$ %s\n' "$1" "$2"
    plugstack "optional $plugin libcuda=$CLUSTER_DIR/driver/libcuda.so.1 retry=0"
    # shellcheck disable=SC2086  # the command's words
    text=$(as_user "${@:3}" $2 2>&1 </dev/null | steady)
    grep '^auto-gpus' <<<"$text"
    grep -v '^auto-gpus' <<<"$text"
    echo '```'
}

section() {
    echo "$title"
    node_has ok ctx:214 ok ok
    failure 'A GPU has an uncorrectable ECC error, and all are wanted.' 'srun --gres=gpu:4 --auto-gpus=4 ./train'
    node_has ok ok busy46 ok
    failure 'Somebody holds a GPU in exclusive-process mode.' 'srun --gres=gpu:4 --auto-gpus=4 ./train'
    node_has hangK ok hangK@ctx ok
    failure 'Two GPUs do not answer.' 'srun --gres=gpu:4 --auto-gpus=3 --auto-gpus-timeout=2 ./train'
    node_has 'ok used=71G' ok 'ok used=71G' ok
    failure 'The memory of two GPUs is taken by what an earlier job left.' \
        'srun --gres=gpu:4 --auto-gpus=3 --auto-gpus-min-free=40G ./train'
    node_has ok ok ok ctx:999
    printf 'gpu uuid=%s pci=%s %s\n' "${gpu_names[3]}" "${gpu_places[3]}" result=16 >"$CLUSTER_DIR/nvml/$(node 1).nvml"
    failure 'A GPU needs a reset, and NVML knows.' 'srun --gres=gpu:4 --auto-gpus=all ./train' "LD_LIBRARY_PATH=$CLUSTER_DIR/nvml"
    node_has ok ok gone ok
    failure 'A GPU was lost, and those behind it have moved up.' 'srun --gres=gpu:4 --auto-gpus=4 ./train'
    node_has ok ok ok ok "together gpus=${gpu_names[0]},${gpu_names[1]} behaviour=init:999"
    failure 'Two GPUs work one by one, but not together.' 'srun --gres=gpu:2 --auto-gpus=2 ./train'
    node_has ok ok ok ok 'all behaviour=init:802'
    failure 'The NVSwitch fabric of the node is not up, or something else keeps the driver from starting.' \
        'srun --gres=gpu:4 --auto-gpus=2 ./train'
    node_has ok ok ok ok 'all behaviour=init:803'
    failure "An update has changed the driver's library, and the old module is still loaded." \
        'srun --gres=gpu:1 --auto-gpus=1 ./train'
    node_has ok ok ok ok
    failure 'GPUs are wanted, and none were allocated.' 'srun --auto-gpus=2 ./train'
}

# section_of FILE: the section as it is there, without blank lines around it.
section_of() {
    awk -v title="$title" '/^## / { on = $0 == title } on' "$1" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

case ${1:-} in
    '') ;;
    --check) [[ -r ${2:-} ]] || { echo "failures: cannot read '${2:-}'" >&2; exit 2; } ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
trap clean_up EXIT
trap 'exit 130' INT TERM
start_cluster
section >"$scratch/section"
if [[ ${1:-} == --check ]]; then
    diff -u --label "$2" --label 'what comes now' <(section_of "$2") "$scratch/section"
else
    cat "$scratch/section"
fi

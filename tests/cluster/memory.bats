#!/usr/bin/env bats
# Probes under the job's memory limit, which a real memory cgroup enforces.

load expect

setup_file() {
    start_cluster --nodes 1 --gpus 4 --cgroup ConstrainRAMSpace=yes --conf SelectTypeParameters=CR_Core_Memory
}

setup() {
    need_cluster
    need_driver
    use_cluster "$CLUSTER_DIR"
    [[ -e $CGROUP_ROOT/memory/memory.limit_in_bytes ]] || skip "no memory cgroup of version 1 here"
    fresh_driver
    use_plugin
}

@test "a probe that the memory limit kills is told from a bad GPU" {
    # Four probes of some 18 MiB each at the same time; what one has copied cannot be taken back.
    show --mem=20 --gres=gpu:4 --auto-gpus=4
    [ "$status" -ne 0 ]
    [ -z "$output" ]
    nothing_ran
    said | grep -qE "^  [0-3]  MEMORY_LIMIT  NVIDIA H100 80GB HBM3  GPU-.*  the probe was killed by the job's memory limit\$"
    said | tail -n 1 | grep -q '^ask for more memory with --mem, or use '
    run ! said_has CRASHED
}

said_has() {
    said | grep -q "$1"
}

@test "with room for them all there is nothing to say" {
    show --mem=400 --gres=gpu:4 --auto-gpus=4
    expect 0 0,1,2,3
    [ -z "$(said)" ]
}

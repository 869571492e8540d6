#!/usr/bin/env bats
# What NVML says of a GPU that failed: it explains, and never decides.
#
# shellcheck disable=SC2016,SC2154

load faults

setup_file() { start_cluster --nodes 1 --gpus 2; }

reset='the GPU requires a reset'
causes='the driver says unknown error; likely causes: /dev/nvidia-uvm missing or not permitted, or a GPU that requires a reset'

# explained BEHAVIOUR NOTE: GPU 0 behaves so, and its row ends with this note of NVML's.
explained() {
    gpus "$(node 1)" "$1" ok
    show "$with_nvml" --gres=gpu:2 --auto-gpus=2
    expect 75 '' && nothing_ran && expect_lines 4 || return
    [[ $(said | sed -n 2p) == *"; NVML: $2" ]] || { said; return 1; }
}

# unexplained BEHAVIOUR: the same, but NVML has nothing to say.
unexplained() {
    gpus "$(node 1)" "$1" ok
    show "$with_nvml" --gres=gpu:2 --auto-gpus=2
    expect 75 '' && nothing_ran && expect_lines 4 && [[ $stderr != *NVML* ]]
}

@test "requires a reset, lost, and memory used by others" {
    nvml "$(nvml_gpu 0 result=16)" "$(nvml_gpu 1)"
    explained ctx:999 "$reset"
    [ "$(said | sed -n 2p)" = "  0  UNKNOWN_ERROR  $(of_gpu 0)  cuCtxCreate: CUDA_ERROR_UNKNOWN (999): $causes; NVML: $reset" ]
    nvml "$(nvml_gpu 0 result=15)" "$(nvml_gpu 1)"
    explained ctx:999 'the GPU is lost'
    nvml "$(nvml_gpu 0 used=1092M)" "$(nvml_gpu 1 used=70G)"
    use_plugin retry=0
    explained busy46 '1.1 GiB of its memory is used'
    nvml "$(nvml_gpu 0 used=511M)" "$(nvml_gpu 1)"
    unexplained busy46
}

@test "a GPU that cannot be named is told by its PCI id, or as one of the node" {
    nvml "$(nvml_gpu 0 result=16)" "$(nvml_gpu 1)"
    explained init:999 "$(pci "$(node 1)" 0): $reset"
    nvml "$(nvml_gpu 0 result=16 at=handle)" "$(nvml_gpu 1)"
    explained init:999 "of a GPU of this node: $reset"
    # Memory used explains a refusal of that GPU only.
    nvml "$(nvml_gpu 0 used=20G)" "$(nvml_gpu 1 used=70G)"
    unexplained init:999
}

@test "a fault of another GPU, which has a row of its own, is not this one's" {
    nvml "$(nvml_gpu 0)" "$(nvml_gpu 1 result=15)"
    gpus "$(node 1)" init:999 ctx:214
    show "$with_nvml" --gres=gpu:2 --auto-gpus=1
    expect_short "  1  ECC_UNCORRECTABLE  $(of_gpu 1)  cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214); NVML: the GPU is lost"
    [[ $(said | grep ' UNKNOWN_ERROR ') != *NVML* ]]
}

@test "the only GPU, where there is no table" {
    nvml "$(nvml_gpu 0 result=16)"
    gpus "$(node 1)" ctx:999
    show "$with_nvml" --gres=gpu:1 --auto-gpus=1
    expect_short UNKNOWN_ERROR "$reset"
    gpus "$(node 1)" init:999
    show "$with_nvml" --gres=gpu:1 --auto-gpus=1
    expect_short UNKNOWN_ERROR "$reset"
}

@test "MIG mode without an instance" {
    nvml "$(nvml_gpu 0 mig=on)" "$(nvml_gpu 1 mig=off)"
    gpus "$(node 1)" gone ok
    show "$with_nvml" --gres=gpu:2 --auto-gpus=2
    expect_short '1 of 2 GPUs usable'
    [[ $(said | grep ' NOT_VISIBLE ') == *"; NVML: $(pci "$(node 1)" 0): MIG mode is on without an instance" ]]
    # With instances, or with MIG off or unknown, there is nothing to say.
    nvml "$(nvml_gpu 0 mig=on instances=2)" "$(nvml_gpu 1 mig=none)"
    unexplained ctx:214
    [[ $(nvml_calls) == *nvmlDeviceGetMigDeviceHandleByIndex* ]]
}

@test "any error of NVML is no opinion" {
    local line
    for line in 'nvml result=18 at=init' 'nvml result=9 at=init' 'nvml result=999 at=count' 'nvml nonsense=1' \
        "$(nvml_gpu 0 result=4)" "$(nvml_gpu 0 result=4 at=handle)" "$(nvml_gpu 0 result=3 at=pci)" \
        "$(nvml_gpu 0 result=999 at=memory)" "$(nvml_gpu 0 result=3 at=mig)" ''; do
        nvml "$line"
        unexplained ctx:214 || { echo "$line"; return 1; }
    done
    # Without a UUID the PCI id still tells the GPU.
    nvml "$(nvml_gpu 0 result=4 at=uuid used=20G)"
    explained ctx:214 '20.0 GiB of its memory is used'
    # A library that lacks a function, and one that is none.
    nvml ''
    cp "$CLUSTER_DIR/driver/libcuda.so.1" "$CLUSTER_DIR/nvml/libnvidia-ml.so.1"
    unexplained ctx:214
    echo rubbish >"$CLUSTER_DIR/nvml/libnvidia-ml.so.1"
    unexplained ctx:214
}

@test "NVML makes no GPU usable, and none unusable" {
    nvml "$(nvml_gpu 0 result=16)" "$(nvml_gpu 1 result=15)"
    show "$with_nvml" --gres=gpu:2 --auto-gpus=2
    expect 0 0,1
    [ -z "$stderr" ]
    # Nobody even asked: evidence is sought on failure alone.
    [ -z "$(nvml_calls)" ]
    gpus "$(node 1)" ctx:214 ok
    show "$with_nvml" --gres=gpu:2 --auto-gpus=1
    expect 0 1
    [ -z "$(nvml_calls)" ]
    nvml "$(nvml_gpu 0)" "$(nvml_gpu 1)"
    unexplained ctx:214
    [[ $(nvml_calls) == *nvmlDeviceGetMemoryInfo* ]]
}

@test "an NVML that hangs delays a failure by half a second at most, and changes nothing" {
    local call plain
    gpus "$(node 1)" ctx:214 ok
    nvml "$(nvml_gpu 0)"
    elapsed show "$with_nvml" --gres=gpu:2 --auto-gpus=2
    plain=$took
    expect 75 ''
    said >"$BATS_TEST_TMPDIR/plain"
    for call in init count handle pci uuid memory mig; do
        case $call in
            init | count) nvml "nvml hang=$call" "$(nvml_gpu 0)" ;;
            *) nvml "$(nvml_gpu 0 hang=$call)" ;;
        esac
        elapsed show "$with_nvml" --gres=gpu:2 --auto-gpus=2
        expect 75 ''
        said | diff "$BATS_TEST_TMPDIR/plain" -
        ((took - plain < 100)) || { echo "$call: $took, without a hang $plain"; return 1; }
        grep -q does:hang "$CLUSTER_DIR/nvml/calls.log"
        nothing_left
    done
}

@test "a hanging NVML does not keep a task with enough GPUs" {
    nvml 'nvml hang=init'
    gpus "$(node 1)" ctx:214 ok
    elapsed show "$with_nvml" --gres=gpu:2 --auto-gpus=1
    expect 0 1
    ((took < 150))
}

@test "a GPU that timed out stays so, when there is no time left to ask NVML" {
    nvml "$(nvml_gpu 0 result=15)" "$(nvml_gpu 1)"
    gpus "$(node 1)" hangK@ctx ok
    show "$with_nvml" --gres=gpu:2 --auto-gpus=2 --auto-gpus-timeout=1
    expect_short '0  TIMEOUT  ' 'no answer in 1 s, last seen in cuCtxCreate'
}

#!/usr/bin/env bats
# Cases from the field: MIG, broken hardware, memory and limits, MPS.
#
# Scripts for the steps are in single quotes.
# shellcheck disable=SC2016,SC2154

load faults

setup_file() { start_cluster --nodes 1 --gpus 8; }

setup() {
    need_cluster
    need_driver
    use_cluster "$CLUSTER_DIR"
    fresh_driver
    use_plugin retry=0
}

# instances BEHAVIOUR...: GPU 0 has these MIG instances; sets mig, their names by comma, and names.
instances() {
    local behaviour gi=7
    names=()
    gpus "$(node 1)" 'ok mig=on' ok
    for behaviour; do
        names+=("MIG-$(printf %08d "$gi")-0000-0000-0000-000000000001")
        mig_line 0 "${names[-1]}" "$gi" "$behaviour"
        gi=$((gi + 1))
    done
    printf -v mig '%s,' "${names[@]}"
    mig=${mig%,}
    set_list
}

@test "F01 three MIG instances: all are given with a warning that a process sees one" {
    instances ok ok ok
    show TEST_LIST="$mig" --gres=gpu:1 --auto-gpus=3
    expect 0 "$mig"
    expect_said <<<'warning: CUDA shows a process one MIG instance, not 3; use one task for each'
    show TEST_LIST="$mig" --gres=gpu:1 --auto-gpus=1
    expect 0 "${names[0]}"
    [ -z "$stderr" ]
}

@test "F03 two MIG instances and a program that counts two devices" {
    instances ok ok
    show TEST_LIST="$mig" --gres=gpu:1 --auto-gpus=2
    expect 0 "$mig"
    expect_said <<<'warning: CUDA shows a process one MIG instance, not 2; use one task for each'
}

@test "F04 each of seven instances is judged by itself: the seventh is the one that works" {
    instances ctx:46 ctx:46 ctx:46 ctx:46 ctx:46 ctx:46 ok
    show TEST_LIST="$mig" --gres=gpu:1 --auto-gpus=1
    expect 0 "${names[6]}"
    [ "$(probed | sort -u)" = "$(printf '%s\n' "${names[@]}" "$mig" | sort -u)" ]
}

@test "F05 a MIG UUID stays as it is" {
    instances ok
    show TEST_LIST="$mig" --gres=gpu:1 --auto-gpus=1
    expect 0 "$mig"
}

@test "F07 the form before driver 470: slashes are kept, and the list is split at commas alone" {
    local parent
    parent=$(uuid "$(node 1)" 0)
    instances ok ok ok ok ok ctx:999
    show TEST_LIST="MIG-$parent/12/0,MIG-$parent/11/0" --gres=gpu:1 --auto-gpus=1
    expect 0 "MIG-$parent/11/0"
    expect_said <<<"using MIG-$parent/11/0; MIG-$parent/12/0 UNKNOWN_ERROR skipped"
}

@test "F09 MIG mode without an instance: CUDA sees none, and NVML can tell why" {
    nvml "$(nvml_gpu 0 mig=on)"
    # Here the mode is the fault; `mig=on` would stay with AUTO_GPUS_ALL_OK.
    gpus "$(node 1)" 'ok mig=yes' ok
    show "$with_nvml" --gres=gpu:1 --auto-gpus=1
    expect_short 'CUDA_ERROR_NO_DEVICE (100)' 'MIG mode is on without an instance'
}

@test "F10 ordinals above 0 are no good on MIG: the task counts one device" {
    instances ok ok
    ask TEST_LIST="$mig" LD_LIBRARY_PATH="$CLUSTER_DIR/driver" --gres=gpu:1 --auto-gpus=2 "$CLUSTER_DIR/driver/cuda-task"
    [[ $status == 0 && ${#lines[@]} == 1 && $output == "device 0: "*" ${names[0]} "* ]]
    expect_texts 'warning: CUDA shows a process one MIG instance, not 2'
}

ecc='cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)'

@test "G02 uncorrectable ECC on the only GPU: a code to requeue by, and the node to exclude" {
    gpus "$(node 1)" ctx:214
    show --gres=gpu:1 --auto-gpus=1
    expect_short '0 of 1 GPUs usable' "  0  ECC_UNCORRECTABLE  $(of_gpu 0)  $ecc" "use --exclude=$(node 1), and report the node"
    batch --gres=gpu:1 --auto-gpus=1 --wrap 'touch ran'
    [ "$status" -eq 75 ]
    nothing_ran
}

@test "G03 a GPU with errors in its history alone is as good as any: NVML is not asked" {
    nvml "$(nvml_gpu 0)"
    show "$with_nvml" --gres=gpu:1 --auto-gpus=1
    expect 0 0
    [ -z "$stderr" ]
    [ -z "$(nvml_calls)" ]
}

@test "G05 whichever call makes the context, 214 is what it is" {
    gpus "$(node 1)" ctx:214 ok
    show --gres=gpu:2 --auto-gpus=1
    expect 0 1
    show --gres=gpu:2 --auto-gpus=2
    expect_short '1 of 2 GPUs usable' "  0  ECC_UNCORRECTABLE  $(of_gpu 0)  $ecc"
}

@test "G06 'out of memory' with the memory free: said with what is free" {
    gpus "$(node 1)" ok alloc:2
    set_list
    show TEST_LIST=1 --gres=gpu:2 --auto-gpus=1
    expect_short "  1  OUT_OF_MEMORY  $(of_gpu 1)  cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2) although 79.3 GiB of 79.6 GiB free: likely a bad GPU or a limit"
}

@test "G07 the same at the context, where free memory is not known" {
    gpus "$(node 1)" ok ctx:2
    set_list
    show TEST_LIST=1 --gres=gpu:2 --auto-gpus=1
    expect_short "  1  OUT_OF_MEMORY  $(of_gpu 1)  cuCtxCreate: CUDA_ERROR_OUT_OF_MEMORY (2); likely a full GPU, a bad GPU, or a limit"
}

@test "G08 one of four falls off the bus: the others are given" {
    gpus "$(node 1)" ok init:999 ok ok
    show --gres=gpu:4 --auto-gpus=3
    expect 0 0,2,3
    # No longer enumerated, it makes the others move up; the list's end is what is missing then.
    gpus "$(node 1)" ok gone ok ok
    ask --gres=gpu:4 --auto-gpus=3 sh -c 'echo "$CUDA_VISIBLE_DEVICES $AUTO_GPUS_UUIDS"'
    expect 0 "0,1,2 $(uuids 0 2 3)"
}

@test "G11 one GPU lost after a reboot: seven of eight, and the driver's number" {
    gpus "$(node 1)" ok ok ok ok ok ok ok gone
    show --gres=gpu:8 --auto-gpus=8
    expect_short '7 of 8 GPUs usable' '  7  NOT_VISIBLE  the driver shows 7 GPUs'
}

@test "G12 a node that stays broken until its reboot: initialisation, and memory of one GPU" {
    gpus "$(node 1)" init:3 init:3 init:3 init:3
    show --gres=gpu:4 --auto-gpus=1
    expect_short 'NOT_INITIALIZED: cuInit: CUDA_ERROR_NOT_INITIALIZED (3)'
    expect_lines 1
    gpus "$(node 1)" alloc:2 ok ok ok
    show --gres=gpu:4 --auto-gpus=3
    expect 0 1,2,3
}

@test "G15 nodes that pass their health check, and CUDA says unknown error" {
    gpus "$(node 1)" ctx:999 ctx:999 ctx:999 ctx:999
    show --gres=gpu:4 --auto-gpus=1
    expect_short 'UNKNOWN_ERROR' 'cuCtxCreate: CUDA_ERROR_UNKNOWN (999)' 'likely causes: /dev/nvidia-uvm '
    [ "$(said | grep -c 'likely causes')" = 1 ]
}

@test "G16 NVML says that a GPU requires a reset: the other one is given, and the message has it" {
    nvml "$(nvml_gpu 0 result=16)" "$(nvml_gpu 1)"
    gpus "$(node 1)" init:999 ok
    show "$with_nvml" --gres=gpu:2 --auto-gpus=1
    expect 0 1
    show "$with_nvml" --gres=gpu:2 --auto-gpus=2
    expect_short '0  UNKNOWN_ERROR ' "NVML: $(pci "$(node 1)" 0): the GPU requires a reset"
    gpus "$(node 1)" ctx:999
    show "$with_nvml" --gres=gpu:1 --auto-gpus=1
    expect_short UNKNOWN_ERROR 'the GPU requires a reset'
}

@test "K01 left-overs of a job hold most of the memory: a warning, or with a floor a no" {
    local index used='ok used=72G'
    gpus "$(node 1)" "$used" "$used" "$used" "$used"
    show --gres=gpu:4 --auto-gpus=4
    expect 0 0,1,2,3
    for index in 0 1 2 3; do
        expect_texts "warning: $index has 72.4 GiB of 79.6 GiB "
    done
    show --gres=gpu:4 --auto-gpus=1 --auto-gpus-min-free=20G
    expect_short '0 of 4 GPUs usable' '  3  LOW_MEMORY ' '7.3 GiB of 79.6 GiB free, at least 20.0 GiB asked for'
}

@test "K02 a stopped process holds a GPU's memory: the other one is given" {
    gpus "$(node 1)" alloc:2 ok
    show --gres=gpu:2 --auto-gpus=1
    expect 0 1
}

@test "K05 with all GPUs visible cuInit says out of memory, with one it works" {
    gpus "$(node 1)" ok init:2 ok ok
    show --gres=gpu:4 --auto-gpus=3
    expect 0 0,2,3
    # The whole list fails, so the chosen one is tried as a whole before it is given.
    [ "$(driver_calls "$(node 1)" cuInit 2 | cut -d' ' -f4 | sort)" = "0,1,2,3
1" ]
    [ "$(driver_calls "$(node 1)" cuInit 0 | awk '$4 == "0,2,3"' | wc -l)" = 1 ]
}

@test "K07 a limit on virtual memory: the message names it" {
    gpus "$(node 1)" alloc:2
    run --separate-stderr as_user sh -c 'ulimit -v 16777216; exec srun --propagate=AS --gres=gpu:1 --auto-gpus=1 touch ran'
    expect 75 ''
    expect_texts ADDRESS_LIMIT '16.0 GiB' 'virtual memory limit'
    show --gres=gpu:1 --auto-gpus=1
    expect_short 'OUT_OF_MEMORY'
}

@test "K08 nothing of CUDA is linked into Slurm's processes, and the helper is a plain binary" {
    local file
    for file in "$AUTO_GPUS_PREFIX"/bin/auto-gpus "$(find "$AUTO_GPUS_PREFIX" -name '*auto_gpus*.so')"; do
        run ldd "$file"
        [ "$status" -eq 0 ]
        [[ $output != *cuda* && $output != *nvidia* && $output != *san.so* && $output != *stdc++* ]]
    done
}

@test "L02 a client that MPS refuses: the message has the MPS folder" {
    gpus "$(node 1)" ctx:46
    show CUDA_MPS_PIPE_DIRECTORY=/tmp/nvidia-mps --gres=gpu:1 --auto-gpus=1
    expect_short '  0  UNAVAILABLE ' 'look at the MPS daemon of CUDA_MPS_PIPE_DIRECTORY=/tmp/nvidia-mps'
}

#!/usr/bin/env bats
# Every reason why one GPU is refused, through a real step: the row of the table that it gets.
#
# Scripts for the steps are in single quotes.
# shellcheck disable=SC2016,SC2154

load faults

setup_file() { start_cluster --nodes 1 --gpus 4; }

# row BEHAVIOUR CODE TEXT: of two GPUs the second behaves so, and has this row (TEXT: its columns after the code).
row() {
    gpus "$(node 1)" ok "$1"
    show --gres=gpu:2 --auto-gpus=2
    expect 75 '' && nothing_ran && expect_lines 4 || return
    [[ $(said | sed -n 3p | sed 's/  */ /g') == " 1 $2 $3" ]] || { printf '%s:\n' "$1"; said; return 1; }
    [[ $(said | head -n 1) == "1 of 2 GPUs usable, --auto-gpus=2 asks for 2; no task started on this node" ]]
}

# row_of_known BEHAVIOUR CODE DETAIL: as row, where the model, UUID and PCI id are known.
row_of_known() {
    row "$1" "$2" "$(of_gpu 1 | sed 's/  */ /g') $3"
}

@test "UNAVAILABLE: 46 in default mode" {
    use_plugin retry=0
    row_of_known ctx:46 UNAVAILABLE 'cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE (46): the driver says busy or unavailable'
}

@test "BUSY_EXCLUSIVE: 46 in exclusive-process mode" {
    use_plugin retry=0
    row_of_known busy46 BUSY_EXCLUSIVE 'cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE (46): in use by another process, exclusive-process mode'
}

@test "BUSY_EXCLUSIVE: a process holds the GPU, and when it has ended the GPU is usable" {
    use_plugin retry=0
    gpus "$(node 1)" 'ok mode=exclusive_process' 'ok mode=exclusive_process'
    background as_user SLURMD_NODENAME="$(node 1)" CUDA_VISIBLE_DEVICES=1 LD_LIBRARY_PATH="$CLUSTER_DIR/driver" \
        "$CLUSTER_DIR/driver/cuda-task" --hold 600 --ready "$CLUSTER_DIR/work/holds"
    wait_until 10 test -e "$CLUSTER_DIR/work/holds"
    show --gres=gpu:2 --auto-gpus=2
    expect_short "1  BUSY_EXCLUSIVE  $(of_gpu 1)  cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE (46): in use by another process, exclusive-process mode" \
        "use --auto-gpus=1, or --exclude=$(node 1), or try again later"
    # It is alive: nothing of ours ends the processes of others.
    kill -0 "$pid"
    show --gres=gpu:2 --auto-gpus=1
    expect 0 0
    kill "$pid"
    wait "$pid" || true
    show --gres=gpu:2 --auto-gpus=2
    expect 0 0,1
    rm -f "$CLUSTER_DIR/work/holds"
}

@test "PROHIBITED: whatever the context call returns" {
    row_of_known proh PROHIBITED 'cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE (46): compute mode prohibited'
    row_of_known proh:999 PROHIBITED 'cuCtxCreate: CUDA_ERROR_UNKNOWN (999): compute mode prohibited'
}

@test "ECC_UNCORRECTABLE: 214 at any stage" {
    local stage call
    while read -r stage call; do
        row_of_known "$stage:214" ECC_UNCORRECTABLE "$call: CUDA_ERROR_ECC_UNCORRECTABLE (214)"
    done <<'END'
ctx cuCtxCreate
alloc cuMemAlloc
set cuMemsetD32
sync cuCtxSynchronize
copy cuMemcpyDtoH
free cuMemFree
destroy cuCtxDestroy
END
    row init:214 ECC_UNCORRECTABLE 'cuInit: CUDA_ERROR_ECC_UNCORRECTABLE (214)'
}

@test "OUT_OF_MEMORY: with the free memory, where it was seen" {
    row_of_known ctx:2 OUT_OF_MEMORY 'cuCtxCreate: CUDA_ERROR_OUT_OF_MEMORY (2); likely a full GPU, a bad GPU, or a limit'
    row_of_known alloc:2 OUT_OF_MEMORY 'cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2) although 79.3 GiB of 79.6 GiB free: likely a bad GPU or a limit'
    # Where it is really full nothing is suspected.
    gpus "$(node 1)" ok 'alloc:2 used=79G'
    show --gres=gpu:2 --auto-gpus=2
    expect_short '1  OUT_OF_MEMORY  ' '263 MiB of 79.6 GiB free'
    [[ $stderr != *likely* ]]
    gpus "$(node 1)" ok 'ok used=81500M'
    show --gres=gpu:2 --auto-gpus=2
    expect_short '1  OUT_OF_MEMORY  ' 'cuCtxCreate: CUDA_ERROR_OUT_OF_MEMORY (2)'
}

@test "WRONG_RESULT: with offset and bits" {
    local offset
    for offset in 0 100 8388608 16777212; do
        gpus "$(node 1)" ok "mismatch:$offset"
        show --gres=gpu:2 --auto-gpus=2
        expect_short "1  WRONG_RESULT  $(of_gpu 1)  byte $offset of 16 MiB: 0x???????? read, 0x???????? set, bits 0x00000001 differ"
    done
}

@test "EXECUTION_FAULT: the sticky errors of our own work" {
    local code name
    while read -r code name; do
        row_of_known "sync:$code" EXECUTION_FAULT "cuCtxSynchronize: $name ($code): our own work on the GPU failed; likely a bad GPU"
    done <<'END'
220 CUDA_ERROR_NVLINK_UNCORRECTABLE
226 CUDA_ERROR_CONTAINED
700 CUDA_ERROR_ILLEGAL_ADDRESS
715 CUDA_ERROR_ILLEGAL_INSTRUCTION
719 CUDA_ERROR_LAUNCH_FAILED
END
}

@test "UNKNOWN_ERROR: 999 of one GPU, with its likely causes" {
    local causes='the driver says unknown error; likely causes: /dev/nvidia-uvm missing or not permitted, or a GPU that requires a reset'
    row_of_known ctx:999 UNKNOWN_ERROR "cuCtxCreate: CUDA_ERROR_UNKNOWN (999): $causes"
    row init:999 UNKNOWN_ERROR "cuInit: CUDA_ERROR_UNKNOWN (999): $causes"
}

@test "DRIVER_ERROR: any other code, by number and name" {
    row_of_known ctx:1 DRIVER_ERROR 'cuCtxCreate: CUDA_ERROR_INVALID_VALUE (1)'
    row_of_known sync:702 DRIVER_ERROR 'cuCtxSynchronize: CUDA_ERROR_LAUNCH_TIMEOUT (702)'
    row_of_known ctx:4321 DRIVER_ERROR 'cuCtxCreate: an unknown CUresult (4321)'
}

@test "TIMEOUT: with the call that did not return" {
    local behaviour call
    while read -r behaviour call; do
        gpus "$(node 1)" ok "$behaviour"
        elapsed show --gres=gpu:2 --auto-gpus=2 --auto-gpus-timeout=1
        expect_short "1  TIMEOUT  " "no answer in 1 s, last seen in $call"
        ((took < 250))
    done <<'END'
hangK cuInit
hangK@enumerate cuDeviceGetCount
hangK@attributes cuDeviceGetAttribute
hangK@ctx cuCtxCreate
hangK@alloc cuMemAlloc
hangT@copy cuMemcpyDtoH
spin@destroy cuCtxDestroy
END
    nothing_left
}

@test "TIMEOUT of the only GPU, and after a deadline that its retries reach" {
    gpus "$(node 1)" hangK
    show --gres=gpu:1 --auto-gpus=1 --auto-gpus-timeout=1
    expect_short '0  TIMEOUT  no answer in 1 s, last seen in cuInit'
    gpus "$(node 1)" busy46 ok
    show --gres=gpu:2 --auto-gpus=2 --auto-gpus-timeout=1
    expect_short '0  BUSY_EXCLUSIVE  '
}

@test "CRASHED: with the signal's name and the call" {
    local signal
    for signal in SIGSEGV SIGBUS SIGABRT SIGILL SIGFPE SIGSYS; do
        row_of_known "die:$signal" CRASHED "killed by $signal in cuCtxCreate"
    done
    row die:SIGKILL@init CRASHED 'killed by SIGKILL in cuInit'
}

@test "a probe that something else kills is tried once more" {
    gpus "$(node 1)" ok 'die:SIGKILL*1'
    show --gres=gpu:2 --auto-gpus=2
    expect 0 0,1
    [ -z "$stderr" ]
}

@test "UNDECIDED: no answer when the others had decided" {
    gpus "$(node 1)" ctx:214 ok hangK ok
    show --gres=gpu:4 --auto-gpus=4
    expect_short '2  UNDECIDED          no answer in T s'
    show --gres=gpu:4 --auto-gpus=2
    expect 0 1,3
    expect_said <<<'using 1,3; 0 ECC_UNCORRECTABLE, 2 UNDECIDED (no answer in T s) skipped'
}

@test "NOT_VISIBLE: with the number of GPUs that the driver does show" {
    row gone NOT_VISIBLE 'the driver shows 1 GPU; a lost GPU, or an absolute index inside a device cgroup?'
    set_list
    show TEST_LIST=0,GPU-dead --gres=gpu:2 --auto-gpus=2
    expect_short '1 of 2 GPUs usable' '  GPU-dead  NOT_VISIBLE  the driver shows 1 GPU; unknown or ambiguous name among them'
}

@test "LIST_CONFLICT: each alone, but not together, and what the list's probe saw" {
    driver_line "$(node 1)" "together gpus=$(uuids 0 1) behaviour=init:999"
    show --gres=gpu:4 --auto-gpus=4
    expect_short 'the GPUs 0,1,2,3 work one by one, but not together' '  0  LIST_CONFLICT ' '  3  LIST_CONFLICT ' 'CUDA_ERROR_UNKNOWN (999)'
    show --gres=gpu:2 --auto-gpus=1
    expect 0 0
}

@test "LIST_CONFLICT: is not said of a list that was not checked" {
    gpus "$(node 1)" ok hangK ok hangK
    show --gres=gpu:4 --auto-gpus=1+ --auto-gpus-timeout=1
    [[ $stderr != *LIST_CONFLICT* ]]
    expect 0 0,2
}

@test "PROBE_FAILED: the probe's process ends, or writes what it should not, in good order" {
    row_of_known exit:3 PROBE_FAILED 'the probe ended with status 3 in cuCtxCreate'
    row noise PROBE_FAILED 'the probe spoke out of turn in cuInit'
    gpus "$(node 1)" exit:0
    show --gres=gpu:1 --auto-gpus=1
    [ "$status" -ne 0 ]
    nothing_ran
    expect_texts 'PROBE_FAILED'
}

@test "the program alone prints the table that a step prints, and ends with the same status" {
    gpus "$(node 1)" ctx:214 ok die:SIGSEGV hangK
    show --gres=gpu:4 --auto-gpus=all
    expect_short '1 of 4 GPUs usable, --auto-gpus=all asks for 4; no task started on this node'
    said | grep '^  ' >"$BATS_TEST_TMPDIR/rows"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/rows")" = 4 ]
    probe_program 0,1,2,3
    expect 75 ''
    [ "$(said | head -n 1)" = '1 of 4 GPUs usable, --auto-gpus=all asks for 4' ]
    said | grep '^  ' | diff "$BATS_TEST_TMPDIR/rows" -
    probe_program 0,1,2 --gpus 1
    expect 0 1
}

#!/usr/bin/env bats
# What is said beside the table: warnings, MIG, MPS, verbose; and what is never said.
#
# shellcheck disable=SC2016,SC2154

load faults

setup_file() { start_cluster --nodes 1 --gpus 4; }

@test "memory used by others: a warning above 2 GiB and 5 % of the total, our own context included" {
    local total used warned
    while read -r total used warned; do
        gpus "$(node 1)" "ok total=$total used=$used"
        show --gres=gpu:1 --auto-gpus=1
        expect 0 0
        [[ -n $stderr && $warned == yes || -z $stderr && $warned == no ]] ||
            { echo "$used of $total: $stderr"; return 1; }
    done <<'END'
8000M 1647M no
8000M 1649M yes
50000M 2099M no
50000M 2101M yes
81559M 3677M no
81559M 3679M yes
81559M 70G yes
2000M 1500M no
END
    gpus "$(node 1)" 'ok used=70G'
    show --gres=gpu:1 --auto-gpus=1
    [[ $(said) == 'warning: 0 has 70.4 GiB of 79.6 GiB '*'; --auto-gpus-min-free=SIZE would refuse it' ]]
    # Only of GPUs that the task gets.
    gpus "$(node 1)" ok 'ok used=70G'
    show --gres=gpu:2 --auto-gpus=1
    [ -z "$stderr" ]
}

mig_a=MIG-aaaaaaaa-0000-0000-0000-000000000001
mig_b=MIG-bbbbbbbb-0000-0000-0000-000000000002

# instances BEHAVIOUR BEHAVIOUR: GPU 0 is two MIG instances.
instances() {
    fresh_driver
    gpus "$(node 1)" 'ok mig=on' ok
    driver_line "$(node 1)" "mig parent=$(uuid "$(node 1)" 0) uuid=$mig_a gi=7 ci=0 behaviour=$1"
    driver_line "$(node 1)" "mig parent=$(uuid "$(node 1)" 0) uuid=$mig_b gi=8 ci=0 behaviour=$2"
}

@test "MIG in all three spellings" {
    local parent
    parent=$(uuid "$(node 1)" 0)
    set_list
    instances ctx:214 ok
    show TEST_LIST="$mig_a,$mig_b" --gres=gpu:1 --auto-gpus=1
    expect 0 "$mig_b"
    show TEST_LIST="MIG-$parent/7/0,MIG-$parent/8/0" --gres=gpu:1 --auto-gpus=1
    expect 0 "MIG-$parent/8/0"
    expect_said <<<"using MIG-$parent/8/0; MIG-$parent/7/0 ECC_UNCORRECTABLE skipped"
    # By index the driver shows the GPU's first instance.
    instances ok ctx:214
    show TEST_LIST=0 --gres=gpu:1 --auto-gpus=1 --auto-gpus-verbose
    expect 0 0
    expect_texts "  0  usable  NVIDIA H100 80GB HBM3 MIG 1g  "
}

@test "MIG: N above 1 is met, with a warning that CUDA shows one instance" {
    set_list
    instances ok ok
    ask TEST_LIST="$mig_a,$mig_b" LD_LIBRARY_PATH="$CLUSTER_DIR/driver" --gres=gpu:1 --auto-gpus=2 \
        sh -c 'echo "$CUDA_VISIBLE_DEVICES $AUTO_GPUS_COUNT $AUTO_GPUS_UUIDS"; "$0" | wc -l' "$CLUSTER_DIR/driver/cuda-task"
    expect 0 "$mig_a,$mig_b 2 $mig_a,$mig_b
1"
    expect_said <<<'warning: CUDA shows a process one MIG instance, not 2; use one task for each'
    show TEST_LIST="$mig_a,$mig_b" --gres=gpu:1 --auto-gpus=1
    expect 0 "$mig_a"
    [ -z "$stderr" ]
    show TEST_LIST="$mig_a,$mig_b" --gres=gpu:1 --auto-gpus=all
    expect 0 "$mig_a,$mig_b"
    expect_said <<<'warning: CUDA shows a process one MIG instance, not 2; use one task for each'
    instances ok ctx:214
    show TEST_LIST="$mig_a,$mig_b" --gres=gpu:1 --auto-gpus=2
    expect_short "  $mig_a  usable  " "  $mig_b  ECC_UNCORRECTABLE  "
}

@test "MPS: a hint where the variable is set, and none where it is not" {
    use_plugin retry=0
    local hint='; look at the MPS daemon of CUDA_MPS_PIPE_DIRECTORY=/tmp/mps'
    gpus "$(node 1)" ctx:46
    show CUDA_MPS_PIPE_DIRECTORY=/tmp/mps --gres=gpu:1 --auto-gpus=1
    expect_short "0  UNAVAILABLE  $(of_gpu 0)  cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE (46): the driver says busy or unavailable$hint"
    show --gres=gpu:1 --auto-gpus=1
    [[ $stderr != *MPS* ]]
    # Under MPS exclusive-process mode binds the server, not its clients.
    gpus "$(node 1)" 'ctx:46 mode=exclusive_process'
    driver_line "$(node 1)" 'driver mps=1'
    show CUDA_MPS_PIPE_DIRECTORY=/tmp/mps --gres=gpu:1 --auto-gpus=1
    expect_short "0  UNAVAILABLE " "$hint"
    gpus "$(node 1)" ok init:805
    show CUDA_MPS_PIPE_DIRECTORY=/tmp/mps --gres=gpu:2 --auto-gpus=2
    expect_short "1  MPS_ERROR " "$hint"
    gpus "$(node 1)" hangK@ctx
    show CUDA_MPS_PIPE_DIRECTORY=/tmp/mps --gres=gpu:1 --auto-gpus=1 --auto-gpus-timeout=1
    expect_short "0  TIMEOUT " "no answer in 1 s, last seen in cuCtxCreate$hint"
}

@test "verbose: every verdict, with the times of its stages" {
    gpus "$(node 1)" slow:150ms@init 'slow:150ms+slow:150ms@alloc' slow:400ms@init+ctx:214 slow:20ms@copy
    show --gres=gpu:4 --auto-gpus=3 --auto-gpus-verbose
    expect 0 0,1,3
    # Times below 5 ms are left out, those of a busy machine are not: only the slow stages are looked for.
    grep -qE "^auto-gpus: .*:   0  usable .*  0\.[0-9]+ s  \(.*init 0\.(1[5-9]|[2-9])[0-9]* s" <<<"$stderr"
    grep -qE "^auto-gpus: .*:   1  usable .*  0\.[0-9]+ s  \(.*context 0\.(1[5-9]|[2-9])[0-9]* s.*allocate 0\.(1[5-9]|[2-9])" <<<"$stderr"
    grep -qE "^auto-gpus: .*:   2  ECC_UNCORRECTABLE .* cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE \(214\)" <<<"$stderr"
    grep -qE "^auto-gpus: .*:   3  usable .*copy 0\.(1[5-9]|[2-9])" <<<"$stderr"
    expect_texts 'using 0,1,3; 2 ECC_UNCORRECTABLE skipped'
    use_plugin verbose=yes
    show --gres=gpu:4 --auto-gpus=4
    expect_short '3 of 4 GPUs usable' '2  ECC_UNCORRECTABLE '
    grep -qE "^auto-gpus: .*:   0  usable .*init 0\.(1[5-9]|[2-9])" <<<"$stderr"
}

@test "verbose: a list's probe that gave no answer is said" {
    driver_line "$(node 1)" "together gpus=$(uuids 0 1) behaviour=hangK"
    show --gres=gpu:2 --auto-gpus=2 --auto-gpus-verbose
    expect 0 0,1
    expect_texts 'the check of the whole list gave no answer'
    show --gres=gpu:2 --auto-gpus=2
    [ -z "$stderr" ]
}

# everything: what a step of two GPUs says, for every behaviour below, alone and beside a good GPU.
everything() {
    local behaviour
    for behaviour in ctx:46 busy46 proh proh:999 ctx:214 sync:214 alloc:2 ctx:2 'ok used=81500M' mismatch ctx:999 \
        init:999 init:802 init:803 init:804 init:3 init:304 init:100 init:34 init:805 init:807 sync:719 copy:700 ctx:1 \
        die:SIGSEGV die:SIGKILL exit:3 noise gone hangK; do
        gpus "$(node 1)" "$behaviour" ok
        printf '=== %s, and a good one\n' "$behaviour"
        srun_user --gres=gpu:2 --auto-gpus=2 --auto-gpus-timeout=1 true 2>&1
        srun_user --gres=gpu:2 --auto-gpus=1 --auto-gpus-timeout=1 true 2>&1
        gpus "$(node 1)" "$behaviour" "$behaviour"
        printf '=== %s, and another\n' "$behaviour"
        srun_user --gres=gpu:2 --auto-gpus=2 --auto-gpus-timeout=1 true 2>&1
    done
    gpus "$(node 1)" ok 'ok used=70G'
    echo '=== memory used'
    srun_user --gres=gpu:2 --auto-gpus=2 true 2>&1
    srun_user --gres=gpu:2 --auto-gpus=2 --auto-gpus-min-free=60G true 2>&1
    true
}

@test "occupied is said of nothing, in use of proved cases alone, and 802 and 999 have more than one cause" {
    local text line
    use_plugin retry=0
    text=$(everything | grep -E '^(===|auto-gpus)')
    [ "$(grep -c '^auto-gpus' <<<"$text")" -gt 150 ]
    run grep -i occupied <<<"$text"
    [ "$output" = '' ]
    run grep -iE 'in use|\bused by' <(grep -v ' BUSY_EXCLUSIVE ' <<<"$text")
    [ "$output" = '' ]
    # Whoever names a cause of these names others beside it, and as likely ones.
    while read -r line; do
        [[ $line == *skipped* || $line == *'likely causes: '*' or '* ]] || { echo "$line"; return 1; }
    done < <(grep -E 'SYSTEM_NOT_READY|UNKNOWN_ERROR' <<<"$text")
    # No line of ours is without its node, and none is broken in two.
    run grep -v "^auto-gpus: $(node 1): " <(grep -v '^===' <<<"$text")
    [ "$output" = '' ]
    # Nothing ran out of turn.
    run grep -E 'INTERNAL|spoke out of turn; |supervisor' <<<"$text"
    [ "$output" = '' ]
}

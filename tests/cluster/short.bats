#!/usr/bin/env bats
# Too few usable GPUs: what ends, with which status, and what is said.
#
# Scripts for the steps are in single quotes.
# shellcheck disable=SC2016,SC2154

load expect

setup_file() { start_cluster --nodes 1 --gpus 4; }

setup() {
    need_cluster
    need_driver
    use_cluster "$CLUSTER_DIR"
    fresh_driver
    use_plugin
}

# two_of_four SECONDS: the table of two good GPUs, a bad and a hanging one.
two_of_four() {
    cat <<END
2 of 4 GPUs usable, --auto-gpus=3 asks for 3; no task started on this node
  0  usable             $(of_gpu 0)  T s
  1  ECC_UNCORRECTABLE  $(of_gpu 1)  cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)
  2  TIMEOUT            no answer in $1 s, last seen in cuInit
  3  usable             $(of_gpu 3)  T s
use --auto-gpus=2, or --exclude=$(node 1), and report the node
END
}

@test "the task fails with 75, and every GPU and its fault are named" {
    gpus "$(node 1)" ok ctx:214 hangK ok
    show --gres=gpu:4 --auto-gpus=3 --auto-gpus-timeout=3
    expect 75 ''
    nothing_ran
    two_of_four 3 | expect_said
    [ "$(grep -v ^auto-gpus <<<"$stderr")" = "srun: error: $(node 1): task 0: Exited with exit code 75" ]
    nothing_left
}

@test "a plugin that is required says and does the same" {
    gpus "$(node 1)" ok ctx:214 hangK ok
    plugstack "$(sed 's/^optional/required/' "$CLUSTER_DIR/plugstack.conf")"
    show --gres=gpu:4 --auto-gpus=3 --auto-gpus-timeout=1
    expect 75 ''
    nothing_ran
    two_of_four 1 | expect_said
    [ "$(grep -v ^auto-gpus <<<"$stderr")" = "srun: error: $(node 1): task 0: Exited with exit code 75" ]
}

@test "where no answer can help any more the task fails at once" {
    local now started
    gpus "$(node 1)" ok ctx:214 hangK ok
    uptime_cs && started=$now
    show --gres=gpu:4 --auto-gpus=4
    uptime_cs
    expect 75 ''
    nothing_ran
    [ $((now - started)) -lt 300 ]
    expect_said <<END
2 of 4 GPUs usable, --auto-gpus=4 asks for 4; no task started on this node
  0  usable             $(of_gpu 0)  T s
  1  ECC_UNCORRECTABLE  $(of_gpu 1)  cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)
  2  UNDECIDED          no answer in T s
  3  usable             $(of_gpu 3)  T s
use --auto-gpus=2, or --exclude=$(node 1), and report the node
END
    nothing_left
}

@test "a GPU that is slower than the grace completes the table" {
    gpus "$(node 1)" ctx:214 slow:100ms ctx:214 ok
    show --gres=gpu:4 --auto-gpus=3
    expect 75 ''
    expect_said <<END
2 of 4 GPUs usable, --auto-gpus=3 asks for 3; no task started on this node
  0  ECC_UNCORRECTABLE  $(of_gpu 0)  cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)
  1  usable             $(of_gpu 1)  T s
  2  ECC_UNCORRECTABLE  $(of_gpu 2)  cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)
  3  usable             $(of_gpu 3)  T s
use --auto-gpus=2, or --exclude=$(node 1), and report the node
END
}

@test "a range that has not its least fails" {
    gpus "$(node 1)" ok ctx:214 ctx:214 ctx:214
    show --gres=gpu:4 --auto-gpus=2-3
    expect 75 ''
    [ "$(said | head -n 1)" = '1 of 4 GPUs usable, --auto-gpus=2-3 asks for 2; no task started on this node' ]
    show --gres=gpu:4 --auto-gpus=2+
    expect 75 ''
    [ "$(said | head -n 1)" = '1 of 4 GPUs usable, --auto-gpus=2+ asks for 2; no task started on this node' ]
}

@test "every fault has its own code, call and words" {
    gpus "$(node 1)" busy46 ctx:46 proh alloc:2
    use_plugin retry=0
    show --gres=gpu:4 --auto-gpus=1
    expect 75 ''
    expect_said <<END
0 of 4 GPUs usable, --auto-gpus=1 asks for 1; no task started on this node
  0  BUSY_EXCLUSIVE  $(of_gpu 0)  cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE (46): in use by another process, exclusive-process mode
  1  UNAVAILABLE     $(of_gpu 1)  cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE (46): the driver says busy or unavailable
  2  PROHIBITED      $(of_gpu 2)  cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE (46): compute mode prohibited
  3  OUT_OF_MEMORY   $(of_gpu 3)  cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2) although 79.3 GiB of 79.6 GiB free: likely a bad GPU or a limit
use --exclude=$(node 1), and report the node
END
    gpus "$(node 1)" mismatch:100 sync:719 die:SIGSEGV ctx:1
    show --gres=gpu:4 --auto-gpus=1
    expect 75 ''
    [[ $stderr == *"  0  WRONG_RESULT     $(of_gpu 0)  byte 100 of 16 MiB: 0x"*" read, 0xa5c30f69 set, bits 0x"*" differ"$'\n'* ]]
    expect_said < <(said | sed -n 1,2p
        cat <<END
  1  EXECUTION_FAULT  $(of_gpu 1)  cuCtxSynchronize: CUDA_ERROR_LAUNCH_FAILED (719): our own work on the GPU failed; likely a bad GPU
  2  CRASHED          $(of_gpu 2)  killed by SIGSEGV in cuCtxCreate
  3  DRIVER_ERROR     $(of_gpu 3)  cuCtxCreate: CUDA_ERROR_INVALID_VALUE (1)
use --exclude=$(node 1), and report the node
END
    )
}

@test "GPUs that work one by one but not together are not given" {
    driver_line "$(node 1)" "together gpus=$(uuids 0 1) behaviour=init:999"
    show --gres=gpu:2 --auto-gpus=2
    expect 75 ''
    nothing_ran
    expect_said <<END
the GPUs 0,1 work one by one, but not together (cuInit: CUDA_ERROR_UNKNOWN (999)); --auto-gpus=2 asks for 2; no task started on this node
  0  LIST_CONFLICT  $(of_gpu 0)  each GPU works alone, the chosen list does not
  1  LIST_CONFLICT  $(of_gpu 1)  each GPU works alone, the chosen list does not
use --auto-gpus=1, or --exclude=$(node 1), and report the node
END
    show --gres=gpu:2 --auto-gpus=1
    expect 0 0
}

@test "a list whose probe dies conflicts, and how it died is said" {
    driver_line "$(node 1)" "together gpus=$(uuids 0 1) behaviour=die:SIGSEGV@init"
    show --gres=gpu:2 --auto-gpus=2
    expect 75 ''
    nothing_ran
    said | head -n 1 |
        grep -qxF 'the GPUs 0,1 work one by one, but not together (killed by SIGSEGV in cuInit); --auto-gpus=2 asks for 2; no task started on this node'
}

@test "a list whose probe hangs is not called a conflict" {
    gpus "$(node 1)" ok ctx:214 ok
    driver_line "$(node 1)" "together gpus=$(uuids 0 2) behaviour=hangK"
    show --gres=gpu:3 --auto-gpus=2 --auto-gpus-timeout=2
    expect 75 ''
    nothing_ran
    expect_said <<END
the GPUs 0,2 work one by one, but gave no answer together in time; --auto-gpus=2 asks for 2; no task started on this node
  0  usable             $(of_gpu 0)  T s
  1  ECC_UNCORRECTABLE  $(of_gpu 1)  cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)
  2  usable             $(of_gpu 2)  T s
use --auto-gpus=1, or --exclude=$(node 1), or a longer --auto-gpus-timeout, and report the node
END
}

@test "more than the list has is refused before any probe" {
    show --gres=gpu:4 --auto-gpus=5
    expect 78 ''
    nothing_ran
    expect_said <<<'LIST_TOO_SHORT: --auto-gpus=5 asks for 5, but CUDA_VISIBLE_DEVICES has 4 entries; ask for fewer, or allocate more with --gpus=N or --gres=gpu:N'
    show --gres=gpu:1 --auto-gpus=2+
    expect 78 ''
    expect_said <<<'LIST_TOO_SHORT: --auto-gpus=2+ asks for 2, but CUDA_VISIBLE_DEVICES has 1 entry; ask for fewer, or allocate more with --gpus=N or --gres=gpu:N'
    no_probe_started
    # An upper end above the list is no mistake.
    show --gres=gpu:1 --auto-gpus=1-4
    expect 0 0
}

@test "a batch job that falls short has failed with 75, and its node is not drained" {
    gpus "$(node 1)" ok ctx:214 hangK ok
    batch --gres=gpu:4 --auto-gpus=3 --auto-gpus-timeout=1 --wrap 'touch ran'
    [ "$status" -eq 75 ]
    nothing_ran
    two_of_four 1 | expect_said
    [[ $job == *" JobState=FAILED "*" ExitCode=75:0 "* ]]
    run -0 sinfo -h -R
    [ -z "$output" ]
    nodes_idle 1
}

@test "in a batch job the step that falls short has failed, and the job goes on" {
    gpus "$(node 1)" ctx:214 ok ok ok
    batch --gres=gpu:4 --wrap 'srun --auto-gpus=4 touch ran; echo status $?'
    [ "$status" -eq 0 ]
    nothing_ran
    [ "$(grep '^status' <<<"$output")" = 'status 75' ]
}

@test "exit_code= is what the task ends with, but not where the request cannot be met" {
    gpus "$(node 1)" ctx:214 ok ok ok
    use_plugin exit_code=99
    show --gres=gpu:4 --auto-gpus=4
    expect 99 ''
    nothing_ran
    show --gres=gpu:4 --auto-gpus=5
    expect 78 ''
    batch --gres=gpu:4 --auto-gpus=4 --wrap 'touch ran'
    [ "$status" -eq 99 ]
    [[ $job == *" JobState=FAILED "*" ExitCode=99:0 "* ]]
}

@test "control characters of a GPU's name do not reach the terminal" {
    gpus "$(node 1)" $'ctx:214 model="bad\ename"'
    show --gres=gpu:1 --auto-gpus=1
    expect 75 ''
    [[ $stderr != *$'\e'* ]]
    [[ $stderr == *'  0  ECC_UNCORRECTABLE  bad'*'name  GPU-'* ]]
}

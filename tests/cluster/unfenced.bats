#!/usr/bin/env bats
# What a task gets where steps see the node's own indices: a site without ConstrainDevices.
#
# Scripts for the steps are in single quotes, and `pid` comes from the library.
# shellcheck disable=SC2016,SC2154

load expect

# There are no device nodes, which `device` says by its status: not a reason to fail.
device() { :; }

setup_file() { start_cluster --nodes 1 --gpus 4 --no-fence; }

setup() {
    need_cluster
    need_driver
    use_cluster "$CLUSTER_DIR"
    fresh_driver
    use_plugin
}

show_answer='echo "$CUDA_VISIBLE_DEVICES $AUTO_GPUS_COUNT ${AUTO_GPUS_UUIDS-unset} <${AUTO_GPUS_REJECTED-unset}>"'

# hold_first_gpu: a step of somebody else has GPU 0, so that the next ones get 1, 2, 3.
hold_first_gpu() {
    background srun_user --gres=gpu:1 sh -c 'touch held; exec tail -f /dev/null'
    wait_until 20 test -e "$CLUSTER_DIR/work/held"
}

@test "the node's indices are kept, not counted anew" {
    hold_first_gpu
    gpus "$(node 1)" ok ctx:214 ok ok
    ask --gres=gpu:3 --auto-gpus=1 sh -c "$show_answer"
    expect 0 "2 1 $(uuids 2) <1:ECC_UNCORRECTABLE>"
    expect_said <<<'using 2; 1 ECC_UNCORRECTABLE skipped'
    ask --gres=gpu:3 --auto-gpus=2 sh -c "$show_answer"
    expect 0 "2,3 2 $(uuids 2 3) <1:ECC_UNCORRECTABLE>"
}

@test "a GPU that is not the step's is never tried, even where it is the only good one" {
    hold_first_gpu
    gpus "$(node 1)" ok ctx:214 ctx:214 ctx:214
    show --gres=gpu:3 --auto-gpus=1
    expect 75 ''
    nothing_ran
    expect_said <<END
0 of 3 GPUs usable, --auto-gpus=1 asks for 1; no task started on this node
  1  ECC_UNCORRECTABLE  $(of_gpu 1)  cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)
  2  ECC_UNCORRECTABLE  $(of_gpu 2)  cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)
  3  ECC_UNCORRECTABLE  $(of_gpu 3)  cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)
use --exclude=$(node 1), and report the node
END
    [ "$(probed | grep -v ,)" = "$(printf '%s\n' 1 2 3)" ]
    run ! grep -x 0 <<<"$(probed | tr , '\n')"
}

@test "UUIDs stay UUIDs" {
    gpus "$(node 1)" ok ctx:214 ok ok
    set_list
    ask TEST_LIST="$(uuids 1 3 2)" --gres=gpu:4 --auto-gpus=1 sh -c "$show_answer"
    expect 0 "$(uuids 3) 1 $(uuids 3) <$(uuids 1):ECC_UNCORRECTABLE>"
}

@test "tasks with GPUs of their own each keep their list" {
    gpus "$(node 1)" ok ok ctx:214 ok
    ask -n2 --gpus-per-task=2 --auto-gpus=1 sh -c "$show_answer"
    [ "$status" -eq 0 ]
    [ "$(sort <<<"$output")" = "0 1 $(uuids 0) <>
3 1 $(uuids 3) <2:ECC_UNCORRECTABLE>" ]
}

@test "GPU_DEVICE_ORDINAL follows" {
    hold_first_gpu
    gpus "$(node 1)" ok ctx:214 ok ok
    ask --gres=gpu:3 --auto-gpus=1 sh -c 'echo "$CUDA_VISIBLE_DEVICES $GPU_DEVICE_ORDINAL"'
    expect 0 '2 2'
}

@test "the task finds the GPUs that were probed" {
    hold_first_gpu
    gpus "$(node 1)" ok ok ctx:214 ok
    ask LD_LIBRARY_PATH="$CLUSTER_DIR/driver" --gres=gpu:3 --auto-gpus=2 "$CLUSTER_DIR/driver/cuda-task"
    expect 0 "device 0: $(of_gpu 1 | sed 's/  .*//') $(uuids 1) $(pci "$(node 1)" 1) ok
device 1: $(of_gpu 3 | sed 's/  .*//') $(uuids 3) $(pci "$(node 1)" 3) ok"
}

@test "a batch script gets the narrowed list, the steps in it get Slurm's afresh" {
    gpus "$(node 1)" ctx:214 ok ok ok
    batch --gres=gpu:4 --auto-gpus=2 --wrap \
        'echo $CUDA_VISIBLE_DEVICES; srun --auto-gpus=off printenv CUDA_VISIBLE_DEVICES; srun --auto-gpus=1 printenv CUDA_VISIBLE_DEVICES 2>/dev/null'
    [ "$status" -eq 0 ]
    [ "$(grep -v ^auto-gpus <<<"$output")" = "1,2
0,1,2,3
1" ]
}

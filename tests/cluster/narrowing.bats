#!/usr/bin/env bats
# What a task gets: the usable GPUs of its list, in the list's order and words.
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

# The three variables that a task gets.
show_answer='echo "$CUDA_VISIBLE_DEVICES $AUTO_GPUS_COUNT ${AUTO_GPUS_UUIDS-unset} <${AUTO_GPUS_REJECTED-unset}>"'

@test "faulty and hanging GPUs are passed over, and one line says so" {
    gpus "$(node 1)" ok ctx:214 hangK@init ok
    ask --gres=gpu:4 --auto-gpus=2 sh -c "$show_answer"
    expect 0 "0,3 2 $(uuids 0 3) <1:ECC_UNCORRECTABLE,2:UNDECIDED>"
    expect_said <<<'using 0,3; 1 ECC_UNCORRECTABLE, 2 UNDECIDED (no answer in T s) skipped'
    nothing_left
}

@test "a hanging GPU costs a task that has others a quarter of a second, not the deadline" {
    local now started
    gpus "$(node 1)" hangK ok ok ok
    uptime_cs && started=$now
    show --gres=gpu:4 --auto-gpus=3
    uptime_cs
    expect 0 1,2,3
    [ $((now - started)) -lt 300 ]
}

@test "where all is well there is no line on stderr, and the first GPUs are taken" {
    ask --gres=gpu:4 --auto-gpus=2 sh -c "$show_answer"
    expect 0 "0,1 2 $(uuids 0 1) <>"
    [ -z "$stderr" ]
}

@test "as many as the list has leave it as it is" {
    ask --gres=gpu:4 --auto-gpus=4 sh -c "$show_answer"
    expect 0 "0,1,2,3 4 $(uuids 0 1 2 3) <>"
    [ -z "$stderr" ]
}

@test "all takes the whole list, byte for byte" {
    ask --gres=gpu:4 --auto-gpus=all sh -c "$show_answer"
    expect 0 "0,1,2,3 4 $(uuids 0 1 2 3) <>"
    set_list
    ask TEST_LIST='2, 1x,-1,0' --gres=gpu:4 --auto-gpus=all sh -c "$show_answer"
    expect 0 "2, 1x,-1,0 2 $(uuids 2 1) <>"
    [ -z "$stderr" ]
}

@test "all fails where one GPU of the list does" {
    gpus "$(node 1)" ok ok ok ctx:214
    show --gres=gpu:4 --auto-gpus=all
    expect 75 ''
    nothing_ran
    expect_said <<END
3 of 4 GPUs usable, --auto-gpus=all asks for 4; no task started on this node
  0  usable             $(of_gpu 0)  T s
  1  usable             $(of_gpu 1)  T s
  2  usable             $(of_gpu 2)  T s
  3  ECC_UNCORRECTABLE  $(of_gpu 3)  cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)
use --auto-gpus=3, or --exclude=$(node 1), and report the node
END
}

@test "a range takes all that work, up to its end" {
    gpus "$(node 1)" ok ctx:214 ok ok
    show --gres=gpu:4 --auto-gpus=1-2
    expect 0 0,2
    show --gres=gpu:4 --auto-gpus=1-4
    expect 0 0,2,3
    show --gres=gpu:4 --auto-gpus=2+
    expect 0 0,2,3
}

@test "the order of the list is kept" {
    gpus "$(node 1)" ok ctx:214 ok ok
    set_list
    ask TEST_LIST=3,1,2,0 --gres=gpu:4 --auto-gpus=2 sh -c "$show_answer"
    expect 0 "3,2 2 $(uuids 3 2) <1:ECC_UNCORRECTABLE>"
    expect_said <<<'using 3,2; 1 ECC_UNCORRECTABLE skipped'
}

@test "UUIDs stay UUIDs" {
    gpus "$(node 1)" ok ctx:214 ok ok
    set_list
    ask TEST_LIST="$(uuids 1 2 0)" --gres=gpu:4 --auto-gpus=1 sh -c "$show_answer"
    expect 0 "$(uuids 2) 1 $(uuids 2) <$(uuids 1):ECC_UNCORRECTABLE>"
    expect_said <<<"using $(uuids 2); $(uuids 1) ECC_UNCORRECTABLE skipped"
}

@test "tokens keep their form: a plus sign, blanks, trailing letters" {
    gpus "$(node 1)" ctx:214 ok ok ok
    set_list
    ask TEST_LIST='0,+1, 2,3gpu' --gres=gpu:4 --auto-gpus=3 sh -c "$show_answer"
    expect 0 "+1, 2,3gpu 3 $(uuids 1 2 3) <0:ECC_UNCORRECTABLE>"
}

@test "emit=uuid writes full UUIDs in the list's order" {
    gpus "$(node 1)" ok ctx:214 ok ok
    show --gres=gpu:4 --auto-gpus=2 --auto-gpus-emit=uuid
    expect 0 "$(uuids 0 2)"
    show --gres=gpu:3 --auto-gpus=off --auto-gpus-emit=uuid
    expect 0 0,1,2
    use_plugin emit=uuid
    show --gres=gpu:4 --auto-gpus=2
    expect 0 "$(uuids 0 2)"
    show --gres=gpu:4 --auto-gpus=2 --auto-gpus-emit=keep
    expect 0 0,2
}

@test "GPU_DEVICE_ORDINAL follows where it held the same list" {
    gpus "$(node 1)" ctx:214 ok ok ok
    ask --gres=gpu:4 --auto-gpus=2 sh -c 'echo "$CUDA_VISIBLE_DEVICES $GPU_DEVICE_ORDINAL"'
    expect 0 '1,2 1,2'
    set_list
    ask TEST_LIST=0,2,3 --gres=gpu:4 --auto-gpus=2 sh -c 'echo "$CUDA_VISIBLE_DEVICES $GPU_DEVICE_ORDINAL"'
    expect 0 '2,3 0,1,2,3'
}

@test "the variables of others stay as they were" {
    local print='env | grep -E "^(SLURM_.*GPU|NVIDIA_|ROCR_|ZE_|CUDA_DEVICE_ORDER|SLURM_JOB_GRES|SLURM_STEP_RES)" | sort'
    gpus "$(node 1)" ctx:214 ok ok ok
    ask NVIDIA_VISIBLE_DEVICES=0,1,2,3 CUDA_DEVICE_ORDER=PCI_BUS_ID --gpus=4 sh -c "$print"
    [[ $output == *NVIDIA_VISIBLE_DEVICES=0,1,2,3*SLURM_STEP_GPUS=0,1,2,3* ]]
    local before=$output
    ask NVIDIA_VISIBLE_DEVICES=0,1,2,3 CUDA_DEVICE_ORDER=PCI_BUS_ID --gpus=4 --auto-gpus=2 sh -c "$print; echo \$CUDA_VISIBLE_DEVICES"
    expect 0 "$before
1,2"
}

@test "four GPUs are tried at the same time, each by a probe that sees no other" {
    local begun ended
    gpus "$(node 1)" slow:400ms slow:400ms slow:400ms slow:400ms
    show --gres=gpu:4 --auto-gpus=4
    expect 0 0,1,2,3
    [ "$(probed)" = "$(printf '%s\n' 0 0,1,2,3 1 2 3)" ]
    [ "$(driver_calls "$(node 1)" cuInit begin | awk '{ print $4, $8 }' | sort)" = "0 devices=1
0,1,2,3 devices=4
1 devices=1
2 devices=1
3 devices=1" ]
    # The last to begin its context began before the first had its own.
    begun=$(driver_calls "$(node 1)" cuCtxCreate_v2 begin | cut -d' ' -f1 | sort -n | tail -n 1)
    ended=$(driver_calls "$(node 1)" cuCtxCreate_v2 0 | cut -d' ' -f1 | sort -n | head -n 1)
    [ "$(driver_calls "$(node 1)" cuCtxCreate_v2 0 | wc -l)" = 4 ]
    [ "$begun" -lt "$ended" ]
}

@test "what the task then sees is what was probed" {
    gpus "$(node 1)" ctx:214 ok ctx:214 ok
    ask LD_LIBRARY_PATH="$CLUSTER_DIR/driver" --gres=gpu:4 --auto-gpus=2 "$CLUSTER_DIR/driver/cuda-task"
    expect 0 "device 0: $(of_gpu 1 | sed 's/  .*//') $(uuids 1) $(pci "$(node 1)" 1) ok
device 1: $(of_gpu 3 | sed 's/  .*//') $(uuids 3) $(pci "$(node 1)" 3) ok"
}

@test "without libcuda= the driver is found as the task's loader finds it" {
    gpus "$(node 1)" ctx:214 ok ok ok
    plugstack "$(sed 's/ libcuda=[^ ]*//' "$CLUSTER_DIR/plugstack.conf")"
    ask LD_LIBRARY_PATH="$CLUSTER_DIR/driver" --gres=gpu:4 --auto-gpus=2 sh -c "$show_answer"
    expect 0 "1,2 2 $(uuids 1 2) <0:ECC_UNCORRECTABLE>"
}

@test "a fenced task with GPUs of its own counts them from 0" {
    need_fence
    gpus "$(node 1)" ok ok ctx:214 ok
    ask -n2 --gpus-per-task=2 --auto-gpus=1 sh -c "$show_answer"
    [ "$status" -eq 0 ]
    [ "$(sort <<<"$output")" = "0 1 $(uuids 0) <>
1 1 $(uuids 3) <0:ECC_UNCORRECTABLE>" ]
}

@test "verbose shows every GPU also when all is well" {
    gpus "$(node 1)" ok slow:100ms ok ok
    show --gres=gpu:2 --auto-gpus=2 --auto-gpus-verbose
    expect 0 0,1
    expect_said <<END
using 0,1; decided in T s
  0  usable  $(of_gpu 0)  T s
  1  usable  $(of_gpu 1)  T s
END
    [[ $stderr == *" s  ("*'context 0.'* ]]
}

@test "a GPU that others use is taken with a warning, or passed over with min-free" {
    gpus "$(node 1)" 'ok used=70G' ok
    show --gres=gpu:2 --auto-gpus=1
    expect 0 0
    expect_said <<<'warning: 0 has 70.4 GiB of 79.6 GiB of memory used; --auto-gpus-min-free=SIZE would refuse it'
    show --gres=gpu:2 --auto-gpus=1 --auto-gpus-min-free=20G
    expect 0 1
    expect_said <<<'using 1; 0 LOW_MEMORY skipped'
    show --gres=gpu:2 --auto-gpus=2 --auto-gpus-min-free=20480
    expect 75 ''
    nothing_ran
    expect_said <<END
1 of 2 GPUs usable, --auto-gpus=2 asks for 2; no task started on this node
  0  LOW_MEMORY  $(of_gpu 0)  9.3 GiB of 79.6 GiB free, at least 20.0 GiB asked for
  1  usable      $(of_gpu 1)  T s
use --auto-gpus=1, or --exclude=$(node 1), or try again later
END
}

@test "a device that is busy for a moment is tried again" {
    gpus "$(node 1)" 'trans46:2 mode=exclusive_process' ok
    show --gres=gpu:2 --auto-gpus=2
    expect 0 0,1
    use_plugin retry=0
    fresh_driver
    gpus "$(node 1)" 'trans46:1 mode=exclusive_process' ok
    show --gres=gpu:2 --auto-gpus=2
    expect 75 ''
}

@test "GPU_DEVICE_ORDINAL stays a list of ordinals where UUIDs are written" {
    ask --gres=gpu:4 --auto-gpus=1 --auto-gpus-emit=uuid sh -c 'echo "$CUDA_VISIBLE_DEVICES $GPU_DEVICE_ORDINAL"'
    expect 0 "$(uuids 0) 0"
}

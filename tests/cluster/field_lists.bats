#!/usr/bin/env bats
# Cases from the field: GPUs that others hold, how a list is written, in which order GPUs count.
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

busy='cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE (46)'

@test "A03 a GPU that a dead container still holds: seven of eight, with the memory used" {
    nvml "$(nvml_gpu 0 used=1092M)"
    gpus "$(node 1)" busy46 ok ok ok ok ok ok ok
    show "$with_nvml" --gres=gpu:8 --auto-gpus=8
    expect_short '7 of 8 GPUs usable' "0  BUSY_EXCLUSIVE  $(of_gpu 0)  $busy: in use by another process, exclusive-process mode; NVML: 1.1 GiB of its memory is used"
    show --gres=gpu:8 --auto-gpus=7
    expect 0 1,2,3,4,5,6,7
}

@test "A04 a GPU that is refused now and then is tried again" {
    gpus "$(node 1)" ok ok ok trans46:2 ok ok ok ok
    show --gres=gpu:8 --auto-gpus=8
    expect_short '7 of 8 GPUs usable' '3  UNAVAILABLE '
    fresh_driver
    gpus "$(node 1)" ok ok ok trans46:2 ok ok ok ok
    use_plugin
    show --gres=gpu:8 --auto-gpus=8
    expect 0 0,1,2,3,4,5,6,7
}

@test "A05 the one GPU of the list is taken: an exit code of its own, which a rule can requeue" {
    gpus "$(node 1)" ok busy46
    set_list
    batch TEST_LIST=1 --gres=gpu:2 --auto-gpus=1 --wrap 'touch ran'
    [ "$status" -eq 75 ]
    nothing_ran
    expect_texts '0 of 1 GPUs usable' '  1  BUSY_EXCLUSIVE  '
    [[ $job == *' ExitCode=75:0 '* ]]
    use_plugin retry=0 exit_code=99
    set_list
    batch TEST_LIST=1 --gres=gpu:2 --auto-gpus=1 --wrap 'touch ran'
    [ "$status" -eq 99 ]
}

@test "A07 a GPU that is held and idle is not free" {
    nvml "$(nvml_gpu 0 used=0)"
    gpus "$(node 1)" busy46
    show "$with_nvml" --gres=gpu:1 --auto-gpus=1
    expect_short '0 of 1 GPUs usable' '  0  BUSY_EXCLUSIVE '
}

@test "A10 only the first GPU is refused, and no process is on it" {
    gpus "$(node 1)" ctx:46 ok ok ok
    show --gres=gpu:4 --auto-gpus=3
    expect 0 1,2,3
}

@test "A12 a process that was refused once is always refused: the next try is a process of its own" {
    use_plugin
    gpus "$(node 1)" trans46:1
    show --gres=gpu:1 --auto-gpus=1
    expect 0 0
    [ "$(driver_calls "$(node 1)" cuCtxCreate_v2 46 | wc -l)" = 1 ]
    [ "$(driver_calls "$(node 1)" cuInit begin | cut -d' ' -f2 | sort -u | wc -l)" = 2 ]
}

@test "A13 both GPUs are taken: both are named, and waiting for them is possible" {
    gpus "$(node 1)" busy46 busy46
    show --gres=gpu:2 --auto-gpus=1
    expect_short '0 of 2 GPUs usable' "  0  BUSY_EXCLUSIVE  $(of_gpu 0)  $busy" "  1  BUSY_EXCLUSIVE  $(of_gpu 1)  $busy"
    fresh_driver
    gpus "$(node 1)" 'trans46_for:600ms mode=exclusive_process' 'trans46_for:600ms mode=exclusive_process'
    use_plugin retry=10
    elapsed show --gres=gpu:2 --auto-gpus=1
    [ "$status" -eq 0 ]
    ((took < 400))
}

@test "A15 three GPUs that enumerate and refuse their first use: a reason for each, not 'no GPUs'" {
    gpus "$(node 1)" ctx:46 ctx:46 ctx:46
    show --gres=gpu:3 --auto-gpus=1
    expect_short '0 of 3 GPUs usable' "  0  UNAVAILABLE  $(of_gpu 0)  $busy" "  1  UNAVAILABLE  $(of_gpu 1)  $busy" "  2  UNAVAILABLE  $(of_gpu 2)  $busy"
}

@test "B02 a GPU that is full of another job: taken with a warning, or passed over by a floor" {
    gpus "$(node 1)" 'ok used=72G' ok
    show --gres=gpu:2 --auto-gpus=1
    expect 0 0
    expect_texts 'warning: 0 has 72.4 GiB of 79.6 GiB '
    expect_lines 1
    show --gres=gpu:2 --auto-gpus=1 --auto-gpus-min-free=20G
    expect 0 1
}

@test "B03 a second run with a floor takes the next two" {
    gpus "$(node 1)" 'ok used=72G' 'ok used=72G' ok ok
    show --gres=gpu:4 --auto-gpus=2 --auto-gpus-min-free=20G
    expect 0 2,3
    expect_said <<<'using 2,3; 0 LOW_MEMORY, 1 LOW_MEMORY skipped'
}

@test "C07 the task counts as many devices as it asked for" {
    gpus "$(node 1)" ctx:214 ok ok ok
    ask LD_LIBRARY_PATH="$CLUSTER_DIR/driver" --gres=gpu:4 --auto-gpus=2 "$CLUSTER_DIR/driver/cuda-task"
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" = 2 ]
    [[ ${lines[0]} == *"$(uuids 1)"* && ${lines[1]} == *"$(uuids 2)"* ]]
}

@test "D02 a list of UUIDs stays as it is, byte for byte" {
    set_list
    show TEST_LIST="$(uuids 0 1)" --gres=gpu:2 --auto-gpus=2
    expect 0 "$(uuids 0 1)"
}

@test "D08 indices become UUIDs where that is wanted, in the same order" {
    show --gres=gpu:2 --auto-gpus=2 --auto-gpus-emit=uuid
    expect 0 "$(uuids 0 1)"
    set_list
    show TEST_LIST=1,0 --gres=gpu:2 --auto-gpus=2 --auto-gpus-emit=uuid
    expect 0 "$(uuids 1 0)"
}

@test "D09 what follows the digits is ignored, and a range is none" {
    set_list
    ask TEST_LIST=1gpu2,2ampere --gres=gpu:4 --auto-gpus=2 sh -c 'echo "$CUDA_VISIBLE_DEVICES $AUTO_GPUS_UUIDS"'
    expect 0 "1gpu2,2ampere $(uuids 1 2)"
    show TEST_LIST=0-2 --gres=gpu:4 --auto-gpus=1
    expect 0 0-2
    # As design has it: more than the list holds is refused before any probe.
    : >"$CLUSTER_DIR/driver/calls.log"
    show TEST_LIST=0-2 --gres=gpu:4 --auto-gpus=2
    expect 78 ''
    expect_texts 'LIST_TOO_SHORT: '
    no_probe_started
}

@test "D11 the GPU behind a token is what the probe saw, not the number of a device file" {
    need_fence
    local n
    n=$(node 1)
    # Device files in reverse: the step's first two are those of GPUs 7 and 6.
    gpus "$n" "ok device=$(device "$n" 7)" "ok device=$(device "$n" 6)" "ok device=$(device "$n" 5)" "ok device=$(device "$n" 4)" \
        "ok device=$(device "$n" 3)" "ok device=$(device "$n" 2)" "ctx:214 device=$(device "$n" 1)" "ok device=$(device "$n" 0)"
    ask --gres=gpu:2 --auto-gpus=1 sh -c 'echo "$CUDA_VISIBLE_DEVICES $AUTO_GPUS_UUIDS"'
    expect 0 "1 $(uuids 7)"
    show --gres=gpu:2 --auto-gpus=2
    expect_short "  0  ECC_UNCORRECTABLE  $(of_gpu 6)  "
}

@test "D13 a list of both kinds: never reordered, and given only where the driver shows it so" {
    set_list
    show TEST_LIST="3,$(uuids 0)" --gres=gpu:4 --auto-gpus=2
    expect_short "the GPUs 3,$(uuids 0) work one by one, but not together"
    show TEST_LIST="3,$(uuids 0)" --gres=gpu:4 --auto-gpus=1
    expect 0 3
}

@test "D14 eight digits of a UUID name a GPU, and stay eight digits" {
    local first second
    first=$(uuids 0) second=$(uuids 1)
    set_list
    gpus "$(node 1)" ctx:214 ok
    show TEST_LIST="${first:0:12},${second:0:12}" --gres=gpu:2 --auto-gpus=1
    expect 0 "${second:0:12}"
    ask TEST_LIST="${second:0:12}" --gres=gpu:2 --auto-gpus=1 sh -c 'echo "$CUDA_VISIBLE_DEVICES $AUTO_GPUS_UUIDS"'
    expect 0 "${second:0:12} $second"
}

@test "D15 the first four GPUs and the last four of a node give the same answer inside a cgroup" {
    need_fence
    gpus "$(node 1)" ok ctx:214 ok ok ok ctx:214 ok ok
    show --gres=gpu:4 --auto-gpus=3
    expect 0 0,2,3
    background srun_user --gres=gpu:4 sh -c 'touch held; exec tail -f /dev/null'
    wait_until 20 test -e "$CLUSTER_DIR/work/held"
    show --gres=gpu:4 --auto-gpus=3
    expect 0 0,2,3
    ask --gres=gpu:4 --auto-gpus=3 sh -c 'echo "$AUTO_GPUS_UUIDS"'
    expect 0 "$(uuids 4 6 7)"
    rm "$CLUSTER_DIR/work/held"
}

@test "D16 an allocation with holes" {
    gpus "$(node 1)" ok ok ok ok ok busy46 ok ok
    set_list
    show TEST_LIST=2,5,7 --gres=gpu:8 --auto-gpus=2
    expect 0 2,7
}

# mixed: GPU 0 is slow and first on the bus, GPU 1 fast: without an order CUDA counts it first.
task='echo "$CUDA_VISIBLE_DEVICES $AUTO_GPUS_UUIDS"; "$0" | grep -o "GPU-[0-9a-f-]*"'

@test "E01 the task counts GPUs as the probe did, in either order" {
    gpus "$(node 1)" 'ok speed=1 model="GTX 1080"' 'ctx:214 speed=9 model=TITAN'
    ask LD_LIBRARY_PATH="$CLUSTER_DIR/driver" --gres=gpu:2 --auto-gpus=1 sh -c "$task" "$CLUSTER_DIR/driver/cuda-task"
    expect 0 "1 $(uuids 0)
$(uuids 0)"
    ask LD_LIBRARY_PATH="$CLUSTER_DIR/driver" CUDA_DEVICE_ORDER=PCI_BUS_ID --gres=gpu:2 --auto-gpus=1 sh -c "$task" "$CLUSTER_DIR/driver/cuda-task"
    expect 0 "0 $(uuids 0)
$(uuids 0)"
}

@test "E02 the fastest GPU is taken: the token of the other one" {
    gpus "$(node 1)" 'ok speed=1 model="GTX 1080"' 'busy46 speed=9 model=TITAN'
    ask LD_LIBRARY_PATH="$CLUSTER_DIR/driver" --gres=gpu:2 --auto-gpus=1 sh -c "$task" "$CLUSTER_DIR/driver/cuda-task"
    expect 0 "1 $(uuids 0)
$(uuids 0)"
}

@test "E03 a small display GPU shifts the indices: messages say UUID and PCI id" {
    gpus "$(node 1)" ok ok ok 'alloc:2 speed=1 total=4096M model="T600"' ok
    set_list
    show TEST_LIST=1,2,3,4 --gres=gpu:5 --auto-gpus=4
    expect_short '3 of 4 GPUs usable' "  3  usable         $(of_gpu 4)  " \
        "  4  OUT_OF_MEMORY  T600                   $(uuids 3 | cut -c 1-12)  "
}

@test "E05 a user can tell which GPU is meant: token, model, UUID, PCI id" {
    gpus "$(node 1)" ok 'ctx:214 model="NVIDIA A100-SXM4-40GB"'
    local pci
    pci=$(pci "$(node 1)" 1)
    show --gres=gpu:2 --auto-gpus=2
    expect_short "  1  ECC_UNCORRECTABLE  NVIDIA A100-SXM4-40GB  $(uuids 1 | cut -c 1-12)  ${pci#0000:}  cuCtxCreate: "
}

@test "E06 NVML counts in another order than CUDA: its notes find their GPU by PCI id" {
    nvml "$(nvml_gpu 0 used=9G)" "$(nvml_gpu 1 result=16)"
    gpus "$(node 1)" 'ok speed=1' 'ctx:999 speed=9'
    show "$with_nvml" --gres=gpu:2 --auto-gpus=2
    expect_short "  0  UNKNOWN_ERROR  $(of_gpu 1)  " '; NVML: the GPU requires a reset'
}

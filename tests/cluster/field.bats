#!/usr/bin/env bats
# Cases from the field, each under its id: what people who run GPU jobs on clusters reported.
#
# Scripts for the steps are in single quotes, and `pid` comes from the library.
# shellcheck disable=SC2016,SC2154

load expect

setup_file() { start_cluster --nodes 1 --gpus 8; }

setup() {
    need_cluster
    need_driver
    use_cluster "$CLUSTER_DIR"
    fresh_driver
    use_plugin retry=1
    set_list
}

# with LIST ARGUMENTS...: a task that has this list, and all GPUs of the node behind it.
with() {
    show TEST_LIST="$1" --gres=gpu:8 "${@:2}"
}

@test "A01 of two exclusive GPUs the first is taken: the second is given, two are not" {
    gpus "$(node 1)" busy46 ok
    with 0,1 --auto-gpus=1
    expect 0 1
    expect_said <<<'using 1; 0 BUSY_EXCLUSIVE skipped'
    with 0,1 --auto-gpus=2
    expect 75 ''
    nothing_ran
    expect_said <<END
1 of 2 GPUs usable, --auto-gpus=2 asks for 2; no task started on this node
  0  BUSY_EXCLUSIVE  $(of_gpu 0)  cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE (46): in use by another process, exclusive-process mode
  1  usable          $(of_gpu 1)  T s
use --auto-gpus=1, or --exclude=$(node 1), or try again later
END
}

@test "A02 the one GPU of the list is taken: no other is tried, though free" {
    gpus "$(node 1)" ok ok ok ok ok ok ok busy46
    with 7 --auto-gpus=1
    expect 75 ''
    nothing_ran
    expect_said <<END
0 of 1 GPUs usable, --auto-gpus=1 asks for 1; no task started on this node
  7  BUSY_EXCLUSIVE  $(of_gpu 7)  cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE (46): in use by another process, exclusive-process mode
use --exclude=$(node 1), or try again later
END
    [ "$(probed | sort -u)" = 7 ]
}

@test "A11 GPUs that enumerate and refuse a context are not usable, and not called in use" {
    gpus "$(node 1)" ctx:46 ctx:46
    with 0,1 --auto-gpus=1
    expect 75 ''
    nothing_ran
    expect_said <<END
0 of 2 GPUs usable, --auto-gpus=1 asks for 1; no task started on this node
  0  UNAVAILABLE  $(of_gpu 0)  cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE (46): the driver says busy or unavailable
  1  UNAVAILABLE  $(of_gpu 1)  cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE (46): the driver says busy or unavailable
use --exclude=$(node 1), and report the node
END
    [[ $stderr != *occupied* && $stderr != *'in use'* ]]
}

@test "C04 a task bound to one GPU cannot have two, and no probe is started" {
    show -n2 --gpus-per-task=1 --auto-gpus=2
    [ "$status" -eq 78 ]
    nothing_ran
    [ "$(said | sort -u)" = 'LIST_TOO_SHORT: --auto-gpus=2 asks for 2, but CUDA_VISIBLE_DEVICES has 1 entry; ask for fewer, or allocate more with --gpus=N or --gres=gpu:N' ]
    no_probe_started
}

@test "C06 the one GPU of a list keeps its index" {
    with 5 --auto-gpus=1
    expect 0 5
    [ -z "$stderr" ]
}

@test "C10 an index is not counted anew" {
    gpus "$(node 1)" ok ok ok ok
    with 3 --auto-gpus=1
    expect 0 3
    [ "$(probed)" = 3 ]
}

@test "D01 full UUIDs keep their form" {
    gpus "$(node 1)" busy46 ok
    with "$(uuids 0 1)" --auto-gpus=1
    expect 0 "$(uuids 1)"
}

@test "D02 a list of UUIDs that all work is unchanged" {
    with "$(uuids 0 1)" --auto-gpus=2
    expect 0 "$(uuids 0 1)"
}

@test "D03 a short UUID is given as it is; one that fits two GPUs names none" {
    gpus "$(node 1)" 'ok uuid=GPU-af7b61d8-0000-0000-0000-000000000001' 'ok uuid=GPU-12345678-0000-0000-0000-000000000001' \
        'ok uuid=GPU-12345678-0000-0000-0000-000000000002'
    with GPU-af7b61d8 --auto-gpus=1
    expect 0 GPU-af7b61d8
    with GPU-12345678 --auto-gpus=1
    expect 75 ''
    nothing_ran
    expect_said <<END
0 of 1 GPUs usable, --auto-gpus=1 asks for 1; no task started on this node
  GPU-12345678  NOT_VISIBLE  the driver shows 3 GPUs; unknown or ambiguous name among them
use --exclude=$(node 1), and report the node
END
}

@test "D05 an empty list: no probe is started; off leaves it" {
    with '' --auto-gpus=1
    expect 78 ''
    nothing_ran
    [[ $(said) == 'EMPTY_LIST: CUDA_VISIBLE_DEVICES is empty: '* ]]
    with '' --auto-gpus=0
    expect 0 ''
    [ -e "$CLUSTER_DIR/work/ran" ]
    no_probe_started
}

@test "D06 NoDevFiles: no GPU was allocated; off leaves it" {
    with NoDevFiles --auto-gpus=1
    expect 78 ''
    nothing_ran
    [[ $(said) == *': no GPU was allocated to this step; ask for GPUs with --gpus=N or --gres=gpu:N' ]]
    with NoDevFiles --auto-gpus=0
    expect 0 NoDevFiles
    no_probe_started
}

@test "D07 an absolute index behind a fence of one GPU: not visible, and 0 is not taken instead" {
    need_fence
    show TEST_LIST=7 --gres=gpu:1 --auto-gpus=1
    expect 75 ''
    nothing_ran
    expect_said <<END
0 of 1 GPUs usable, --auto-gpus=1 asks for 1; no task started on this node
  7  NOT_VISIBLE  the driver shows 1 GPU; a lost GPU, or an absolute index inside a device cgroup?
use --exclude=$(node 1), and report the node
END
}

@test "D10 the list stops at -1" {
    with 2,-1,1 --auto-gpus=1
    expect 0 2
    with 2,-1,1 --auto-gpus=2
    expect 78 ''
    nothing_ran
    expect_said <<<"LIST_TOO_SHORT: --auto-gpus=2 asks for 2, but CUDA_VISIBLE_DEVICES has 1 entry before '-1', where the driver stops reading; ask for fewer, or allocate more with --gpus=N or --gres=gpu:N"
}

@test "D12 duplicates are refused; an unknown UUID is not visible, and the list goes on behind it" {
    local list
    with 0,0 --auto-gpus=1
    expect 78 ''
    [[ $(said) == 'DUPLICATE: duplicate 0 in CUDA_VISIBLE_DEVICES=0,0: '* ]]
    no_probe_started
    list=$(uuids 0),GPU-deadbeef-0000-0000-0000-000000000000,$(uuids 2)
    with "$list" --auto-gpus=2
    expect 0 "$(uuids 0 2)"
    expect_said <<<"using $(uuids 0 2); GPU-deadbeef-0000-0000-0000-000000000000 NOT_VISIBLE skipped"
    with "$list" --auto-gpus=3
    expect 75 ''
    nothing_ran
    expect_said <<END
2 of 3 GPUs usable, --auto-gpus=3 asks for 3; no task started on this node
  $(uuids 0)  usable       $(of_gpu 0)  T s
  GPU-deadbeef-0000-0000-0000-000000000000  NOT_VISIBLE  the driver shows 8 GPUs; unknown or ambiguous name among them
  $(uuids 2)  usable       $(of_gpu 2)  T s
use --auto-gpus=2, or --exclude=$(node 1), and report the node
END
}

@test "G01 uncorrectable ECC errors: the other GPU is given, and the node's log says why" {
    gpus "$(node 1)" ctx:214 ok
    with 0,1 --auto-gpus=1
    expect 0 1
    slurm_log "$(node 1)" | grep -q "auto-gpus: $(node 1): using 1; 0 ECC_UNCORRECTABLE skipped"
    with 0,1 --auto-gpus=2
    expect 75 ''
    nothing_ran
    expect_said <<END
1 of 2 GPUs usable, --auto-gpus=2 asks for 2; no task started on this node
  0  ECC_UNCORRECTABLE  $(of_gpu 0)  cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)
  1  usable             $(of_gpu 1)  T s
use --auto-gpus=1, or --exclude=$(node 1), and report the node
END
}

@test "G04 ECC errors at the first work, on one GPU of eight" {
    gpus "$(node 1)" ok ok ok sync:214 ok ok ok ok
    with 0,1,2,3,4,5,6,7 --auto-gpus=4
    expect 0 0,1,2,4
    expect_said <<<'using 0,1,2,4; 3 ECC_UNCORRECTABLE skipped'
}

@test "G10 the node came up with a GPU missing" {
    gpus "$(node 1)" ok ok ok gone
    with 0,1,2,3 --auto-gpus=4
    expect 75 ''
    nothing_ran
    expect_said <<END
3 of 4 GPUs usable, --auto-gpus=4 asks for 4; no task started on this node
  0  usable       $(of_gpu 0)  T s
  1  usable       $(of_gpu 1)  T s
  2  usable       $(of_gpu 2)  T s
  3  NOT_VISIBLE  the driver shows 3 GPUs; a lost GPU, or an absolute index inside a device cgroup?
use --auto-gpus=3, or --exclude=$(node 1), and report the node
END
}

# Durations are a tenth of the reports'.

@test "H01 a first CUDA call that never returns ends at the deadline, and no helper is left" {
    local now started
    gpus "$(node 1)" hangK
    uptime_cs && started=$now
    with 0 --auto-gpus=1 --auto-gpus-timeout=1
    uptime_cs
    expect 75 ''
    nothing_ran
    expect_said <<END
0 of 1 GPUs usable, --auto-gpus=1 asks for 1; no task started on this node
  0  TIMEOUT  no answer in 1 s, last seen in cuInit
use --exclude=$(node 1), and report the node$late
END
    [ $((now - started)) -ge 100 ]
    [ $((now - started)) -lt 230 ]
    nothing_left
}

@test "H10 eight GPUs hang: one deadline for all, and one message" {
    local now started
    gpus "$(node 1)" hangK hangK hangK hangK hangK hangK hangK hangK
    uptime_cs && started=$now
    with 0,1,2,3,4,5,6,7 --auto-gpus=1 --auto-gpus-timeout=1
    uptime_cs
    expect 75 ''
    nothing_ran
    expect_said < <(
        echo '0 of 8 GPUs usable, --auto-gpus=1 asks for 1; no task started on this node'
        printf '  %s  TIMEOUT  no answer in 1 s, last seen in cuInit\n' 0 1 2 3 4 5 6 7
        echo "use --exclude=$(node 1), and report the node$late"
    )
    [ $((now - started)) -lt 230 ]
    nothing_left
}

@test "H14 eight GPUs that each take half a second are tried side by side" {
    local together
    gpus "$(node 1)" slow:500ms slow:500ms slow:500ms slow:500ms slow:500ms slow:500ms slow:500ms slow:500ms
    # One after the other they would take 4 s.
    with 0,1,2,3,4,5,6,7 --auto-gpus=8 --auto-gpus-timeout=3
    expect 0 0,1,2,3,4,5,6,7
    # Of those that had begun when the first one was ready, healthy ones would show one or two.
    together=$(driver_calls "$(node 1)" cuCtxCreate_v2 | sort -n | awk '$7 == 0 { exit } $7 == "begin" { n++ } END { print n }')
    [ "$together" -ge 5 ]
}

@test "H18 each probe sees its own entry only" {
    local token
    with 0,1,2,3,4,5,6,7 --auto-gpus=8
    expect 0 0,1,2,3,4,5,6,7
    [ "$(driver_calls "$(node 1)" cuInit begin | awk '$4 !~ /,/ { print $4, $8 }' | sort)" = "$(for token in 0 1 2 3 4 5 6 7; do echo "$token devices=1"; done)" ]
}

@test "H20 the JIT cache is off in probes, and a home folder is not needed" {
    ask TEST_LIST=0 HOME=/nonexistent --gres=gpu:8 --auto-gpus=1 sh -c 'echo "$CUDA_VISIBLE_DEVICES ${CUDA_CACHE_DISABLE-unset}"'
    expect 0 '0 unset'
    [ "$(driver_calls "$(node 1)" cuInit begin | grep -c cache_disable=1)" = 1 ]
}

@test "I01 the NVSwitch fabric is not up: said once, not for each GPU" {
    driver_line "$(node 1)" 'all behaviour=init:802'
    with 0,1,2,3,4,5,6,7 --auto-gpus=1
    expect 75 ''
    nothing_ran
    expect_said <<END
SYSTEM_NOT_READY: cuInit: CUDA_ERROR_SYSTEM_NOT_READY (802), libcuda is $CLUSTER_DIR/driver/libcuda.so.1: the system is not yet initialised; likely causes: the fabric manager of an NVSwitch node is not up, a single GPU is not, or a kernel fault; no task started on this node; try later or another node, and report this one
END
}

@test "I08 the driver's library and module differ" {
    driver_line "$(node 1)" 'all behaviour=init:803'
    with 0,1 --auto-gpus=1
    expect 75 ''
    nothing_ran
    expect_said <<END
DRIVER_MISMATCH: cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803), libcuda is $CLUSTER_DIR/driver/libcuda.so.1: the user library and the kernel module of the driver differ; no task started on this node; report the node: it needs a reboot, or the module loaded anew
END
}

@test "I18 the toolkit's stub of libcuda is told from a driver without GPUs" {
    driver_line "$(node 1)" 'driver stub=on'
    with 0 --auto-gpus=1
    expect 75 ''
    nothing_ran
    expect_said <<END
DRIVER_STUB: cuInit: CUDA_ERROR_STUB_LIBRARY (34), libcuda is $CLUSTER_DIR/driver/libcuda.so.1: libcuda is the CUDA toolkit's stub, not a driver; no task started on this node; take the folder of the stub out of LD_LIBRARY_PATH
END
}

@test "J11 the cause is said by us alone, with no general lines of Slurm around it" {
    gpus "$(node 1)" ctx:214
    plugstack "$(sed 's/^optional/required/' "$CLUSTER_DIR/plugstack.conf")"
    with 0 --auto-gpus=1
    expect 75 ''
    nothing_ran
    [ "$(grep -v "^auto-gpus: $(node 1): " <<<"$stderr")" = "srun: error: $(node 1): task 0: Exited with exit code 75" ]
    [ "$(wc -l <<<"$stderr")" = 4 ]
}

@test "M01 the task's own cuInit works" {
    ask TEST_LIST=1,0 LD_LIBRARY_PATH="$CLUSTER_DIR/driver" --gres=gpu:8 --auto-gpus=2 "$CLUSTER_DIR/driver/cuda-task"
    [ "$status" -eq 0 ]
    [ "$(grep -oE '^device .: |GPU-[0-9a-f-]+' <<<"$output" | tr -d '\n')" = "device 0: $(uuids 1)device 1: $(uuids 0)" ]
}

@test "M02 no driver is mapped in the task, nor in the step's daemon" {
    ask TEST_LIST=0 --gres=gpu:8 --auto-gpus=1 cat /proc/self/maps
    [ "$status" -eq 0 ]
    [ -n "$output" ]
    [[ $output != *libcuda* && $output != *libnvidia* ]]
    background srun_user TEST_LIST=0 --gres=gpu:8 --auto-gpus=1 sh -c 'echo $PPID >step; exec tail -f /dev/null'
    wait_until 10 test -s "$CLUSTER_DIR/work/step"
    grep -q spank_auto_gpus "/proc/$(<"$CLUSTER_DIR/work/step")/maps"
    run ! grep -E 'libcuda|libnvidia' "/proc/$(<"$CLUSTER_DIR/work/step")/maps"
}

@test "M03 3 is said as what it is, not as the want of a GPU" {
    driver_line "$(node 1)" 'all behaviour=init:3'
    with 0,1,2,3,4,5,6,7 --auto-gpus=1
    expect 75 ''
    nothing_ran
    expect_said <<END
NOT_INITIALIZED: cuInit: CUDA_ERROR_NOT_INITIALIZED (3), libcuda is $CLUSTER_DIR/driver/libcuda.so.1: the driver could not be initialised; this is not the same as having no GPU; no task started on this node; exclude the node and report it
END
}

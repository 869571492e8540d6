#!/usr/bin/env bats
# Cases from the field: hangs and slow starts, the state of a node, what a probe leaves alone. Times are
# a tenth of those reported.
#
# Scripts for the steps are in single quotes.
# shellcheck disable=SC2016,SC2154

load faults

setup_file() { start_cluster --nodes 1 --gpus 8; }

@test "H05 NVML hangs, and nvidia-smi would: a failure is told half a second later at most" {
    printf '#!/bin/sh\ntouch "%s/work/smi"\nexec tail -f /dev/null\n' "$CLUSTER_DIR" >"$CLUSTER_DIR/work/nvidia-smi"
    chmod 755 "$CLUSTER_DIR/work/nvidia-smi"
    gpus "$(node 1)" ctx:214 ok
    nvml 'nvml hang=init'
    elapsed show PATH="$CLUSTER_DIR/work:/usr/bin:/bin" "$with_nvml" --gres=gpu:2 --auto-gpus=2
    expect_short '  0  ECC_UNCORRECTABLE '
    ((took < 150)) || { echo "$took"; return 1; }
    grep -q does:hang "$CLUSTER_DIR/nvml/calls.log"
    [ ! -e "$CLUSTER_DIR/work/smi" ]
    nothing_left
}

@test "H07 two ways to be broken in one list: the third GPU is given" {
    gpus "$(node 1)" hangT init:999 ok
    elapsed show --gres=gpu:3 --auto-gpus=1
    expect 0 2
    ((took < 200)) || { echo "$took"; return 1; }
}

@test "H09 an empty list: no CUDA call at all" {
    set_list
    show TEST_LIST= --gres=gpu:1 --auto-gpus=1
    expect 78 ''
    nothing_ran
    no_probe_started
}

@test "H15 without persistence mode a GPU takes long: given in time, and hinted at when not" {
    gpus "$(node 1)" slow:1200ms
    show --gres=gpu:1 --auto-gpus=1 --auto-gpus-timeout=3
    expect 0 0
    [ -z "$stderr" ]
    show --gres=gpu:1 --auto-gpus=1 --auto-gpus-timeout=1
    expect_short '  0  TIMEOUT ' 'no answer in 1 s, last seen in cuCtxCreate' 'persistence mode off?'
}

@test "H16 cuInit is slow, as with confidential computing: no change, no word" {
    gpus "$(node 1)" slow:660ms@init slow:660ms@init
    elapsed show --gres=gpu:2 --auto-gpus=2
    expect 0 0,1
    [ -z "$stderr" ]
    ((took >= 66))
}

@test "H17 eight GPUs that all take long do not miss the default deadline" {
    local slow=slow:2600ms
    gpus "$(node 1)" $slow $slow $slow $slow $slow $slow $slow $slow
    elapsed show --gres=gpu:8 --auto-gpus=8
    expect 0 0,1,2,3,4,5,6,7
    [ -z "$stderr" ]
    ((took >= 260 && took < 600)) || { echo "$took"; return 1; }
}

# all_say BEHAVIOUR: whatever is visible.
all_say() {
    driver_line "$(node 1)" "all behaviour=$1"
}

not_ready='SYSTEM_NOT_READY: cuInit: CUDA_ERROR_SYSTEM_NOT_READY (802)'

# many_causes: the one line names likely causes, more than one.
many_causes() {
    expect_lines 1
    [[ $(said) == *'likely causes: '*', '*' or '* ]]
}

@test "I03 all jobs on several GPUs of a node say 802: once, for the node" {
    use_plugin retry=0
    all_say init:802
    show --gres=gpu:8 --auto-gpus=2
    expect_short "$not_ready, libcuda is "
    expect_lines 1
}

@test "I04 the first says 802, the later ones that an OS call failed: the first counts, both are told" {
    use_plugin retry=0
    gpus "$(node 1)" init:802 init:304 init:304 init:304 init:304 init:304 init:304
    show --gres=gpu:7 --auto-gpus=1
    expect_short "$not_ready, also cuInit: CUDA_ERROR_OPERATING_SYSTEM (304), libcuda is "
    expect_lines 1
}

@test "I05 802 with a healthy fabric: no single cause is claimed" {
    use_plugin retry=0
    all_say init:802
    show --gres=gpu:2 --auto-gpus=1
    expect_short "$not_ready" 'fabric manager' 'kernel fault'
    many_causes
}

@test "I06 not only that cuInit failed: the code, its name and what to do" {
    use_plugin retry=0
    all_say init:802
    show --gres=gpu:2 --auto-gpus=1
    expect_short 'cuInit' CUDA_ERROR_SYSTEM_NOT_READY '(802)' 'the system is not yet initialised' 'try later or another node, and report this one'
}

@test "I07 the fabric comes up a moment later: tries within the window, or a failure" {
    all_say trans802_for:300ms
    show --gres=gpu:2 --auto-gpus=2
    expect 0 0,1
    [ -n "$(driver_calls "$(node 1)" cuInit 802)" ]
    fresh_driver
    use_plugin retry=0
    all_say trans802_for:300ms
    show --gres=gpu:2 --auto-gpus=2
    expect_short "$not_ready"
}

mismatch='DRIVER_MISMATCH: cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)'

@test "I09 803: the library and the kernel module differ, and the library's path" {
    all_say init:803
    show --gres=gpu:2 --auto-gpus=1
    expect_short "$mismatch, libcuda is $CLUSTER_DIR/driver/libcuda.so.1: the user library and the kernel module of the driver differ" 'it needs a reboot, or the module loaded anew'
    expect_lines 1
}

@test "I10 the same for every job of the node, also for a batch job" {
    all_say init:803
    batch --gres=gpu:2 --auto-gpus=1 --wrap 'touch ran'
    [ "$status" -eq 75 ]
    nothing_ran
    expect_texts "$mismatch"
    expect_lines 1
}

@test "I11 a forward-compatibility libcuda on a GPU that has none: the path of the one loaded" {
    all_say init:804
    show --gres=gpu:2 --auto-gpus=1
    expect_short "COMPAT_UNSUPPORTED: cuInit: CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE (804), libcuda is $CLUSTER_DIR/driver/libcuda.so.1: " LD_LIBRARY_PATH
    expect_lines 1
}

# unknown_error: 999 from every GPU.
unknown_error() {
    all_say init:999
    show --gres=gpu:2 --auto-gpus=1
    expect_short 'UNKNOWN_ERROR: cuInit: CUDA_ERROR_UNKNOWN (999)' 'likely causes: /dev/nvidia-uvm missing or not permitted, or '
    expect_lines 1
}

@test "I12 nvidia-uvm is not loaded: 999, with that as a likely cause" {
    unknown_error
}

@test "I13 an old shim in a container: the libcuda that was loaded is named" {
    unknown_error
    expect_texts "libcuda is $CLUSTER_DIR/driver/libcuda.so.1"
}

@test "I15 no permission on nvidia-uvm after a reboot" {
    unknown_error
    expect_texts 'not permitted'
}

@test "I16 two GPUs that work alone and not together: one is given, two are not" {
    driver_line "$(node 1)" "together gpus=$(uuids 0 1) behaviour=init:999"
    show --gres=gpu:2 --auto-gpus=2
    expect_short 'the GPUs 0,1 work one by one, but not together' '  0  LIST_CONFLICT ' '  1  LIST_CONFLICT '
    show --gres=gpu:2 --auto-gpus=1
    expect 0 0
}

@test "I17 a kernel that breaks CUDA's start: likely causes, and not one alone" {
    use_plugin retry=0
    all_say init:802
    show --gres=gpu:1 --auto-gpus=1
    expect_short "$not_ready" 'a kernel fault'
    many_causes
    fresh_driver
    all_say init:3
    show --gres=gpu:1 --auto-gpus=1
    expect_short 'NOT_INITIALIZED: cuInit: CUDA_ERROR_NOT_INITIALIZED (3)'
}

@test "J09 a list with commas arrives whole, whatever --export says" {
    local exported
    gpus "$(node 1)" ctx:214 ok ok ok
    for exported in ALL NONE PATH,A=b; do
        ask --export="$exported" --gres=gpu:4 --auto-gpus=2 /usr/bin/printenv CUDA_VISIBLE_DEVICES
        expect 0 1,2
    done
}

@test "J10 NVML is not permitted: CUDA alone decides" {
    nvml "$(nvml_gpu 0 result=4 at=handle)" "$(nvml_gpu 1 result=4 at=handle)" "$(nvml_gpu 2 result=4)" "$(nvml_gpu 3 result=4)"
    gpus "$(node 1)" ctx:214 ok
    show "$with_nvml" --gres=gpu:2 --auto-gpus=1
    expect 0 1
    show "$with_nvml" --gres=gpu:2 --auto-gpus=2
    expect_short "  0  ECC_UNCORRECTABLE  $(of_gpu 0)  cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)" "  1  usable  "
    [[ $stderr != *NVML* ]]
}

# a_probe_hangs: true once one does.
a_probe_hangs() {
    [[ -n $(driver_calls "$(node 1)" cuInit does:hangK) ]]
}

@test "M05 no process of Slurm opens a GPU or maps the driver, not while probes run either" {
    local folder name found
    gpus "$(node 1)" hangK hangK
    background srun_user --gres=gpu:2 --auto-gpus=1 --auto-gpus-timeout=20 true
    wait_until 5 a_probe_hangs
    for folder in /proc/[0-9]*; do
        name=$(cat "$folder/comm" 2>/dev/null) || continue
        [[ $name == slurm* || $name == srun ]] || continue
        found=$({ readlink "$folder"/fd/*; cat "$folder/maps"; } 2>/dev/null | grep -E '/dev/nvidia|libcuda|libnvidia-ml') ||
            continue
        echo "$folder $name: $found"
        return 1
    done
    end_in_background
}

@test "M06 a probe is not ended before the time is up, however long its work takes" {
    local begun ended
    gpus "$(node 1)" hangT@sync
    show --gres=gpu:1 --auto-gpus=1 --auto-gpus-timeout=1
    expect_short '  0  TIMEOUT ' 'last seen in '
    begun=$(driver_calls "$(node 1)" cuInit begin | head -n 1 | cut -d' ' -f1)
    ended=$(grep -F does:ignore-SIGTERM "$CLUSTER_DIR/driver/calls.log" | head -n 1 | cut -d' ' -f1)
    (((ended - begun) / 1000000 >= 950)) || { echo "$begun $ended"; return 1; }
}

@test "M07 the list is in the probe's environment from its start" {
    local id
    gpus "$(node 1)" ok hangK
    background srun_user --gres=gpu:2 --auto-gpus=2 --auto-gpus-timeout=20 true
    wait_until 5 a_probe_hangs
    id=$(driver_calls "$(node 1)" cuInit begin | awk '$4 == 1 { print $2 }')
    # /proc/PID/environ is what exec was given: setenv does not change it.
    run grep -zx 'CUDA_VISIBLE_DEVICES=1' "/proc/$id/environ"
    [ "$status" -eq 0 ]
    end_in_background
}

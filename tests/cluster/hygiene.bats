#!/usr/bin/env bats
# What a run leaves behind, in the task and on the node: nothing but what is documented. And what the
# probes get of the task's surroundings.
#
# Scripts for the steps are in single quotes, and `pid` comes from the library.
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

# same COMMAND ARGUMENTS...: the command's output with --auto-gpus and without it does not differ. The
# command is words, or a script for sh. (Some shells clear the signal mask as they start.)
same() {
    local command=(sh -c "$1")
    [[ $1 == *$'\n'* ]] || read -ra command <<<"$1"
    shift
    ask "$@" "${command[@]}"
    [ "$status" -eq 0 ]
    [ -n "$output" ]
    comparable <<<"$output" >"$BATS_TEST_TMPDIR/without"
    ask --auto-gpus=1 "$@" "${command[@]}"
    [ "$status" -eq 0 ]
    comparable <<<"$output" | diff "$BATS_TEST_TMPDIR/without" -
}

# waiting [ARGUMENTS]...: a task whose first GPU hangs; pid is srun's, probe the hanging probe's.
waiting() {
    gpus "$(node 1)" hangK
    background srun_user "$@" --gres=gpu:1 --auto-gpus=1 touch ran
    wait_until 10 probe_hangs
    probe=$(our_processes '^auto-gpus check ')
}

probe_hangs() {
    [[ -n $(driver_calls "$(node 1)" cuInit begin) ]]
}

# descriptors PID: what it has open, without numbers that differ.
descriptors() {
    local fd
    for fd in "/proc/$1/fd"/*; do
        echo "${fd##*/} $(readlink "$fd")"
    done | sed -E 's/pipe:.*/pipe/' | sort -n
}

# signals PID SET: those from 1 to 31, as a hexadecimal mask.
signals() {
    printf '%x\n' $((0x$(sed -n "s/^$2:\t//p" "/proc/$1/status") & 0x7fffffff))
}

@test "signals, descriptors, limits and all else that exec hands on are as they were" {
    same "$task_state" --gres=gpu:2
    same 'grep -E ^(Sig(Pnd|Blk|Ign|Cgt)|ShdPnd) /proc/self/status' --gres=gpu:2
}

@test "so they are with two tasks" {
    same "$task_state" -n2 --gpus-per-task=1
    same "$task_state" -n2 --gres=gpu:2
}

@test "so they are where a GPU was given up" {
    gpus "$(node 1)" ctx:214 hangT ok ok
    same "$task_state" --gres=gpu:4
    expect_said <<<'using 2; 0 ECC_UNCORRECTABLE, 1 UNDECIDED (no answer in T s) skipped'
}

@test "so they are with other stdin, output and MPI" {
    same "$task_state" --gres=gpu:1 --input=none
    same "$task_state" --gres=gpu:1 --unbuffered
    same "$task_state" --gres=gpu:1 --mpi=pmi2
}

@test "the environment is as it was, but for the documented variables" {
    local without
    gpus "$(node 1)" ctx:214 ok ok ok
    ask --gres=gpu:3 sh -c "$task_environment"
    without=$(comparable <<<"$output")
    ask --gres=gpu:3 --auto-gpus=1 --auto-gpus-timeout=9 --auto-gpus-emit=keep --auto-gpus-min-free=1G --auto-gpus-check=context sh -c "$task_environment"
    [ "$status" -eq 0 ]
    [ "$(diff <(echo "$without") <(comparable <<<"$output"))" = "$(diff <(echo "$without") <(sed 's/^CUDA_VISIBLE_DEVICES=.*/CUDA_VISIBLE_DEVICES=1/; s/^GPU_DEVICE_ORDINAL=.*/GPU_DEVICE_ORDINAL=1/' <<<"$without
AUTO_GPUS_COUNT=1
AUTO_GPUS_REJECTED=0:ECC_UNCORRECTABLE
AUTO_GPUS_UUIDS=$(uuids 1)" | sort))" ]
}

@test "the environment of two tasks differs from what it was in nothing else" {
    ask -n2 --gpus-per-task=1 sh -c "$task_environment"
    [ "$status" -eq 0 ]
    comparable <<<"$output" >"$BATS_TEST_TMPDIR/without"
    ask -n2 --gpus-per-task=1 --auto-gpus=1 sh -c "$task_environment"
    [ "$(comparable <<<"$output" | diff "$BATS_TEST_TMPDIR/without" - | grep '^[<>]')" = "> AUTO_GPUS_COUNT=1
> AUTO_GPUS_COUNT=1
> AUTO_GPUS_REJECTED=
> AUTO_GPUS_REJECTED=
$(printf '> AUTO_GPUS_UUIDS=%s\n' "$(uuids 0)" "$(uuids 1)" | sort)" ]
}

@test "after a run no process of ours is there, and none holds a GPU" {
    gpus "$(node 1)" ok ctx:214 hangT ok+fork:600s
    ask --gres=gpu:4 --auto-gpus=2 sh -c 'find /proc/[0-9]*/fd -lname "/dev/nvidia*" 2>/dev/null
        for process in $(grep -lszFx "SLURM_JOB_ID=$SLURM_JOB_ID" /proc/[0-9]*/environ); do cat "${process%environ}comm"; done 2>/dev/null; :'
    # The task, and grep, which is gone when its comm is read.
    expect 0 sh
    expect_said <<<'using 0,3; 1 ECC_UNCORRECTABLE, 2 UNDECIDED (no answer in T s) skipped'
    nothing_left
    [ -z "$(find /proc/[0-9]*/fd -lname '/dev/nvidia*' 2>/dev/null)" ]
}

@test "the data on stdin reach the task, all of them" {
    local sum
    head -c 3000000 /dev/urandom >"$CLUSTER_DIR/work/data"
    sum=$(md5sum <"$CLUSTER_DIR/work/data")
    gpus "$(node 1)" slow:200ms ok
    run --separate-stderr as_user srun --gres=gpu:2 --auto-gpus=2 md5sum <"$CLUSTER_DIR/work/data"
    expect 0 "$sum"
    run --separate-stderr as_user srun --gres=gpu:2 --auto-gpus=2 sh -c 'read -r a; read -r b; echo "$b $a"' <<<$'one\ntwo'
    expect 0 'two one'
}

@test "what drivers print does not reach the task's output" {
    gpus "$(node 1)" noise ok
    ask --gres=gpu:2 --auto-gpus=1 echo alone
    expect 0 alone
    expect_said <<<'using 1; 0 PROBE_FAILED skipped'
    [ "$(wc -l <<<"$stderr")" = 1 ]
}

@test "a probe has /dev/null and its report, whatever is open around it" {
    waiting --mpi=pmi2
    [ "$(descriptors "$probe")" = "0 /dev/null
1 /dev/null
2 /dev/null
3 pipe" ]
    supervisor=$(our_processes ' supervise ')
    [ "$(descriptors "$supervisor" | head -n 4)" = "0 pipe
1 /dev/null
2 /dev/null
3 pipe" ]
    [ "$(descriptors "$supervisor" | cut -d' ' -f2 | sort -u)" = "/dev/null
anon_inode:[signalfd]
pipe" ]
    # The task itself has PMI_FD.
    tr '\0' '\n' <"/proc/$probe/environ" | grep -q ^PMI_FD=
    descriptors "$(ps -o ppid= -p "$supervisor" | tr -d ' ')" | grep -q socket
}

@test "a program with two tasks and PMI starts, with GPUs that are slow" {
    gpus "$(node 1)" slow:200ms slow:300ms
    ask --mpi=pmi2 -n2 --gpus-per-task=1 --auto-gpus=1 sh -c 'echo "$PMI_RANK $(readlink /proc/self/fd/$PMI_FD | cut -d: -f1)"'
    [ "$(sort <<<"$output")" = "0 socket
1 socket" ]
}

@test "a probe dumps no core, dies with its supervisor, and has its signals as at a login" {
    local parent
    waiting
    grep -qE '^Max core file size +1 ' "/proc/$probe/limits"
    # SIGPIPE is ignored; 32 and 33 are the C library's own.
    [ "$(signals "$probe" SigBlk) $(signals "$probe" SigIgn)" = '0 1000' ]
    parent=$(ps -o ppid= -p "$probe" | tr -d ' ')
    [ "$parent" = "$(our_processes ' supervise ')" ]
    kill -KILL "$(ps -o ppid= -p "$parent")"
    wait_until 2 nothing_left
}

@test "a supervisor that dies takes its probes with it" {
    waiting
    kill -STOP "$(ps -o ppid= -p "$(our_processes ' supervise ')")"
    kill -KILL "$(our_processes ' supervise ')"
    probe_gone() { [[ ! -e /proc/$probe/fd ]] || [[ $(ps -o stat= -p "$probe") == Z* ]]; }
    wait_until 2 probe_gone
}

@test "a probe has the task's environment, less what disturbs" {
    local variable
    waiting A='b c' CUDA_INJECTION64_PATH=/nonexistent NVTX_INJECTION64_PATH=/nonexistent CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 \
        CUDA_COREDUMP_FILE=/nonexistent/core CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_MPS_PIPE_DIRECTORY=/nonexistent
    tr '\0' '\n' <"/proc/$probe/environ" >"$BATS_TEST_TMPDIR/environ"
    for variable in CUDA_CACHE_DISABLE=1 CUDA_VISIBLE_DEVICES=0 'A=b c' CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_MPS_PIPE_DIRECTORY=/nonexistent "HOME=$CLUSTER_DIR/work"; do
        grep -qFx "$variable" "$BATS_TEST_TMPDIR/environ"
    done
    run ! grep -E 'INJECTION|COREDUMP' "$BATS_TEST_TMPDIR/environ"
}

@test "the task keeps what is taken from the probes" {
    ask CUDA_INJECTION64_PATH=/nonexistent CUDA_COREDUMP_FILE=/nonexistent/core --gres=gpu:1 --auto-gpus=1 \
        sh -c 'echo "$CUDA_INJECTION64_PATH $CUDA_COREDUMP_FILE ${CUDA_CACHE_DISABLE-unset}"'
    expect 0 '/nonexistent /nonexistent/core unset'
}

@test "a probe runs as the user, in the task's cgroups" {
    waiting
    [ "$(stat -c %U "/proc/$probe")" = "$job_user" ]
    [ "$(cut -d: -f3 "/proc/$probe/cgroup")" = "$(cut -d: -f3 "/proc/$(ps -o ppid= -p "$(our_processes ' supervise ')" | tr -d ' ')/cgroup")" ]
}

# with_limit LIMIT COMMAND...: as the user, with this limit in srun's own shell, which srun propagates.
with_limit() {
    run --separate-stderr as_user sh -c 'ulimit "$1" "$2"; shift 2; exec srun "$@"' - "$@" </dev/null
}

@test "the job's limits hold for its probes" {
    gpus "$(node 1)" hangK
    run as_user sh -c 'ulimit -Sv 8000000; ulimit -Ss 4000; ulimit -Sn 100; exec srun --gres=gpu:1 --auto-gpus=1 --auto-gpus-timeout=600 touch ran' </dev/null &
    wait_until 10 probe_hangs
    probe=$(our_processes '^auto-gpus check ')
    grep -qE '^Max address space +8192000000 ' "/proc/$probe/limits"
    grep -qE '^Max stack size +4096000 ' "/proc/$probe/limits"
    grep -qE '^Max open files +100 ' "/proc/$probe/limits"
}

@test "a driver that runs into a virtual memory limit is named with the limit" {
    driver_line "$(node 1)" 'driver reserve=32G'
    with_limit -v 16777216 --gres=gpu:1 --auto-gpus=1 touch ran
    expect 75 ''
    nothing_ran
    expect_said <<END
ADDRESS_LIMIT: cuInit: CUDA_ERROR_OUT_OF_MEMORY (2), libcuda is $CLUSTER_DIR/driver/libcuda.so.1, the limit is 16.0 GiB: the driver ran out of memory under a virtual memory limit; no task started on this node; raise it with ulimit -v unlimited before srun or sbatch, or have the site lift it
END
    ask --gres=gpu:1 --auto-gpus=1 echo unlimited
    expect 0 unlimited
}

@test "a GPU that is out of memory under a virtual memory limit names the limit" {
    gpus "$(node 1)" alloc:2 ok
    with_limit -v 16777216 --gres=gpu:2 --auto-gpus=2 touch ran
    expect 75 ''
    [[ $(said) == *"  0  ADDRESS_LIMIT  $(of_gpu 0)  cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2), under a virtual memory limit of 16.0 GiB"* ]]
}

@test "after many runs the node's daemons have no more descriptors open than before" {
    local daemon before
    daemon=$(cat "$CLUSTER_DIR/run/slurmd-$(node 1).pid")
    ask --gres=gpu:4 --auto-gpus=4 true
    before=$(find "/proc/$daemon/fd" | wc -l)
    for _ in 1 2 3 4 5; do
        ask --gres=gpu:4 --auto-gpus=4 true
    done
    fewer() { (($(find "/proc/$daemon/fd" | wc -l) <= before)); }
    wait_until 5 fewer
}

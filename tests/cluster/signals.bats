#!/usr/bin/env bats
# A step that ends, or loses a process, while its task waits for GPUs that do not answer.
#
# `pid` comes from the library.
# shellcheck disable=SC2119,SC2120,SC2154

load expect

setup_file() { start_cluster --nodes 1 --gpus 2; }

setup() {
    need_cluster
    need_driver
    use_cluster "$CLUSTER_DIR"
    fresh_driver
    use_plugin
    err=$CLUSTER_DIR/work/err
    rm -f "$CLUSTER_DIR/work/ran"
}

# inits COUNT: so many probes have begun cuInit.
inits() {
    (($(driver_calls "$(node 1)" cuInit begin | wc -l) >= $1))
}

# hanging COUNT: so many probes hang.
hanging() {
    (($(driver_calls "$(node 1)" cuInit | grep -c ' does:hang') >= $1))
}

# waiting [ARGUMENTS]...: a task whose GPUs hang, one of them against SIGTERM too. Sets pid, to srun's.
waiting() {
    gpus "$(node 1)" hangK hangT
    background srun_user --gres=gpu:2 --auto-gpus=2 "$@" touch ran >"$err" 2>&1
    wait_until 10 hanging 3
}

# uptime_s: sets `now`, in whole seconds of a clock that nobody sets.
uptime_s() {
    read -r now _ </proc/uptime
    now=${now%.*}
}

later_than() {
    uptime_s
    ((now > $1))
}

the_job() {
    squeue -h -o %A
}

# ended STATUS [HUNDREDTHS]: srun ends so (a pattern) within two seconds of `started`; the task did not
# run and no process is left.
ended() {
    local now
    status=0
    wait "$pid" || status=$?
    uptime_cs
    stderr=$(<"$err")
    # shellcheck disable=SC2053  # a pattern
    [[ $status == $1 && $((now - started)) -lt "${2:-200}" ]] ||
        { echo "status $status after $((now - started)) hundredths, expected $1: $stderr"; return 1; }
    nothing_ran
    wait_until 2 nothing_left
}

# now_is: notes the time, for `ended`.
now_is() {
    local now
    uptime_cs
    started=$now
}

supervisor() {
    our_processes ' supervise '
}

# probe_of TOKEN: the probe with this list.
probe_of() {
    local probe
    for probe in $(our_processes '^auto-gpus check '); do
        ! grep -qszFx "CUDA_VISIBLE_DEVICES=$1" "/proc/$probe/environ" || echo "$probe"
    done
}

task_child() {
    ps -o ppid= -p "$(supervisor)" | tr -d ' '
}

@test "scancel ends it at once" {
    waiting
    now_is
    scancel "$(the_job)"
    ended 143
    [ -z "$(said)" ]
}

# Slurm has SIGKILL or SIGTERM for it, by release.
@test "a time limit ends it" {
    waiting --auto-gpus-timeout=300
    scontrol update JobId="$(the_job)" EndTime=now+1
    # slurmctld looks for such jobs every 30 s.
    now_is
    ended 143 9000
    [[ $stderr == *'DUE TO TIME LIMIT'* ]]
    [ -z "$(said)" ]
}

@test "scancel of the step ends it at once" {
    waiting
    now_is
    scancel "$(the_job).0"
    ended '@(137|143)'
    [ -z "$(said)" ]
}

@test "a signal for the task is what the task ends by" {
    local row
    for row in TERM:143 INT:130 HUP:129 QUIT:131; do
        fresh_driver
        waiting
        now_is
        scancel --signal="${row%:*}" "$(the_job)"
        ended "${row#*:}"
        [ -z "$(said)" ]
    done
}

@test "a signal that is not waited for ends it too, and nothing is left" {
    waiting
    now_is
    scancel --signal=USR1 "$(the_job)"
    ended 138
}

# srun sends the task SIGINT and, in some releases, does not wait for it to end.
@test "Ctrl-C twice ends it at once" {
    waiting
    kill -INT "$pid"
    wait_until 5 grep -q 'one more within 1 sec' "$err"
    now_is
    kill -INT "$pid"
    ended '@(130|137)'
    [ -z "$(said)" ]
}

@test "a cancelled batch job ends at once" {
    local id
    gpus "$(node 1)" hangK hangT
    id=$(as_user sbatch --parsable --output=batch.out --gres=gpu:2 --auto-gpus=2 --wrap 'touch ran' </dev/null)
    wait_until 10 hanging 3
    scancel "$id"
    wait_until 2 job_over "$id"
    [[ $job == *" JobState=CANCELLED "* ]]
    wait_until 2 nothing_left
    nothing_ran
    run ! grep ^auto-gpus: "$CLUSTER_DIR/work/batch.out"
    wait_until 10 nodes_idle 1
}

@test "two waiting tasks end together" {
    gpus "$(node 1)" hangK hangT
    background srun_user -n2 --gpus-per-task=1 --auto-gpus=1 touch ran >"$err" 2>&1
    wait_until 10 hanging 2
    now_is
    scancel "$(the_job)"
    ended 143
    [ -z "$(said)" ]
}

@test "a killed task takes its supervisor and probes with it" {
    waiting
    now_is
    kill -KILL "$(task_child)"
    ended 137
}

@test "a killed supervisor is started once more" {
    local first
    waiting
    first=$(supervisor)
    kill -KILL "$first"
    wait_until 5 hanging 6
    [ "$(supervisor)" != "$first" ]
    [ "$(our_processes '^auto-gpus check ' | wc -l)" = 3 ]
    now_is
    kill -KILL "$(supervisor)"
    ended 70
    expect_said <<<"PROBE_FAILED: the supervisor $AUTO_GPUS_PREFIX/bin/auto-gpus ended before all was known; it was killed by signal 9; $installation"
}

@test "a supervisor that was killed once still decides" {
    gpus "$(node 1)" slow:600ms ok
    background srun_user --gres=gpu:2 --auto-gpus=2 touch ran >"$err" 2>&1
    wait_until 10 inits 3
    kill -KILL "$(supervisor)"
    wait "$pid"
    [ -e "$CLUSTER_DIR/work/ran" ]
    [ ! -s "$err" ]
    [ "$(driver_calls "$(node 1)" cuInit begin | wc -l)" = 6 ]
    nothing_left
}

@test "a supervisor that is told to end by somebody else fails the task, at once" {
    waiting
    now_is
    kill -TERM "$(supervisor)"
    ended 70
    expect_said <<<"PROBE_FAILED: the supervisor $AUTO_GPUS_PREFIX/bin/auto-gpus ended before all was known; it ended with status 0; $installation"
}

@test "a probe that is killed is tried once more" {
    local first
    waiting
    first=$(probe_of 0)
    kill -KILL "$first"
    wait_until 5 hanging 4
    [ "$(probed)" = "$(printf '%s\n' 0 0 0,1 1)" ]
    [ "$(probe_of 0)" != "$first" ]
    now_is
    kill -KILL "$(probe_of 0)"
    ended 75
    expect_said <<END
0 of 2 GPUs usable, --auto-gpus=2 asks for 2; no task started on this node
  0  CRASHED    killed by SIGKILL in cuInit
  1  UNDECIDED  no answer in T s
use --exclude=$(node 1), and report the node
END
}

@test "a probe that is killed once can still be usable" {
    gpus "$(node 1)" slow:600ms ok
    background srun_user --gres=gpu:2 --auto-gpus=2 touch ran >"$err" 2>&1
    wait_until 10 inits 3
    kill -KILL "$(probe_of 0)"
    wait "$pid"
    [ -e "$CLUSTER_DIR/work/ran" ]
    [ ! -s "$err" ]
    [ "$(driver_calls "$(node 1)" cuInit begin | grep -vc ' 0,1 ')" = 3 ]
}

@test "a probe that is terminated by somebody else has crashed" {
    waiting
    now_is
    kill -TERM "$(probe_of 0)"
    ended 75
    expect_said <<END
0 of 2 GPUs usable, --auto-gpus=2 asks for 2; no task started on this node
  0  CRASHED    killed by SIGTERM in cuInit
  1  UNDECIDED  no answer in T s
use --exclude=$(node 1), and report the node
END
}

@test "a step that is suspended past its deadline is told what its GPUs did" {
    gpus "$(node 1)" hangK ok
    background srun_user --gres=gpu:2 --auto-gpus=2 --auto-gpus-timeout=2 touch ran >"$err" 2>&1
    wait_until 10 hanging 2
    scontrol suspend "$(the_job)"
    uptime_s && past=$((now + 4))
    wait_until 10 later_than "$past"
    scontrol resume "$(the_job)"
    wait "$pid" || status=$?
    [ "$status" -eq 75 ]
    grep -q '  0  TIMEOUT  no answer in 2 s, last seen in cuInit' "$err"
    [ ! -e "$CLUSTER_DIR/work/ran" ]
}

@test "a frozen supervisor does not hold the task beyond the deadline and a second" {
    gpus "$(node 1)" hangK hangT
    now_is
    background srun_user --gres=gpu:2 --auto-gpus=2 --auto-gpus-timeout=2 touch ran >"$err" 2>&1
    wait_until 10 hanging 3
    kill -STOP "$(supervisor)"
    ended 70 340
    expect_said <<<"PROBE_FAILED: the supervisor $AUTO_GPUS_PREFIX/bin/auto-gpus is silent; it was killed by signal 9; $installation"
}

@test "a frozen probe is a GPU without an answer" {
    gpus "$(node 1)" slow:500ms ok
    now_is
    background srun_user --gres=gpu:2 --auto-gpus=2 --auto-gpus-timeout=1 touch ran >"$err" 2>&1
    wait_until 10 inits 3
    kill -STOP "$(probe_of 0)"
    ended 75 240
    expect_said <<END
1 of 2 GPUs usable, --auto-gpus=2 asks for 2; no task started on this node
  0  TIMEOUT  $(of_gpu 0)  no answer in 1 s, last seen in cuCtxCreate
  1  usable   $(of_gpu 1)  T s
use --auto-gpus=1, or --exclude=$(node 1), and report the node
END
}

@test "the deadline ends probes that do not hear SIGTERM, and those that spin" {
    gpus "$(node 1)" hangT spin
    now_is
    background srun_user --gres=gpu:2 --auto-gpus=1 --auto-gpus-timeout=1 touch ran >"$err" 2>&1
    ended 75 240
    expect_said <<END
0 of 2 GPUs usable, --auto-gpus=1 asks for 1; no task started on this node
  0  TIMEOUT  no answer in 1 s, last seen in cuInit
  1  TIMEOUT  no answer in 1 s, last seen in cuInit
use --exclude=$(node 1), and report the node$late
END
    driver_calls "$(node 1)" cuInit does:ignore-SIGTERM | grep -q .
}

@test "what a driver has started ends with its probe" {
    gpus "$(node 1)" fork:600s ok
    show --gres=gpu:2 --auto-gpus=2
    expect 0 0,1
    driver_calls "$(node 1)" cuInit does:fork:600s | grep -q .
    nothing_left
}

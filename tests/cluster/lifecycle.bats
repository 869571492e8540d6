#!/usr/bin/env bats
# Clusters that come and go: what they are made of in other settings, and that nothing of them stays.
#
# Scripts for the steps are in single quotes, bats runs each test in a subshell, and loads the helper.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154

load helper

# No cluster for the whole file: each test has its own.
setup_file() { :; }

teardown_file() { :; }

setup() {
    folders=()
    need_cluster
    cluster snapshot >"$BATS_TEST_TMPDIR/before"
}

teardown() {
    local folder
    unfreeze
    [[ -n ${BATS_TEST_COMPLETED:-} ]] || printf 'status %s, output:\n%s\n' "${status-}" "${output-}"
    for folder in "${folders[@]}"; do
        [[ -n ${BATS_TEST_COMPLETED:-} ]] || show_logs "$folder" 30
        cluster down "$folder"
    done
}

# new_folder: sets `folder`, which teardown takes down.
new_folder() {
    folder=$(mktemp -d /tmp/agc.XXXXXX)
    folders+=("$folder")
}

# up [OPTION]...: a cluster in a new folder, in use from then on.
up() {
    new_folder
    cluster up "$folder" "$@"
    use_cluster "$folder"
}

# What is there now and was not when the test began. Others may be at work on this host: in /tmp only
# names that we know are ours count.
new_on_host() {
    cluster snapshot | LC_ALL=C comm -13 "$BATS_TEST_TMPDIR/before" - |
        grep -E '^(tmp .*(agc|ag[0-9a-f]{6}|auto-gpus|slurm|munge)|[^t])'
}

nothing_left() {
    nothing_new() { [[ -z $(new_on_host) ]]; }
    wait_until 10 nothing_new || { new_on_host; return 1; }
}

# hold_step COMMAND...: a step on node 1 with all its GPUs, which has begun.
hold_step() {
    background srun_user -w "$(node 1)" --gres=gpu:4 sh -c 'touch begun; exec "$@"' - "$@"
    wait_until 20 test -e "$CLUSTER_DIR/work/begun"
}

@test "a cluster that was used leaves nothing behind" {
    up
    run -0 srun_user -N2 --gres=gpu:4 true
    [ -n "$(new_on_host)" ]
    run -0 cluster down "$folder"
    nothing_left
}

@test "down can be called again, and for a folder that is not there" {
    up --nodes 1
    run -0 cluster down "$folder"
    run -0 cluster down "$folder"
    [ -z "$output" ]
}

@test "down leaves a folder alone that no cluster was made in" {
    mkdir "$BATS_TEST_TMPDIR/other"
    touch "$BATS_TEST_TMPDIR/other/file"
    run -2 cluster down "$BATS_TEST_TMPDIR/other"
    [[ $output == *"is no cluster's folder" ]]
    [ -e "$BATS_TEST_TMPDIR/other/file" ]
}

@test "without a fence the tasks get the node's indices" {
    up --no-fence
    [ "$FENCED" = no ]
    hold_step tail -f /dev/null
    scancel --user="$job_user"
    wait_until 20 no_jobs
    run -0 srun_user -N1 -n2 --gpus-per-task=2 -l printenv CUDA_VISIBLE_DEVICES
    [ "$(cut -d' ' -f2 <<<"$output" | sort)" = "$(printf '0,1\n2,3')" ]
}

@test "without a fence two steps get different indices" {
    up --no-fence --nodes 1
    background srun_user --gres=gpu:1 sh -c 'touch begun; exec tail -f /dev/null'
    wait_until 20 test -e "$CLUSTER_DIR/work/begun"
    run -0 srun_user --gres=gpu:2 printenv CUDA_VISIBLE_DEVICES
    [ "$output" = 1,2 ]
}

@test "a cluster without GPUs runs steps without a list" {
    up --gpus 0 --nodes 1
    run -0 srun_user sh -c 'echo "${CUDA_VISIBLE_DEVICES-unset}"'
    [ "$output" = unset ]
}

@test "options reach Slurm" {
    up --nodes 3 --cpus 8 --name tst --kill-wait 7 --unkillable 13 --conf MessageTimeout=17 \
        --cgroup ConstrainRAMSpace=yes --libcuda /bin/true
    run -0 scontrol show config
    [[ $output =~ KillWait\ +=\ 7\ sec ]]
    [[ $output =~ UnkillableStepTimeout\ +=\ 13\ sec ]]
    [[ $output =~ MessageTimeout\ +=\ 17\ sec ]]
    [[ $output =~ ConstrainRAMSpace\ +=\ yes ]]
    [ "${#NODES[@]}" = 3 ]
    [[ $(node 3) =~ ^tst[0-9a-f]+n3$ ]]
    [ "$(sinfo -h -N -o %c | sort -u)" = 8 ]
    run -0 srun_user -N3 "$CLUSTER_DIR/driver/libcuda.so.1"
}

@test "two clusters start at the same moment and stand side by side" {
    new_folder
    new_folder
    cluster up "${folders[0]}" --nodes 1 3>&- &
    cluster up "${folders[1]}" --nodes 1
    wait $!
    for folder in "${folders[@]}"; do
        use_cluster "$folder"
        run -0 srun_user --gres=gpu:1 sh -c 'echo "$SLURMD_NODENAME"'
        [ "$output" = "$(node 1)" ]
    done
    run -0 cluster down "${folders[0]}"
    run -0 srun_user --gres=gpu:4 true
    run -0 cluster down "${folders[1]}"
    nothing_left
}

@test "device nodes that others made are left alone" {
    local theirs=()
    for node in /dev/nvidia0 /dev/nvidia64; do
        [[ -e $node ]] || { mknod -m 600 "$node" c 195 "${node#/dev/nvidia}" && theirs+=("$node"); }
    done
    before=$(stat -c '%n %t %T %a %Z' /dev/nvidia0 /dev/nvidia64)
    up --nodes 1
    run -0 srun_user --gres=gpu:4 true
    cluster down "$folder"
    after=$(stat -c '%n %t %T %a %Z' /dev/nvidia0 /dev/nvidia64)
    rm -f "${theirs[@]}"
    [ "$before" = "$after" ]
    nothing_left
}

@test "an up that cannot succeed says why and leaves nothing" {
    folder=$(mktemp -d /tmp/agc.XXXXXX)
    run -1 cluster up "$folder" --conf SelectType=select/nonsense
    [[ $output == *"slurmctld did not start"* ]]
    [[ $output == *select/nonsense* ]]
    [ ! -e "$folder" ]
    nothing_left
}

@test "down after slurmctld was killed" {
    up
    hold_step tail -f /dev/null
    kill -KILL "$(cat "$folder/run/slurmctld.pid")"
    run -0 cluster down "$folder"
    nothing_left
}

@test "down while batch jobs run and wait" {
    up --nodes 1
    for _ in 1 2 3; do
        as_user sbatch --gres=gpu:4 --wrap 'trap "" TERM; tail -f /dev/null & wait' >/dev/null
    done
    wait_until 20 eval '[ "$(squeue -h -t R -o %A)" ]'
    run -0 cluster down "$folder"
    nothing_left
}

@test "a daemon that does not start is not waited for" {
    folder=$(mktemp -d /tmp/agc.XXXXXX)
    SECONDS=0
    run -1 cluster up "$folder" --conf ProctrackType=proctrack/nonsense
    [ "$SECONDS" -lt 15 ]
    [[ $output == *"did not start"*proctrack/nonsense* ]]
    nothing_left
}

# stop_up_at SIGNAL FILE: an `up` gets the signal as soon as FILE is in its folder.
stop_up_at() {
    new_folder
    env --default-signal=INT "$cluster_tools/cluster" up "$folder" >/dev/null 2>&1 3>&- &
    local pid=$!
    # shellcheck disable=SC2034  # read by wait_until
    local poll_interval=0.002
    wait_until 20 test -e "$folder/$2"
    kill "-$1" "$pid"
    status=0
    wait "$pid" || status=$?
}

@test "an up that is interrupted, at any moment, takes down what it made" {
    for moment in state/up state/minors munge/socket log/slurmctld run/slurmctld.pid; do
        stop_up_at INT "$moment"
        [ "$status" = 130 ]
        [ ! -e "$folder" ]
    done
    stop_up_at TERM state/minors
    [ "$status" = 143 ]
    nothing_left
}

@test "down after an up was killed, at any moment" {
    for moment in state/up state/minors munge/socket log/slurmctld run/slurmctld.pid; do
        stop_up_at KILL "$moment"
        run -0 cluster down "$folder"
        [ ! -e "$folder" ]
    done
    nothing_left
}

@test "down while up is at work" {
    new_folder
    cluster up "$folder" >/dev/null 2>&1 3>&- &
    wait_until 20 test -e "$folder/state/minors"
    run -0 cluster down "$folder"
    wait $! || status=$?
    [ "$status" = 143 ]
    nothing_left
}

@test "the cluster goes when its owner is killed" {
    tail -f /dev/null 3>&- &
    owner=$!
    up --nodes 1 --owner "$owner"
    kill -KILL "$owner"
    wait_until 20 test ! -e "$folder"
    nothing_left
}

@test "down is not held up by a frozen step" {
    up --nodes 1
    [[ -n $CGROUP_ROOT ]] || skip "this host has no cgroup v1"
    hold_step tail -f /dev/null
    step=$(find "$CGROUP_ROOT/freezer/slurm_$(node 1)" -name 'step_0')
    echo FROZEN >"$step/freezer.state"
    wait_until 20 grep -q FROZEN "$step/freezer.state"
    run -0 cluster down "$folder"
    nothing_left
}

# frozen_fs FOLDER: a file system that takes no writes, mounted there.
frozen_fs() {
    truncate -s 16M "$1.image"
    mkfs.ext4 -q "$1.image"
    mkdir "$1"
    mount -o loop "$1.image" "$1" 2>/dev/null || skip "this host cannot mount an image"
    chmod 777 "$1"
    fsfreeze -f "$1"
}

# unfreeze: and unmounts, when those who waited have gone.
unfreeze() {
    mountpoint -q "${frozen:-/nonexistent}" || return 0
    fsfreeze -u "$frozen"
    wait_until 10 umount -q "$frozen"
}

stuck() {
    [[ $(ps -o stat= -p "$(pgrep -f "^touch $1/")") == D* ]]
}

@test "a step that SIGKILL cannot end goes with its frozen file system in the folder" {
    up --nodes 1
    frozen_fs "$folder/frozen"
    hold_step touch "$folder/frozen/file"
    wait_until 20 stuck "$folder/frozen"
    run -0 cluster down "$folder"
    nothing_left
}

@test "down ends, and says so, while a step cannot be ended; a later down removes the rest" {
    up --nodes 1
    frozen=$BATS_TEST_TMPDIR/frozen
    chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR"
    frozen_fs "$frozen"
    hold_step touch "$frozen/file"
    wait_until 20 stuck "$frozen"
    SECONDS=0
    run -1 cluster down "$folder"
    unfreeze
    [ "$SECONDS" -lt 30 ]
    [[ $output == *"not all of $folder could be removed"*"touch $frozen/file"* ]]
    run -0 cluster down "$folder"
    nothing_left
}

# elsewhere CAPABILITIES SCRIPT: runs SCRIPT on a host without cgroup v1 in sight, that has taken the
# capabilities away (in setpriv's words).
elsewhere() {
    unshare --mount bash -ec 'umount -R -l /sys/fs/cgroup; mount -t tmpfs none /sys/fs/cgroup
        exec setpriv --bounding-set "$1" --inh-caps "$1" bash -ec ". $0; $2" -' \
        "$cluster_tools/lib.sh" "$@"
}

@test "where there are no cgroup v1 hierarchies, the cluster mounts its own" {
    new_folder
    run -0 elsewhere +chown "cluster up $folder --nodes 1; use_cluster $folder
        echo \$FENCED \$CGROUP_ROOT
        srun_user --gres=gpu:1 sh -c 'test -r \$1 && ! test -r \$2' - \$(device \$(node 1) 0) \$(device \$(node 1) 1)
        cluster down $folder; grep $folder /proc/self/mountinfo || true"
    [ "$output" = "yes $folder/cgroup" ]
    nothing_left
}

@test "where they cannot be mounted, the cluster runs without a fence and says so" {
    new_folder
    run -0 elsewhere -sys_admin "cluster up $folder --nodes 1; use_cluster $folder
        srun_user -n2 --gpus-per-task=1 printenv CUDA_VISIBLE_DEVICES | sort
        scontrol show config | grep -E '^(ProctrackType|TaskPlugin) '
        as_user sbatch --wrap 'setsid tail -f /dev/null' >/dev/null
        wait_until 20 eval '[ \"\$(squeue -h -t R -o %A)\" ]'
        cluster down $folder"
    [[ ${lines[0]} == "*** cluster: FENCED=no (this host refuses to mount"* ]]
    [ "${lines[1]} ${lines[2]}" = "0 1" ]
    [[ $output == *proctrack/linuxproc*task/none* ]]
    nothing_left
}

@test "where device nodes cannot be made, the cluster runs without a fence and says so" {
    new_folder
    run -0 elsewhere -mknod "cluster up $folder --nodes 1; use_cluster $folder
        srun_user --gres=gpu:4 printenv CUDA_VISIBLE_DEVICES; cluster down $folder"
    [[ ${lines[0]} == "*** cluster: FENCED=no (this host refuses to make or to open device nodes)" ]]
    [ "${lines[1]}" = 0,1,2,3 ]
    nothing_left
}

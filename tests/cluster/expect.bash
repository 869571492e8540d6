# For the tests of the plugin on a cluster: how a test asks, and how it reads the answer.
# shellcheck shell=bash
# shellcheck disable=SC2154  # bats sets stderr, the cluster's env the rest

# shellcheck source=tests/cluster/helper.bash
load helper

# AUTO_GPUS_ALL_OK=1: every simulated GPU is healthy, whatever a test wants of it. A test of a fault
# that passes then does not test it.
if [[ -n ${AUTO_GPUS_ALL_OK:-} ]]; then
    eval "faulty_$(declare -f gpus)"
    gpus() {
        local node=$1 healthy=()
        for _ in "${@:2}"; do
            healthy+=(ok)
        done
        faulty_gpus "$node" "${healthy[@]}"
    }
fi

# Ends of our texts: where a GPU did not answer, and where the program is at fault.
# shellcheck disable=SC2034  # the tests'
late='; persistence mode off? then a longer --auto-gpus-timeout helps'
# shellcheck disable=SC2034
installation='have the administrator check the installation of auto-gpus on this node'

# driver_line NODE LINE: one more line of its steering file, as in ../driver.
driver_line() {
    [[ -n ${AUTO_GPUS_ALL_OK:-} ]] || printf '%s\n' "$2" >>"$CLUSTER_DIR/driver/$1.gpus"
}

# without_waiting: the text on stdin without what srun says when a job or a step has to wait its turn.
without_waiting() {
    sed -E '/^srun: job [0-9]+ (queued and waiting for|has been allocated) resources$/d
        /^srun: (Job [0-9]+ step creation temporarily disabled, retrying|Job step creation temporarily disabled|Step created for )/d'
}

# ask [NAME=VALUE]... SRUN-ARGUMENTS...: sets status, output (the tasks' own) and stderr, without what
# srun says of the queue. Stdout and stderr are apart, for srun writes to both.
ask() {
    run --separate-stderr srun_user "$@"
    stderr=$(without_waiting <<<"$stderr")
}

# show ARGUMENTS...: as ask; the task prints what it sees of the list, and leaves the file `ran`.
show() {
    rm -f "$CLUSTER_DIR/work/ran"
    # shellcheck disable=SC2016  # the task's variables
    ask "$@" sh -c 'touch ran; echo "${CUDA_VISIBLE_DEVICES-unset}"'
}

nothing_ran() {
    [[ ! -e $CLUSTER_DIR/work/ran ]]
}

# steady: the text on stdin with what differs from run to run replaced: seconds by T, pids by PID.
steady() {
    sed -E 's/[0-9]+\.[0-9]+ s\b/T s/g; s/  \([a-z]+ T s(, [a-z]+ T s)*\)$//
        s/process [0-9]+/process PID/'
}

# said: our own lines on stderr, without what begins them all.
said() {
    grep "^auto-gpus: " <<<"$stderr" | sed "s/^auto-gpus: $(node 1): //" | steady
}

# expect_said: these lines (stdin), byte for byte, and no other of ours.
expect_said() {
    diff -u --label expected - --label said <(said)
}

# expect STATUS OUTPUT: the status and all of the tasks' output.
expect() {
    [[ $status == "$1" && $output == "$2" ]] ||
        { printf 'expected status %s, output:\n%s\nstderr:\n%s\n' "$1" "$2" "$stderr"; return 1; }
}

# of_gpu INDEX: the columns of the table that say which GPU it is.
of_gpu() {
    local pci uuid
    pci=$(pci "$(node 1)" "$1")
    uuid=$(uuid "$(node 1)" "$1")
    echo "NVIDIA H100 80GB HBM3  ${uuid:0:12}  ${pci#0000:}"
}

# uuids INDEX...: full UUIDs, by comma.
uuids() {
    local index list=()
    for index; do
        list+=("$(uuid "$(node 1)" "$index")")
    done
    (IFS=, && echo "${list[*]}")
}

no_probe_started() {
    [[ ! -s $CLUSTER_DIR/driver/calls.log ]] || { cat "$CLUSTER_DIR/driver/calls.log"; return 1; }
}

# probed: the lists of all probes that called cuInit, one a line.
probed() {
    driver_calls "$(node 1)" cuInit begin | cut -d' ' -f4 | sort
}

# our_processes [PATTERN]: pids of the supervisors and probes of this cluster's jobs, and of the script
# `program` that stands in for them; or only those whose command line fits.
# shellcheck disable=SC2119,SC2120  # by the tests
our_processes() {
    local pid
    for pid in $(pgrep -U "$job_user" -f "${1:-^[^ ]*auto-gpus (supervise|check) |work/program }"); do
        ! grep -qszFx "SLURM_CONF=$SLURM_CONF" "/proc/$pid/environ" || echo "$pid"
    done
}

# shellcheck disable=SC2119
nothing_left() {
    [[ -z $(our_processes) ]]
}

# set_list: a plugin before ours gives the tasks the list in TEST_LIST, since Slurm itself makes only
# good ones; needs a plugstack.conf that names ours.
set_list() {
    local plugin=$CLUSTER_DIR/set_list.so
    if [[ ! -e $plugin ]]; then
        cc -shared -fPIC -o "$plugin" "$cluster_tools/set_list.c" ||
            skip "no C compiler, or no <slurm/spank.h>"
    fi
    plugstack "required $plugin" "$(cat "$CLUSTER_DIR/plugstack.conf")"
}

job_over() {
    job=$(scontrol -o show job "$1" 2>/dev/null) && [[ ! $job =~ JobState=(PENDING|RUNNING|COMPLETING|CONFIGURING)\  ]]
}

# batch [NAME=VALUE]... SBATCH-ARGUMENTS...: a batch job, to its end. Sets output (its own, stderr
# among it), stderr (the same), job (what scontrol says) and status. sbatch --wait looks too seldom.
batch() {
    local variables=() id
    while [[ ${1:-} =~ ^[A-Za-z_][A-Za-z0-9_]*= ]]; do
        variables+=("$1")
        shift
    done
    rm -f "$CLUSTER_DIR"/work/{ran,batch.out}
    id=$(as_user "${variables[@]}" sbatch --parsable --output=batch.out "$@" </dev/null) || return
    wait_until 20 job_over "$id" || return
    status=$(grep -oE ' ExitCode=[0-9]+' <<<"$job" | grep -oE '[0-9]+')
    output=$(without_waiting <"$CLUSTER_DIR/work/batch.out")
    stderr=$output
}

# Scripts for a task. The first prints all that exec hands on: signals, descriptors, limits, groups,
# children …; one command after the other, since a shell has more open while it substitutes. The
# second prints its environment.
# shellcheck disable=SC2016,SC2034  # the task's variables; the tests'
task_state='
sed -nE "/^(Umask|Uid|Gid|FDSize|Groups|Threads|Sig(Pnd|Blk|Ign|Cgt)|Shd|Cap|NoNewPrivs|Seccomp|Speculation|Cpus_allowed|Mems_allowed|CoreDumping)/p" /proc/self/status
find /proc/$$/fd -mindepth 1 -printf "descriptor %f %l\n"
find /proc/$$/fdinfo -type f -exec sed -n "/^flags:/p" {} +
find /proc/$$/task -mindepth 1 -maxdepth 1 -printf "thread\n"
cat /proc/$$/limits /proc/$$/oom_score_adj /proc/$$/personality
stat -c "%U %a" /proc/$$/fd
readlink /proc/$$/cwd /proc/$$/root /proc/$$/exe
cat /proc/$$/cgroup
ps -o user=,nice=,cls=,rtprio=,tty= -p $$
cat /proc/$$/task/$$/children; echo'
# shellcheck disable=SC2016,SC2034
task_environment='tr "\0" "\n" </proc/$$/environ'

# comparable: what these scripts print, on stdin, without what differs with every step, and sorted.
comparable() {
    sed -E 's/(job_|job|StepId=|pipe:\[|socket:\[)[0-9]+/\1N/; s/^[0-9]+ $/child/; /^$/d
        /^(SLURM_(JOBID|JOB_ID|SRUN_COMM_PORT|STEP_LAUNCHER_PORT|TASK_PID|JOB_START_TIME|JOB_END_TIME)|PMI_JOBID)=/d' | sort
}

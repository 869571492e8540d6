# Taking a cluster down, whatever state it is in. Sourced by cluster.
# shellcheck shell=bash

# uses_folder PID DIR: the process has DIR in its command line, or DIR or something below it open.
uses_folder() {
    local words
    words=$(tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline")
    [[ $words == *[=\ ]"$2"[/\ ]* ]] ||
        find "/proc/$1/fd" "/proc/$1/cwd" \( -lname "$2" -o -lname "$2/*" \) 2>/dev/null | grep -q .
}

# daemon_pids DIR NAME...: those programs, where they belong to this cluster.
daemon_pids() {
    local dir=$1 name pid
    shift
    for name in "$@"; do
        for pid in $(pgrep -x "$name"); do
            uses_folder "$pid" "$dir" && echo "$pid"
        done
    done
}

# descendants PID...: their children, and theirs.
descendants() {
    local children
    while (($# > 0)); do
        children=$(ps -o pid= --ppid "$(IFS=, && echo "$*")")
        [[ -z $children ]] || echo "$children"
        # shellcheck disable=SC2086  # a list of numbers
        set -- $children
    done
}

# job_pids DIR: the processes of this cluster's jobs and of the user's clients, by cgroup, by
# parentage, and by the environment that they were started with.
job_pids() {
    local pid steps
    cgroup_pids "$1"
    steps=$(daemon_pids "$1" slurmstepd)
    # shellcheck disable=SC2086  # a list of numbers
    [[ -z $steps ]] || descendants $steps
    for pid in $(pgrep -U "$job_user"); do
        grep -qszFx "SLURM_CONF=$1/slurm.conf" "/proc/$pid/environ" && echo "$pid"
    done
    echo "$steps"
}

no_daemons() {
    [[ -z $(daemon_pids "$1" slurmctld slurmscriptd slurmd munged) ]]
}

# kill_all DIR: 1 while there is one left.
kill_all() {
    local pids
    thaw "$1"
    pids=$(job_pids "$1" && daemon_pids "$1" slurmctld slurmscriptd slurmd munged)
    [[ -n ${pids//[$'\n ']/} ]] || return 0
    # shellcheck disable=SC2086  # a list of numbers
    kill -KILL $pids 2>/dev/null
    return 1
}

# stop_up DIR: an `up` that is still at work there ends first; it holds the folder's lock.
stop_up() {
    local pid
    pid=$(cat "$1/state/up" 2>/dev/null) || return 0
    ! uses_folder "$pid" "$1" || kill -TERM "$pid" 2>/dev/null
}

# stop_watcher DIR: unless it is the watcher that takes the cluster down.
stop_watcher() {
    local pid
    pid=$(cat "$1/state/watcher" 2>/dev/null) || return 0
    [[ $pid == "$$" ]] || ! uses_folder "$pid" "$1" || kill -KILL "$pid" 2>/dev/null
}

report_left() {
    local pid
    echo "cluster: not all of $1 could be removed; run 'cluster down $1' again when it can:"
    for pid in $(job_pids "$1" | sort -un); do
        ps -o pid=,stat=,wchan=,args= -p "$pid"
    done
    cgroup_folders "$1"
}

# tear_down DIR: bounded in time; 1, with DIR kept, when something cannot be removed.
tear_down() {
    local dir=$1 left=0
    stop_watcher "$dir"
    unmount_below "$dir" "$dir/cgroup"
    # shellcheck disable=SC2046  # a list of numbers
    kill -TERM $(daemon_pids "$dir" slurmctld slurmd munged) 2>/dev/null
    wait_until 5 no_daemons "$dir"
    wait_until 5 kill_all "$dir" || left=1
    wait_until 5 remove_cgroups "$dir" || left=1
    remove_devices "$dir"
    if ((left)); then
        report_left "$dir" >&2
        return 1
    fi
    unmount_below "$dir"
    rm -rf --one-file-system "$dir"
}

# down DIR: what `up` made there, all of it or the half that there is.
down() {
    local dir lock
    dir=$(cd "$1" 2>/dev/null && pwd -P) || return 0
    if [[ ! -d $dir/state ]]; then
        rmdir "$dir" 2>/dev/null || die "cluster: $dir is no cluster's folder"
        return
    fi
    stop_up "$dir"
    exec {lock}<"$dir"
    flock -w 60 "$lock" || die "cluster: somebody else is at work in $dir"
    [[ ! -d $dir/state ]] || tear_down "$dir"
}

# watch PID DIR: takes the cluster down when the process has ended, be it by SIGKILL.
watch() {
    poll_interval=1
    owner_gone() { ! kill -0 "$1" 2>/dev/null || [[ ! -d $2/state ]]; }
    wait_until 86400 owner_gone "$1" "$2"
    down "$2"
}

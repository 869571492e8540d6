# Starting the daemons and seeing that they are there. Sourced by cluster.
# shellcheck shell=bash

# start NAME COMMAND...: in a session of its own, with none of our descriptors (bats waits for the
# end of all that hold its own, our locks must end with us), and in a known environment. bash ignores
# SIGINT and SIGQUIT in background processes: the daemons, and the jobs after them, must not. Sets
# `started` to its pid.
start() {
    local name=$1
    shift
    (
        for fd in /proc/"$BASHPID"/fd/*; do
            ((${fd##*/} <= 2)) || eval "exec ${fd##*/}>&-"
        done
        cd "$dir/run" || exit
        exec env --default-signal=INT,QUIT -i LC_ALL=C SLURM_CONF="$dir/slurm.conf" \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin setsid "$@"
    ) </dev/null >"$dir/log/$name.out" 2>&1 &
    started=$!
    disown
}

listens() {
    grep -qE "^ *[0-9]+: [0-9A-F]+:$(printf %04X "$1") [0-9A-F]+:[0-9A-F]+ 0A " /proc/net/tcp /proc/net/tcp6 2>/dev/null
}

# await NAME COMMAND...: until COMMAND succeeds, or the daemon started last has ended.
await() {
    local name=$1
    shift
    there_or_ended() { "$@" || ! kill -0 "$started" 2>/dev/null; }
    wait_until 60 there_or_ended "$@"  # slurmctld takes 20 s where the host's own name has no address
    "$@" || { echo "cluster: $name did not start" >&2; return 1; }
}

start_munge() {
    (umask 077 && head -c 128 /dev/urandom >"$dir/munge/key")
    start munged munged -F --key-file="$dir/munge/key" --socket="$dir/munge/socket" \
        --pid-file="$dir/munge/pid" --log-file="$dir/log/munged" --seed-file="$dir/munge/seed"
    await munged test -S "$dir/munge/socket"
}

start_daemons() {
    local i
    start_munge || return
    start slurmctld slurmctld -D -f "$dir/slurm.conf"
    await slurmctld listens "${ports[0]}" || return
    for ((i = 1; i <= nodes; i++)); do
        mkdir "$dir/spool/${node_names[i - 1]}"
        start "slurmd-${node_names[i - 1]}" slurmd -D -f "$dir/slurm.conf" -N "${node_names[i - 1]}"
    done
    for ((i = 1; i <= nodes; i++)); do
        await "slurmd of ${node_names[i - 1]}" listens "${ports[i]}" || return
    done
}

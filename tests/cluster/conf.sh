# Names, ports and configuration files. Sourced by cluster.
# shellcheck shell=bash

# Names are unique on this host: a node's cgroup folder carries its name.
name_nodes() {
    local i
    cluster_name=$prefix$(od -An -N3 -tx1 /dev/urandom | tr -d ' \n')
    node_names=()
    for ((i = 1; i <= nodes; i++)); do
        node_names+=("${cluster_name}n$i")
    done
    printf '%s\n' "${node_names[@]}" >"$dir/state/nodes"
}

# used_ports: every local TCP port in use, in any state.
used_ports() {
    local address
    while read -r _ address _; do
        echo "$((16#${address##*:}))"
    done < <(tail -qn +2 /proc/net/tcp /proc/net/tcp6 2>/dev/null)
}

# Sets `ports`: one for slurmctld, one for each node, below the range that clients' sockets are
# given by the kernel.
choose_ports() {
    local -A used=()
    local port
    while read -r port; do
        used[$port]=1
    done < <(used_ports)
    ports=()
    for ((port = 20000 + RANDOM % 8000; ${#ports[@]} <= nodes; port++)); do
        ((port < 32000)) || { echo "cluster: no free ports" >&2; return 1; }
        [[ -n ${used[$port]:-} ]] || ports+=("$port")
    done
}

# slurm_release: 2205 for 22.05.8.
slurm_release() {
    slurmd -V | sed -nE 's/^[^ ]+ ([0-9]+)\.([0-9]+).*/\1\2/p'
}

write_slurm_conf() {
    local host i
    host=$(hostname -s)
    cat <<END
ClusterName=$cluster_name
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
StateSaveLocation=$dir/save
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd-%n.pid
SlurmctldLogFile=$dir/log/slurmctld
SlurmdLogFile=$dir/log/slurmd-%n
SlurmctldDebug=debug
SlurmdDebug=debug
PlugStackConfig=$dir/plugstack.conf
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,bf_interval=1,sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MailProg=/bin/true
MpiDefault=none
ReturnToService=2
KillWait=$kill_wait
UnkillableStepTimeout=$unkillable
ProctrackType=proctrack/$([[ -n $cgroup_root ]] && echo cgroup || echo linuxproc)
TaskPlugin=task/$([[ -n $cgroup_root ]] && echo cgroup || echo none)
GresTypes=gpu
END
    for ((i = 1; i <= nodes; i++)); do
        cat <<END
NodeName=${node_names[i - 1]} NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[i]} CPUs=$cpus \
Boards=1 SocketsPerBoard=1 CoresPerSocket=$cpus ThreadsPerCore=1 RealMemory=64000 \
$( ((gpus == 0)) || echo "Gres=gpu:h100:$gpus")
END
    done
    echo "PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP"
    ((${#conf_lines[@]} == 0)) || printf '%s\n' "${conf_lines[@]}"
}

write_gres_conf() {
    local node
    for node in "${!device_files[@]}"; do
        echo "NodeName=$node Name=gpu Type=h100 File=${device_files[$node]}"
    done
}

# The plugin is named even where nothing uses it: left to itself slurmd looks for one, and does not
# start where it finds none.
write_cgroup_conf() {
    if (($(slurm_release) >= 2108)); then
        echo "CgroupPlugin=cgroup/v1"
    else
        echo "CgroupAutomount=yes"
    fi
    echo "CgroupMountpoint=${cgroup_root:-/sys/fs/cgroup}"
    echo "ConstrainDevices=$fenced"
    ((${#cgroup_lines[@]} == 0)) || printf '%s\n' "${cgroup_lines[@]}"
}

# For those who use the cluster: bash, to be sourced.
write_env() {
    cat <<END
export SLURM_CONF=$dir/slurm.conf
CLUSTER_DIR=$dir
CLUSTER_NAME=$cluster_name
FENCED=$fenced
FENCED_WHY='$why'
CGROUP_ROOT=$cgroup_root
GPUS_PER_NODE=$gpus
NODES=(${node_names[*]})
declare -gA MINORS=(
$(for node in "${!minors[@]}"; do printf "    [%s]='%s'\n" "$node" "${minors[$node]}"; done)
)
END
}

write_configuration() {
    write_slurm_conf >"$dir/slurm.conf" &&
        write_gres_conf >"$dir/gres.conf" &&
        write_cgroup_conf >"$dir/cgroup.conf" &&
        write_env >"$dir/env" &&
        cat "${plugstack:-/dev/null}" >"$dir/plugstack.conf"
}

# Device nodes and cgroup v1 hierarchies: what a GPU's fence is made of. Sourced by cluster.
# shellcheck shell=bash

nvidia_major=195
first_minor=64
last_minor=249 # 254 and 255 are NVIDIA's own

# v1_mounts: the mount point of every cgroup v1 hierarchy.
v1_mounts() {
    awk '$(NF-2) == "cgroup" { print $5 }' /proc/self/mountinfo | sort -u
}

is_v1() {
    v1_mounts | grep -qFx "$1"
}

# Decides whether there is a fence, and where Slurm finds its hierarchies. Sets `fenced`, `why`, and
# `cgroup_root`, which is empty where no hierarchy can be had.
set_fence() {
    fenced=$fence why='' cgroup_root=''
    [[ $fence == yes ]] || why='as asked'
    if is_v1 /sys/fs/cgroup/devices && is_v1 /sys/fs/cgroup/freezer; then
        cgroup_root=/sys/fs/cgroup
    elif mount_hierarchies; then
        cgroup_root=$dir/cgroup
    else
        unmount_below "$dir"
        fenced=no why='this host refuses to mount cgroup v1 hierarchies for devices and freezer'
    fi
    if [[ $fenced == yes ]] && ((gpus > 0)) && ! devices_open; then
        fenced=no why='this host refuses to make or to open device nodes'
    fi
    [[ $fenced == "$fence" ]] || printf '*** cluster: FENCED=no (%s)\n' "$why" >&2
}

# On a host that runs on cgroup v2 the two controllers that Slurm needs for a fence are free: v2 has
# neither.
mount_hierarchies() {
    local controller
    for controller in devices freezer; do
        mkdir -p "$dir/cgroup/$controller"
        mount -t cgroup -o "$controller" cgroup "$dir/cgroup/$controller" 2>/dev/null || return
    done
}

# A device node is of use if opening it asks the driver (ENXIO, when there is none): a mount with
# nodev, or the device cgroup that we are in, answers first with EACCES or EPERM.
devices_open() {
    local probe=$dir/state/probe minor answer
    minor=$(free_minors 1) || return
    take_minor "$minor" || return
    answer=$(LC_ALL=C head -c0 "/dev/nvidia$minor" 2>&1)
    rm "/dev/nvidia$minor" "$(device_mark "$dir" "$minor")" "$probe" 2>/dev/null
    [[ $answer != *'denied'* && $answer != *'not permitted'* ]]
}

# free_minors COUNT: the first of COUNT minors in a row that no /dev/nvidiaN has.
free_minors() {
    local first minor
    for ((first = first_minor; first + $1 - 1 <= last_minor; first++)); do
        for ((minor = first; minor < first + $1; minor++)); do
            [[ ! -e /dev/nvidia$minor && ! -L /dev/nvidia$minor ]] || continue 2
        done
        echo "$first"
        return
    done
    echo "cluster: no $1 free minors in a row from $first_minor to $last_minor" >&2
    return 1
}

# device_mark DIR MINOR: a second name of a device node, which says that this cluster made it. Whenever
# `up` is killed, the marks tell what is its own.
device_mark() {
    echo "/dev/.${1##*/}-nvidia$2"
}

take_minor() {
    local mark
    mark=$(device_mark "$dir" "$1")
    echo "$1" >>"$dir/state/minors"
    mknod -m 666 "$mark" c "$nvidia_major" "$1" 2>/dev/null && ln "$mark" "/dev/nvidia$1" 2>/dev/null
}

# Makes the files that gres.conf names, and sets `minors` (node -> "64 65 …") and `device_files`
# (node -> a pattern in Slurm's manner). Without a fence Slurm puts the number in the file's name into
# CUDA_VISIBLE_DEVICES, so each node has a folder with files that count from 0. Any device will do.
make_devices() {
    local node first minor
    declare -gA minors=() device_files=()
    ((gpus > 0)) || return 0
    for node in "${node_names[@]}"; do
        if [[ $fenced == no ]]; then
            mkdir -p "$dir/dev/$node"
            for ((minor = 0; minor < gpus; minor++)); do
                ln -s /dev/null "$dir/dev/$node/nvidia$minor"
            done
            device_files[$node]="$dir/dev/$node/nvidia[0-$((gpus - 1))]"
            continue
        fi
        first=$(free_minors "$gpus") || return
        for ((minor = first; minor < first + gpus; minor++)); do
            take_minor "$minor" || return
            minors[$node]+="${minors[$node]:+ }$minor"
        done
        device_files[$node]="/dev/nvidia[$first-$((first + gpus - 1))]"
    done
}

# remove_devices DIR: the nodes that this cluster made, and those only.
remove_devices() {
    local mark minor
    for mark in "$(device_mark "$1" '')"*; do
        minor=${mark##*-nvidia}
        [[ ! $mark -ef /dev/nvidia$minor ]] || rm -f "/dev/nvidia$minor"
        rm -f "$mark"
    done
}

# cgroup_folders DIR: the cgroup folders that belong to its nodes.
cgroup_folders() {
    local mount node
    [[ -f $1/state/nodes ]] || return 0
    while read -r mount; do
        while read -r node; do
            [[ ! -d $mount/slurm_$node ]] || echo "$mount/slurm_$node"
        done <"$1/state/nodes"
    done < <(v1_mounts)
}

# cgroup_pids DIR: all processes in these folders.
cgroup_pids() {
    local folder
    while read -r folder; do
        find "$folder" -name cgroup.procs -exec cat {} + 2>/dev/null
    done < <(cgroup_folders "$1") | sort -un
}

# thaw DIR: a process in a frozen cgroup does not die, not by SIGKILL either.
thaw() {
    local folder state
    while read -r folder; do
        while read -r state; do
            grep -qs THAWED "$state" || echo THAWED >"$state"
        done < <(find "$folder" -name freezer.state 2>/dev/null)
    done < <(cgroup_folders "$1") 2>/dev/null
}

# remove_cgroups DIR: 1 while there is one left.
remove_cgroups() {
    local folder
    while read -r folder; do
        find "$folder" -depth -type d -exec rmdir {} + 2>/dev/null
    done < <(cgroup_folders "$1")
    [[ -z $(cgroup_folders "$1") ]]
}

# unmount_below FOLDER [EXCEPT]: whatever is mounted there, the latest first, but what is below
# EXCEPT. A frozen file system is thawed, so that those who wait for it can end.
unmount_below() {
    local mount
    while read -r mount; do
        [[ -z ${2:-} || $mount != "$2"/* ]] || continue
        fsfreeze -u "$mount" 2>/dev/null
        umount "$mount" 2>/dev/null || umount -l "$mount"
    done < <(awk -v below="$1/" 'index($5, below) == 1 { print $5 }' /proc/self/mountinfo | tac)
}

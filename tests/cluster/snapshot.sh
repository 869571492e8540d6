# What a cluster could leave behind. Sourced by cluster.
# shellcheck shell=bash

# Processes of Slurm and of this project, and all of the job user's. Without pids: two snapshots are
# compared. The dead that init has yet to reap do not count.
snapshot_processes() {
    ps -e -o stat=,user:16=,comm:16=,args= | awk -v job_user="$job_user" '
        $1 ~ /Z/ { next }
        $2 == job_user || $3 ~ /^(munged|slurm|srun|sbatch|salloc|scancel|auto-gpus|cuda-task)/ {
            $1 = "process"
            print
        }'
}

snapshot_places() {
    awk '{ print "mount", $5, $(NF-2), $(NF-1) }' /proc/self/mountinfo
    find /dev -maxdepth 1 \( -name 'nvidia*' -o -name '.*-nvidia*' \) -printf 'device %p\n'
    find /dev/shm -mindepth 1 -printf 'shm %p\n'
    find /sys/fs/cgroup -maxdepth 2 -name 'slurm*' -printf 'cgroup %p\n'
    find /tmp -mindepth 1 -maxdepth 1 -printf 'tmp %p\n'
    losetup -n -l -O NAME,BACK-FILE | awk '{ print "loop", $0 }'
}

snapshot() {
    { snapshot_processes; snapshot_places 2>/dev/null; } | LC_ALL=C sort
}

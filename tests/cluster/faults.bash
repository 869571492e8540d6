# For the tests of faults and of the field's cases: expect.bash, and what only they need.
# shellcheck shell=bash
# shellcheck disable=SC2154  # bats sets output, stderr and status, the cluster's env the rest

# shellcheck source=tests/cluster/expect.bash
load expect

# AUTO_GPUS_ALL_OK=1 takes the faults, not the MIG mode.
if [[ -n ${AUTO_GPUS_ALL_OK:-} ]]; then
    gpus() {
        local behaviour healthy=()
        for behaviour in "${@:2}"; do
            [[ $behaviour == *' mig=on'* ]] && healthy+=('ok mig=on') || healthy+=(ok)
        done
        faulty_gpus "$1" "${healthy[@]}"
    }
fi

setup() {
    need_cluster
    need_driver
    use_cluster "$CLUSTER_DIR"
    fresh_driver
    use_plugin
}

# without_fence: to be called at the top of a file whose cluster has none.
without_fence() {
    # shellcheck disable=SC2317  # the library's
    device() { :; }
}

# expect_short TEXT...: status 75, nothing ran, and each pattern is in what we said.
expect_short() {
    expect 75 '' && nothing_ran && expect_texts "$@"
}

# expect_texts PATTERN...: each of them matches a part of our lines.
expect_texts() {
    local pattern text
    text=$(said)
    for pattern; do
        # shellcheck disable=SC2053  # a pattern
        [[ $text == *$pattern* ]] || { printf 'not said: %s\nin:\n%s\n' "$pattern" "$text"; return 1; }
    done
}

# expect_lines N: so many lines of ours.
expect_lines() {
    [[ $(said | wc -l) == "$1" ]] || { said; return 1; }
}

# mig_line PARENT UUID GI BEHAVIOUR: GPU number PARENT of node 1, which says mig=on, has this instance.
mig_line() {
    local behaviour=$4
    [[ -z ${AUTO_GPUS_ALL_OK:-} ]] || behaviour=ok
    echo "mig parent=$(uuid "$(node 1)" "$1") uuid=$2 gi=$3 ci=0 behaviour=$behaviour" \
        >>"$CLUSTER_DIR/driver/$(node 1).gpus"
}

# nvml LINE...: the simulated NVML, and what it says of node 1; sets with_nvml, words for `ask`.
nvml() {
    local folder=$CLUSTER_DIR/nvml
    mkdir -p "$folder"
    install -m 755 "$AUTO_GPUS_BUILD/tests/driver/libnvidia-ml.so.1" "$folder/"
    printf '%s\n' "$@" >"$folder/$(node 1).nvml"
    : >"$folder/calls.log"
    chmod 666 "$folder/calls.log"
    # shellcheck disable=SC2034  # the caller's
    with_nvml=LD_LIBRARY_PATH=$folder
}

# nvml_gpu INDEX WORD...: one GPU's line.
nvml_gpu() {
    echo "gpu uuid=$(uuid "$(node 1)" "$1") pci=$(pci "$(node 1)" "$1") total=81559M ${*:2}"
}

# nvml_calls: what was asked of NVML.
nvml_calls() {
    cut -d' ' -f5 "$CLUSTER_DIR/nvml/calls.log"
}

# probe_program LIST [ARGUMENT]...: the program by itself, as the user, outside of any step; sets
# status, output and stderr as `ask` does.
probe_program() {
    run --separate-stderr as_user SLURMD_NODENAME="$(node 1)" CUDA_VISIBLE_DEVICES="$1" \
        "$AUTO_GPUS_PREFIX/bin/auto-gpus" probe --libcuda "$CLUSTER_DIR/driver/libcuda.so.1" "${@:2}"
}

# elapsed COMMAND...: sets `took`, in hundredths of a second.
# shellcheck disable=SC2034  # the caller's
elapsed() {
    local now started
    uptime_cs && started=$now
    "$@"
    uptime_cs
    took=$((now - started))
}

# end_in_background: interrupts the srun of `background` until nothing of ours is left. One signal after
# another: two that come at once are one.
end_in_background() {
    # shellcheck disable=SC2317  # called by wait_until
    interrupted() { kill -INT "$pid" 2>/dev/null; nothing_left; }
    wait_until 5 interrupted
    wait "$pid" || true
}

# refused PLACE VALUE WHY ALLOWED: srun, sbatch and salloc refuse it before anything is queued. PLACE is
# an option, or SLURM_…, which stands for the three programs' variables.
refused() {
    local program place=$1 value=$2 command arguments
    for program in srun sbatch salloc; do
        arguments=() command=("$program")
        [[ $program != sbatch ]] || arguments=(--wrap)
        if [[ $1 == SLURM_* ]]; then
            place=$1
            [[ $program == srun ]] || place=${program^^}_${1#SLURM_}
            command=("$place=$value" "$program")
        else
            command+=("$1=$value")
        fi
        run --separate-stderr as_user "${command[@]}" "${arguments[@]}" true
        [[ $status != 0 && ${stderr%%$'\n'*} == "$program: error: auto-gpus: BAD_OPTION: $place='$value': $3; $4" ]] ||
            { printf '%s: status %s\n%s\n' "${command[*]}" "$status" "$stderr"; return 1; }
        no_jobs
    done
}

#!/usr/bin/env bats
# What an administrator can get wrong: words of plugstack.conf, and the program they name.
#
# Scripts for the steps are in single quotes.
# shellcheck disable=SC2016,SC2154

load expect

setup_file() { start_cluster --nodes 1 --gpus 2; }

setup() {
    need_cluster
    need_driver
    use_cluster "$CLUSTER_DIR"
    fresh_driver
    rm -f "$CLUSTER_DIR/work/program"
}

# wrong WORDS WORD WHY ALLOWED: with these words of plugstack.conf a job that asked is refused where it
# is typed, and a job that did not runs as it always does. WHY and ALLOWED are patterns.
wrong() {
    local why=$3 allowed=$4
    # shellcheck disable=SC2086  # words
    use_plugin $1
    show --gres=gpu:2 --auto-gpus=1
    # shellcheck disable=SC2027,SC2053  # patterns
    [[ $status == 255 && ${stderr_lines[0]} == "srun: error: auto-gpus: BAD_CONFIG: plugstack.conf: '$2': "$why"; use "$allowed ]] ||
        { printf '%s: status %s\n%s\n' "$1" "$status" "$stderr"; return 1; }
    nothing_ran
    show --gres=gpu:2
    [[ $status == 0 && $output == 0,1 && -z $stderr ]] || { printf '%s\n' "$1: a job that did not ask: $status" "$stderr"; return 1; }
    slurm_log "$(node 1)" | grep -qF "auto-gpus: BAD_CONFIG: plugstack.conf: '$2': "
}

# program LINE...: a shell script that stands in for the program.
program() {
    printf '%s\n' '#!/bin/sh' "$@" >"$CLUSTER_DIR/work/program"
    chmod 755 "$CLUSTER_DIR/work/program"
}

# fails_with TEXT: a task that asked ends with 70 and this text, within a second of its deadline of
# one; with a site default the same is a warning, and the task runs.
fails_with() {
    local now started
    use_plugin program="$CLUSTER_DIR/work/program"
    uptime_cs && started=$now
    show --gres=gpu:2 --auto-gpus=1 --auto-gpus-timeout=1
    uptime_cs
    expect 70 ''
    nothing_ran
    expect_said <<<"PROBE_FAILED: $1; $installation"
    [ $((now - started)) -lt 260 ]
    wait_until 2 nothing_left
    use_plugin program="$CLUSTER_DIR/work/program" default=1 timeout=1
    uptime_cs && started=$now
    show --gres=gpu:2
    uptime_cs
    expect 0 0,1
    expect_said <<<"warning: the site's default of --auto-gpus was not applied: PROBE_FAILED: $1"
    [ $((now - started)) -lt 260 ]
    wait_until 2 nothing_left
}

@test "a word that we do not know" {
    local word
    for word in tiemout=3 TIMEOUT=3 timeout default 3 =3 = -h --help auto_gpus; do
        wrong "$word" "$word" '@(unknown word|the value is missing)' 'default=, timeout=, max_timeout=, min_free=, emit=, *program=, libcuda=, *exit_code=*'
    done
}

@test "a word with a value that is none" {
    wrong default= default= 'the number is missing' 'default= with N, MIN-MAX, MIN+, all, off or 0'
    wrong default=two default=two 'not a whole number' 'default= with N, MIN-MAX, MIN+, all, off or 0'
    wrong timeout=0 timeout=0 'smaller than 1' 'timeout= with seconds, 1 to max_timeout'
    wrong max_timeout=86401 max_timeout=86401 'larger than 86400' 'max_timeout= with seconds, 1 to 86400'
    wrong min_free=lots min_free=lots 'not a size' 'min_free= with a size such as 512M or 20G; a bare number is MiB'
    wrong emit=index emit=index 'unknown value' 'emit= with keep or uuid'
    wrong check=memory check=memory 'unknown value' 'check= with context'
    wrong min_check= min_check= 'unknown value' 'min_check= with context'
    wrong verbose=1 verbose=1 'unknown value' 'verbose= with yes or no'
    wrong program=bin/auto-gpus program=bin/auto-gpus 'not an absolute path' 'program= with an absolute path'
    wrong unallocated=none unallocated=none 'unknown value' 'unallocated= with refuse or all'
    wrong retry=601 retry=601 'larger than 600' 'retry= with seconds, 0 (never) to 600'
    wrong exit_code=0 exit_code=0 'smaller than 1' 'exit_code= with 1 to 255'
    wrong exit_code=256 exit_code=256 'larger than 255' 'exit_code= with 1 to 255'
}

@test "a word that is there twice" {
    wrong 'timeout=3 timeout=3' timeout=3 'timeout= is there twice' 'each word once'
    wrong 'libcuda=/x' libcuda=/x 'libcuda= is there twice' 'each word once'
}

@test "a default time above the maximum" {
    wrong 'timeout=90 max_timeout=30' 'timeout=90 max_timeout=30' 'the default is above the maximum' 'timeout= with at most the value of max_timeout='
    # Not where only the maximum was set.
    use_plugin max_timeout=30
    show --gres=gpu:2 --auto-gpus=1
    expect 0 0
}

@test "where only the node has the bad words the task fails with 78" {
    use_plugin tiemout=3
    show _SLURM_SPANK_OPTION_auto_gpus_auto_gpus=1 --gres=gpu:2
    expect 78 ''
    nothing_ran
    [[ $(said) == "BAD_CONFIG: plugstack.conf: 'tiemout=3': unknown word; use default=, timeout="* ]]
    no_probe_started
}

@test "a batch job of a node with bad words fails with 78, and does not drain it" {
    use_plugin tiemout=3
    batch _SLURM_SPANK_OPTION_auto_gpus_auto_gpus=1 --gres=gpu:2 --wrap 'touch ran'
    [ "$status" -eq 78 ]
    nothing_ran
    nodes_idle 1
}

@test "a bad word makes the site's default void" {
    use_plugin default=1 tiemout=3
    show --gres=gpu:2
    expect 0 0,1
    [ -z "$stderr" ]
    no_probe_started
    use_plugin default=1 timeout=90 max_timeout=30
    show --gres=gpu:2
    expect 0 0,1
}

@test "bytes in a word that are no text are shown escaped" {
    use_plugin $'\xff\e[31m=3'
    show --gres=gpu:2 --auto-gpus=1
    [[ ${stderr_lines[0]} == "srun: error: auto-gpus: BAD_CONFIG: plugstack.conf: '\\xff\\x1b[31m=3': unknown word; use "* ]]
}

@test "the program is missing, is no program, may not be executed" {
    local folder=$CLUSTER_DIR/work
    as_user mkdir -p "$folder/folder"
    as_user touch "$folder/plain"
    printf '#!/nonexistent/sh\n' >"$folder/interpreter"
    printf 'no format\0\n' >"$folder/format"
    chmod 755 "$folder/interpreter" "$folder/format"
    while read -r path why; do
        use_plugin program="$path"
        show --gres=gpu:2 --auto-gpus=1
        expect 70 ''
        nothing_ran
        expect_said <<<"PROBE_FAILED: cannot start $path: $why; install auto-gpus on this node as on the others"
    done <<END
/nonexistent/auto-gpus No such file or directory
$folder/folder Permission denied
$folder/plain Permission denied
$folder/plain/auto-gpus Not a directory
$folder/interpreter No such file or directory
$folder/format Exec format error
END
}

@test "the program ends at once" {
    program 'exit 0'
    fails_with "the supervisor $CLUSTER_DIR/work/program ended before all was known; it ended with status 0"
    program 'exit 3'
    fails_with "the supervisor $CLUSTER_DIR/work/program ended before all was known; it ended with status 3"
}

@test "the program crashes" {
    program 'kill -SEGV $$'
    fails_with "the supervisor $CLUSTER_DIR/work/program ended before all was known; it was killed by signal 11"
}

@test "the program prints rubbish" {
    program 'echo usable >&3; exec sleep 600'
    fails_with "the supervisor $CLUSTER_DIR/work/program spoke out of turn; it was killed by signal 9"
    program 'head -c 100000 /dev/urandom >&3; exec sleep 600'
    fails_with "the supervisor $CLUSTER_DIR/work/program spoke out of turn; it was killed by signal 9"
    program 'trap "" PIPE; while :; do echo who >&3; done'
    fails_with "the supervisor $CLUSTER_DIR/work/program spoke out of turn; it was killed by signal 9"
}

@test "the program says that GPUs are usable that do not exist" {
    program 'echo "who=7 reason=usable final=1" >&3; exec sleep 600'
    fails_with "the supervisor $CLUSTER_DIR/work/program spoke out of turn; it was killed by signal 9"
}

@test "the program is silent, and what it is told and sent leaves it cold" {
    program 'trap "" TERM INT HUP QUIT; exec sleep 600'
    fails_with "the supervisor $CLUSTER_DIR/work/program is silent; it was killed by signal 9"
}

@test "the program closes its report and stays" {
    program 'exec 3>&-; exec sleep 600'
    fails_with "the supervisor $CLUSTER_DIR/work/program ended before all was known; it was killed by signal 9"
}

@test "the program leaves a process behind that holds its report" {
    program '(exec sleep 600) & exit 0'
    use_plugin program="$CLUSTER_DIR/work/program"
    show --gres=gpu:2 --auto-gpus=1 --auto-gpus-timeout=1
    expect 70 ''
    nothing_ran
    expect_said <<<"PROBE_FAILED: the supervisor $CLUSTER_DIR/work/program is silent; it ended with status 0; $installation"
}

@test "our own fault in the list's check is none of the GPUs'" {
    driver_line "$(node 1)" "together gpus=$(uuids 0 1) behaviour=exit:1@init"
    use_plugin default=2
    show --gres=gpu:2
    expect 0 0,1
    said | grep -qF "warning: the site's default of --auto-gpus was not applied: PROBE_FAILED: the probe of the chosen list failed"
    show --gres=gpu:2 --auto-gpus=2
    expect 70 ''
    nothing_ran
    said | grep -q '^PROBE_FAILED: the probe of the chosen list failed'
}

@test "a second line with the plugin does nothing" {
    local first
    use_plugin default=1
    first=$(cat "$CLUSTER_DIR/plugstack.conf")
    plugstack "$first" "${first% default=1}"
    show --gres=gpu:2
    expect 0 0
}

#!/usr/bin/env bats
# A job that does not ask: it must not be able to tell that the plugin is there.
#
# Scripts for the steps are in single quotes.
# shellcheck disable=SC2016,SC2154

load expect

setup_file() { start_cluster --nodes 1 --gpus 4; }

setup() {
    need_cluster
    need_driver
    use_cluster "$CLUSTER_DIR"
    fresh_driver
    # A job that were probed would hang, and then fail.
    gpus "$(node 1)" hangK hangK hangK hangK
}

# note TITLE: what the last command gave. What Slurm says of the queue, and of a plugin that it cannot
# load, is Slurm's own.
note() {
    printf '== %s: %s\n' "$1" "$status"
    printf '%s\n' "$output" "${stderr-}" | comparable | sed -E '/queued and waiting|has been allocated|plugin_load_from_file|Dlopen of plugin file/d'
}

# seen: of a step, two tasks, no GPUs, one that fails, one that is killed, and of batch jobs.
seen() {
    local arguments
    for arguments in --gres=gpu:2 '-n2 --gpus-per-task=1' --gres=none '--gres=gpu:1 --mpi=pmi2'; do
        # shellcheck disable=SC2086  # words
        ask AUTO_GPUS_COUNT=7 CUDA_DEVICE_ORDER=PCI_BUS_ID $arguments sh -c "$task_state; $task_environment"
        note "$arguments"
    done
    ask --gres=gpu:1 sh -c 'echo out; echo err >&2; exit 3'
    note 'a task that fails'
    ask --gres=gpu:1 sh -c 'kill -KILL $$'
    note 'a task that is killed'
    ask --gres=gpu:1 /nonexistent/program
    note 'a program that is missing'
    batch --gres=gpu:2 --wrap "$task_state; $task_environment"
    note 'a batch job'
    batch -n2 --gres=gpu:2 --wrap 'echo $CUDA_VISIBLE_DEVICES; srun -n2 --gpus-per-task=1 printenv CUDA_VISIBLE_DEVICES; exit 4'
    note 'a batch job with steps'
    run --separate-stderr as_user salloc --quiet --gres=gpu:2 srun printenv CUDA_VISIBLE_DEVICES </dev/null
    note 'an allocation'
} 2>/dev/null

# unnoticed: with plugstack.conf as it is now, all is as without the plugin.
unnoticed() {
    local without=$BATS_FILE_TMPDIR/without now
    if [[ ! -s $without ]]; then
        now=$(<"$CLUSTER_DIR/plugstack.conf")
        plugstack ''
        seen >"$without.new"
        mv "$without.new" "$without"
        plugstack "$now"
    fi
    grep -q ^CUDA_VISIBLE_DEVICES=0,1 "$without"
    seen >"$BATS_TEST_TMPDIR/with"
    diff "$without" "$BATS_TEST_TMPDIR/with"
    no_probe_started
    [ -z "$(our_processes)" ]
}

@test "with the plugin loaded" {
    use_plugin
    unnoticed
}

@test "with the site's default off" {
    use_plugin default=off verbose=yes emit=uuid timeout=1 min_free=100T
    unnoticed
}

@test "with a broken configuration" {
    use_plugin default=1 tiemout=3 timeout=0 program=nowhere exit_code=-1 verbose=
    unnoticed
}

@test "with no program and no driver" {
    use_plugin program=/nonexistent/auto-gpus
    plugstack "$(sed 's/ libcuda=[^ ]*/ libcuda=\/nonexistent\/libcuda.so/' "$CLUSTER_DIR/plugstack.conf")"
    unnoticed
}

@test "with the plugin's file missing, or no plugin at all" {
    plugstack 'optional /nonexistent/spank_auto_gpus.so default=1'
    unnoticed
    as_user touch "$CLUSTER_DIR/work/empty.so"
    plugstack "optional $CLUSTER_DIR/work/empty.so default=1"
    unnoticed
}

@test "with a plugin's file that the user may not read" {
    use_plugin default=1
    install -m 600 "$(find "$AUTO_GPUS_PREFIX/" -name '*auto_gpus*.so' -print -quit)" "$CLUSTER_DIR/unreadable.so"
    plugstack "optional $CLUSTER_DIR/unreadable.so"
    unnoticed
}

@test "with the plugin loaded twice" {
    use_plugin
    plugstack "$(cat "$CLUSTER_DIR/plugstack.conf" "$CLUSTER_DIR/plugstack.conf")"
    show --gres=gpu:2
    expect 0 0,1
    no_probe_started
}

@test "where srun has no stdin, stdout or stderr" {
    use_plugin
    for redirection in '2>&-' '<&-' '>&-'; do
        plugstack ''
        run as_user sh -c "srun --quiet --gres=gpu:1 true $redirection; echo \$?"
        without=$output
        use_plugin
        run as_user sh -c "srun --quiet --gres=gpu:1 true $redirection; echo \$?"
        [ "$output" = "$without" ]
    done
}

#!/usr/bin/env bats
# The cluster itself: what its users count on.
#
# Scripts for the steps are in single quotes, and `pid` comes from the library.
# shellcheck disable=SC2016,SC2154

load helper

# Prints, for every device node of the two nodes, whether this process may open it.
show_fence='for n in "$@"; do
    if head -c0 "$n" 2>&1 | grep -q "not permitted"; then echo "$n closed"; else echo "$n open"; fi
done'

# The device nodes of node 1, in `devices`.
list_devices() {
    local index
    need_fence
    devices=()
    for index in 0 1 2 3; do
        devices+=("$(device "$(node 1)" "$index")")
    done
}

@test "a step runs as an ordinary user, on every node, in a known environment" {
    run -0 srun_user A=b -l -N2 sh -c 'echo "$(id -un) $SLURMD_NODENAME $A $(pwd) $HOME"'
    [ "$(sort <<<"$output")" = "0: nobody $(node 1) b $CLUSTER_DIR/work $CLUSTER_DIR/work
1: nobody $(node 2) b $CLUSTER_DIR/work $CLUSTER_DIR/work" ]
}

@test "a batch job and the steps in it run" {
    run -0 as_user sbatch --wait --output="%j.out" --gres=gpu:2 --wrap 'srun printenv CUDA_VISIBLE_DEVICES'
    run -0 cat "$CLUSTER_DIR"/work/*.out
    [ "$output" = 0,1 ]
}

@test "there is room for 64 tasks on a node" {
    run -0 srun_user -N1 -n64 true
}

@test "a fenced task opens its own devices and no other" {
    list_devices
    run -0 srun_user -w "$(node 1)" --gres=gpu:2 sh -c "$show_fence" - "${devices[@]}"
    [ "${lines[0]}" = "${devices[0]} open" ]
    [ "${lines[1]}" = "${devices[1]} open" ]
    [ "${lines[2]}" = "${devices[2]} closed" ]
    [ "${lines[3]}" = "${devices[3]} closed" ]
}

@test "access(2) tells a fenced device without opening it" {
    list_devices
    run -0 srun_user -w "$(node 1)" --gres=gpu:1 sh -c 'for n; do test -r "$n" && test -w "$n" && echo "$n"; done; true' \
        - "${devices[@]}"
    [ "$output" = "${devices[0]}" ]
}

@test "two steps with a GPU each see index 0 and different devices" {
    list_devices
    local held=$CLUSTER_DIR/work/held
    as_user mkfifo "$held"
    background srun_user -w "$(node 1)" --gres=gpu:1 sh -c "echo \$CUDA_VISIBLE_DEVICES >first; $show_fence >>first; read -r _ <held" \
        - "${devices[@]}"
    wait_until 20 grep -qs "${devices[3]}" "$CLUSTER_DIR/work/first"
    run -0 srun_user -w "$(node 1)" --gres=gpu:1 sh -c "echo \$CUDA_VISIBLE_DEVICES; $show_fence" \
        - "${devices[@]}"
    echo >"$held"
    wait "$pid"
    [ "${lines[0]}" = 0 ]
    [ "$(grep open <<<"$output")" = "${devices[1]} open" ]
    [ "$(head -n 1 "$CLUSTER_DIR/work/first")" = 0 ]
    [ "$(grep open "$CLUSTER_DIR/work/first")" = "${devices[0]} open" ]
}

@test "tasks with a GPU each are fenced from one another" {
    list_devices
    run -0 srun_user -w "$(node 1)" -n2 --gpus-per-task=2 sh -c "echo \$CUDA_VISIBLE_DEVICES; $show_fence" \
        - "${devices[@]}"
    [ "$(grep -cx 0,1 <<<"$output")" = 2 ]
    [ "$(grep open <<<"$output" | sort)" = "$(printf '%s open\n' "${devices[@]}")" ]
}

@test "the nodes' GPU files differ in UUID and PCI id, and keep what a test sets" {
    gpus "$(node 1)" ok 'ctx:214 mode=exclusive_process used=7G' slow:2s+ctx:46
    gpus "$(node 2)" ok ok ok
    run -0 cat "$CLUSTER_DIR/driver/$(node 1).gpus" "$CLUSTER_DIR/driver/$(node 2).gpus"
    [ "${#lines[@]}" = 6 ]
    [ "$(grep -o 'uuid=[^ ]*' <<<"$output" | sort -u | wc -l)" = 6 ]
    [ "$(grep -o 'pci=[^ ]*' <<<"$output" | sort -u | wc -l)" = 6 ]
    [[ ${lines[1]} == *" uuid=$(uuid "$(node 1)" 1) "*" behaviour=ctx:214 mode=exclusive_process used=7G" ]]
    [ "$(grep -o 'mode=' <<<"${lines[1]}" | wc -l)" = 1 ]
    [[ ${lines[2]} == *" behaviour=slow:2s+ctx:46" ]]
}

@test "a program finds the node's simulated GPUs, behind its fence" {
    need_driver
    need_fence
    gpus "$(node 2)" ok ok slow:1ms ctx:214
    run -0 srun_user LD_LIBRARY_PATH="$CLUSTER_DIR/driver" -w "$(node 2)" -n3 --gpus-per-task=1 "$CLUSTER_DIR/driver/cuda-task"
    for index in 0 1 2; do
        [[ $output == *"device 0: "*" $(uuid "$(node 2)" "$index") "* ]]
    done
    [ "$(driver_calls "$(node 2)" cuInit 0 | wc -l)" = 3 ]
    [ -z "$(driver_calls "$(node 1)")" ]
    run -1 srun_user LD_LIBRARY_PATH="$CLUSTER_DIR/driver" -w "$(node 2)" --gres=gpu:4 "$CLUSTER_DIR/driver/cuda-task"
    [[ $output == *"CUDA_ERROR_ECC_UNCORRECTABLE (214)"* ]]
}

@test "plugstack.conf can change while the cluster runs" {
    plugstack 'required /nonexistent/plugin.so'
    run srun_user true
    [ "$status" -ne 0 ]
    [[ $output == *nonexistent* ]]
    plugstack ''
    run -0 srun_user true
}

@test "a command in the background has a pid of its own and hears SIGINT" {
    background srun_user sh -c 'touch waiting; exec tail -f /dev/null'
    wait_until 20 test -e "$CLUSTER_DIR/work/waiting"
    [ "$(cat "/proc/$pid/comm")" = srun ]
    kill -INT "$pid"
    kill -INT "$pid"
    wait "$pid" || status=$?
    [ "$status" -ne 0 ]
    wait_until 20 no_jobs
}

@test "a test that leaves jobs behind does not disturb the next" {
    background srun_user --gres=gpu:4 -N2 tail -f /dev/null
    wait_until 20 eval '[ "$(squeue -h -t R -o %A)" ]'
    settle
    run -0 squeue -h
    [ -z "$output" ]
    run -0 srun_user --gres=gpu:4 -N2 true
}

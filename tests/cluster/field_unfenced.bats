#!/usr/bin/env bats
# Cases from the field at sites without ConstrainDevices, where steps see the node's own indices.
#
# Scripts for the steps are in single quotes.
# shellcheck disable=SC2016,SC2154

load faults
without_fence

setup_file() { start_cluster --nodes 1 --gpus 8 --no-fence; }

# container INDEX...: a folder with a driver that shows these GPUs of node 1 and no other, as a container
# that was given their device files does; sets inside.
container() {
    local index
    inside=$CLUSTER_DIR/work/inside
    mkdir -p "$inside"
    install -m 755 "$CLUSTER_DIR/driver/libcuda.so.1" "$inside/"
    for index; do
        gpu_line ok model '"NVIDIA H100 80GB HBM3"' uuid "$(uuid "$(node 1)" "$index")" pci "$(pci "$(node 1)" "$index")"
    done >"$inside/$(node 1).gpus"
}

# The list on its way into the container, and what the container's driver shows for it.
inside_task='echo "$CUDA_VISIBLE_DEVICES"; LD_LIBRARY_PATH=inside "$0" | grep -o "GPU-[0-9a-f-]*"'

@test "B08 no GPUs are allocated: refused with advice, or the node's with a warning, as the site says" {
    gpus "$(node 1)" ok ok ok ok
    show --auto-gpus=1
    expect 78 ''
    nothing_ran
    expect_texts NOT_ALLOCATED '--gpus=N or --gres=gpu:N'
    use_plugin unallocated=all
    ask --auto-gpus=1 sh -c 'echo "$CUDA_VISIBLE_DEVICES $AUTO_GPUS_UUIDS"'
    expect 0 "0 $(uuids 0)"
    expect_said <<<'warning: no GPU was allocated to this step; the site lets it use all 4 of the node'
    gpus "$(node 1)" ctx:214 ok ok ok
    ask --auto-gpus=2 sh -c 'echo "$CUDA_VISIBLE_DEVICES $AUTO_GPUS_UUIDS"'
    expect 0 "1,2 $(uuids 1 2)"
    show --auto-gpus=5
    expect 78 ''
    expect_texts 'LIST_TOO_SHORT: '
    # Nobody asked: nobody is given any.
    show
    expect 0 unset
    use_plugin unallocated=all default=1
    show
    expect 0 unset
}

@test "B09 the token given is one of the list, not an index of the node" {
    set_list
    show TEST_LIST=2,5 --gres=gpu:8 --auto-gpus=1
    expect 0 2
}

@test "J01 a container that holds one GPU does not know its index, but its UUID" {
    container 2
    gpus "$(node 1)" ctx:214 ctx:214 ok ok
    set_list
    ask TEST_LIST=0,1,2 --gres=gpu:4 --auto-gpus=1 --auto-gpus-emit=uuid sh -c "$inside_task" "$CLUSTER_DIR/driver/cuda-task"
    expect 0 "$(uuids 2)
$(uuids 2)"
    # The index is good outside, and names nothing inside.
    ask TEST_LIST=0,1,2 --gres=gpu:4 --auto-gpus=1 sh -c "$inside_task" "$CLUSTER_DIR/driver/cuda-task"
    [ "$output" = 2 ]
}

@test "J06 a container counts 0,1,3,4 anew: UUIDs name the chosen ones there as well" {
    container 0 1 3 4
    gpus "$(node 1)" ctx:214 ok ok ok ctx:214 ok ok ok
    set_list
    ask TEST_LIST=0,1,3,4 --gres=gpu:8 --auto-gpus=2 --auto-gpus-emit=uuid sh -c "$inside_task" "$CLUSTER_DIR/driver/cuda-task"
    expect 0 "$(uuids 1 3)
$(uuids 1)
$(uuids 3)"
    ask TEST_LIST=0,1,3,4 --gres=gpu:8 --auto-gpus=2 sh -c "$inside_task" "$CLUSTER_DIR/driver/cuda-task"
    [[ $output == 1,3* && $output != *"$(uuids 1)"$'\n'"$(uuids 3)" ]]
}

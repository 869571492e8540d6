#!/usr/bin/env bats
# Which libraries are loaded, where, and what is said when they cannot be.
#
# Scripts for the steps are in single quotes, and `pid` comes from the library.
# shellcheck disable=SC2016,SC2154

load expect

setup_file() { start_cluster --nodes 1 --gpus 2; }

setup() {
    need_cluster
    need_driver
    use_cluster "$CLUSTER_DIR"
    fresh_driver
    use_plugin
    libs=$CLUSTER_DIR/libs
    mkdir -p "$libs"
}

# by_loader: no libcuda= word, so that the task's own loader decides.
by_loader() {
    plugstack "$(sed 's/ libcuda=[^ ]*//' "$CLUSTER_DIR/plugstack.conf")"
}

# empty_library NAME: one without any symbol.
empty_library() {
    echo | cc -shared -nostdlib -x c - -o "$libs/$1" -Wl,-soname,"$1" || skip "no C compiler"
}

node_wide() {
    expect 75 ''
    nothing_ran
    expect_said <<<"$1"
    [ "$(grep -c ^auto-gpus: <<<"$stderr")" = 1 ]
}

maps() {
    grep -ciE 'libcuda|libnvidia' "/proc/$1/maps" || true
}

missing='libcuda cannot be loaded; no task started on this node; use a node with the NVIDIA driver, or report this one'

@test "an older C++ runtime in the task's LD_LIBRARY_PATH does not disturb" {
    empty_library libstdc++.so.6
    empty_library libgcc_s.so.1
    gpus "$(node 1)" ctx:214 ok
    show LD_LIBRARY_PATH="$libs" --gres=gpu:2 --auto-gpus=1
    expect 0 1
    by_loader
    show LD_LIBRARY_PATH="$libs:$CLUSTER_DIR/driver" --gres=gpu:2 --auto-gpus=1
    expect 0 1
}

@test "a preloaded library that is not there does not disturb" {
    gpus "$(node 1)" ctx:214 ok
    ask LD_PRELOAD=/nonexistent/lib.so --gres=gpu:2 --auto-gpus=1 printenv CUDA_VISIBLE_DEVICES
    expect 0 1
}

@test "no libcuda: the loader's own words, once" {
    ! ldconfig -p | grep -q libcuda.so.1 || skip "this machine has a driver"
    by_loader
    show --gres=gpu:2 --auto-gpus=1
    node_wide "DRIVER_MISSING: libcuda.so.1: cannot open shared object file: No such file or directory: $missing"
    show LD_LIBRARY_PATH="$CLUSTER_DIR/driver" --gres=gpu:2 --auto-gpus=2
    expect 0 0,1
}

@test "no libcuda where the site says it is" {
    plugstack "$(sed 's/ libcuda=[^ ]*/ libcuda=\/nonexistent\/libcuda.so.1/' "$CLUSTER_DIR/plugstack.conf")"
    show LD_LIBRARY_PATH="$CLUSTER_DIR/driver" --gres=gpu:2 --auto-gpus=1
    node_wide "DRIVER_MISSING: /nonexistent/libcuda.so.1: cannot open shared object file: No such file or directory: $missing"
}

@test "a libcuda that is no library, or has not the driver's functions" {
    by_loader
    echo text >"$libs/libcuda.so.1"
    show LD_LIBRARY_PATH="$libs" --gres=gpu:2 --auto-gpus=1
    node_wide "DRIVER_MISSING: $libs/libcuda.so.1: file too short: $missing"
    empty_library libcuda.so.1
    show LD_LIBRARY_PATH="$libs" --gres=gpu:2 --auto-gpus=1
    node_wide "DRIVER_MISSING: libcuda.so.1 has no function cuInit: $missing"
    rm "$libs/libcuda.so.1"
}

@test "the toolkit's stub is named, with its path" {
    driver_line "$(node 1)" 'driver stub=on'
    show --gres=gpu:2 --auto-gpus=1
    node_wide "DRIVER_STUB: cuInit: CUDA_ERROR_STUB_LIBRARY (34), libcuda is $CLUSTER_DIR/driver/libcuda.so.1: libcuda is the CUDA toolkit's stub, not a driver; no task started on this node; take the folder of the stub out of LD_LIBRARY_PATH"
    by_loader
    show LD_LIBRARY_PATH="$CLUSTER_DIR/driver" --gres=gpu:2 --auto-gpus=1
    node_wide "DRIVER_STUB: cuInit: CUDA_ERROR_STUB_LIBRARY (34), libcuda is $CLUSTER_DIR/driver/libcuda.so.1: libcuda is the CUDA toolkit's stub, not a driver; no task started on this node; take the folder of the stub out of LD_LIBRARY_PATH"
}

@test "NVIDIA's own libcuda, on a machine without a GPU" {
    local real=${AUTO_GPUS_REAL_LIBCUDA:-}
    [[ -n $real ]] || real=$(find "$AUTO_GPUS_BUILD/real-libcuda" -name libcuda.so.1 -print -quit 2>/dev/null || true)
    [[ -n $real ]] || skip "no libcuda of NVIDIA's: AUTO_GPUS_REAL_LIBCUDA is not set"
    [[ ! -e /dev/nvidiactl ]] || skip "this machine has a driver"
    real=$(realpath "$real")
    mkdir -p "$libs/real"
    cp "$real" "$libs/real/libcuda.so.1"
    chmod -R a+rX "$libs"
    by_loader
    show LD_LIBRARY_PATH="$libs/real" --gres=gpu:2 --auto-gpus=1
    node_wide "NO_DEVICE: cuInit: CUDA_ERROR_NO_DEVICE (100), libcuda is $libs/real/libcuda.so.1: the driver sees no GPU on this node; no task started on this node; use a node with GPUs; if this one has some, report it"
}

@test "no driver is loaded into slurmstepd, the task's process or the supervisor, only into probes" {
    local task supervisor
    gpus "$(node 1)" hangK
    background srun_user --gres=gpu:1 --auto-gpus=1 true
    hangs() { [[ -n $(driver_calls "$(node 1)" cuInit begin) ]]; }
    wait_until 10 hangs
    supervisor=$(our_processes ' supervise ')
    task=$(ps -o ppid= -p "$supervisor" | tr -d ' ')
    [ "$(maps "$(our_processes '^auto-gpus check ')")" -gt 0 ]
    [ "$(maps "$supervisor")" = 0 ]
    [ "$(maps "$task")" = 0 ]
    [ "$(maps "$(ps -o ppid= -p "$task" | tr -d ' ')")" = 0 ]
    grep -q spank_auto_gpus "/proc/$task/maps"
}

@test "the plugin brings no library along, into slurmstepd or into srun" {
    local file
    command -v objdump >/dev/null || skip "objdump is not installed"
    for file in "$(find "$AUTO_GPUS_PREFIX/" -name '*auto_gpus*.so' -print -quit)" "$AUTO_GPUS_PREFIX/bin/auto-gpus"; do
        run -0 objdump -p "$file"
        [[ $output == *' libc.so.6'* ]]
        # In glibc before 2.34 they are libraries of their own.
        [ -z "$(awk '$1 == "NEEDED" && $2 !~ /^(lib(c|dl|pthread|rt|m)\.so|ld-linux)/' <<<"$output")" ]
    done
}

@test "no driver is in the task, and its own CUDA works" {
    ask LD_LIBRARY_PATH="$CLUSTER_DIR/driver" --gres=gpu:2 --auto-gpus=2 sh -c 'grep -c libcuda /proc/self/maps; exec "$0"' "$CLUSTER_DIR/driver/cuda-task"
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = 0 ]
    [ "${#lines[@]}" = 3 ]
}

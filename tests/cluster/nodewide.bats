#!/usr/bin/env bats
# Faults of a whole node: said once, on one line, with the call, the code, the libcuda that was loaded
# and no table.
#
# Scripts for the steps are in single quotes.
# shellcheck disable=SC2016,SC2154

load faults

setup_file() { start_cluster --nodes 1 --gpus 4; }

# node_wide CODE CALL NAME WORDS: every GPU of four says so, and this is the one line of ours.
node_wide() {
    show --gres=gpu:4 --auto-gpus=1
    expect 75 '' && nothing_ran && expect_lines 1 || return
    [[ $(said) == "$1: $2: $3, libcuda is $CLUSTER_DIR/driver/libcuda.so.1: $4" ]] || { said; return 1; }
}

# all_say BEHAVIOUR: whatever is visible.
all_say() {
    fresh_driver
    driver_line "$(node 1)" "all behaviour=$1"
}

@test "every code of the node, on one line" {
    local result code name words
    use_plugin retry=0
    while IFS='|' read -r result code name words; do
        all_say "init:$result"
        node_wide "$code" cuInit "$name ($result)" "$words" || { echo "init:$result"; return 1; }
    done <<'END'
34|DRIVER_STUB|CUDA_ERROR_STUB_LIBRARY|libcuda is the CUDA toolkit's stub, not a driver; no task started on this node; take the folder of the stub out of LD_LIBRARY_PATH
803|DRIVER_MISMATCH|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH|the user library and the kernel module of the driver differ; no task started on this node; report the node: it needs a reboot, or the module loaded anew
804|COMPAT_UNSUPPORTED|CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE|this libcuda is a forward-compatibility one that these GPUs do not support; no task started on this node; take the folder of the compat libcuda out of LD_LIBRARY_PATH
802|SYSTEM_NOT_READY|CUDA_ERROR_SYSTEM_NOT_READY|the system is not yet initialised; likely causes: the fabric manager of an NVSwitch node is not up, a single GPU is not, or a kernel fault; no task started on this node; try later or another node, and report this one
100|NO_DEVICE|CUDA_ERROR_NO_DEVICE|the driver sees no GPU on this node; no task started on this node; use a node with GPUs; if this one has some, report it
999|UNKNOWN_ERROR|CUDA_ERROR_UNKNOWN|the driver says unknown error; likely causes: /dev/nvidia-uvm missing or not permitted, or a GPU that requires a reset; no task started on this node; report the node; its administrator checks nvidia-uvm and nvidia-smi -q
3|NOT_INITIALIZED|CUDA_ERROR_NOT_INITIALIZED|the driver could not be initialised; this is not the same as having no GPU; no task started on this node; exclude the node and report it
304|OS_CALL_FAILED|CUDA_ERROR_OPERATING_SYSTEM|an operating system call of the driver failed; no task started on this node; exclude the node and report it
805|MPS_ERROR|CUDA_ERROR_MPS_CONNECTION_FAILED|the MPS server does not serve this process; no task started on this node; check the MPS daemon and CUDA_MPS_PIPE_DIRECTORY
806|MPS_ERROR|CUDA_ERROR_MPS_RPC_FAILURE|the MPS server does not serve this process; no task started on this node; check the MPS daemon and CUDA_MPS_PIPE_DIRECTORY
807|MPS_ERROR|CUDA_ERROR_MPS_SERVER_NOT_READY|the MPS server does not serve this process; no task started on this node; check the MPS daemon and CUDA_MPS_PIPE_DIRECTORY
808|MPS_ERROR|CUDA_ERROR_MPS_MAX_CLIENTS_REACHED|the MPS server does not serve this process; no task started on this node; check the MPS daemon and CUDA_MPS_PIPE_DIRECTORY
809|MPS_ERROR|CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED|the MPS server does not serve this process; no task started on this node; check the MPS daemon and CUDA_MPS_PIPE_DIRECTORY
810|MPS_ERROR|CUDA_ERROR_MPS_CLIENT_TERMINATED|the MPS server does not serve this process; no task started on this node; check the MPS daemon and CUDA_MPS_PIPE_DIRECTORY
END
}

@test "a stub library that answers 34 to everything" {
    driver_line "$(node 1)" 'driver stub=1'
    show --gres=gpu:4 --auto-gpus=1
    expect_short "DRIVER_STUB: cuInit: CUDA_ERROR_STUB_LIBRARY (34), libcuda is $CLUSTER_DIR/driver/libcuda.so.1: "
    expect_lines 1
}

@test "the path of the libcuda is that of the task's own loader" {
    local other=$CLUSTER_DIR/work/compat
    as_user mkdir -p "$other"
    install -m 755 "$CLUSTER_DIR/driver/libcuda.so.1" "$other/"
    echo 'all behaviour=init:804' >"$other/$(node 1).gpus"
    plugstack "$(sed 's/ libcuda=[^ ]*//' "$CLUSTER_DIR/plugstack.conf")"
    show LD_LIBRARY_PATH="$other:$CLUSTER_DIR/driver" --gres=gpu:4 --auto-gpus=1
    expect_short "COMPAT_UNSUPPORTED: cuInit: CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE (804), libcuda is $other/libcuda.so.1: "
    show LD_LIBRARY_PATH="$CLUSTER_DIR/driver:$other" --gres=gpu:4 --auto-gpus=1
    expect 0 0
}

@test "DRIVER_MISSING: in the loader's words" {
    local path words
    printf 'no library' >"$CLUSTER_DIR/work/text.so"
    while IFS='|' read -r path words; do
        # shellcheck disable=SC2046  # a word or none
        plugstack "$(sed 's/ libcuda=[^ ]*//' "$CLUSTER_DIR/plugstack.conf")${path:+ libcuda=$path}"
        show --gres=gpu:4 --auto-gpus=1
        expect_short "DRIVER_MISSING: $words: libcuda cannot be loaded; no task started on this node; use a node with the NVIDIA driver, or report this one"
        expect_lines 1
    done <<END
|libcuda.so.1: cannot open shared object file: No such file or directory
/nonexistent/libcuda.so.1|/nonexistent/libcuda.so.1: cannot open shared object file: No such file or directory
$CLUSTER_DIR/work/text.so|$CLUSTER_DIR/work/text.so: file too short
/usr/lib/x86_64-linux-gnu/libm.so.6|/usr/lib/x86_64-linux-gnu/libm.so.6 has no function cuInit
END
}

@test "several node-wide codes: the first one is said, the others too" {
    use_plugin retry=0
    gpus "$(node 1)" init:802 init:304 init:304 init:3
    show --gres=gpu:4 --auto-gpus=1
    expect_short 'SYSTEM_NOT_READY: cuInit: CUDA_ERROR_SYSTEM_NOT_READY (802), also cuInit: CUDA_ERROR_OPERATING_SYSTEM (304), cuInit: CUDA_ERROR_NOT_INITIALIZED (3), libcuda is '
    expect_lines 1
}

@test "what one GPU of several says is not the node's" {
    use_plugin retry=0
    local code result
    while read -r result code; do
        gpus "$(node 1)" ok "init:$result" ok ok
        show --gres=gpu:4 --auto-gpus=4
        expect_short '3 of 4 GPUs usable' "  1  $code "
        show --gres=gpu:4 --auto-gpus=3
        expect 0 0,2,3
    done <<'END'
802 SYSTEM_NOT_READY
999 UNKNOWN_ERROR
3 NOT_INITIALIZED
304 OS_CALL_FAILED
END
}

@test "NO_DEVICE is not NOT_VISIBLE: one more probe looks without the list" {
    gpus "$(node 1)" gone gone gone gone
    show --gres=gpu:4 --auto-gpus=1
    expect_short 'NO_DEVICE: cuInit: CUDA_ERROR_NO_DEVICE (100), libcuda is '
    expect_lines 1
    [ "$(driver_calls "$(node 1)" cuInit begin | cut -d' ' -f4 | grep -cx -e -)" = 1 ]
    # The same call and code, but the node has GPUs: it is the list.
    fresh_driver
    set_list
    show TEST_LIST=7,9 --gres=gpu:4 --auto-gpus=1
    expect_short '0 of 2 GPUs usable' '  7  NOT_VISIBLE  the driver shows 4 GPUs; a lost GPU, or an absolute index inside a device cgroup?' '  9  NOT_VISIBLE  '
    # Where all is well, and where the failure is another, nobody looks.
    fresh_driver
    gpus "$(node 1)" ctx:214 ok ok ok
    show TEST_LIST=0,1 --gres=gpu:4 --auto-gpus=2
    expect 75 ''
    run ! grep -qx -e - <(driver_calls "$(node 1)" cuInit begin | cut -d' ' -f4)
}

# under LIMIT ARGUMENTS...: `show`, with this limit (ulimit -v, KiB) passed on to the job.
under() {
    rm -f "$CLUSTER_DIR/work/ran"
    # shellcheck disable=SC2034  # bats' own
    run --separate-stderr as_user sh -c "ulimit -v $1; exec srun --propagate=AS \"\$@\"" - "${@:2}" \
        sh -c 'touch ran; echo "${CUDA_VISIBLE_DEVICES-unset}"'
}

@test "ADDRESS_LIMIT: out of memory under ulimit -v names the limit" {
    driver_line "$(node 1)" 'driver reserve=20G'
    under $((16 << 20)) --gres=gpu:2 --auto-gpus=1
    expect_short "ADDRESS_LIMIT: cuInit: CUDA_ERROR_OUT_OF_MEMORY (2), libcuda is $CLUSTER_DIR/driver/libcuda.so.1, the limit is 16.0 GiB: the driver ran out of memory under a virtual memory limit; no task started on this node; raise it with ulimit -v unlimited before srun or sbatch, or have the site lift it"
    expect_lines 1
    under $((32 << 20)) --gres=gpu:2 --auto-gpus=2
    expect 0 0,1
    under unlimited --gres=gpu:2 --auto-gpus=2
    expect 0 0,1
}

@test "ADDRESS_LIMIT: of one GPU it is a row" {
    gpus "$(node 1)" ok alloc:2
    under $((16 << 20)) --gres=gpu:2 --auto-gpus=2
    expect_short "  1  ADDRESS_LIMIT  $(of_gpu 1)  cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2), under a virtual memory limit of 16.0 GiB"
}

@test "UNKNOWN_ERROR of the only GPU says which GPU it is" {
    gpus "$(node 1)" ctx:999
    show --gres=gpu:1 --auto-gpus=1
    expect_short 'UNKNOWN_ERROR' "$(of_gpu 0)" 'cuCtxCreate: CUDA_ERROR_UNKNOWN (999)'
}

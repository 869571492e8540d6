#!/usr/bin/env bats
# The demo, run once: what it shows, that it leaves nothing, and that README.md says what is so.
#
# Texts with $ and ` are in single quotes, and bats calls what seems to be unreachable.
# shellcheck disable=SC2016,SC2317

load helper

root=$BATS_TEST_DIRNAME/../..

# The demo makes its own cluster. Others may be on this host: what is the demo's own is noted while it
# runs, and device nodes with inode and time, since their names are taken again.
setup_file() {
    local demo minors='' status=0 minor
    [[ -z $(cluster_obstacle) ]] || return 0
    cd "$BATS_FILE_TMPDIR" || return
    "$root/tests/demo.sh" >shown 2>said </dev/null 3>&- &
    demo=$!
    shown_or_ended() { grep -q '^\$ srun' shown || ! kill -0 "$demo" 2>/dev/null; }
    wait_until 300 shown_or_ended
    sed -nE 's/^\$ srun -w ([a-z]+[0-9a-f]{6})n1 .*/\1/p' shown | head -n 1 >name
    dirname "$(grep -ls "=$(cat name)\$" /tmp/agd.*/cluster/env || echo none/none)" >folder
    minors=$(cat "$(cat folder)/state/minors" 2>/dev/null) || true
    for minor in $minors; do
        stat -c '%n %i %Z' "/dev/nvidia$minor"
    done >devices 2>/dev/null || true
    wait "$demo" || status=$?
    echo "$status" >status
    mask <shown >masked
}

teardown_file() { :; }

setup() {
    need_cluster
    cd "$BATS_FILE_TMPDIR" || return
}

teardown() {
    [[ -n ${BATS_TEST_COMPLETED:-} || ! -e $BATS_FILE_TMPDIR/shown ]] || cat shown said
}

# mask: names, times and numbers that differ from run to run.
mask() {
    sed -E 's/\b[a-z]{1,8}[0-9a-f]{6}n([12])\b/node\1/g; s/[0-9]+\.[0-9]+ s\b/T s/g
        s/GPU-[0-9a-f]{8}[-0-9a-f]*/GPU-UUID/g; s/(batch job) [0-9]+/\1 N/'
}

# shows COMMAND: what the demo shows after this command, up to the next blank line.
shows() {
    awk -v command="\$ $1" '$0 == command { on = 1; next } $0 == "" || (/^\$ / && !/^\$ echo/) { on = 0 } on' masked
}

# differs A B: prints how two lists of lines differ; their order does not count.
differs() {
    diff <(LC_ALL=C sort -u <<<"$1") <(LC_ALL=C sort -u <<<"$2")
}

# joined FILE: C++ with each row of a table on one line, its literals put together.
joined() {
    sed -z 's/"\n *"//g; s/\n */ /g' "$root/$1"
}

# rows HEADER: the rows of README's tables under this header line.
rows() {
    awk -v header="$1" '$0 == header { on = 1; getline; next } !/^\|/ { on = 0 } on' "$root/README.md"
}

@test "the demo ends well and says nothing else" {
    [ "$(cat status)" = 0 ]
    run -1 grep -v '^\*\*\* cluster: FENCED=no' said
    [ "$(grep -c $'\e' shown)" = 0 ]
}

@test "two good GPUs of four are found" {
    run -0 shows 'srun -w node1 --gres=gpu:4 --auto-gpus=2 printenv CUDA_VISIBLE_DEVICES'
    differs "$output" '0,3
auto-gpus: node1: using 0,3; 1 ECC_UNCORRECTABLE, 2 UNDECIDED (no answer in T s) skipped'
}

@test "four are not, and the table says why" {
    run -0 shows 'srun -w node1 --gres=gpu:4 --auto-gpus=4 printenv CUDA_VISIBLE_DEVICES'
    differs "$output" 'auto-gpus: node1: 2 of 4 GPUs usable, --auto-gpus=4 asks for 4; no task started on this node
auto-gpus: node1:   0  usable             NVIDIA H100 80GB HBM3  GPU-UUID  20:00.0  T s
auto-gpus: node1:   1  ECC_UNCORRECTABLE  NVIDIA H100 80GB HBM3  GPU-UUID  21:00.0  cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)
auto-gpus: node1:   2  UNDECIDED          no answer in T s
auto-gpus: node1:   3  usable             NVIDIA H100 80GB HBM3  GPU-UUID  23:00.0  T s
auto-gpus: node1: use --auto-gpus=2, or --exclude=node1, and report the node
srun: error: node1: task 0: Exited with exit code 75
$ echo $?
75'
}

@test "a batch script and its sruns have their requests" {
    run -0 shows 'cat job.out'
    [ "$(grep -v '^auto-gpus: ' <<<"$output")" = "the script has 0,3
0,3
0" ]
    [ "$(grep -cxF 'auto-gpus: node1: using 0,3; 1 ECC_UNCORRECTABLE, 2 UNDECIDED (no answer in T s) skipped' <<<"$output")" = 2 ]
}

@test "without the option a program hangs, or meets the bad GPU; with it, it runs" {
    run -0 shows 'srun -w node1 --gres=gpu:4 timeout 3 cuda-task'
    [ "${lines[-1]}" = 124 ]
    run -0 shows 'srun -w node1 --gres=gpu:2 cuda-task'
    [[ $output == *"device 1: cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)"* ]]
    [ "${lines[-1]}" = 1 ]
    run -0 shows 'srun -w node1 --gres=gpu:4 --auto-gpus=2 cuda-task'
    [ "$(grep '^device' <<<"$output")" = "device 0: NVIDIA H100 80GB HBM3 GPU-UUID 0000:20:00.0 ok
device 1: NVIDIA H100 80GB HBM3 GPU-UUID 0000:23:00.0 ok" ]
}

@test "where all is well there is the result alone" {
    run -0 shows 'srun -w node2 --gres=gpu:4 --auto-gpus=2 printenv CUDA_VISIBLE_DEVICES'
    [ "$output" = 0,1 ]
}

@test "too large a request and a malformed one are refused" {
    run -0 shows 'srun -w node2 --gres=gpu:4 --auto-gpus=9 printenv CUDA_VISIBLE_DEVICES'
    [[ $output == *"auto-gpus: node2: LIST_TOO_SHORT: "* ]]
    [ "${lines[-1]}" = 78 ]
    run -0 shows 'srun -w node2 --gres=gpu:4 --auto-gpus=two printenv CUDA_VISIBLE_DEVICES'
    [[ ${lines[0]} == "srun: error: auto-gpus: BAD_OPTION: --auto-gpus='two': "* ]]
    [ "${lines[-1]}" = 255 ]
}

@test "nothing of the demo is left" {
    local name folder device
    name=$(cat name) folder=$(cat folder)
    [ -n "$name" ]
    [[ $folder == /tmp/agd.*/cluster ]]
    [ ! -e "$(dirname "$folder")" ]
    run -1 grep -F -e "$name" -e "$folder" <(cluster snapshot)
    run grep -lsF "$folder" /proc/[0-9]*/environ
    [ -z "$output" ]
    while read -r device; do
        [ "$(stat -c '%n %i %Z' "${device%% *}" 2>/dev/null)" != "$device" ]
    done <devices
}

@test "README shows what the demo shows" {
    awk '/^## Ten failures/ { exit } /^```console/ { on = 1; next } /^```/ { on = 0 } on' "$root/README.md" | mask >readme
    [ "$(wc -l <readme)" -gt 10 ]
    run -1 grep -vxFf masked readme
    [ -z "$output" ]
}

@test "README has the reasons as they are in the code" {
    local in_code
    in_code=$(joined src/core/reason.cpp |
        grep -oE '\{Reason::[a-z_]+, "[^"]*", Scope::[a-z]+, "[^"]*", "[^"]*"\}' |
        sed -E 's/^[^"]*"([^"]*)"[^"]*"([^"]*)", "([^"]*)".*/| `\1` | \2 | \3 |/' | grep -v '`usable`')
    [ "$(wc -l <<<"$in_code")" = "$(($(grep -c '{Reason::' "$root/src/core/reason.cpp") - 1))" ]
    differs "$(rows '| code | meaning | remedy |')" "$in_code"
}

@test "README has the options as they are in the code" {
    local in_code
    in_code=$(joined src/core/options.cpp | grep -oE '\{Option::[a-z_]+, "[^}]*\}' |
        sed -E 's/nullptr/""/; s/^[^"]*"([^"]*)", "([^"]*)", "([^"]*)", "([^"]*)".*/\1|\3|\4/')
    differs "$(rows '| option | values | default | environment |' |
        sed -E 's/^\| `--([a-z-]*)=?` \| (.*) \| [^|]* \| `SLURM_([A-Z_]*)` \|$/\1|\3|\2/; s/(whole seconds, 1 to )600/\1/')" "$in_code"
}

@test "README has the words of plugstack.conf as they are in the code" {
    local in_code
    in_code=$(joined src/core/site.cpp | grep -oE '\{\{"[a-z_]+", "[^"]*", "[^"]*"\}' | sed -E 's/^\{\{"(.*)", "(.*)", "(.*)"\}$/\1|\2|\3/')
    [ "$(wc -l <<<"$in_code")" -gt 9 ]
    differs "$(rows '| word | default | values | meaning |' |
        sed -E 's/^\| `([a-z_]*)=` \| ?([^|]*) \| ([^|]*) \| .*/\1|\2|\3/')" "$in_code"
}

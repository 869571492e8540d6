#!/usr/bin/env bats
# Lists that Slurm would not make, but another plugin or a site's mistake can: each ends in one way.
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
    use_plugin
    set_list
}

# with LIST [ARGUMENTS]...: one task with this list.
with() {
    show TEST_LIST="$1" --gres=gpu:4 "${@:2}"
}

# refused LIST TEXT: no probe is started for it, the task ends with 78 and this text; without a
# request it gets its list as it is.
refused() {
    with "$1" --auto-gpus=1
    expect 78 ''
    nothing_ran
    expect_said <<<"$2"
    no_probe_started
    with "$1" --auto-gpus=off
    expect 0 "$([[ $1 == '(unset)' ]] && echo unset || echo "$1")"
    with "$1"
    expect 0 "$([[ $1 == '(unset)' ]] && echo unset || echo "$1")"
    [ -z "$stderr" ]
}

ask_for='ask for GPUs with --gpus=N or --gres=gpu:N'
forms='use indices, GPU-<uuid> or MIG-<uuid>, separated by commas'

@test "an empty list" {
    refused '' "EMPTY_LIST: CUDA_VISIBLE_DEVICES is empty: no GPU was allocated to this step, or something emptied the list; $ask_for"
}

@test "no list" {
    refused '(unset)' "NOT_ALLOCATED: CUDA_VISIBLE_DEVICES is not set: no GPU was allocated to this step; $ask_for"
}

@test "Slurm's word for no GPU" {
    refused NoDevFiles "NOT_ALLOCATED: CUDA_VISIBLE_DEVICES is 'NoDevFiles': no GPU was allocated to this step; $ask_for"
}

@test "the same GPU twice" {
    local twice
    refused 0,0 "DUPLICATE: duplicate 0 in CUDA_VISIBLE_DEVICES=0,0: CUDA would show no GPU; name each GPU once"
    refused 0,1,2,1 "DUPLICATE: duplicate 1 in CUDA_VISIBLE_DEVICES=0,1,2,1: CUDA would show no GPU; name each GPU once"
    refused 1,01 "DUPLICATE: duplicate 01 in CUDA_VISIBLE_DEVICES=1,01: CUDA would show no GPU; name each GPU once"
    twice=$(uuids 0 0)
    refused "$twice" "DUPLICATE: duplicate $(uuids 0) in CUDA_VISIBLE_DEVICES=${twice:0:80}... (81 bytes): CUDA would show no GPU; name each GPU once"
}

@test "two names of one GPU are found by the probes" {
    local both
    both=$(uuids 0)
    both+=,${both:0:20}
    with "$both" --auto-gpus=2
    expect 78 ''
    nothing_ran
    expect_said <<END
1 of 2 GPUs usable, --auto-gpus=2 asks for 2; no task started on this node
  $(uuids 0)  usable     $(of_gpu 0)  T s
  ${both##*,}$(printf '%20s' '')  DUPLICATE  $(of_gpu 0)  CUDA_VISIBLE_DEVICES names a GPU twice, and CUDA would show none
name each GPU once
END
    with "$both" --auto-gpus=1
    expect 0 "$(uuids 0)"
}

@test "a list that begins with what names nothing" {
    refused -1 "BAD_TOKEN: entry 1 of CUDA_VISIBLE_DEVICES is '-1', which names no GPU, and the driver stops there; $forms"
    refused -1,0,1 "BAD_TOKEN: entry 1 of CUDA_VISIBLE_DEVICES is '-1', which names no GPU, and the driver stops there; $forms"
    refused , "BAD_TOKEN: entry 1 of CUDA_VISIBLE_DEVICES is '', which names no GPU, and the driver stops there; $forms"
    refused ,0,1 "BAD_TOKEN: entry 1 of CUDA_VISIBLE_DEVICES is '', which names no GPU, and the driver stops there; $forms"
    refused ' ' "BAD_TOKEN: entry 1 of CUDA_VISIBLE_DEVICES is ' ', which names no GPU, and the driver stops there; $forms"
    refused all "BAD_TOKEN: entry 1 of CUDA_VISIBLE_DEVICES is 'all', which names no GPU, and the driver stops there; $forms"
    refused gpu0 "BAD_TOKEN: entry 1 of CUDA_VISIBLE_DEVICES is 'gpu0', which names no GPU, and the driver stops there; $forms"
    refused '"0,1"' "BAD_TOKEN: entry 1 of CUDA_VISIBLE_DEVICES is '\"0', which names no GPU, and the driver stops there; $forms"
    refused void "BAD_TOKEN: entry 1 of CUDA_VISIBLE_DEVICES is 'void', which names no GPU, and the driver stops there; $forms"
}

@test "a list that stops on the way" {
    local stop
    for stop in -1 '' ' ' x; do
        with "2,0,$stop,1" --auto-gpus=3
        expect 78 ''
        nothing_ran
        expect_said <<<"LIST_TOO_SHORT: --auto-gpus=3 asks for 3, but CUDA_VISIBLE_DEVICES has 2 entries before '$stop', where the driver stops reading; ask for fewer, or allocate more with --gpus=N or --gres=gpu:N"
    done
    no_probe_started
    with 2,0,-1,1 --auto-gpus=2
    expect 0 2,0
    with 2,,0 --auto-gpus=1
    expect 0 2
    with 2, --auto-gpus=1
    expect 0 2
}

@test "a thousand entries" {
    local list
    list=$(seq -s , 0 999)
    refused "$list" "BAD_TOKEN: CUDA_VISIBLE_DEVICES has 1000 entries; at most 256 are read; $forms"
}

@test "an entry of ten thousand characters" {
    local long
    printf -v long '%010000d' 7
    refused "$long" "BAD_TOKEN: entry 1 of CUDA_VISIBLE_DEVICES is '${long:0:40}... (10000 bytes)', longer than any name of a GPU; $forms"
    refused "0,GPU-$long" "BAD_TOKEN: entry 2 of CUDA_VISIBLE_DEVICES is 'GPU-${long:0:36}... (10004 bytes)', longer than any name of a GPU; $forms"
}

@test "bytes that are no text" {
    refused $'\xff\xfe' "BAD_TOKEN: entry 1 of CUDA_VISIBLE_DEVICES is '\\xff\\xfe', which names no GPU, and the driver stops there; $forms"
    refused ２ "BAD_TOKEN: entry 1 of CUDA_VISIBLE_DEVICES is '\\xef\\xbc\\x92', which names no GPU, and the driver stops there; $forms"
    refused $'\e[31m0' "BAD_TOKEN: entry 1 of CUDA_VISIBLE_DEVICES is '\\x1b[31m0', which names no GPU, and the driver stops there; $forms"
    with $'GPU-\xff\e[31m' --auto-gpus=1
    expect 75 ''
    [[ $stderr != *$'\e'* && $stderr == *'  GPU-\xff\x1b[31m  NOT_VISIBLE  the driver shows 4 GPUs; unknown or ambiguous name among them'* ]]
    with $'0\n' --auto-gpus=1
    expect 0 0
}

@test "an index that no number holds is past the end" {
    with 18446744073709551616,1 --auto-gpus=1
    expect 0 1
    expect_said <<<'using 1; 18446744073709551616 NOT_VISIBLE skipped'
    with 4294967296 --auto-gpus=1
    expect 75 ''
    expect_said <<END
0 of 1 GPUs usable, --auto-gpus=1 asks for 1; no task started on this node
  4294967296  NOT_VISIBLE  the driver shows 4 GPUs; a lost GPU, or an absolute index inside a device cgroup?
use --exclude=$(node 1), and report the node
END
}

@test "indices with holes keep their numbers" {
    need_fence
    with 3,1 --auto-gpus=1
    expect 0 3
    with 7,3,5,1 --auto-gpus=2
    expect 0 3,1
    expect_said <<<'using 3,1; 7 NOT_VISIBLE, 5 NOT_VISIBLE skipped'
}

@test "under a site default a list that is refused is a warning, and one without GPUs is not" {
    plugstack "$(sed 's/$/ default=1/;1s/ default=1$//' "$CLUSTER_DIR/plugstack.conf")"
    with 0,0
    expect 0 0,0
    expect_said <<<"warning: the site's default of --auto-gpus was not applied: DUPLICATE: duplicate 0 in CUDA_VISIBLE_DEVICES=0,0: CUDA would show no GPU"
    with -1
    expect 0 -1
    expect_said <<<"warning: the site's default of --auto-gpus was not applied: BAD_TOKEN: entry 1 of CUDA_VISIBLE_DEVICES is '-1', which names no GPU, and the driver stops there"
    for list in '' NoDevFiles; do
        with "$list"
        expect 0 "$list"
        [ -z "$stderr" ]
    done
    no_probe_started
}

#!/usr/bin/env bats
# Faults that may pass, 46 and 802: tried again in fresh processes for retry= seconds, and not longer
# than the answer matters.
#
# shellcheck disable=SC2016,SC2154

load faults

setup_file() { start_cluster --nodes 1 --gpus 4; }

# tries LIST: how many processes have tried it.
tries() {
    driver_calls "$(node 1)" cuInit begin | awk -v list="$1" '$4 == list' | wc -l
}

@test "46 that passes after two tries, each in a process of its own" {
    gpus "$(node 1)" ok trans46:2 ok ok
    show --gres=gpu:4 --auto-gpus=4
    expect 0 0,1,2,3
    [ -z "$stderr" ]
    [ "$(tries 1)" = 3 ]
    [ "$(driver_calls "$(node 1)" cuInit begin | awk '$4 == 1 { print $2 }' | sort -u | wc -l)" = 3 ]
    [ "$(tries 0)" = 1 ]
}

@test "46 in exclusive-process mode, and 802, are tried again as well" {
    gpus "$(node 1)" 'trans46:1 mode=exclusive_process' ok ok ok
    show --gres=gpu:4 --auto-gpus=4
    expect 0 0,1,2,3
    [ "$(tries 0)" = 2 ]
    fresh_driver
    gpus "$(node 1)" trans802:2 trans802:1 ok ok
    show --gres=gpu:4 --auto-gpus=4
    expect 0 0,1,2,3
    # The list's own probe meets the fault as well, and counts.
    (($(tries 0) >= 2 && $(tries 2) == 1))
    fresh_driver
    gpus "$(node 1)" ok ok ok ok
    driver_line "$(node 1)" 'all behaviour=trans802_for:400ms'
    show --gres=gpu:4 --auto-gpus=4
    expect 0 0,1,2,3
}

@test "a try in a process that failed once would fail again: the driver itself says so" {
    gpus "$(node 1)" trans46:1
    show --gres=gpu:1 --auto-gpus=1
    expect 0 0
    [ "$(driver_calls "$(node 1)" cuCtxCreate_v2 46 | wc -l)" = 1 ]
    [ "$(driver_calls "$(node 1)" cuCtxCreate_v2 0 | wc -l)" = 1 ]
}

@test "retry=0 never tries again" {
    use_plugin retry=0
    gpus "$(node 1)" ok trans46:1 ok ok
    show --gres=gpu:4 --auto-gpus=4
    expect_short '3 of 4 GPUs usable' '1  UNAVAILABLE '
    [ "$(tries 1)" = 1 ]
    fresh_driver
    gpus "$(node 1)" trans802:1
    show --gres=gpu:1 --auto-gpus=1
    expect_short 'SYSTEM_NOT_READY'
    [ "$(tries 0)" = 1 ]
}

@test "retry= bounds the tries, and the deadline does" {
    use_plugin retry=1
    gpus "$(node 1)" ctx:46
    elapsed show --gres=gpu:1 --auto-gpus=1
    expect_short '0  UNAVAILABLE '
    ((took >= 50 && took < 200)) || { echo "$took"; return 1; }
    (($(tries 0) >= 3))
    use_plugin retry=60
    elapsed show --gres=gpu:1 --auto-gpus=1 --auto-gpus-timeout=1
    expect_short '0  UNAVAILABLE '
    ((took < 250)) || { echo "$took"; return 1; }
}

@test "by default 46 is tried for five seconds" {
    gpus "$(node 1)" ctx:46
    elapsed show --gres=gpu:1 --auto-gpus=1
    expect_short '0  UNAVAILABLE '
    ((took >= 400 && took < 700)) || { echo "$took"; return 1; }
}

@test "tries end when enough others work" {
    gpus "$(node 1)" ctx:46 ok ok ok
    elapsed show --gres=gpu:4 --auto-gpus=3
    expect 0 1,2,3
    expect_said <<<'using 1,2,3; 0 UNAVAILABLE skipped'
    ((took < 200)) || { echo "$took"; return 1; }
    nothing_left
}

@test "tries end when nothing can help any more" {
    gpus "$(node 1)" ctx:46 ctx:214 ctx:214 ok
    elapsed show --gres=gpu:4 --auto-gpus=3
    expect_short '1 of 4 GPUs usable' '0  UNAVAILABLE ' '1  ECC_UNCORRECTABLE '
    ((took < 200)) || { echo "$took"; return 1; }
    nothing_left
}

@test "other faults are not tried again" {
    local behaviour
    for behaviour in ctx:214 ctx:999 alloc:2 ctx:2 sync:719 init:3 init:803; do
        fresh_driver
        gpus "$(node 1)" "$behaviour" ok ok ok
        show --gres=gpu:4 --auto-gpus=4
        expect 75 ''
        [ "$(tries 0)" = 1 ] || { echo "$behaviour"; return 1; }
    done
}

@test "a task that is cancelled while it tries again ends at once" {
    gpus "$(node 1)" ctx:46
    use_plugin retry=60
    background srun_user --gres=gpu:1 --auto-gpus=1 true
    wait_until 10 eval '(($(tries 0) >= 2))'
    end_in_background
}

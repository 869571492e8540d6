#!/usr/bin/env bats
# Every way to ask: ranges, least memory, the form of the list, the kind of check, the time.
#
# Scripts for the steps are in single quotes.
# shellcheck disable=SC2016,SC2154

load faults

setup_file() { start_cluster --nodes 1 --gpus 4; }

show_answer='echo "$CUDA_VISIBLE_DEVICES $AUTO_GPUS_COUNT <$AUTO_GPUS_REJECTED>"'

@test "MIN-MAX takes all that work, from MIN to MAX" {
    local working request expected
    while read -r working request expected; do
        # shellcheck disable=SC2046,SC2086  # words
        gpus "$(node 1)" $(for gpu in 0 1 2 3; do [[ $working == *$gpu* ]] && echo ok || echo ctx:214; done)
        show --gres=gpu:4 --auto-gpus="$request"
        [[ "$status${output:+ $output}" == "$expected" ]] ||
            { echo "$working $request: $status $output"; return 1; }
    done <<'END'
0123 1-4 0 0,1,2,3
0123 2-3 0 0,1,2
0123 3-3 0 0,1,2
123 1-2 0 1,2
13 1-4 0 1,3
13 2+ 0 1,3
3 1+ 0 3
0123 4+ 0 0,1,2,3
0123 1-65535 0 0,1,2,3
3 2+ 75
3 2-4 75
012 4+ 75
END
}

@test "an elastic request waits for a GPU that is only slower" {
    gpus "$(node 1)" ok slow:900ms ok slow:600ms
    elapsed ask --gres=gpu:4 --auto-gpus=1-4 sh -c "$show_answer"
    expect 0 '0,1,2,3 4 <>'
    ((took >= 90))
    [ -z "$stderr" ]
}

@test "an elastic request that has its MIN goes on when no answer has come for three seconds" {
    gpus "$(node 1)" ok hangK ok hangK
    elapsed ask --gres=gpu:4 --auto-gpus=2-4 --auto-gpus-timeout=30 sh -c "$show_answer"
    expect 0 '0,2 2 <1:UNDECIDED>'
    expect_said <<<'using 0,2; 1 UNDECIDED (no answer in T s) skipped'
    ((took >= 300 && took < 600))
    nothing_left
}

@test "what comes in time starts the quiet anew" {
    gpus "$(node 1)" ok hangK slow:2500ms ok
    elapsed ask --gres=gpu:4 --auto-gpus=1+ --auto-gpus-timeout=30 sh -c "$show_answer"
    expect 0 '0,2,3 3 <1:UNDECIDED>'
    ((took >= 550 && took < 850))
}

@test "an elastic request that has its MIN takes what works before the time is up" {
    gpus "$(node 1)" ok hangK ok hangK
    elapsed ask --gres=gpu:4 --auto-gpus=1+ --auto-gpus-timeout=1 sh -c "$show_answer"
    expect 0 '0,2 2 <1:UNDECIDED>'
    ((took < 250))
}

@test "short of MIN fails, and says how many it asks for" {
    gpus "$(node 1)" ok ctx:214 ctx:214 ctx:214
    show --gres=gpu:4 --auto-gpus=2-4
    expect_short '1 of 4 GPUs usable, --auto-gpus=2-4 asks for 2; no task started on this node'
    show --gres=gpu:4 --auto-gpus=3+
    expect_short '1 of 4 GPUs usable, --auto-gpus=3+ asks for 3; no task started on this node'
}

@test "MIN above the list is refused before any probe, MAX above it is not" {
    show --gres=gpu:2 --auto-gpus=3-4
    expect 78 ''
    expect_texts 'LIST_TOO_SHORT: --auto-gpus=3-4 asks for 3, but CUDA_VISIBLE_DEVICES has 2 entries; '
    no_probe_started
    show --gres=gpu:2 --auto-gpus=1-4
    expect 0 0,1
}

@test "min-free: less is refused with both figures, as much is enough" {
    # Free once our own context is made: 2400 - 1000 - 400.
    gpus "$(node 1)" 'ok total=2400M used=1000M' 'ok total=2400M used=1001M'
    show --gres=gpu:2 --auto-gpus=1-2 --auto-gpus-min-free=1000M
    expect 0 0
    expect_said <<<'using 0; 1 LOW_MEMORY skipped'
    show --gres=gpu:2 --auto-gpus=2 --auto-gpus-min-free=1000
    expect_short '0  usable ' "1  LOW_MEMORY  $(of_gpu 1)  999 MiB of 2.3 GiB free, at least 1000 MiB asked for" \
        ', or try again later'
    show --gres=gpu:2 --auto-gpus=2 --auto-gpus-min-free=1024000K
    expect_short '1  LOW_MEMORY '
    show --gres=gpu:2 --auto-gpus=1 --auto-gpus-min-free=1G
    expect_short '0 of 2 GPUs usable' '0  LOW_MEMORY ' '1  LOW_MEMORY ' 'at least 1.0 GiB asked for'
    show --gres=gpu:2 --auto-gpus=2 --auto-gpus-min-free=0
    expect 0 0,1
}

@test "min_free= is the site's, and an option wins" {
    gpus "$(node 1)" 'ok total=8000M used=6000M' 'ok total=8000M used=1000M'
    use_plugin min_free=4G
    show --gres=gpu:2 --auto-gpus=1
    expect 0 1
    show --gres=gpu:2 --auto-gpus=1 --auto-gpus-min-free=0
    [[ $status == 0 && $output == 0 ]]
    show --gres=gpu:2 --auto-gpus=1 --auto-gpus-min-free=8G
    expect_short 'at least 8.0 GiB asked for'
    show --gres=gpu:2
    expect 0 0,1
}

@test "sizes that are none, or larger than any memory, are refused" {
    local value forms='use a size such as 512M or 20G; a bare number is MiB'
    for value in 20Q -5G 5-G 0x10 1e3 G 20g '20 G' 1.5G 20GB ''; do
        refused --auto-gpus-min-free "$value" 'not a size' "$forms"
    done
    # 2^64 bytes, in every unit, and the largest that is below.
    for value in 18014398509481984K 17592186044416 17592186044416M 17179869184G 16777216T 18446744073709551616; do
        refused --auto-gpus-min-free "$value" 'larger than any memory' "$forms"
    done
    show --gres=gpu:1 --auto-gpus=1 --auto-gpus-min-free=16777215T
    expect_short 'LOW_MEMORY'
}

@test "emit: keep and uuid, of the option and of the site" {
    gpus "$(node 1)" ok ctx:214 ok ok
    local option word expected
    while read -r option word expected; do
        # shellcheck disable=SC2086  # none or one
        use_plugin ${word#none}
        # shellcheck disable=SC2086  # none or one
        show --gres=gpu:4 --auto-gpus=2 ${option#none}
        [[ $status == 0 && $output == "$expected" ]] || { echo "$option $word: $status $output"; return 1; }
    done <<END
none none 0,2
none emit=keep 0,2
none emit=uuid $(uuids 0 2)
--auto-gpus-emit=keep none 0,2
--auto-gpus-emit=keep emit=uuid 0,2
--auto-gpus-emit=uuid none $(uuids 0 2)
--auto-gpus-emit=uuid emit=keep $(uuids 0 2)
END
    refused --auto-gpus-emit index 'unknown value' 'use keep or uuid'
}

@test "check: the one level there is, and no other" {
    show --gres=gpu:1 --auto-gpus=1 --auto-gpus-check=context
    expect 0 0
    use_plugin check=context min_check=context
    show --gres=gpu:1 --auto-gpus=1
    expect 0 0
    use_plugin
    local value
    for value in compute memory Context none ''; do
        refused --auto-gpus-check "$value" 'unknown value' 'use context'
    done
}

@test "the time: up to the site's maximum, and the site's own where none is given" {
    use_plugin max_timeout=50
    refused --auto-gpus-timeout 51 'larger than 50' 'use whole seconds, 1 to 50'
    show --gres=gpu:1 --auto-gpus=1 --auto-gpus-timeout=50
    expect 0 0
    gpus "$(node 1)" hangK
    use_plugin timeout=1 max_timeout=2
    elapsed show --gres=gpu:1 --auto-gpus=1
    expect_short '0  TIMEOUT  no answer in 1 s, last seen in cuInit'
    ((took >= 100 && took < 250))
    elapsed show --gres=gpu:1 --auto-gpus=1 --auto-gpus-timeout=2
    expect_short '0  TIMEOUT  no answer in 2 s, last seen in cuInit'
    ((took >= 200 && took < 350))
}

@test "words of the site that contradict each other: who asked fails, who did not runs" {
    use_plugin timeout=100 max_timeout=50 default=1
    show --gres=gpu:1 --auto-gpus=1
    expect 255 ''
    nothing_ran
    [[ ${stderr_lines[0]} == "srun: error: auto-gpus: BAD_CONFIG: plugstack.conf: 'timeout=100 max_timeout=50': the default is above the maximum; use timeout= with at most the value of max_timeout=" ]]
    # The site's default is void then.
    show --gres=gpu:2
    expect 0 0,1
    [ -z "$stderr" ]
    no_probe_started
}

@test "a site default never makes a CPU job or a one-GPU job fail" {
    local default
    gpus "$(node 1)" ok ok ok ok
    for default in 1 4 2-3 3+ all; do
        use_plugin default=$default
        show
        expect 0 unset
        [ -z "$stderr" ]
        no_probe_started
        show --gres=gpu:1
        expect 0 0
        [ -z "$stderr" ]
        fresh_driver
    done
    use_plugin default=4
    show CUDA_VISIBLE_DEVICES= --gres=none
    [ "$status" -eq 0 ]
    batch --wrap 'srun touch ran'
    [[ $status == 0 && -e $CLUSTER_DIR/work/ran ]]
}

@test "a site default never makes a job on a node with a broken installation fail" {
    local word
    printf '#!/bin/sh\nexit 3\n' >"$CLUSTER_DIR/work/broken"
    chmod 755 "$CLUSTER_DIR/work/broken"
    for word in /nonexistent/auto-gpus /etc/passwd /bin/false "$CLUSTER_DIR/work/broken"; do
        use_plugin default=1 program="$word" timeout=1
        show --gres=gpu:2
        expect 0 0,1
        [[ $(said) == "PROBE_FAILED: "* || $(said) == *"warning: the site's default of --auto-gpus was not applied: "* ]]
        expect_lines 1
    done
    use_plugin default=nonsense
    show --gres=gpu:2
    expect 0 0,1
}

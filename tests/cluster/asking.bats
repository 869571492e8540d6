#!/usr/bin/env bats
# Who asks, where, and with which value: command lines, scripts, jobs and the steps in them, the site.
#
# Scripts for the steps are in single quotes.
# shellcheck disable=SC2016,SC2154

load expect

setup_file() {
    start_cluster --nodes 1 --gpus 4 --conf LaunchParameters=use_interactive_step \
        --conf 'InteractiveStepOptions="--interactive --preserve-env $SHELL"'
}

setup() {
    need_cluster
    need_driver
    use_cluster "$CLUSTER_DIR"
    fresh_driver
    use_plugin
}

list='echo "${CUDA_VISIBLE_DEVICES-unset}"'
allowed='use N (1 to 65535), MIN-MAX, MIN+, all, off or 0'

# script LINE...: a batch script in the user's folder.
script() {
    printf '%s\n' '#!/bin/sh' "$@" >"$CLUSTER_DIR/work/script.sh"
    chmod 755 "$CLUSTER_DIR/work/script.sh"
}

# refused OPTION=VALUE WHY ALLOWED [SHOWN]: srun, sbatch and salloc refuse it, with our text (the value
# as SHOWN) and Slurm's own line after it.
refused() {
    local command option=${1%%=*} shown=${4-${1#*=}}
    for command in srun 'sbatch --wrap' salloc; do
        # shellcheck disable=SC2086  # one word or two
        run --separate-stderr as_user ${command% *} "$1" ${command#"${command% *}"} true
        [[ $status == 255 && ${stderr_lines[0]} == "${command%% *}: error: auto-gpus: BAD_OPTION: $option='$shown': $2; $3" &&
            ${stderr_lines[1]} == "${command%% *}: error: Invalid $option argument:"* ]] ||
            { printf '%s: %s: status %s\n%s\n' "$command" "$1" "$status" "$stderr"; return 1; }
    done
}

@test "srun: a number, all, off, 0" {
    gpus "$(node 1)" ctx:214 ok ok ok
    show --gres=gpu:4 --auto-gpus=2
    expect 0 1,2
    show --gres=gpu:4 --auto-gpus 3
    expect 0 1,2,3
    show --gres=gpu:4 --auto-gpus=all
    expect 75 ''
    fresh_driver
    show --gres=gpu:4 --auto-gpus=off
    expect 0 0,1,2,3
    show --gres=gpu:4 --auto-gpus=0
    expect 0 0,1,2,3
    [ -z "$stderr" ]
    no_probe_started
}

@test "of several on one command line the last counts" {
    show --gres=gpu:4 --auto-gpus=off --auto-gpus=3 --auto-gpus=1
    expect 0 0
}

@test "sbatch: the option, and a line of the script" {
    gpus "$(node 1)" ctx:214 ok ok ok
    batch --gres=gpu:4 --auto-gpus=2 --wrap "$list"
    expect 0 "auto-gpus: $(node 1): using 1,2; 0 ECC_UNCORRECTABLE skipped
1,2"
    script '#SBATCH --auto-gpus=3' "$list"
    batch --gres=gpu:4 script.sh
    [ "$(tail -n 1 <<<"$output")" = 1,2,3 ]
    script '#SBATCH --auto-gpus=all' "$list"
    batch --gres=gpu:4 script.sh
    [ "$status" -eq 75 ]
    script '#SBATCH --auto-gpus=all' "$list"
    batch --gres=gpu:4 --auto-gpus=off script.sh
    expect 0 0,1,2,3
}

@test "sbatch: a bad line of the script is refused before it is queued" {
    script '#SBATCH --auto-gpus=two' "$list"
    run --separate-stderr as_user sbatch script.sh
    expect 255 ''
    [[ $stderr == "sbatch: error: auto-gpus: BAD_OPTION: --auto-gpus='two': not a whole number; $allowed"$'\n'* ]]
}

@test "salloc: its steps inherit, and can ask otherwise" {
    gpus "$(node 1)" ctx:214 ok ok ok
    for option in '' --auto-gpus=3 --auto-gpus=off --auto-gpus=all; do
        # shellcheck disable=SC2086  # none or one
        run --separate-stderr as_user salloc --gres=gpu:4 --auto-gpus=2 srun $option sh -c "$list"
        echo "$option: $status $output"
    done >"$BATS_TEST_TMPDIR/seen"
    [ "$(<"$BATS_TEST_TMPDIR/seen")" = ": 0 1,2
--auto-gpus=3: 0 1,2,3
--auto-gpus=off: 0 0,1,2,3
--auto-gpus=all: 75 " ]
}

@test "salloc: the interactive shell opens with what works" {
    gpus "$(node 1)" ctx:214 ok ok ok
    run --separate-stderr as_user salloc --gres=gpu:2 --auto-gpus=2 <<<'echo "$CUDA_VISIBLE_DEVICES $AUTO_GPUS_COUNT $AUTO_GPUS_REJECTED"; exit 3'
    expect 3 '1 1 0:ECC_UNCORRECTABLE'
    said | sed '/^using/d' | diff - <(cat <<END
1 of 2 GPUs usable, --auto-gpus=2 asks for 2
  0  ECC_UNCORRECTABLE  $(of_gpu 0)  cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)
  1  usable             $(of_gpu 1)  T s
use --auto-gpus=1, or --exclude=$(node 1), and report the node
END
    )
    gpus "$(node 1)" ctx:214 ctx:214 ok ok
    run --separate-stderr as_user salloc --gres=gpu:2 --auto-gpus=2 <<<'echo "opened <${CUDA_VISIBLE_DEVICES-unset}> <$AUTO_GPUS_COUNT>"'
    expect 0 'opened <> <0>'
    [[ $stderr == *": 0 of 2 GPUs usable, --auto-gpus=2 asks for 2"$'\n'* ]]
    said | grep -qxF 'warning: no GPU is usable: this shell opens with an empty list'
}

@test "salloc: the interactive shell has what works of a request for all" {
    gpus "$(node 1)" ok ctx:214 ok ok
    run --separate-stderr as_user salloc --gres=gpu:3 --auto-gpus=all <<<'echo "$CUDA_VISIBLE_DEVICES"'
    expect 0 0,2
}

@test "salloc: the interactive shell opens also where nothing could be checked" {
    use_plugin program=/nonexistent
    run --separate-stderr as_user salloc --gres=gpu:2 --auto-gpus=2 <<<'echo "$CUDA_VISIBLE_DEVICES"'
    expect 0 0,1
    said | tail -n 1 | grep -qxF 'warning: this shell opens with its GPUs unchecked'
}

@test "the steps of a batch job inherit its request, on Slurm's own list" {
    gpus "$(node 1)" ctx:214 ok ok ok
    batch --gres=gpu:4 --auto-gpus=2 --wrap "$list; srun sh -c '$list'; srun --auto-gpus=1 sh -c '$list'; srun --auto-gpus=off sh -c '$list'"
    [ "$status" -eq 0 ]
    [ "$(grep -v ^auto-gpus: <<<"$output")" = "1,2
1,2
1
0,1,2,3" ]
}

@test "export=NONE and export lists do not lose the request" {
    gpus "$(node 1)" ctx:214 ok ok ok
    ask --gres=gpu:4 --auto-gpus=2 --export=NONE /usr/bin/printenv CUDA_VISIBLE_DEVICES
    expect 0 1,2
    ask --gres=gpu:4 --auto-gpus=2 --export=PATH,A=b sh -c "$list"
    expect 0 1,2
}

@test "an inherited request is silent in a step without GPUs" {
    batch --gres=gpu:2 --auto-gpus=1 --wrap "srun --gres=none sh -c '$list'; echo \$?"
    expect 0 'unset
0'
}

@test "a step that is left alone does not keep the variables of the job's script" {
    batch --gres=gpu:2 --auto-gpus=1 --wrap 'srun --auto-gpus=off env | grep ^AUTO_GPUS; srun --gres=none env | grep ^AUTO_GPUS; true'
    expect 0 ''
}

@test "an inherited request that is larger than the step's list fails, and says whose it is" {
    batch --gres=gpu:4 --auto-gpus=3 --wrap 'srun --gres=gpu:2 touch ran; echo status $?'
    nothing_ran
    expect_said <<<'LIST_TOO_SHORT: --auto-gpus=3 asks for 3, but CUDA_VISIBLE_DEVICES has 2 entries; the request is the job'\''s, from its sbatch or salloc; give this srun its own, or --auto-gpus=off'
    [[ $output == *'status 78' ]]
    run --separate-stderr as_user salloc --gres=gpu:4 --auto-gpus=3 srun --gres=gpu:1 touch ran
    nothing_ran
    [[ $stderr == *"has 1 entry; the request is the job's, from its sbatch or salloc; give this srun its own, or --auto-gpus=off"* ]]
}

@test "a request of this step that is larger than its list says nothing of a job" {
    batch --gres=gpu:4 --auto-gpus=1 --wrap 'srun --gres=gpu:2 --auto-gpus=3 touch ran; echo status $?'
    expect_said <<<'LIST_TOO_SHORT: --auto-gpus=3 asks for 3, but CUDA_VISIBLE_DEVICES has 2 entries; ask for fewer, or allocate more with --gpus=N or --gres=gpu:N'
    [[ $output == *'status 78' ]]
}

@test "a job submitted within a job that asked is not held to that request without GPUs" {
    batch --gres=gpu:2 --auto-gpus=1 --wrap "sbatch --wait --output=inner.out --wrap 'touch ran'; echo \$?; cat inner.out"
    [ -e "$CLUSTER_DIR/work/ran" ]
    [[ $output == *$'\n0' ]]
}

@test "who asks for himself without GPUs is refused, with advice" {
    show --auto-gpus=1
    expect 78 ''
    nothing_ran
    expect_said <<<'NOT_ALLOCATED: CUDA_VISIBLE_DEVICES is not set: no GPU was allocated to this step; ask for GPUs with --gpus=N or --gres=gpu:N'
    show --auto-gpus=all
    expect 78 ''
    show CUDA_VISIBLE_DEVICES=0,1 --auto-gpus=1
    expect 78 ''
    batch --auto-gpus=1 --wrap 'touch ran'
    [ "$status" -eq 78 ]
    nothing_ran
    expect_said <<<'NOT_ALLOCATED: CUDA_VISIBLE_DEVICES is not set: no GPU was allocated to this step; ask for GPUs with --gpus=N or --gres=gpu:N'
    no_probe_started
}

@test "a site default applies to those who say nothing" {
    use_plugin default=2
    gpus "$(node 1)" ctx:214 ok ok ok
    show --gres=gpu:4
    expect 0 1,2
    expect_said <<<'using 1,2; 0 ECC_UNCORRECTABLE skipped'
    batch --gres=gpu:4 --wrap "$list"
    [ "$(tail -n 1 <<<"$output")" = 1,2 ]
    show --gres=gpu:4 --auto-gpus=3
    expect 0 1,2,3
    use_plugin default=all
    show --gres=gpu:2
    expect 75 ''
}

@test "a site default is capped at the list" {
    use_plugin default=3
    show --gres=gpu:2
    expect 0 0,1
    [ -n "$(probed)" ]
    show --gres=gpu:1
    expect 0 0
    use_plugin default=2-3
    ask --gres=gpu:1 sh -c 'echo "$CUDA_VISIBLE_DEVICES $AUTO_GPUS_COUNT"'
    expect 0 '0 1'
    [ -z "$stderr" ]
}

@test "a site default is silent where there are no GPUs" {
    use_plugin default=2
    show
    expect 0 unset
    [ -z "$stderr" ]
    batch --wrap "$list"
    expect 0 unset
    no_probe_started
}

@test "a site default that falls short says that it is the site's, and what it is here" {
    use_plugin default=4
    gpus "$(node 1)" ctx:214 ok ok ok
    show --gres=gpu:2
    expect 75 ''
    nothing_ran
    [[ $(said | head -n 1) == "1 of 2 GPUs usable, "*"site's default"*" asks for 2; no task started on this node" ]]
    [[ $(said | tail -n 1) == *--auto-gpus=off* ]]
}

@test "off switches a site default off" {
    use_plugin default=2
    gpus "$(node 1)" ctx:214 ctx:214 ctx:214 ctx:214
    show --gres=gpu:4 --auto-gpus=off
    expect 0 0,1,2,3
    show --gres=gpu:4 --auto-gpus=0
    expect 0 0,1,2,3
    batch --gres=gpu:4 --auto-gpus=off --wrap "srun sh -c '$list'"
    expect 0 0,1,2,3
    [ -z "$stderr" ] || [ "$stderr" = "$output" ]
    no_probe_started
}

@test "under a site default a missing program is a warning, and the task runs" {
    use_plugin default=1 program=/nonexistent/auto-gpus
    show --gres=gpu:2
    expect 0 0,1
    expect_said <<<"warning: the site's default of --auto-gpus was not applied: PROBE_FAILED: cannot start /nonexistent/auto-gpus: No such file or directory"
    show --gres=gpu:2 --auto-gpus=1
    expect 70 ''
    nothing_ran
}

@test "a malformed default is void" {
    use_plugin default=two
    show --gres=gpu:2
    expect 0 0,1
    [ -z "$stderr" ]
    no_probe_started
}

@test "the other options do nothing by themselves" {
    show --gres=gpu:2 --auto-gpus-timeout=3 --auto-gpus-verbose --auto-gpus-emit=uuid --auto-gpus-min-free=1T --auto-gpus-check=context
    expect 0 0,1
    ask --gres=gpu:2 --auto-gpus-verbose sh -c 'env | grep -c ^AUTO_GPUS'
    [ "$output" = 0 ]
    no_probe_started
}

@test "malformed numbers are refused where they are typed" {
    local value
    for value in +1 -1 ' 1' '1 ' $'1\t' 1.5 1e1 0x2 1,2 two All OFF none auto ' ' . / % 'all ' alll '*' 1:2 --; do
        refused --auto-gpus="$value" 'not a whole number' "$allowed" "${value//$'\t'/\\x09}"
    done
    refused --auto-gpus= 'the number is missing' "$allowed"
    for value in 65536 4294967297 18446744073709551617 99999999999999999999999999; do
        refused --auto-gpus=$value 'larger than 65535' "$allowed"
    done
    refused --auto-gpus=00 'smaller than 1' "$allowed"
}

@test "malformed ranges are refused where they are typed" {
    refused --auto-gpus=3-2 'MAX is below MIN' "$allowed"
    refused --auto-gpus=0-0 'MIN: smaller than 1' "$allowed"
    refused --auto-gpus=0-2 'MIN: smaller than 1' "$allowed"
    refused --auto-gpus=1- 'MAX: the number is missing' "$allowed"
    refused --auto-gpus=1--2 'MAX: not a whole number' "$allowed"
    refused --auto-gpus=1-2-3 'MAX: not a whole number' "$allowed"
    refused --auto-gpus=1-2+ 'MAX: not a whole number' "$allowed"
    refused --auto-gpus=a-2 'MIN: not a whole number' "$allowed"
    refused --auto-gpus=1-65536 'MAX: larger than 65535' "$allowed"
    refused --auto-gpus=+ 'the number is missing' "$allowed"
    refused --auto-gpus=0+ 'smaller than 1' "$allowed"
    refused --auto-gpus=2++ 'not a whole number' "$allowed"
}

@test "bytes that are no text, and very long values, are shown in a safe and short form" {
    local long
    refused --auto-gpus=２ 'not a whole number' "$allowed" '\xef\xbc\x92'
    refused --auto-gpus=$'\xff' 'not a whole number' "$allowed" '\xff'
    refused --auto-gpus=$'2\n3' 'not a whole number' "$allowed" '2\x0a3'
    refused --auto-gpus=$'\e[31m' 'not a whole number' "$allowed" '\x1b[31m'
    printf -v long '%01000d' 0
    run --separate-stderr as_user srun --auto-gpus="x$long" true
    [ "$status" -eq 255 ]
    [[ ${stderr%%$'\n'*} == "srun: error: auto-gpus: BAD_OPTION: --auto-gpus='x0000"*"... (1001 bytes)': not a whole number; $allowed" ]]
    [ "$(head -n 1 <<<"$stderr" | wc -c)" -lt 300 ]
}

@test "the values of the other options are checked where they are typed" {
    local value seconds='use whole seconds, 1 to 600' size='use a size such as 512M or 20G; a bare number is MiB'
    refused --auto-gpus-timeout=0 'smaller than 1' "$seconds"
    refused --auto-gpus-timeout=601 'larger than 600' "$seconds"
    refused --auto-gpus-timeout= 'the number is missing' "$seconds"
    for value in -1 1.5 1s 1m 0:30 unlimited; do
        refused --auto-gpus-timeout=$value 'not a whole number' "$seconds"
    done
    for value in '' G -1 +1 1.5G '20 G' 20g 20GB 20GiB 1P %; do
        refused --auto-gpus-min-free="$value" 'not a size' "$size"
    done
    for value in 99999999999T 99999999999999999999 99999999999999999999K; do
        refused --auto-gpus-min-free=$value 'larger than any memory' "$size"
    done
    refused --auto-gpus-emit= 'unknown value' 'use keep or uuid'
    refused --auto-gpus-emit=UUID 'unknown value' 'use keep or uuid'
    refused --auto-gpus-check=memory 'unknown value' 'use context'
    use_plugin max_timeout=90
    refused --auto-gpus-timeout=91 'larger than 90' 'use whole seconds, 1 to 90'
    # They are checked without a request too, and off is no excuse.
    refused --auto-gpus-timeout=0 'smaller than 1' 'use whole seconds, 1 to 90'
}

@test "a forged variable gets past srun, but the task does not run" {
    show _SLURM_SPANK_OPTION_auto_gpus_auto_gpus=nonsense --gres=gpu:2
    expect 64 ''
    nothing_ran
    expect_said <<<"BAD_OPTION: --auto-gpus='nonsense': not a whole number; $allowed"
    show _SLURM_SPANK_OPTION_auto_gpus_auto_gpus=1 _SLURM_SPANK_OPTION_auto_gpus_auto_gpus_timeout=1h --gres=gpu:2
    expect 64 ''
    nothing_ran
    expect_said <<<"BAD_OPTION: --auto-gpus-timeout='1h': not a whole number; use whole seconds, 1 to 600"
    no_probe_started
    # A good value in that place is a request like any other, and nothing of it reaches the task.
    ask _SLURM_SPANK_OPTION_auto_gpus_auto_gpus=1 --gres=gpu:2 sh -c 'echo "$CUDA_VISIBLE_DEVICES"; env | grep SPANK_OPTION'
    expect 1 0
}

@test "a forged job's variable is refused by srun" {
    show SLURM_SPANK__SLURM_SPANK_OPTION_auto_gpus_auto_gpus=nonsense --gres=gpu:2
    [ "$status" -ne 0 ]
    nothing_ran
    [[ $stderr == "srun: error: auto-gpus: BAD_OPTION: --auto-gpus='nonsense': not a whole number; $allowed"$'\n'* ]]
}

@test "the help of srun, sbatch and salloc has all options, within 80 columns" {
    local command option
    for command in srun sbatch salloc; do
        run as_user "$command" --help
        [ "$status" -eq 0 ]
        for option in auto-gpus=N auto-gpus-timeout=SECONDS auto-gpus-min-free=SIZE auto-gpus-emit=FORM auto-gpus-check=LEVEL auto-gpus-verbose; do
            grep -qE "^ +--$option( |\$)" <<<"$output"
        done
        run grep -A 1 -e --auto-gpus <<<"$output"
        [ -z "$(awk 'length > 80' <<<"$output")" ]
    done
}

@test "a request typed with the very text of its environment default is typed" {
    ask SLURM_AUTO_GPUS=2 true
    expect 0 ''
    ask SLURM_AUTO_GPUS=2 --auto-gpus=2 true
    expect 78 ''
    expect_said <<<'NOT_ALLOCATED: CUDA_VISIBLE_DEVICES is not set: no GPU was allocated to this step; ask for GPUs with --gpus=N or --gres=gpu:N'
}

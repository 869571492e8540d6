#!/usr/bin/env bats
# Where a value comes from: command line over environment over the job's line over the site, for srun,
# sbatch and salloc.
#
# Scripts for the steps are in single quotes.
# shellcheck disable=SC2016,SC2154

load faults

setup_file() { start_cluster --nodes 1 --gpus 16; }

# first VALUE...: the first that is there; `none` where there is none.
first() {
    local value
    for value; do
        [[ $value == - ]] || { echo "$value"; return; }
    done
    echo none
}

# combinations COMMAND ENVIRONMENT LINE: every combination of these values and their absence (-).
combinations() {
    local command environment line
    for command in - "$1"; do
        for environment in - "$2"; do
            for line in - "$3"; do
                echo "$command $environment $line"
            done
        done
    done
}

# submit NAME COMMAND ENVIRONMENT LINE OPTION VARIABLE BODY: a batch job with these values, of those
# that are not -; its output is in the file NAME.
submit() {
    local words=() variables=()
    { echo '#!/bin/sh'; [[ $4 == - ]] || echo "#SBATCH $5=$4"; echo "$7"; } >"$CLUSTER_DIR/work/$1.sh"
    [[ $2 == - ]] || words+=("$5=$2")
    [[ $3 == - ]] || variables+=("$6=$3")
    as_user "${variables[@]}" sbatch --parsable --gres=gpu:4 --output="$1.out" "${words[@]}" "${@:8}" \
        "$1.sh" </dev/null >/dev/null
}

# levels_of_sbatch OPTION VARIABLE ON-SITE COMMAND ENVIRONMENT LINE SITE BODY [ARGUMENT]...: all 16
# combinations; each job's last line must be what the highest level that speaks has asked for.
levels_of_sbatch() {
    local option=$1 variable=$2 word=$3 site wrong='' expected command environment line seen
    for site in - "$7"; do
        # shellcheck disable=SC2046  # a word or none
        use_plugin $([[ $site == - ]] || echo "$word=$site")
        while read -r command environment line; do
            submit "c$command.e$environment.l$line" "$command" "$environment" "$line" "$option" "$variable" "$8" "${@:9}"
        done < <(combinations "$4" "$5" "$6")
        wait_until 30 no_jobs
        while read -r command environment line; do
            expected=$(first "$command" "$environment" "$line" "$site")
            seen=$(answer <"$CLUSTER_DIR/work/c$command.e$environment.l$line.out")
            [[ $seen == "$expected" ]] ||
                wrong+="command line $command, environment $environment, line $line, site $site: $seen, not $expected"$'\n'
        done < <(combinations "$4" "$5" "$6")
    done
    printf %s "$wrong"
    [[ -z $wrong ]]
}

# levels_of_srun, as levels_of_sbatch: four steps in each of four jobs, whose line is what the steps inherit.
levels_of_srun() {
    local option=$1 variable=$2 word=$3 site line command environment wrong='' expected seen body
    body=
    while read -r command environment _; do
        body+="env $([[ $environment == - ]] || echo "$variable=$environment") srun ${*:9} $([[ $command == - ]] || echo "$option=$command") sh -c '$8' >srun.c$command.e$environment.out 2>&1"$'\n'
    done < <(combinations "$4" "$5" - | sort -u)
    for site in - "$7"; do
        # shellcheck disable=SC2046  # a word or none
        use_plugin $([[ $site == - ]] || echo "$word=$site")
        for line in - "$6"; do
            # The script's own request must not stand in the way of its steps.
            submit steps - - "$line" "$option" - "$body" "${job_words[@]}"
            wait_until 30 no_jobs
            while read -r command environment _; do
                expected=$(first "$command" "$environment" "$line" "$site")
                seen=$(answer <"$CLUSTER_DIR/work/srun.c$command.e$environment.out")
                [[ $seen == "$expected" ]] ||
                    wrong+="command line $command, environment $environment, job $line, site $site: $seen, not $expected"$'\n'
            done < <(combinations "$4" "$5" - | sort -u)
        done
    done
    printf %s "$wrong"
    [[ -z $wrong ]]
}

count='echo "${AUTO_GPUS_COUNT:-none}"'

@test "the request, by sbatch: all combinations of the four levels" {
    answer() { tail -n 1; }
    levels_of_sbatch --auto-gpus SBATCH_AUTO_GPUS default 1 2 3 4 "$count"
}

@test "the request, by srun: all combinations of the four levels" {
    answer() { tail -n 1; }
    job_words=()
    levels_of_srun --auto-gpus SLURM_AUTO_GPUS default 1 2 3 4 "$count"
}

# little_memory: every GPU has 100 MiB free, so that each least is missed, and told by the message.
little_memory() {
    local index all=()
    for ((index = 0; index < 16; index++)); do
        all+=('ok total=1000M used=500M')
    done
    gpus "$(node 1)" "${all[@]}"
}

# asked_mib: the least that the message names, or none where the task ran.
asked_mib() {
    sed -nE 's/.*at least ([0-9]+) MiB asked for.*/\1M/p; s/^ran$/none/p' | tail -n 1
}

@test "the least memory, by sbatch: all combinations of the four levels" {
    little_memory
    answer() { asked_mib; }
    levels_of_sbatch --auto-gpus-min-free SBATCH_AUTO_GPUS_MIN_FREE min_free 201M 202M 203M 204M 'echo ran' --auto-gpus=4
}

@test "the least memory, by srun: all combinations of the four levels" {
    little_memory
    answer() { asked_mib; }
    job_words=()
    levels_of_srun --auto-gpus-min-free SLURM_AUTO_GPUS_MIN_FREE min_free 201M 202M 203M 204M 'echo ran' --auto-gpus=4
}

@test "by salloc: all combinations of command line, environment and site, and the step in it" {
    local command environment site expected arguments wrong=''
    for site in - 3; do
        # shellcheck disable=SC2046  # a word or none
        use_plugin $([[ $site == - ]] || echo "default=$site")
        while read -r command environment _; do
            expected=$(first "$command" "$environment" "$site")
            arguments=()
            [[ $environment == - ]] || arguments+=("SALLOC_AUTO_GPUS=$environment")
            arguments+=(salloc --gres=gpu:4)
            [[ $command == - ]] || arguments+=("--auto-gpus=$command")
            run --separate-stderr as_user "${arguments[@]}" srun sh -c "$count" </dev/null
            [[ $output == "$expected" ]] ||
                wrong+="command line $command, environment $environment, site $site: $output"$'\n'
        done < <(combinations 1 2 - | sort -u)
    done
    printf %s "$wrong"
    [[ -z $wrong ]]
}

@test "off at a higher level switches a lower one off, and a lower one does not switch a higher one off" {
    use_plugin default=4
    ask SLURM_AUTO_GPUS=off --gres=gpu:4 sh -c "$count"
    expect 0 none
    ask SLURM_AUTO_GPUS=3 --gres=gpu:4 --auto-gpus=off sh -c "$count"
    expect 0 none
    ask SLURM_AUTO_GPUS=off --gres=gpu:4 --auto-gpus=2 sh -c "$count"
    expect 0 2
    batch SBATCH_AUTO_GPUS=0 --gres=gpu:4 --wrap "$count"
    expect 0 none
    use_plugin default=off
    ask SLURM_AUTO_GPUS=2 --gres=gpu:4 sh -c "$count"
    expect 0 2
}

@test "each option has its variable, for srun, sbatch and salloc" {
    local name value expected
    gpus "$(node 1)" 'ok total=1000M used=500M' hangK 'ok total=8000M' ok
    while read -r name value expected; do
        ask SLURM_AUTO_GPUS=1 "SLURM_AUTO_GPUS$name=$value" --gres=gpu:4 sh -c 'echo "$CUDA_VISIBLE_DEVICES"'
        [[ $output == "$expected" ]] || { echo "SLURM_AUTO_GPUS$name=$value: $output $stderr"; return 1; }
        batch SBATCH_AUTO_GPUS=1 "SBATCH_AUTO_GPUS$name=$value" --gres=gpu:4 --wrap 'echo "$CUDA_VISIBLE_DEVICES"'
        [[ $(tail -n 1 <<<"$output") == "$expected" ]] || { echo "SBATCH_AUTO_GPUS$name=$value: $output"; return 1; }
        run --separate-stderr as_user SALLOC_AUTO_GPUS=1 "SALLOC_AUTO_GPUS$name=$value" salloc --gres=gpu:4 \
            srun sh -c 'echo "$CUDA_VISIBLE_DEVICES"' </dev/null
        [[ $output == "$expected" ]] || { echo "SALLOC_AUTO_GPUS$name=$value: $output $stderr"; return 1; }
    done <<END
_MIN_FREE 4G 2
_EMIT uuid $(uuid "$(node 1)" 0)
_CHECK context 0
_TIMEOUT 9 0
_VERBOSE 1 0
_VERBOSE 0 0
END
    ask SLURM_AUTO_GPUS=1 SLURM_AUTO_GPUS_VERBOSE=1 --gres=gpu:1 true
    expect_texts 'using 0; decided in T s'
    ask SLURM_AUTO_GPUS=1 SLURM_AUTO_GPUS_VERBOSE=0 --gres=gpu:1 true
    [ -z "$stderr" ]
    gpus "$(node 1)" hangK
    ask SLURM_AUTO_GPUS=all SLURM_AUTO_GPUS_TIMEOUT=1 --gres=gpu:1 true
    expect_texts 'no answer in 1 s'
}

@test "SLURM_AUTO_GPUS_VERBOSE=0 says that it is not given: what the job gave does not count, the site's word does" {
    batch --gres=gpu:1 --auto-gpus=1 --auto-gpus-verbose --wrap 'exec 2>&1; echo steps; srun true; echo quiet; SLURM_AUTO_GPUS_VERBOSE=0 srun true'
    [[ $(sed -n '/^steps$/,/^quiet$/p' <<<"$output") == *'using 0; decided in '* ]]
    [[ $(sed -n '/^quiet$/,$p' <<<"$output") == quiet ]]
    use_plugin verbose=yes
    ask SLURM_AUTO_GPUS_VERBOSE=0 --gres=gpu:1 --auto-gpus=1 true
    expect_texts 'using 0; decided in T s'
}

@test "the variables of one program are not another's" {
    ask SBATCH_AUTO_GPUS=2 SALLOC_AUTO_GPUS=3 --gres=gpu:4 sh -c "$count"
    expect 0 none
    batch SLURM_AUTO_GPUS=2 SALLOC_AUTO_GPUS=3 --gres=gpu:4 --wrap "$count"
    expect 0 none
    run --separate-stderr as_user SLURM_AUTO_GPUS=2 SBATCH_AUTO_GPUS=3 SALLOC_AUTO_GPUS=1 salloc --gres=gpu:4 srun sh -c "$count"
    expect 0 2
}

@test "malformed environment defaults are refused by srun, sbatch and salloc, and name the variable" {
    local number='use N (1 to 65535), MIN-MAX, MIN+, all, off or 0' seconds='use whole seconds, 1 to 600'
    refused SLURM_AUTO_GPUS two 'not a whole number' "$number"
    refused SLURM_AUTO_GPUS '' 'the number is missing' "$number"
    refused SLURM_AUTO_GPUS 3-2 'MAX is below MIN' "$number"
    refused SLURM_AUTO_GPUS 0-0 'MIN: smaller than 1' "$number"
    refused SLURM_AUTO_GPUS 65536 'larger than 65535' "$number"
    refused SLURM_AUTO_GPUS_TIMEOUT 0 'smaller than 1' "$seconds"
    refused SLURM_AUTO_GPUS_TIMEOUT 601 'larger than 600' "$seconds"
    refused SLURM_AUTO_GPUS_MIN_FREE 20Q 'not a size' 'use a size such as 512M or 20G; a bare number is MiB'
    refused SLURM_AUTO_GPUS_MIN_FREE -5G 'not a size' 'use a size such as 512M or 20G; a bare number is MiB'
    refused SLURM_AUTO_GPUS_EMIT index 'unknown value' 'use keep or uuid'
    refused SLURM_AUTO_GPUS_CHECK deep 'unknown value' 'use context'
    refused SLURM_AUTO_GPUS_VERBOSE maybe 'unknown value' 'use 1, or 0 for no'
}

# variables FILE: the names in a file that `env -0` wrote.
variables() {
    tr '\0\n' '\n ' <"$1" | sed 's/=.*//' | LC_ALL=C sort
}

@test "nothing but the answer is new in the environment of a task" {
    local name
    use_plugin
    ask A=b --gres=gpu:4 sh -c 'env -0 >plain'
    ask A=b SLURM_AUTO_GPUS_EMIT=keep SLURM_AUTO_GPUS_TIMEOUT=9 --gres=gpu:4 --auto-gpus=2 --auto-gpus-min-free=1 \
        --auto-gpus-verbose --auto-gpus-check=context sh -c 'env -0 >asked'
    [ "$(LC_ALL=C comm -3 <(variables "$CLUSTER_DIR/work/plain") <(variables "$CLUSTER_DIR/work/asked") | tr -d '\t')" = "AUTO_GPUS_COUNT
AUTO_GPUS_REJECTED
AUTO_GPUS_UUIDS
SLURM_AUTO_GPUS_EMIT
SLURM_AUTO_GPUS_TIMEOUT" ]
    # In a job that asked: what Slurm itself carries the options in stays, as in the script.
    batch SBATCH_AUTO_GPUS_EMIT=keep --gres=gpu:4 --auto-gpus=2 --wrap 'env -0 >script; SLURM_AUTO_GPUS=1 srun sh -c "env -0 >step"; srun --auto-gpus=off sh -c "env -0 >off"'
    [ "$status" -eq 0 ]
    for name in script step off; do
        run ! grep -zE '^(_SLURM_SPANK_OPTION_auto_gpus|SLURM_SPANK_AUTO_GPUS_ORIGIN)' "$CLUSTER_DIR/work/$name"
        run grep -zc '^SLURM_SPANK__SLURM_SPANK_OPTION_auto_gpus_auto_gpus=2' "$CLUSTER_DIR/work/$name"
        [ "$output" = 1 ]
    done
}

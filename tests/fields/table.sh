#!/usr/bin/env bash
# Prints every field case of ids.txt with the test that covers it: a @test in a .bats file or a row of a
# unit test whose name begins with the id, or, for a documented limit, the sentence of README.md that
# follows a comment with the id. Those of later parts of the work are told by the part's name.
# Fails on a case that has none of these, and on a test that is named by an unknown id.
#
#     table.sh [TREE]    TREE: where tests/ and README.md are; this one by default
set -euo pipefail

tree=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
ids=$tree/tests/fields/ids.txt
faults=0

complain() {
    echo "*** $1" >&2
    faults=$((faults + 1))
}

# named_tests: "ID file: name" for each test that an id begins.
named_tests() {
    set +e # none found is no fault
    { cd "$tree" && grep -rHoE --include='*.bats' '^@test "[A-M][0-9]{2} [^"]*"' tests; } |
        sed -E 's/^([^:]*):@test "(([A-M][0-9]{2}) .*)"$/\3 \1: \2/'
    { cd "$tree" && grep -rHoE --include='*.cpp' '"[A-M][0-9]{2} [^"]*"' tests/unit; } |
        sed -E 's/^([^:]*):"(([A-M][0-9]{2}) .*)"$/\3 \1: \2/'
}

readme=$([[ ! -e $tree/README.md ]] || tr "\n" " " <"$tree/README.md")

# readme_sentence ID: sets `sentence`: the one after <!-- ID --> in the README, or nothing.
readme_sentence() {
    local marks='( *<!-- [A-M][0-9]{2} -->)*'
    sentence=''
    [[ $readme =~ '<!-- '$1' -->'$marks' '*([^<]*) ]] || return 0
    sentence=${BASH_REMATCH[2]%%. *}.
    sentence=${sentence/%../.}
}

# later_part PART: its title, for a part that may still be without tests.
later_part() {
    case $1 in
        'one decision') echo 'One decision' ;;
        'price of one') echo 'The price of one' ;;
        'every release') echo 'Every release' ;;
        *) return 1 ;;
    esac
}

declare -A known=() tests=()
while IFS=$'\t' read -r id rest; do
    tests[$id]+="${tests[$id]:+$'\n'}$rest"
done < <(named_tests | sed 's/ /\t/' | sort)

covered=0
while IFS='|' read -r id phrase part _; do
    id=${id// /} phrase=${phrase# } part=${part# }
    phrase=${phrase% } part=${part% }
    [[ -z ${known[$id]:-} ]] || complain "$id is there twice in ids.txt"
    known[$id]=yes
    title=$(later_part "$part") || [[ $part == 'main job' || $part == 'whole request' ]] ||
        complain "$id: '$part' is no part of the work"
    readme_sentence "$id"
    where=${tests[$id]:-}
    [[ -z $sentence ]] || where+="${where:+$'\n'}README.md: $sentence"
    [[ -n $where || -z $title ]] || where="left to \"$title\""
    [[ -z ${tests[$id]:-}$sentence ]] || covered=$((covered + 1))
    if [[ -z $where ]]; then
        complain "$id ($phrase) has no test, and no sentence in README.md"
        where='NOTHING'
    fi
    while read -r line; do
        printf '%-4s %-52s %s\n' "$id" "$phrase" "$line"
        id='' phrase=''
    done <<<"$where"
done < <(grep -v '^#' "$ids")

for id in "${!tests[@]}"; do
    [[ -n ${known[$id]:-} ]] || complain "a test is named $id, which is not in ids.txt: ${tests[$id]}"
done
printf '%s field cases: %s with a test or a sentence, %s left to later parts\n' "${#known[@]}" "$covered" \
    $((${#known[@]} - covered - faults))
((faults == 0))

// What the probes of several entries at once have to say on a decision.
#include "src/base/text.hpp"
#include "src/core/decision.hpp"
#include "tests/unit/core_suites.hpp"
#include "tests/unit/scene.hpp"

namespace auto_gpus::unit {
namespace {

const Scene kWhole[] = {
    {"it agrees", "0,1", {2, 2}, "0:ok@100 1:ok@200 whole:agree@150", "200 take 0,1"},
    {"no answer: 100 ms",
     "0,1",
     {2, 2},
     "0:ok@100 1:ok@200",
     "200 wait 300|299 wait 300|300 take 0,1"},
    {"it agrees in time",
     "0,1",
     {2, 2},
     "0:ok@100 1:ok@200 whole:agree@250",
     "249 wait 300|250 take 0,1"},
    {"it disagrees in time",
     "0,1",
     {2, 2},
     "0:ok@100 1:ok@200 whole:fewer@250",
     "249 wait 300|250 check 0,1"},
    {"no answer: later a tenth of the time passed",
     "0,1",
     {2, 2},
     "0:ok@100 1:ok@5000",
     "5499 wait 5500|5500 take 0,1"},
    {"no answer, and one is bad",
     "0,1,2",
     {2, 2},
     "0:ok@100 1:ok@150 2:CRASHED@120",
     "249 wait 250|250 check 0,1"},
    {"no answer, and one is open",
     "0,1,2",
     {2, 2},
     "0:ok@100 1:ok@150",
     "150 wait 250|250 check 0,1"},
    {"no answer, and a lower one is open",
     "0,1,2",
     {2, 2},
     "1:ok@100 2:ok@200",
     "449 wait 450|450 check 1,2"},
    {"it agrees, and one is bad",
     "0,1,2",
     {2, 2},
     "0:ok@100 1:CRASHED@150 2:ok@150 whole:agree@90",
     "150 take 0,2"},
    {"it shows fewer", "0,1", {2, 2}, "0:ok@100 1:ok@200 whole:fewer@150", "200 check 0,1"},
    {"it shows other GPUs", "0,1", {2, 2}, "0:ok@100 1:ok@200 whole:other@150", "200 check 0,1"},
    {"I16: it fails", "0,1", {2, 2}, "0:ok@100 1:ok@200 whole:UNKNOWN_ERROR@150", "200 check 0,1"},
    {"it hangs until the time is up",
     "0,1",
     {2, 2},
     "0:ok@100 1:ok@200 whole:TIMEOUT@250",
     "250 take 0,1"},
    {"I16: one GPU alone needs no list",
     "0,1",
     {1, 1},
     "0:ok@100 whole:UNKNOWN_ERROR@50",
     "100 take 0"},
    {"one GPU alone does not wait for it", "0,1", {1, 1}, "0:ok@100", "100 take 0"},
    {"all of them", "0,1,2", {3, 3}, "0:ok@9 1:ok@9 2:ok@9", "9 wait 109|109 take 0,1,2"},
    {"it is made again: no answer yet",
     "0,1",
     {2, 2},
     "0:ok@100 1:ok@200 whole:CRASHED?@150",
     "200 wait 300|300 take 0,1"},
};

const Scene kChosen[] = {
    {"it is waited for",
     "0,1",
     {2, 2},
     "0:ok@100 1:ok@200 whole:fewer@150 chosen:0,1@200 chosen:agree@900",
     "200 wait|899 wait|900 take 0,1"},
    {"fewer",
     "0,1",
     {2, 2},
     "0:ok@1 1:ok@2 whole:fewer@1 chosen:0,1@2 chosen:fewer@9",
     "9 conflict 0,1"},
    {"other GPUs",
     "0,1",
     {2, 2},
     "0:ok@1 1:ok@2 whole:fewer@1 chosen:0,1@2 chosen:other@9",
     "9 conflict 0,1"},
    {"I16: it fails",
     "0,1",
     {2, 2},
     "0:ok@1 1:ok@2 whole:UNKNOWN_ERROR@1 chosen:0,1@2 chosen:UNKNOWN_ERROR@9",
     "9 conflict 0,1"},
    {"no answer when the time is up",
     "0,1",
     {2, 2},
     "0:ok@1 1:ok@2 whole:fewer@1 chosen:0,1@2 chosen:TIMEOUT@60000",
     "60000 unchecked 0,1"},
    {"nothing is known when the time is up",
     "0,1",
     {2, 2},
     "0:ok@1 1:ok@2 whole:fewer@1 chosen:0,1@2 chosen:UNDECIDED@60000",
     "60000 unchecked 0,1"},
    {"our own fault does not show a conflict",
     "0,1",
     {2, 2},
     "0:ok@1 1:ok@2 whole:fewer@1 chosen:0,1@2 chosen:PROBE_FAILED@9",
     "9 own-fault 0,1"},
    {"what comes later does not change the choice",
     "0,1,2",
     {2, 2},
     "1:ok@100 2:ok@200 chosen:1,2@450 0:ok@500 whole:agree@500 chosen:agree@600",
     "450 wait|500 wait|600 take 1,2"},
    {"it is made again: that answer counts",
     "0,1",
     {2, 2},
     "0:ok@1 1:ok@2 whole:fewer@1 chosen:0,1@2 chosen:CRASHED?@9 chosen:agree@20",
     "9 wait|20 take 0,1"},
};

const Scene kMig[] = {
    {"the whole list shows one", "MIG-a,MIG-b", {2, 2}, "0:ok@1 1:ok@2 whole:mig@2", "2 take 0,1"},
    {"the whole list shows two",
     "MIG-a,MIG-b",
     {2, 2},
     "0:ok@1 1:ok@2 whole:agree@2",
     "2 check 0,1"},
    {"the chosen ones show one",
     "MIG-a,MIG-b,MIG-c",
     {2, 2},
     "0:ok@1 1:CRASHED@1 2:ok@2 whole:TIMEOUT@2 chosen:0,2@2 chosen:mig@9",
     "2 wait|9 take 0,2"},
    {"F04: the last of seven",
     "MIG-a,MIG-b,MIG-c",
     {1, 1},
     "0:BUSY_EXCLUSIVE@1 1:BUSY_EXCLUSIVE@1 2:ok@2",
     "2 take 2"},
    {"the older form",
     "MIG-GPU-a/1/0,MIG-GPU-a/2/0",
     {2, 2},
     "0:ok@1 1:ok@2 whole:mig@2",
     "2 take 0,1"},
};

START_TEST(the_whole_list_is_heard)
{
    check_scene(kWhole[_i]);
}
END_TEST

START_TEST(the_chosen_list_decides)
{
    check_scene(kChosen[_i]);
}
END_TEST

START_TEST(mig_instances_show_one_at_a_time)
{
    check_scene(kMig[_i]);
}
END_TEST

struct Agreement {
    const char* name;
    const char* list;
    const char* alone;     // UUIDs of the single probes, by comma; "-" where there is no answer
    const char* together;  // of the list's probe
    int count;
    bool want;
};
constexpr Agreement kAgreements[] = {
    {"the same", "0,1", "GPU-a,GPU-b", "GPU-a,GPU-b", 2, true},
    {"another order", "0,1", "GPU-a,GPU-b", "GPU-b,GPU-a", 2, false},
    {"one too few", "0,1", "GPU-a,GPU-b", "GPU-a", 1, false},
    {"one too many", "0,1", "GPU-a,GPU-b", "GPU-a,GPU-b,GPU-c", 3, false},
    {"a count that its UUIDs do not bear out", "0,1", "GPU-a,GPU-b", "GPU-a", 2, false},
    {"UUIDs that its count does not bear out", "0,1", "GPU-a,GPU-b", "GPU-a,GPU-b", 1, false},
    {"a negative count", "0,1", "GPU-a,GPU-b", "GPU-a,GPU-b", -2, false},
    {"another GPU", "0,1", "GPU-a,GPU-b", "GPU-a,GPU-c", 2, false},
    {"the prefix is not the driver's", "MIG-a,MIG-b", "MIG-a,MIG-b", "GPU-a", 1, true},
    {"one MIG instance of two", "MIG-a,MIG-b", "MIG-a,MIG-b", "MIG-a", 1, true},
    {"the wrong MIG instance", "MIG-a,MIG-b", "MIG-a,MIG-b", "MIG-b", 1, false},
    {"one without an answer is not compared", "0,1", "GPU-a,-", "GPU-a,GPU-c", 2, true},
    {"none with an answer", "0,1", "-,-", "GPU-c,GPU-d", 2, true},
};

START_TEST(a_list_agrees_with_its_entries)
{
    const Agreement& row = kAgreements[_i];
    const TokenList list = list_of(row.list);
    Watch watch;
    ListWatch seen;
    for (const std::string_view uuid : split(row.alone, ',')) {
        seen.positions.push_back(watch.tokens.size());
        TokenWatch token;
        if (uuid != "-") {
            token.verdict = verdict_of(Reason::usable, 0);
            token.verdict->evidence.uuid = std::string(uuid);
        }
        watch.tokens.push_back(token);
    }
    holds(row.name, !agrees(list, seen, watch), "agrees without an answer");
    seen.verdict = verdict_of(Reason::usable, 0);
    seen.verdict->evidence.count = row.count;
    seen.verdict->evidence.uuids = row.together;
    ck_assert_msg(agrees(list, seen, watch) == row.want, "%s", row.name);
    seen.verdict->reason = Reason::unknown_error;
    holds(row.name, !agrees(list, seen, watch), "agrees with a failure");
}
END_TEST

}  // namespace

Suite* decision_list_suite()
{
    return suite_of("decision on lists",
                    {{the_whole_list_is_heard, std::size(kWhole)},
                     {the_chosen_list_decides, std::size(kChosen)},
                     {mig_instances_show_one_at_a_time, std::size(kMig)},
                     {a_list_agrees_with_its_entries, std::size(kAgreements)}});
}

}  // namespace auto_gpus::unit

#include "src/core/decision.hpp"

#include "tests/unit/core_suites.hpp"
#include "tests/unit/scene.hpp"

namespace auto_gpus::unit {
namespace {

constexpr std::size_t kAnyNumber = Request::kLargest;

const Scene kEnough[] = {
    {"nothing is known", "0,1", {1, 1}, "", "0 wait|60000 wait"},
    {"the lowest answers first", "0,1", {1, 1}, "0:ok@100", "99 wait|100 take 0"},
    {"a higher one is not waited for",
     "0,1,2,3",
     {2, 2},
     "0:ok@100 1:ok@200 whole:agree@150",
     "199 wait|200 take 0,1"},
    {"all answered: the lowest",
     "0,1,2,3",
     {2, 2},
     "3:ok@10 2:ok@20 1:ok@30 0:ok@40 whole:agree@40",
     "40 take 0,1"},
    {"a list of one", "7", {1, 1}, "0:ok@100", "100 take 0"},
    {"A01: the first is taken", "0,1", {1, 1}, "0:BUSY_EXCLUSIVE@50 1:ok@90", "90 take 1"},
    {"G04: a bad one in the middle",
     "0,1,2,3,4,5,6,7",
     {4, 4},
     "0:ok@10 1:ok@10 2:ok@10 3:ECC_UNCORRECTABLE@20 4:ok@10 whole:agree@20",
     "20 take 0,1,2,4"},
    {"D16: the order of the list, not of the indices",
     "7,2,5",
     {2, 2},
     "0:ok@10 1:ok@10 whole:agree@10",
     "10 take 0,1"},

    {"a lower one gets 250 ms", "0,1", {1, 1}, "1:ok@100", "100 wait 350|349 wait 350|350 take 1"},
    {"a lower one answers in time", "0,1", {1, 1}, "1:ok@100 0:ok@300", "300 take 0"},
    {"a lower one says no in time",
     "0,1",
     {1, 1},
     "1:ok@100 0:ECC_UNCORRECTABLE@300",
     "299 wait 350|300 take 1"},
    {"a lower one answers too late", "0,1", {1, 1}, "1:ok@100 0:ok@400", "399 take 1"},
    {"at 1 s a quarter is as long", "0,1", {1, 1}, "1:ok@1000", "1000 wait 1250|1250 take 1"},
    {"later a quarter is longer", "0,1", {1, 1}, "1:ok@2000", "2000 wait 2500|2500 take 1"},
    {"much later", "0,1", {1, 1}, "1:ok@30000", "37499 wait 37500|37500 take 1"},
    {"the grace runs from when there were enough",
     "0,1,2",
     {2, 2},
     "2:ok@100 1:ok@400 whole:agree@400",
     "399 wait|400 wait 650|650 take 1,2"},
    {"more than enough do not lengthen it",
     "0,1,2",
     {1, 1},
     "1:ok@100 2:ok@300",
     "300 wait 350|350 take 1"},
    {"a higher answer may make a lower one wait no longer",
     "0,1,2,3",
     {1, 1},
     "2:ok@100 1:ok@200 0:UNAVAILABLE@210",
     "200 wait 350|210 take 1"},
    {"a lower one is being tried again",
     "0,1",
     {1, 1},
     "0:BUSY_EXCLUSIVE?@50 1:ok@100",
     "100 wait 350|350 take 1"},
    {"a lower one worked after another try",
     "0,1",
     {1, 1},
     "0:BUSY_EXCLUSIVE?@50 1:ok@100 0:ok@200",
     "200 take 0"},
    {"H02: a hung one costs a quarter second",
     "0,1,2",
     {2, 2},
     "1:ok@200 2:ok@210 whole:agree@220",
     "459 wait 460|460 take 1,2"},
};

const Scene kTwins[] = {
    {"the lower of two entries of one GPU",
     "0,GPU-0",
     {1, 1},
     "0:ok@100 1:ok=0@50",
     "50 wait 300|100 take 0"},
    {"both, and a third GPU",
     "0,GPU-0,2",
     {2, 2},
     "0:ok@10 1:ok=0@20 2:ok@30 whole:fewer@30",
     "30 check 0,2"},
    {"case does not make two of one", "GPU-ab,GPU-AB", {2, 2}, "0:ok@10 1:ok=0@20", "20 refuse"},
    {"as many as wanted, less a twin: more are waited for",
     "0,GPU-0,2,3",
     {1, 3},
     "0:ok@10 1:ok=0@20 2:ok@30",
     "30 wait 3030"},
};

const Scene kElastic[] = {
    {"more would be better: 3 s without an answer",
     "0,1,2,3",
     {1, 4},
     "0:ok@100",
     "100 wait 3100|3099 wait 3100|3100 take 0"},
    {"each answer starts it anew",
     "0,1,2,3",
     {1, 4},
     "0:ok@100 1:ok@1000 whole:agree@1000",
     "1000 wait 4000|3999 wait 4000|4000 take 0,1"},
    {"an answer of no does, too", "0,1,2,3", {1, 4}, "0:ok@100 1:CRASHED@2000", "4999 wait 5000"},
    {"a try does not: it is no answer",
     "0,1",
     {1, 2},
     "0:ok@100 1:UNAVAILABLE?@2000",
     "2000 wait 3100|3100 take 0"},
    {"later, as long as the time passed",
     "0,1,2,3",
     {1, 4},
     "0:ok@5000",
     "9999 wait 10000|10000 take 0"},
    {"all have answered",
     "0,1,2",
     {1, 3},
     "0:ok@100 1:CRASHED@200 2:ok@300 whole:agree@300",
     "299 wait 3200|300 take 0,2"},
    {"as many as wanted",
     "0,1,2",
     {1, 2},
     "0:ok@100 1:ok@200 whole:agree@200",
     "100 wait 3100|200 take 0,1"},
    {"as many as wanted, a lower one open: a grace",
     "0,1,2",
     {1, 2},
     "1:ok@100 2:ok@200 whole:agree@200",
     "200 wait 450|450 take 1,2"},
    {"without the minimum it waits", "0,1,2", {2, 3}, "0:ok@100", "3100 wait|60000 wait"},
    {"MIN+: all that work",
     "0,1,2",
     {1, kAnyNumber},
     "0:ok@9 1:CRASHED@9 2:ok@9 whole:agree@9",
     "9 take 0,2"},
    {"MIN+: as long as answers come",
     "0,1,2",
     {2, kAnyNumber},
     "0:ok@10 1:ok@20 whole:agree@20",
     "20 wait 3020|3020 take 0,1"},
};

/// What is chosen may have to be checked as a list, and that takes time.
const Scene kReserve[] = {
    {"the grace leaves 300 ms",
     "0,1,2",
     {2, 2},
     "deadline:2000@0 1:ok@1600 2:ok@1600 whole:agree@1600",
     "1600 wait 1700|1700 take 1,2"},
    {"or a tenth of the whole time",
     "0,1,2",
     {2, 2},
     "deadline:10000@0 1:ok@8000 2:ok@8000 whole:agree@8000",
     "8000 wait 9000|9000 take 1,2"},
    {"elastic requests, too",
     "0,1,2",
     {2, 3},
     "deadline:10000@0 0:ok@100 1:ok@7000 whole:agree@7000",
     "8999 wait 9000|9000 take 0,1"},
    {"a late answer is not held up", "0,1", {1, 1}, "deadline:2000@0 1:ok@1900", "1900 take 1"},
    {"with time left the grace is as it is",
     "0,1",
     {1, 1},
     "deadline:60000@0 1:ok@100",
     "100 wait 350|350 take 1"},
};

START_TEST(enough_usable_ones_end_the_wait)
{
    check_scene(kEnough[_i]);
}
END_TEST

START_TEST(one_gpu_counts_once)
{
    check_scene(kTwins[_i]);
}
END_TEST

START_TEST(elastic_requests_wait_while_answers_come)
{
    check_scene(kElastic[_i]);
}
END_TEST

START_TEST(waits_leave_time_to_check_the_list)
{
    check_scene(kReserve[_i]);
}
END_TEST

}  // namespace

Suite* decision_suite()
{
    return suite_of("decision", {{enough_usable_ones_end_the_wait, std::size(kEnough)},
                                 {waits_leave_time_to_check_the_list, std::size(kReserve)},
                                 {one_gpu_counts_once, std::size(kTwins)},
                                 {elastic_requests_wait_while_answers_come, std::size(kElastic)}});
}

}  // namespace auto_gpus::unit

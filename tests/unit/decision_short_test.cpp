// How a decision ends when there are too few usable GPUs.
#include "src/core/decision.hpp"

#include "tests/unit/core_suites.hpp"
#include "tests/unit/scene.hpp"

namespace auto_gpus::unit {
namespace {

/// With NVML asked and heard at once, so that the waits for other things are seen.
void check_with_evidence(Scene scene)
{
    const std::string events = std::string("evidence:ask@0 evidence:ok@0 ") + scene.events;
    scene.events = events.c_str();
    check_scene(scene);
}

const Scene kShort[] = {
    {"the only one is bad", "0", {1, 1}, "0:ECC_UNCORRECTABLE@100", "100 refuse"},
    {"all answered: at once",
     "0,1",
     {2, 2},
     "0:ok@100 1:ECC_UNCORRECTABLE@200",
     "199 wait|200 refuse"},
    {"too few can still come: one grace more",
     "0,1,2",
     {2, 2},
     "0:TIMEOUT@100 1:ECC_UNCORRECTABLE@200",
     "100 wait|200 wait 450|449 wait 450|450 refuse"},
    {"the last answer ends the grace",
     "0,1,2",
     {2, 2},
     "0:CRASHED@100 1:CRASHED@200 2:ok@300",
     "299 wait 450|300 refuse"},
    {"it runs from the answer that made it impossible",
     "0,1,2,3,4",
     {4, 4},
     "0:CRASHED@100 1:CRASHED@200 2:CRASHED@300",
     "200 wait 450|300 wait 450|450 refuse"},
    {"in whatever order they are listed",
     "0,1,2,3,4",
     {4, 4},
     "4:CRASHED@100 0:CRASHED@200 2:CRASHED@300",
     "300 wait 450|450 refuse"},
    {"later a quarter is longer", "0,1", {2, 2}, "0:CRASHED@4000", "4999 wait 5000|5000 refuse"},
    {"all of them", "0,1,2", {3, 3}, "1:ECC_UNCORRECTABLE@100", "100 wait 350|350 refuse"},
    {"A13: one that is tried again can still become usable",
     "0",
     {1, 1},
     "0:BUSY_EXCLUSIVE?@100 0:BUSY_EXCLUSIVE@5000",
     "100 wait|4999 wait|5000 refuse"},
    {"A04: it does",
     "0,1",
     {2, 2},
     "0:BUSY_EXCLUSIVE?@100 1:ok@100 0:ok@700 whole:agree@100",
     "100 wait|699 wait|700 take 0,1"},
    {"two entries are one GPU", "0,GPU-0", {2, 2}, "0:ok@100 1:ok=0@200", "199 wait|200 refuse"},
    {"a minimum that cannot be met",
     "0,1,2",
     {2, 3},
     "0:CRASHED@100 1:CRASHED@100",
     "349 wait 350|350 refuse"},
};

const Scene kEvidence[] = {
    {"too few: NVML is asked first",
     "0,1,2",
     {3, 3},
     "0:ECC_UNCORRECTABLE@100",
     "99 wait|100 evidence"},
    {"all answered: NVML is asked first", "0", {1, 1}, "0:UNKNOWN_ERROR@100", "100 evidence"},
    {"it gets half a second",
     "0",
     {1, 1},
     "0:UNKNOWN_ERROR@100 evidence:ask@100",
     "100 wait 600|599 wait 600|600 refuse"},
    {"it has answered",
     "0",
     {1, 1},
     "0:UNKNOWN_ERROR@100 evidence:ask@100 evidence:ok@200",
     "199 wait 600|200 refuse"},
    {"it is asked while the grace runs",
     "0,1",
     {2, 2},
     "0:CRASHED@100 evidence:ask@100",
     "100 wait 350|350 wait 600|600 refuse"},
    {"before the survey",
     "0",
     {1, 1},
     "0:NOT_VISIBLE@100 evidence:ask@100 evidence:ok@150",
     "100 wait 600|150 survey"},
    {"not where there are enough", "0,1", {1, 1}, "0:UNKNOWN_ERROR@100 1:ok@200", "200 take 1"},
    {"not for our own faults", "0", {1, 1}, "0:PROBE_FAILED@100", "100 refuse"},
    {"not for two entries of one GPU", "0,GPU-0", {2, 2}, "0:ok@100 1:ok=0@200", "200 refuse"},
    {"not while it is tried again: that is no refusal yet",
     "0",
     {1, 1},
     "0:SYSTEM_NOT_READY?@100",
     "100 wait"},
};

const Scene kSurvey[] = {
    {"an entry that shows nothing: a look at the node",
     "0",
     {1, 1},
     "0:NOT_VISIBLE@100",
     "100 survey"},
    {"the look gets a second",
     "0",
     {1, 1},
     "0:NOT_VISIBLE@100 survey:ask@100",
     "100 wait 1100|1099 wait 1100|1100 refuse"},
    {"the look has an answer",
     "0",
     {1, 1},
     "0:NOT_VISIBLE@100 survey:ask@100 survey:NOT_VISIBLE@300",
     "299 wait 1100|300 refuse"},
    {"later it gets as long as the time passed",
     "0",
     {1, 1},
     "0:NOT_VISIBLE@5000 survey:ask@5000",
     "9999 wait 10000|10000 refuse"},
    {"one of several", "0,1", {2, 2}, "0:ok@50 1:NOT_VISIBLE@100", "100 survey"},
    {"after the grace",
     "0,1,2",
     {2, 2},
     "0:NOT_VISIBLE@100 1:CRASHED@200",
     "200 wait 450|450 survey"},
    {"not where there are enough", "0,1", {1, 1}, "0:NOT_VISIBLE@100 1:ok@200", "200 take 1"},
    {"not for other faults", "0,1", {1, 1}, "0:CRASHED@100 1:TIMEOUT@200", "200 refuse"},
    {"a look that is made again is waited for",
     "0",
     {1, 1},
     "0:NOT_VISIBLE@100 survey:ask@100 survey:CRASHED?@300",
     "300 wait 1100"},
};

START_TEST(too_few_end_it_early)
{
    check_with_evidence(kShort[_i]);
}
END_TEST

START_TEST(a_refusal_asks_nvml)
{
    check_scene(kEvidence[_i]);
}
END_TEST

START_TEST(entries_that_show_nothing_lead_to_a_survey)
{
    check_with_evidence(kSurvey[_i]);
}
END_TEST

START_TEST(without_a_list_the_survey_is_all)
{
    Watch watch;
    watch.started = kStart;
    watch.survey.asked = true;
    watch.survey.asked_at = kStart;
    same_text("asked", text_of_step(decide({}, {}, watch, kStart)), "wait");
    watch.survey.verdict = verdict_of(Reason::usable, 0);
    same_text("answered", text_of_step(decide({}, {}, watch, kStart)), "refuse");
}
END_TEST

}  // namespace

Suite* decision_short_suite()
{
    return suite_of("decision on too few",
                    {{too_few_end_it_early, std::size(kShort)},
                     {a_refusal_asks_nvml, std::size(kEvidence)},
                     {entries_that_show_nothing_lead_to_a_survey, std::size(kSurvey)},
                     {without_a_list_the_survey_is_all}});
}

}  // namespace auto_gpus::unit

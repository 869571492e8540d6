// What is said when there are too few GPUs.
#include "src/core/message.hpp"
#include "tests/unit/core_suites.hpp"
#include "tests/unit/story.hpp"

namespace auto_gpus::unit {
namespace {

START_TEST(too_few_are_a_table_and_an_advice)
{
    Story story("0,1,2,3");
    story.asks("3");
    story.fails(1, Reason::ecc_uncorrectable, Stage::context, 214);
    story.knows(1);
    story.says(3, Reason::timeout).evidence.stage = Stage::init;
    same_text("interface", short_text(story.report(), {}),
              "auto-gpus: gpu07: 2 of 4 GPUs usable, --auto-gpus=3 asks for 3; no task started on "
              "this node\n"
              "auto-gpus: gpu07:   0  usable             NVIDIA H100 80GB HBM3  GPU-00000000  "
              "10:00.0  0.31 s\n"
              "auto-gpus: gpu07:   1  ECC_UNCORRECTABLE  NVIDIA H100 80GB HBM3  GPU-00000001  "
              "11:00.0  cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)\n"
              "auto-gpus: gpu07:   2  usable             NVIDIA H100 80GB HBM3  GPU-00000002  "
              "12:00.0  0.31 s\n"
              "auto-gpus: gpu07:   3  TIMEOUT            no answer in 60 s, last seen in cuInit\n"
              "auto-gpus: gpu07: use --auto-gpus=2, or --exclude=gpu07, and report the node\n");
    has("the shell of salloc opens", short_text(story.report(Audience::shell), {}),
        "2 of 4 GPUs usable, --auto-gpus=3 asks for 3\n");
}
END_TEST

START_TEST(columns_are_aligned)
{
    Story story("GPU-af7b61d8,10,2");
    story.fails(1, Reason::prohibited, Stage::context, 46);
    story.knows(1).evidence.model = "B200";
    story.at(1).evidence.pci = "0001:b7:00.0";
    const auto lines = lines_of("table", short_text(story.report(), {}));
    ck_assert_uint_eq(lines.size(), 5);
    same_text("1", lines[1],
              "auto-gpus: gpu07:   GPU-af7b61d8  usable      NVIDIA H100 80GB HBM3  GPU-00000000  "
              "10:00.0       0.31 s");
    same_text("2", lines[2],
              "auto-gpus: gpu07:   10            PROHIBITED  B200                   GPU-00000001  "
              "0001:b7:00.0  cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE (46): compute mode "
              "prohibited");
    same_text("3", lines[3],
              "auto-gpus: gpu07:   2             usable      NVIDIA H100 80GB HBM3  GPU-00000002  "
              "12:00.0       0.31 s");
}
END_TEST

struct Ask {
    const char* name;
    const char* request;
    const char* want;
};
constexpr Ask kAsks[] = {
    {"a number", "3", "2 of 3 GPUs usable, --auto-gpus=3 asks for 3; no task"},
    {"a range", "3-4", "2 of 3 GPUs usable, --auto-gpus=3-4 asks for 3; no task"},
    {"at least", "3+", "2 of 3 GPUs usable, --auto-gpus=3+ asks for 3; no task"},
    {"all", "all", "2 of 3 GPUs usable, --auto-gpus=all asks for 3; no task"},
};

START_TEST(the_request_is_repeated)
{
    Story story("0,1,2");
    story.asks(kAsks[_i].request);
    story.fails(2, Reason::unavailable, Stage::context, 46);
    has(kAsks[_i].name, short_text(story.report(), {}), kAsks[_i].want);
}
END_TEST

START_TEST(the_sites_default_is_called_so)
{
    Story story("0,1");
    story.asks("8");
    story.settings.origin = Origin::site_default;
    story.need = {2, 8};
    story.fails(1, Reason::ecc_uncorrectable, Stage::context, 214);
    const auto lines = lines_of("default", short_text(story.report(), {}));
    same_text(
        "capped", lines.front(),
        "auto-gpus: gpu07: 1 of 2 GPUs usable, the site's default --auto-gpus=8 asks for 2; no "
        "task started on this node");
    same_text("the way out", lines.back(),
              "auto-gpus: gpu07: use --auto-gpus=1, or --exclude=gpu07, or --auto-gpus=off, and "
              "report the node");
}
END_TEST

struct Advice {
    const char* name;
    Reason reason;
    bool one_works;
    const char* want;
};
constexpr Advice kAdvices[] = {
    {"a bad one", Reason::ecc_uncorrectable, true,
     "use --auto-gpus=1, or --exclude=gpu07, and report the node"},
    {"all bad", Reason::ecc_uncorrectable, false, "use --exclude=gpu07, and report the node"},
    {"a busy one", Reason::busy_exclusive, true,
     "use --auto-gpus=1, or --exclude=gpu07, or try again later"},
    {"all busy", Reason::busy_exclusive, false, "use --exclude=gpu07, or try again later"},
    {"killed for the job's memory", Reason::memory_limit, true,
     "ask for more memory with --mem, or use --auto-gpus=1, or --exclude=gpu07, or try again "
     "later"},
    {"too little memory", Reason::low_memory, false, "use --exclude=gpu07, or try again later"},
    {"not waited for", Reason::undecided, true,
     "use --auto-gpus=1, or --exclude=gpu07, or try again later"},
};

START_TEST(the_advice_fits_the_faults)
{
    const Advice& row = kAdvices[_i];
    Story story("0,1");
    story.fails(1, row.reason, Stage::context, 46);
    if (!row.one_works) {
        story.fails(0, row.reason, Stage::context, 46);
    }
    same_text(row.name, lines_of(row.name, short_text(story.report(), {})).back(),
              std::string("auto-gpus: gpu07: ") + row.want);
}
END_TEST

START_TEST(a_slow_node_is_thought_of_when_all_are_late)
{
    Story story("0,1");
    story.says(0, Reason::timeout);
    lacks("one", short_text(story.report(), {}), "persistence mode");
    story.says(1, Reason::timeout);
    same_text("all", lines_of("all", short_text(story.report(), {})).back(),
              "auto-gpus: gpu07: use --exclude=gpu07, and report the node; persistence mode off? "
              "then a longer --auto-gpus-timeout helps");
}
END_TEST

START_TEST(a_person_is_told_what_a_person_can_do)
{
    Story story("0,1");
    story.fails(1, Reason::ecc_uncorrectable, Stage::context, 214);
    const auto lines = lines_of("bad", short_text(story.report(Audience::person), {}));
    same_text("no task", lines.front(),
              "auto-gpus: gpu07: 1 of 2 GPUs usable, --auto-gpus=all asks for 2");
    same_text("bad", lines.back(), "auto-gpus: gpu07: report the node");
    story.fails(1, Reason::busy_exclusive, Stage::context, 46);
    same_text("busy", lines_of("busy", short_text(story.report(Audience::person), {})).back(),
              "auto-gpus: gpu07: try again later");
}
END_TEST

/// It was not waited for, and then could not be ended.
START_TEST(a_stuck_one_is_named_also_when_nobody_waited_for_it)
{
    Story story("0,1");
    story.watch.tokens[0].verdict.reset();
    story.watch.tokens[0].stuck = verdict_of(Reason::timeout, 0);
    story.watch.tokens[0].stuck->stuck_pid = 4711;
    story.watch.tokens[0].stuck->evidence.stage = Stage::init;
    const std::string want =
        "no answer in 0.9 s, last seen in cuInit; process 4711 did not end on SIGKILL: ";
    has("H02, enough others", success_text(story.report(), {1}), "0 UNDECIDED (" + want);
    story.says(1, Reason::crashed);
    has("H02, too few", short_text(story.report(), {}), "0  UNDECIDED  " + want);
}
END_TEST

START_TEST(undecided_ones_have_their_seconds)
{
    Story story("0,1");
    story.watch.tokens[0].verdict.reset();
    story.says(1, Reason::crashed).signal = 11;
    const auto lines = lines_of("table", short_text(story.report(), {}));
    same_text("undecided", lines[1], "auto-gpus: gpu07:   0  UNDECIDED  no answer in 0.9 s");
}
END_TEST

START_TEST(a_conflict_names_the_list)
{
    Story story("0,1,2");
    story.asks("2");
    story.says(1, Reason::crashed).signal = 11;
    story.watch.chosen = {true, kStart, {0, 2}, verdict_of(Reason::unknown_error, 0)};
    story.watch.chosen.verdict->evidence.call = "cuInit";
    story.watch.chosen.verdict->evidence.result = 999;
    same_text("I16", short_text(story.report(), {Step::Refusal::conflict, {0, 2}}),
              "auto-gpus: gpu07: the GPUs 0,2 work one by one, but not together (cuInit: "
              "CUDA_ERROR_UNKNOWN (999)); --auto-gpus=2 asks for 2; no task started on this node\n"
              "auto-gpus: gpu07:   0  LIST_CONFLICT  NVIDIA H100 80GB HBM3  GPU-00000000  10:00.0  "
              "each GPU works alone, the chosen list does not\n"
              "auto-gpus: gpu07:   1  CRASHED        killed by SIGSEGV in the start of the probe\n"
              "auto-gpus: gpu07:   2  LIST_CONFLICT  NVIDIA H100 80GB HBM3  GPU-00000002  12:00.0  "
              "each GPU works alone, the chosen list does not\n"
              "auto-gpus: gpu07: use --auto-gpus=1, or --exclude=gpu07, and report the node\n");
}
END_TEST

START_TEST(what_the_list_showed_is_told)
{
    Story story("0,1");
    story.watch.chosen = {true, kStart, {0, 1}, verdict_of(Reason::usable, 0)};
    const Short conflict{Step::Refusal::conflict, {0, 1}};
    has("fewer", short_text(story.report(), conflict), "not together (the driver shows 1); --auto");
    story.watch.chosen.verdict->evidence.count = 2;
    has("others", short_text(story.report(), conflict),
        "not together (the driver shows other GPUs); --auto");
    const Short unchecked{Step::Refusal::unchecked, {0, 1}};
    const std::string text = short_text(story.report(), unchecked);
    has("no answer", text,
        "gpu07: the GPUs 0,1 work one by one, but gave no answer together in time; --auto-gpus=all "
        "asks for 2; no task started on this node\n");
    lacks("no answer", text, "LIST_CONFLICT");
}
END_TEST

START_TEST(our_own_fault_has_its_exit_code)
{
    Story story("0,1");
    story.says(0, Reason::probe_failed);
    ck_assert_int_eq(short_exit_code(story.watch, 99), 99);
    story.says(1, Reason::probe_failed);
    ck_assert_int_eq(short_exit_code(story.watch, 99), kExitOwn);
    story.watch.tokens[1].verdict.reset();
    ck_assert_int_eq(short_exit_code(story.watch, 99), 99);
}
END_TEST

START_TEST(two_names_of_one_gpu_are_the_fault_of_the_list)
{
    Story story("GPU-00,GPU-0000");
    story.knows(0);
    story.knows(1).evidence.uuid = story.at(0).evidence.uuid;
    ck_assert_int_eq(short_exit_code(story.watch, 99), kExitRequest);
    const auto lines = lines_of("two names", short_text(story.report(), {}));
    same_text("two names", lines.back(), "auto-gpus: gpu07: name each GPU once");
}
END_TEST

START_TEST(a_request_that_is_too_large_says_whose_it_is)
{
    Story story("0,1");
    story.asks("3");
    const Refusal typed = too_short(story.settings, story.list);
    same_text("typed", typed.cause,
              "--auto-gpus=3 asks for 3, but CUDA_VISIBLE_DEVICES has 2 entries");
    same_text("typed", typed.remedy, info(Reason::list_too_short).remedy);
    ck_assert_int_eq(exit_code(typed.reason, 99), kExitRequest);
    story.settings.origin = Origin::inherited;
    const Refusal inherited = too_short(story.settings, story.list);
    has("inherited", inherited.cause, "; the request is the job's, from its sbatch or salloc");
    has("inherited", inherited.remedy, "--auto-gpus=off");
    story.settings.origin = Origin::environment;
    const Refusal variable = too_short(story.settings, story.list);
    has("a variable", variable.cause, "environment default");
    has("a variable", variable.remedy, "--auto-gpus=off");
    Story stopped("2,-1,1");
    stopped.asks("2+");
    same_text("D10", too_short(stopped.settings, stopped.list).cause,
              "--auto-gpus=2+ asks for 2, but CUDA_VISIBLE_DEVICES has 1 entry before '-1', where "
              "the driver stops reading");
}
END_TEST

}  // namespace

Suite* message_short_suite()
{
    return suite_of("message of too few", {{too_few_are_a_table_and_an_advice},
                                           {columns_are_aligned},
                                           {the_request_is_repeated, std::size(kAsks)},
                                           {the_sites_default_is_called_so},
                                           {the_advice_fits_the_faults, std::size(kAdvices)},
                                           {a_slow_node_is_thought_of_when_all_are_late},
                                           {a_person_is_told_what_a_person_can_do},
                                           {a_stuck_one_is_named_also_when_nobody_waited_for_it},
                                           {undecided_ones_have_their_seconds},
                                           {a_conflict_names_the_list},
                                           {what_the_list_showed_is_told},
                                           {our_own_fault_has_its_exit_code},
                                           {two_names_of_one_gpu_are_the_fault_of_the_list},
                                           {a_request_that_is_too_large_says_whose_it_is}});
}

}  // namespace auto_gpus::unit

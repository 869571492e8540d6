#include "src/core/message.hpp"

#include "src/core/table.hpp"
#include "tests/unit/core_suites.hpp"
#include "tests/unit/story.hpp"

namespace auto_gpus::unit {
namespace {

START_TEST(success_is_silent)
{
    Story story("0,1");
    same_text("all", success_text(story.report(), {0, 1}), "");
    same_text("the first of two", success_text(story.report(), {0}), "");
    story.watch.tokens[1].verdict.reset();
    same_text("the second was not waited for", success_text(story.report(), {0}), "");
}
END_TEST

START_TEST(a_fault_is_one_line)
{
    Story story("0,1,2,3");
    story.fails(1, Reason::ecc_uncorrectable, Stage::context, 214);
    story.watch.tokens[2].verdict.reset();
    same_text("interface", success_text(story.report(), {0, 3}),
              "auto-gpus: gpu07: using 0,3; 1 ECC_UNCORRECTABLE, 2 UNDECIDED (no answer in 0.9 s) "
              "skipped\n");
    same_text("AUTO_GPUS_REJECTED", rejected_text(story.report(), {0, 3}),
              "1:ECC_UNCORRECTABLE,2:UNDECIDED");
    same_text("AUTO_GPUS_UUIDS", uuids_text(story.watch, {0, 3}), uuid_of(0) + "," + uuid_of(3));
    same_text("a fault behind the chosen ones", success_text(story.report(), {0}),
              "auto-gpus: gpu07: using 0; 1 ECC_UNCORRECTABLE skipped\n");
}
END_TEST

START_TEST(nothing_rejected_is_empty)
{
    Story story("0,1,2");
    same_text("all", rejected_text(story.report(), {0, 1, 2}), "");
    same_text("the first", rejected_text(story.report(), {0}), "");
    story.watch.tokens[2].verdict.reset();
    same_text("not waited for, behind", rejected_text(story.report(), {0, 1}), "");
}
END_TEST

START_TEST(one_that_was_being_tried_again_has_its_reason)
{
    Story story("0,1");
    story.fails(0, Reason::busy_exclusive, Stage::context, 46).final = false;
    same_text("rejected", rejected_text(story.report(), {1}), "0:BUSY_EXCLUSIVE");
}
END_TEST

START_TEST(two_entries_of_one_gpu)
{
    Story story("0,GPU-0,2");
    story.at(1).evidence.uuid = uuid_of(0);
    same_text("rejected", rejected_text(story.report(), {0, 2}), "GPU-0:DUPLICATE");
    has("told", success_text(story.report(), {0, 2}), "using 0,2; GPU-0 DUPLICATE skipped");
}
END_TEST

START_TEST(verbose_tells_everything)
{
    Story story("0,1");
    story.settings.verbose = true;
    story.at(0).evidence.began_us[static_cast<std::size_t>(Stage::start)] = 1;
    story.at(0).evidence.began_us[static_cast<std::size_t>(Stage::init)] = 2000;
    story.at(0).evidence.began_us[static_cast<std::size_t>(Stage::context)] = 122000;
    story.at(0).evidence.began_us[static_cast<std::size_t>(Stage::done)] = 302000;
    same_text(
        "good", success_text(story.report(), {0, 1}),
        "auto-gpus: gpu07: using 0,1; decided in 0.90 s\n"
        "auto-gpus: gpu07:   0  usable  NVIDIA H100 80GB HBM3  GPU-00000000  10:00.0  0.31 s"
        "  (init 0.12 s, context 0.18 s)\n"
        "auto-gpus: gpu07:   1  usable  NVIDIA H100 80GB HBM3  GPU-00000001  11:00.0  0.31 s\n"
        "auto-gpus: gpu07: the check of the whole list gave no answer\n");
    story.watch.whole.verdict = verdict_of(Reason::usable, 0);
    lacks("it did", success_text(story.report(), {0, 1}), "whole list");
}
END_TEST

struct Crowd {
    const char* name;
    std::uint64_t total;  // MiB
    std::uint64_t used;
    const char* want;  // empty: no warning
};
constexpr Crowd kCrowds[] = {
    {"idle", 81920, 500, ""},
    {"2 GiB of 16", 16384, 2048, ""},
    {"a little more than 2 GiB of 16", 16384, 2049, "2.0 GiB of 16.0 GiB"},
    {"5 % of 80 GiB", 81920, 4096, ""},
    {"a little more than 5 % of 80 GiB", 81920, 4097, "4.0 GiB of 80.0 GiB"},
    {"B02: full", 16486, 14950, "14.6 GiB of 16.1 GiB"},
    {"more free than there is", 16384, ~std::uint64_t{0} >> 20U, ""},
};

START_TEST(memory_that_others_use_is_a_warning)
{
    const Crowd& row = kCrowds[_i];
    Story story("2");
    story.at(0).evidence.total = row.total << 20U;
    story.at(0).evidence.free = (row.total - row.used) << 20U;
    const std::string text = success_text(story.report(), {0});
    const std::string want = std::string("auto-gpus: gpu07: warning: 2 has ") + row.want +
                             " of memory used; --auto-gpus-min-free=SIZE would refuse it\n";
    same_text(row.name, text, *row.want == '\0' ? "" : want);
}
END_TEST

START_TEST(only_the_tasks_own_gpus_are_warned_of)
{
    Story story("0,1");
    story.at(1).evidence.free = 0;
    same_text("the other", success_text(story.report(), {0}), "");
}
END_TEST

START_TEST(several_mig_instances_are_a_warning)
{
    Story story("MIG-a,MIG-b,MIG-c");
    same_text("F01", success_text(story.report(), {0, 1, 2}),
              "auto-gpus: gpu07: warning: CUDA shows a process one MIG instance, not 3; use one "
              "task for each\n");
    same_text("one", success_text(story.report(), {1}), "");
}
END_TEST

std::string many(std::size_t count)
{
    std::string value;
    for (std::size_t i = 0; i < count; ++i) {
        value += (i == 0 ? "" : ",") + std::to_string(i);
    }
    return value;
}

std::vector<std::size_t> all_of(const Story& story)
{
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < story.list.tokens.size(); ++i) {
        all.push_back(i);
    }
    return all;
}

START_TEST(a_message_has_64_lines_at_most)
{
    Story story(many(kMostTokens));
    story.settings.verbose = true;
    const auto plain = lines_of("all is well", success_text(story.report(), all_of(story)));
    ck_assert_uint_le(plain.size(), 64);
    has("the rest is counted", plain[61], "and 196 more");
    for (std::size_t i = 0; i < story.list.tokens.size(); ++i) {
        story.fails(i, Reason::ecc_uncorrectable, Stage::context, 214);
    }
    const auto bad = lines_of("all is bad", short_text(story.report(), {}));
    ck_assert_uint_le(bad.size(), 64);
}
END_TEST

START_TEST(so_have_warnings)
{
    Story story(many(kMostTokens));
    for (std::size_t i = 0; i < story.list.tokens.size(); ++i) {
        story.at(i).evidence.free = kGiB;
    }
    const std::string text = success_text(story.report(), all_of(story));
    ck_assert_uint_le(lines_of("crowded", text).size(), 64);
}
END_TEST

START_TEST(nothing_foreign_reaches_the_terminal)
{
    const std::string foul = "\x1b[31m\n\xc3\xa9\r\\";
    const std::string foul_note = foul + " x " + foul;
    for (const ReasonInfo& row : all_reasons()) {
        Story story("GPU-\x1b[1m,1");
        story.node = "gpu07" + foul;
        story.mps_pipe = foul;
        story.settings.verbose = true;
        story.says(0, row.reason);
        for (std::string* text : {&story.at(0).evidence.libcuda, &story.at(0).evidence.load_error,
                                  &story.at(0).evidence.call, &story.at(0).evidence.uuid,
                                  &story.at(0).evidence.pci, &story.at(0).evidence.model}) {
            *text = foul;
        }
        story.watch.evidence.verdict = verdict_of(Reason::usable, 0);
        story.watch.evidence.verdict->evidence.notes = foul_note;
        (void)lines_of(row.name, short_text(story.report(), {}));
        story.watch.chosen = {true, kStart, {0, 1}, story.at(0)};
        (void)lines_of(row.name, short_text(story.report(), {Step::Refusal::conflict, {0, 1}}));
        (void)lines_of(row.name, short_text(story.report(), {Step::Refusal::unchecked, {0, 1}}));
        (void)lines_of(row.name, success_text(story.report(), {1}));
        (void)lines_of(row.name, refusal_text(story.node, {row.reason, "why", "what"}));
        story.watch.tokens[1] = story.watch.tokens[0];
        (void)lines_of(row.name, short_text(story.report(), {}));
    }
}
END_TEST

START_TEST(a_refusal_is_one_line)
{
    same_text("both", refusal_text("gpu07", {Reason::empty_list, "it is empty", "ask for GPUs"}),
              "auto-gpus: gpu07: EMPTY_LIST: it is empty; ask for GPUs\n");
    same_text("no remedy", refusal_text("n1", {Reason::internal, "it broke", ""}),
              "auto-gpus: n1: INTERNAL: it broke\n");
    same_text("a warning", warning_text("n1", "look"), "auto-gpus: n1: warning: look\n");
}
END_TEST

}  // namespace

Suite* message_suite()
{
    return suite_of("message", {{success_is_silent},
                                {a_fault_is_one_line},
                                {nothing_rejected_is_empty},
                                {one_that_was_being_tried_again_has_its_reason},
                                {two_entries_of_one_gpu},
                                {verbose_tells_everything},
                                {memory_that_others_use_is_a_warning, std::size(kCrowds)},
                                {only_the_tasks_own_gpus_are_warned_of},
                                {several_mig_instances_are_a_warning},
                                {a_message_has_64_lines_at_most},
                                {so_have_warnings},
                                {nothing_foreign_reaches_the_terminal},
                                {a_refusal_is_one_line}});
}

}  // namespace auto_gpus::unit

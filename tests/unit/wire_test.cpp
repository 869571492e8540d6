#include <limits>

#include "src/core/verdict.hpp"
#include "tests/unit/core_suites.hpp"
#include "tests/unit/scene.hpp"

namespace auto_gpus::unit {
namespace {

/// Every field has a value of its own that is not its default.
Verdict full_verdict()
{
    Verdict verdict;
    verdict.reason = Reason::execution_fault;
    verdict.final = false;
    verdict.ending = Ending::timed_out;
    verdict.exit_code = 3;
    verdict.signal = 11;
    verdict.stuck_pid = 4711;
    verdict.tries = 5;
    verdict.took_us = 310000;
    Evidence& evidence = verdict.evidence;
    evidence.stage = Stage::copy;
    for (std::size_t i = 0; i < kStageCount; ++i) {
        evidence.began_us[i] = 100 + static_cast<std::uint32_t>(i);
    }
    evidence.libcuda = "/usr/lib/x86_64-linux-gnu/libcuda.so.1";
    evidence.load_error = "cannot open: no such file";
    evidence.call = "cuMemcpyDtoH";
    evidence.result = 700;
    evidence.driver_version = 12080;
    evidence.count = 8;
    evidence.uuid = uuid_of(3);
    evidence.pci = "0000:17:00.0";
    evidence.model = "NVIDIA H100 80GB HBM3";
    evidence.compute_mode = 3;
    evidence.mps = true;
    evidence.total = std::numeric_limits<std::uint64_t>::max();
    evidence.free = 123456789012;
    evidence.address_limit = 99;
    evidence.mismatch = true;
    evidence.mismatch_offset = 16777212;
    evidence.expected = 0xdeadbeef;
    evidence.found = std::numeric_limits<std::uint32_t>::max();
    evidence.notes = "0000:17:00.0 GPU-1 the GPU is lost|- - reset";
    evidence.uuids = uuid_of(1) + "," + uuid_of(2);
    return verdict;
}

START_TEST(every_field_comes_through)
{
    const Verdict sent = full_verdict();
    Verdict got;
    const std::string line = encode("3", sent);
    same_text("whose", decode(line, got), "3");
    same_text("all fields", text_of_verdict(got), text_of_verdict(sent));
    lacks("one line", line, "\n");
    Verdict plain;
    same_text("whose", decode(encode("whole", Verdict{}), plain), "whole");
    same_text("defaults", text_of_verdict(plain), text_of_verdict(Verdict{}));
}
END_TEST

START_TEST(changes_are_told_alone)
{
    const Evidence full = full_verdict().evidence;
    same_text("nothing changed", encode_changes(full, full), "");
    Evidence next = full;
    next.stage = Stage::free;
    next.model = "A B%";
    same_text("two", encode_changes(full, next), "stage=free model=A%20B%25");
    Evidence got = full;
    ck_assert(decode_into(got, encode_changes(full, next)));
    same_text("applied", text_of_evidence(got), text_of_evidence(next));
    Evidence back = next;
    ck_assert(decode_into(back, encode_changes(next, Evidence{})));
    same_text("to the defaults", text_of_evidence(back), text_of_evidence(Evidence{}));
}
END_TEST

START_TEST(any_text_comes_through)
{
    std::string all_bytes;
    for (int byte = 0; byte < 256; ++byte) {
        all_bytes += static_cast<char>(byte);
    }
    Evidence evidence;
    evidence.model = all_bytes;
    evidence.load_error = "% %20 %2 =\n\r\t\\";
    const std::string line = encode_changes(Evidence{}, evidence);
    for (const char letter : line) {
        ck_assert(letter >= 0x20 && letter < 0x7f);
    }
    Evidence got;
    ck_assert(decode_into(got, line));
    same_text("all fields", text_of_evidence(got), text_of_evidence(evidence));
}
END_TEST

/// What is cut off is better than what is lost: a long reason must not become no reason.
START_TEST(a_text_that_is_too_long_is_not_lost)
{
    Evidence evidence;
    evidence.load_error = "cannot load " + std::string(3000, 'x');
    evidence.model = std::string(2000, ' ');
    Evidence got;
    ck_assert(decode_into(got, encode_changes(Evidence{}, evidence)));
    has("its beginning", got.load_error, "cannot load xxx");
    ck_assert(!got.model.empty());
}
END_TEST

START_TEST(the_longest_line_fits)
{
    Verdict verdict = full_verdict();
    Evidence& evidence = verdict.evidence;
    for (std::string* text : {&evidence.libcuda, &evidence.load_error, &evidence.call,
                              &evidence.uuid, &evidence.pci, &evidence.model}) {
        *text = std::string(1024, 'x');
    }
    evidence.uuids = std::string(std::size_t{16} * 1024, 'x');
    const std::string line = encode("255", verdict);
    ck_assert_uint_le(line.size(), kLongestLine);
    Verdict got;
    same_text("whose", decode(line, got), "255");
    same_text("all fields", text_of_verdict(got), text_of_verdict(verdict));
}
END_TEST

START_TEST(the_extremes_of_numbers_come_through)
{
    for (const std::int32_t number : {std::numeric_limits<std::int32_t>::min(), -1, 0,
                                      std::numeric_limits<std::int32_t>::max()}) {
        Evidence evidence;
        evidence.result = number;
        evidence.count = number;
        Evidence got;
        const std::string line = encode_changes(Evidence{}, evidence);
        ck_assert_msg(line.empty() || decode_into(got, line), "%d", number);
        ck_assert_msg(got.result == number, "%d", number);
    }
}
END_TEST

struct Bad {
    const char* name;
    std::string line;
};
const Bad kBad[] = {
    {"nothing", ""},
    {"a blank", " "},
    {"a word", "stage"},
    {"an equals sign", "="},
    {"no key", "=1"},
    {"a blank at the end", "count=1 "},
    {"a blank at the beginning", " count=1"},
    {"two blanks", "count=1  result=2"},
    {"an unknown key", "colour=red"},
    {"an unknown key behind a good one", "count=1 colour=red"},
    {"a key in capitals", "COUNT=1"},
    {"a key of the verdict", "reason=usable"},
    {"an unknown stage", "stage=lunch"},
    {"an empty stage", "stage="},
    {"an empty number", "count="},
    {"a sign alone", "count=-"},
    {"two signs", "count=--1"},
    {"a plus sign", "count=+1"},
    {"a number and more", "count=1x"},
    {"a point", "count=1.0"},
    {"2^31", "count=2147483648"},
    {"below -2^31", "count=-2147483649"},
    {"2^64", "count=18446744073709551616"},
    {"a negative size", "total_bytes=-1"},
    {"a negative time", "init=-1"},
    {"a size of 2^64", "free_bytes=18446744073709551616"},
    {"a time of 2^32", "init=4294967296"},
    {"a truth of 2", "mps=2"},
    {"a truth in words", "mismatch=true"},
    {"an escape cut off", "model=A%"},
    {"an escape cut off in the middle", "model=A%2"},
    {"an escape of no digits", "model=%zz"},
    {"an escape of one digit", "model=%2z"},
    {"an escape in capitals", "model=%2F"},
    {"an escape with a sign", "model=%-1"},
    {"a text too long", "model=" + std::string(1025, 'x')},
    {"a list too long", "uuids=" + std::string(std::size_t{16} * 1024 + 1, 'x')},
    {"a newline in a number", "count=1\n"},
};

START_TEST(malformed_evidence_is_refused)
{
    Evidence evidence;
    ck_assert_msg(!decode_into(evidence, kBad[_i].line), "%s", kBad[_i].name);
    Verdict verdict;
    if (kBad[_i].line != "reason=usable") {
        same_text(kBad[_i].name, decode("who=1 " + kBad[_i].line, verdict), "");
    }
}
END_TEST

START_TEST(what_lies_behind_a_line_is_not_read)
{
    Evidence evidence;
    for (const std::size_t length : {8U, 9U}) {
        ck_assert(!decode_into(evidence, std::string_view("model=A%20", length)));
    }
    ck_assert(decode_into(evidence, std::string_view("model=A%2020", 10)));
    same_text("the whole escape", evidence.model, "A ");
}
END_TEST

const Bad kBadVerdicts[] = {
    {"nobody's", "reason=usable final=1"},
    {"an empty owner", "who= reason=usable"},
    {"an unknown reason", "who=1 reason=GOOD"},
    {"a reason in other letters", "who=1 reason=USABLE"},
    {"an empty reason", "who=1 reason="},
    {"an unknown ending", "who=1 ending=6"},
    {"a negative ending", "who=1 ending=-1"},
    {"a final of 2", "who=1 final=2"},
    {"a negative count of tries", "who=1 tries=-1"},
    {"a time of 2^32", "who=1 took=4294967296"},
    {"a pid of 2^31", "who=1 stuck=2147483648"},
    {"a key of nobody", "who=1 colour=red"},
};

START_TEST(malformed_verdicts_are_refused)
{
    Verdict verdict;
    same_text(kBadVerdicts[_i].name, decode(kBadVerdicts[_i].line, verdict), "");
}
END_TEST

}  // namespace

Suite* wire_suite()
{
    return suite_of("wire", {{every_field_comes_through},
                             {changes_are_told_alone},
                             {any_text_comes_through},
                             {a_text_that_is_too_long_is_not_lost},
                             {the_longest_line_fits},
                             {the_extremes_of_numbers_come_through},
                             {what_lies_behind_a_line_is_not_read},
                             {malformed_evidence_is_refused, std::size(kBad)},
                             {malformed_verdicts_are_refused, std::size(kBadVerdicts)}});
}

}  // namespace auto_gpus::unit

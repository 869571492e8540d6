#include "src/core/token_list.hpp"

#include <limits>

#include "tests/unit/core_suites.hpp"

namespace auto_gpus::unit {
namespace {

constexpr std::uint64_t kOverflow = std::numeric_limits<std::uint64_t>::max();

/// The list as one text: "2 gpu:GPU-a !-1" is index 2, a UUID, stopped at "-1".
std::string shown(const TokenList& list)
{
    std::string text;
    for (const Token& token : list.tokens) {
        text += text.empty() ? "" : " ";
        switch (token.form) {
            case TokenForm::index:
                text += std::to_string(token.index);
                break;
            case TokenForm::gpu:
                text += "gpu:" + token.text;
                break;
            case TokenForm::mig:
                text += "mig:" + token.text;
                break;
        }
    }
    return list.stopped ? text + " !" + list.stopped_at : text;
}

struct Good {
    const char* name;
    const char* value;
    const char* want;
};
constexpr Good kGood[] = {
    {"one index", "0", "0"},
    {"indices in list order", "2,0,1", "2 0 1"},
    {"not from 0 (A02, C06)", "7", "7"},
    {"holes between indices (D16)", "2,5,7", "2 5 7"},
    {"the guide's example: stopped by a negative index", "0,2,-1,1", "0 2 !-1"},
    {"D10: stopped by a negative index", "2,-1,1", "2 !-1"},
    {"D10: the -1 at the end", "2,-1", "2 !-1"},
    {"D09: junk behind the digits", "1gpu2,2ampere", "1 2"},
    {"D09: a range is its first number", "0-2", "0"},
    {"a range beside an index", "0-2,1", "0 1"},
    {"a leading zero", "01,2", "1 2"},
    {"a plus sign", "+1,2", "1 2"},
    {"blanks before an index, as strtoul reads it", "0, 1,\t2", "0 1 2"},
    {"a blank behind an index", "0 ,1", "0 1"},
    {"a blank and a plus sign", " +3", "3"},
    {"a blank behind the plus sign is no number", "0,+ 3", "0 !+ 3"},
    {"two plus signs", "0,++3", "0 !++3"},
    {"hexadecimal is not read as such", "0x1f", "0"},
    {"a point", "1.5", "1"},
    {"an index that overflows stays", "0,18446744073709551616", "0 18446744073709551615"},
    {"as large as can be", "18446744073709551615", "18446744073709551615"},
    {"a hole", "0,,1", "0 !"},
    {"a trailing comma", "0,1,", "0 1 !"},
    {"a blank alone", "0, ,1", "0 ! "},
    {"words behind an index", "1,none", "1 !none"},
    {"behind the stop nothing counts: no duplicate", "1,-1,1", "1 !-1"},
    {"a UUID", "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6",
     "gpu:GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"},
    {"D03, D14: a prefix", "GPU-4ba9dbe6", "gpu:GPU-4ba9dbe6"},
    {"D12: unknown UUIDs are tokens", "GPU-a,GPU-dead,GPU-c", "gpu:GPU-a gpu:GPU-dead gpu:GPU-c"},
    {"D13: mixed forms are tokens", "3,GPU-a", "3 gpu:GPU-a"},
    {"prefixes of each other are two tokens", "GPU-a,GPU-ab", "gpu:GPU-a gpu:GPU-ab"},
    {"UUIDs differ by case", "GPU-ab,GPU-AB", "gpu:GPU-ab gpu:GPU-AB"},
    {"a UUID in small letters is no UUID", "0,gpu-a", "0 !gpu-a"},
    {"a blank before a UUID is no UUID", "0, GPU-a", "0 ! GPU-a"},
    {"MIG", "MIG-a,MIG-b", "mig:MIG-a mig:MIG-b"},
    {"F07: the older MIG form keeps its slashes", "MIG-GPU-ede6b90f/12/0,MIG-GPU-ede6b90f/11/0",
     "mig:MIG-GPU-ede6b90f/12/0 mig:MIG-GPU-ede6b90f/11/0"},
};

START_TEST(a_list_is_read_as_the_driver_reads_it)
{
    const Good& row = kGood[_i];
    const auto got = parse_token_list(row.value);
    ck_assert_msg(static_cast<bool>(got), "%s: '%s' is refused", row.name, row.value);
    same_text(row.name, shown(got.value()), row.want);
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < got.value().tokens.size(); ++i) {
        all.push_back(i);
    }
    const std::string kept = joined(got.value(), all);
    same_text(row.name, std::string_view(row.value).substr(0, kept.size()), kept);
}
END_TEST

struct Bad {
    const char* name;
    std::string_view value;
    Reason reason;
    const char* cause;  // a part of it
};
constexpr Bad kBad[] = {
    {"D05: empty", "", Reason::empty_list, "CUDA_VISIBLE_DEVICES is empty"},
    {"D06: Slurm's word for none", "NoDevFiles", Reason::not_allocated,
     "CUDA_VISIBLE_DEVICES is 'NoDevFiles': no GPU was allocated to this step"},
    {"Slurm's word and more", "NoDevFiles,0", Reason::bad_token, "is 'NoDevFiles', which names no"},
    {"negative", "-1", Reason::bad_token, "entry 1 of CUDA_VISIBLE_DEVICES is '-1', which names"},
    {"negative first", "-1,0", Reason::bad_token, "the driver stops there"},
    {"words", "none", Reason::bad_token, "'none'"},
    {"a comma alone", ",", Reason::bad_token, "is ''"},
    {"a hole first", ",0", Reason::bad_token, "is ''"},
    {"a blank alone", " ", Reason::bad_token, "is ' '"},
    {"a sign alone", "+", Reason::bad_token, "is '+'"},
    {"separated by something else", ";0", Reason::bad_token, "is ';0'"},
    {"D12: duplicate", "0,0", Reason::duplicate,
     "duplicate 0 in CUDA_VISIBLE_DEVICES=0,0: CUDA would show no GPU"},
    {"a duplicate by value", "1,1x", Reason::duplicate,
     "duplicate 1x in CUDA_VISIBLE_DEVICES=1,1x"},
    {"a duplicate by value with zeros", "1,2,01", Reason::duplicate, "duplicate 01"},
    {"a duplicate with a sign", "1,+1", Reason::duplicate, "duplicate +1"},
    {"a duplicate with a blank", "1, 1", Reason::duplicate, "duplicate  1 in"},
    {"a duplicate before the stop", "1,2,1,-1", Reason::duplicate, "duplicate 1"},
    {"hexadecimal zero twice", "0,0x1f", Reason::duplicate, "duplicate 0x1f"},
    {"two that overflow", "99999999999999999999,88888888888888888888", Reason::duplicate,
     "duplicate 88888888888888888888"},
    {"the same UUID", "GPU-a,GPU-b,GPU-a", Reason::duplicate, "duplicate GPU-a"},
    {"the same MIG instance", "MIG-GPU-a/1/0,MIG-GPU-a/1/0", Reason::duplicate,
     "duplicate MIG-GPU-a/1/0"},
    {"control characters", "\x1b[2J\n", Reason::bad_token, "is '\\x1b[2J\\x0a', which"},
    {"not ASCII",
     "GPU\xe2\x80\x93"
     "1",
     Reason::bad_token, "'GPU\\xe2\\x80\\x931'"},
    {"a duplicate with control characters", "GPU-\n,GPU-\n", Reason::duplicate,
     "duplicate GPU-\\x0a in CUDA_VISIBLE_DEVICES=GPU-\\x0a,GPU-\\x0a:"},
    {"a backslash", "\\0", Reason::bad_token, "'\\\\0'"},
    {"the byte 0", std::string_view("\0", 1), Reason::bad_token, "'\\x00'"},
};

START_TEST(what_would_show_no_gpu_is_refused)
{
    const Bad& row = kBad[_i];
    const auto got = parse_token_list(row.value);
    ck_assert_msg(!got, "%s: not refused", row.name);
    same_text(row.name, name(got.error().reason), name(row.reason));
    has(row.name, got.error().cause, row.cause);
    holds(row.name, !got.error().remedy.empty(), "no remedy");
    ck_assert_msg(exit_code(got.error().reason, kExitShort) == kExitRequest, "%s", row.name);
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

START_TEST(a_list_has_an_end)
{
    const auto most = parse_token_list(many(256));
    ck_assert(static_cast<bool>(most));
    ck_assert_uint_eq(most.value().tokens.size(), 256);
    ck_assert_uint_eq(most.value().tokens.back().index, 255);
    const auto more = parse_token_list(many(1000));
    ck_assert(!more);
    ck_assert(more.error().reason == Reason::bad_token);
    same_text("more", more.error().cause,
              "CUDA_VISIBLE_DEVICES has 1000 entries; at most 256 are read");
    ck_assert(!parse_token_list(std::string(100000, ',')));
}
END_TEST

START_TEST(a_token_has_an_end)
{
    const std::string longest = "GPU-" + std::string(252, 'a');
    ck_assert(static_cast<bool>(parse_token_list(longest)));
    for (const std::string& longer :
         {longest + "a", std::string(10000, '1'), "GPU-" + std::string(10000, '\n')}) {
        const auto got = parse_token_list("0," + longer);
        ck_assert(!got);
        ck_assert(got.error().reason == Reason::bad_token);
        has("its place", got.error().cause, "entry 2 of CUDA_VISIBLE_DEVICES");
        has("its length", got.error().cause, "(" + std::to_string(longer.size()) + " bytes)");
        ck_assert_uint_lt(got.error().cause.size(), 400);
    }
}
END_TEST

START_TEST(positions_are_joined)
{
    const auto list = parse_token_list("2,1gpu2,GPU-a");
    ck_assert(static_cast<bool>(list));
    same_text("none", joined(list.value(), {}), "");
    same_text("some, byte for byte", joined(list.value(), {1, 2}), "1gpu2,GPU-a");
}
END_TEST

START_TEST(an_overflow_is_the_largest_index)
{
    const auto list = parse_token_list("99999999999999999999999999999999999999");
    ck_assert(static_cast<bool>(list));
    ck_assert_uint_eq(list.value().tokens[0].index, kOverflow);
}
END_TEST

}  // namespace

Suite* token_list_suite()
{
    return suite_of("token list", {{a_list_is_read_as_the_driver_reads_it, std::size(kGood)},
                                   {what_would_show_no_gpu_is_refused, std::size(kBad)},
                                   {a_list_has_an_end},
                                   {a_token_has_an_end},
                                   {positions_are_joined},
                                   {an_overflow_is_the_largest_index}});
}

}  // namespace auto_gpus::unit

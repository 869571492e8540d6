#include "src/core/reason.hpp"

#include <set>

#include "src/core/cuda_result.hpp"
#include "src/core/stage.hpp"
#include "tests/unit/core_suites.hpp"

namespace auto_gpus::unit {
namespace {

struct Code {
    const char* name;
    int exit_code;
    bool node_wide;
};
constexpr int kShort = 42;  // what the site says instead of 75
constexpr Code kCodes[] = {
    // of one GPU
    {"NOT_VISIBLE", kShort, false},
    {"BUSY_EXCLUSIVE", kShort, false},
    {"UNAVAILABLE", kShort, false},
    {"PROHIBITED", kShort, false},
    {"ECC_UNCORRECTABLE", kShort, false},
    {"OUT_OF_MEMORY", kShort, false},
    {"LOW_MEMORY", kShort, false},
    {"WRONG_RESULT", kShort, false},
    {"EXECUTION_FAULT", kShort, false},
    {"UNKNOWN_ERROR", kShort, true},
    {"DRIVER_ERROR", kShort, false},
    {"TIMEOUT", kShort, false},
    {"CRASHED", kShort, false},
    {"MEMORY_LIMIT", kShort, false},
    {"UNDECIDED", kShort, false},
    {"LIST_CONFLICT", kShort, false},
    {"TAKEN", kShort, false},
    // of the node
    {"DRIVER_MISSING", kShort, true},
    {"DRIVER_STUB", kShort, true},
    {"DRIVER_MISMATCH", kShort, true},
    {"COMPAT_UNSUPPORTED", kShort, true},
    {"SYSTEM_NOT_READY", kShort, true},
    {"NO_DEVICE", kShort, true},
    {"NOT_INITIALIZED", kShort, true},
    {"OS_CALL_FAILED", kShort, true},
    {"MPS_ERROR", kShort, true},
    {"ADDRESS_LIMIT", kShort, true},
    // of the request
    {"NOT_ALLOCATED", 78, false},
    {"EMPTY_LIST", 78, false},
    {"DUPLICATE", 78, false},
    {"BAD_TOKEN", 78, false},
    {"LIST_TOO_SHORT", 78, false},
    {"BAD_CONFIG", 78, false},
    // of the option, and of ours
    {"BAD_OPTION", 64, false},
    {"PROBE_FAILED", 70, false},
    {"INTERNAL", 70, false},
};

START_TEST(every_code_has_its_exit_code)
{
    const Code& row = kCodes[_i];
    const auto reason = reason_from_name(row.name);
    ck_assert_msg(reason.has_value(), "%s is missing", row.name);
    same_text(row.name, name(*reason), row.name);
    ck_assert_msg(exit_code(*reason, kShort) == row.exit_code, "%s: %d", row.name,
                  exit_code(*reason, kShort));
    ck_assert_msg(is_node_wide(*reason) == row.node_wide, "%s", row.name);
}
END_TEST

START_TEST(the_table_has_no_other_codes)
{
    ck_assert_uint_eq(kReasonCount, std::size(kCodes) + 1);  // and "usable"
    same_text("usable", name(Reason::usable), "usable");
    ck_assert_int_eq(kExitShort, 75);
}
END_TEST

START_TEST(codes_are_unique_words_with_a_meaning_and_a_remedy)
{
    std::set<std::string> names;
    for (const ReasonInfo& row : all_reasons()) {
        ck_assert_msg(names.insert(row.name).second, "%s is there twice", row.name);
        ck_assert_msg(&info(row.reason) == &row, "%s", row.name);
        const std::string meaning = row.meaning;
        const std::string remedy = row.remedy;
        ck_assert_msg(!meaning.empty() && meaning.back() != '.', "%s", row.name);
        if (row.reason == Reason::usable) {
            continue;
        }
        ck_assert_msg(!remedy.empty() && remedy.back() != '.', "%s", row.name);
        ck_assert_msg(std::string(row.name).find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") ==
                          std::string::npos,
                      "%s", row.name);
    }
}
END_TEST

START_TEST(other_words_are_no_codes)
{
    for (const char* text : {"", "timeout", "TIMEOUT ", "TIME", "USABLE"}) {
        ck_assert_msg(!reason_from_name(text), "'%s'", text);
    }
}
END_TEST

START_TEST(occupied_is_said_of_one_code_alone)
{
    for (const ReasonInfo& row : all_reasons()) {
        lacks(row.name, row.meaning, "occupied");
        if (row.reason != Reason::busy_exclusive) {
            lacks(row.name, row.meaning, "in use");
        }
    }
}
END_TEST

START_TEST(stages_have_unique_names)
{
    std::set<std::string> names;
    std::set<std::string> activities;
    for (std::size_t i = 0; i < kStageCount; ++i) {
        const auto stage = static_cast<Stage>(i);
        ck_assert_msg(names.insert(name(stage)).second, "%s", name(stage));
        ck_assert_msg(activities.insert(activity(stage)).second, "%s", activity(stage));
        ck_assert_msg(stage_from_name(name(stage)) == stage, "%s", name(stage));
    }
    ck_assert(!stage_from_name(""));
    ck_assert(!stage_from_name("cuInit"));
    same_text("init", activity(Stage::init), "cuInit");
    same_text("context", activity(Stage::context), "cuCtxCreate");
    same_text("set", activity(Stage::set), "cuMemsetD32");
}
END_TEST

struct Named {
    int result;
    const char* name;
};
constexpr Named kNamed[] = {
    {2, "CUDA_ERROR_OUT_OF_MEMORY"},
    {3, "CUDA_ERROR_NOT_INITIALIZED"},
    {34, "CUDA_ERROR_STUB_LIBRARY"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {100, "CUDA_ERROR_NO_DEVICE"},
    {101, "CUDA_ERROR_INVALID_DEVICE"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM"},
    {719, "CUDA_ERROR_LAUNCH_FAILED"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"},
    {807, "CUDA_ERROR_MPS_SERVER_NOT_READY"},
    {999, "CUDA_ERROR_UNKNOWN"},
    {12345, "an unknown CUresult"},
    {-1, "an unknown CUresult"},
};

START_TEST(results_have_the_drivers_names)
{
    same_text(kNamed[_i].name, cuda::result_name(kNamed[_i].result), kNamed[_i].name);
}
END_TEST

}  // namespace

Suite* reason_suite()
{
    return suite_of("reason", {{every_code_has_its_exit_code, std::size(kCodes)},
                               {the_table_has_no_other_codes},
                               {codes_are_unique_words_with_a_meaning_and_a_remedy},
                               {other_words_are_no_codes},
                               {occupied_is_said_of_one_code_alone},
                               {stages_have_unique_names},
                               {results_have_the_drivers_names, std::size(kNamed)}});
}

}  // namespace auto_gpus::unit

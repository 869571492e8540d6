#include "src/base/text.hpp"

#include <limits>

#include "tests/unit/base_suites.hpp"

namespace auto_gpus::unit {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

struct Number {
    const char* name;
    const char* text;
    std::uint64_t largest;
    bool good;
    std::uint64_t want;
};
constexpr Number kNumbers[] = {
    {"zero", "0", kMost, true, 0},
    {"leading zeros", "0007", kMost, true, 7},
    {"2^64 - 1", "18446744073709551615", kMost, true, kMost},
    {"2^64", "18446744073709551616", kMost, false, 0},
    {"2^64 and a digit", "184467440737095516150", kMost, false, 0},
    {"thirty nines", "999999999999999999999999999999", kMost, false, 0},
    {"the largest", "255", 255, true, 255},
    {"one above", "256", 255, false, 0},
    {"ten times the largest", "2550", 255, false, 0},
    {"a digit above a largest of one digit", "7", 3, false, 0},
    {"zero is all that is allowed", "0", 0, true, 0},
    {"one where zero is all", "1", 0, false, 0},
    {"ten where zero is all", "10", 0, false, 0},
    {"empty", "", kMost, false, 0},
    {"a plus sign", "+1", kMost, false, 0},
    {"a minus sign", "-1", kMost, false, 0},
    {"a blank before", " 1", kMost, false, 0},
    {"a blank after", "1 ", kMost, false, 0},
    {"a newline after", "1\n", kMost, false, 0},
    {"hexadecimal", "0x10", kMost, false, 0},
    {"the byte before the digits", "1/", kMost, false, 0},
    {"the byte after the digits", "1:", kMost, false, 0},
    {"a byte above ASCII", "1\xb2", kMost, false, 0},
};

START_TEST(numbers_are_plain_and_bounded)
{
    const Number& row = kNumbers[_i];
    const auto got = parse_number(row.text, row.largest);
    ck_assert_msg(got.has_value() == row.good, "%s: '%s'", row.name, row.text);
    ck_assert_msg(got.value_or(0) == row.want, "%s: '%s'", row.name, row.text);
}
END_TEST

struct Split {
    const char* name;
    std::string_view text;
    const char* want;  // the pieces in brackets
};
constexpr Split kSplits[] = {
    {"nothing is one empty piece", "", "[]"},
    {"one", "a", "[a]"},
    {"several", "a,bc,d", "[a][bc][d]"},
    {"a hole", "a,,b", "[a][][b]"},
    {"at both ends", ",a,", "[][a][]"},
    {"separators alone", ",,", "[][][]"},
    {"other separators stay", "a b;c", "[a b;c]"},
};

START_TEST(text_is_split_with_its_empty_pieces)
{
    const Split& row = kSplits[_i];
    std::string got;
    for (const std::string_view piece : split(row.text, ',')) {
        got += "[" + std::string(piece) + "]";
    }
    same_text(row.name, got, row.want);
}
END_TEST

START_TEST(pieces_are_joined)
{
    same_text("none", join({}, ","), "");
    same_text("one", join({"a"}, ","), "a");
    same_text("empty ones count", join({"", "b", ""}, ", "), ", b, ");
    same_text("equal ones", join({"a", "a"}, "-"), "a-a");
}
END_TEST

START_TEST(beginnings_and_ends)
{
    ck_assert(starts_with("GPU-1", "GPU-"));
    ck_assert(starts_with("GPU-", "GPU-"));
    ck_assert(starts_with("", ""));
    ck_assert(!starts_with("GPU", "GPU-"));
    ck_assert(!starts_with("gpu-1", "GPU-"));
    ck_assert(ends_with("a/b.so", "b.so"));
    ck_assert(ends_with("b.so", "b.so"));
    ck_assert(ends_with("x", ""));
    ck_assert(!ends_with("so", "b.so"));
    ck_assert(!ends_with("a/b.so ", "b.so"));
}
END_TEST

struct Printable {
    const char* name;
    std::string_view text;
    std::size_t longest;
    const char* want;
};
constexpr Printable kPrintables[] = {
    {"plain", "GPU-1 ~!", 80, "GPU-1 ~!"},
    {"empty", "", 80, ""},
    {"control characters", "a\n\t\r\x1b[31m", 80, "a\\x0a\\x09\\x0d\\x1b[31m"},
    {"the byte 0", std::string_view("a\0b", 3), 80, "a\\x00b"},
    {"delete", "\x7f", 80, "\\x7f"},
    {"a backslash is doubled", "\\x0a", 80, "\\\\x0a"},
    {"UTF-8 by its bytes", "\xc3\xa9", 80, "\\xc3\\xa9"},
    {"255", "\xff", 80, "\\xff"},
    {"as long as allowed", "abcd", 4, "abcd"},
    {"too long", "abcde", 4, "abcd... (5 bytes)"},
    {"too long, of escapes", "\n\n\n", 2, "\\x0a\\x0a... (3 bytes)"},
    {"nothing is allowed", "abc", 0, "... (3 bytes)"},
};

START_TEST(what_others_wrote_is_made_printable)
{
    const Printable& row = kPrintables[_i];
    same_text(row.name, printable(row.text, row.longest), row.want);
    same_text(row.name, quoted(row.text, row.longest), "'" + std::string(row.want) + "'");
}
END_TEST

START_TEST(every_byte_prints_as_one_line_of_ascii)
{
    for (int byte = 0; byte < 256; ++byte) {
        const std::string shown = printable(std::string(1, static_cast<char>(byte)));
        for (const char letter : shown) {
            ck_assert_msg(letter >= 0x20 && letter < 0x7f, "byte %d", byte);
        }
        ck_assert_msg(!shown.empty(), "byte %d", byte);
    }
    ck_assert_uint_eq(printable(std::string(10000, 'x')).size(), 80 + 17);
}
END_TEST

struct Time {
    const char* name;
    std::chrono::microseconds time;
    const char* want;
};
constexpr Time kTimes[] = {
    {"nothing", std::chrono::microseconds(0), "0.00 s"},
    {"hundredths", std::chrono::microseconds(310000), "0.31 s"},
    {"rounded to the nearest", std::chrono::microseconds(316000), "0.32 s"},
    {"just below ten", std::chrono::microseconds(9994000), "9.99 s"},
    {"never 10.00", std::chrono::microseconds(9996000), "10.0 s"},
    {"above ten", std::chrono::microseconds(12340000), "12.3 s"},
    {"a day", std::chrono::microseconds(86400000000), "86400.0 s"},
};

START_TEST(times_are_short)
{
    same_text(kTimes[_i].name, seconds_text(kTimes[_i].time), kTimes[_i].want);
}
END_TEST

struct Size {
    const char* name;
    std::uint64_t bytes;
    const char* want;
};
constexpr Size kSizes[] = {
    {"nothing", 0, "0 MiB"},
    {"below a MiB", (1U << 20U) - 1, "0 MiB"},
    {"MiB", std::uint64_t{512} << 20U, "512 MiB"},
    {"just below a GiB", (std::uint64_t{1} << 30U) - 1, "1023 MiB"},
    {"a GiB", std::uint64_t{1} << 30U, "1.0 GiB"},
    {"a half", std::uint64_t{1536} << 20U, "1.5 GiB"},
    {"80 GB of a GPU", std::uint64_t{81559} << 20U, "79.6 GiB"},
    {"the most there is", kMost, "17179869184.0 GiB"},
};

START_TEST(sizes_are_short)
{
    same_text(kSizes[_i].name, size_text(kSizes[_i].bytes), kSizes[_i].want);
}
END_TEST

}  // namespace

Suite* text_suite()
{
    return suite_of("text", {{numbers_are_plain_and_bounded, std::size(kNumbers)},
                             {text_is_split_with_its_empty_pieces, std::size(kSplits)},
                             {pieces_are_joined},
                             {beginnings_and_ends},
                             {what_others_wrote_is_made_printable, std::size(kPrintables)},
                             {every_byte_prints_as_one_line_of_ascii},
                             {times_are_short, std::size(kTimes)},
                             {sizes_are_short, std::size(kSizes)}});
}

}  // namespace auto_gpus::unit

#include "src/core/request.hpp"

#include "tests/unit/core_suites.hpp"

namespace auto_gpus::unit {
namespace {

using Kind = Request::Kind;

struct Good {
    const char* name;
    const char* text;
    Kind kind;
    std::size_t min;
    std::size_t max;
    const char* shown;
};
constexpr Good kGood[] = {
    {"off", "off", Kind::off, 0, 0, "off"},
    {"0 is off", "0", Kind::off, 0, 0, "off"},
    {"one", "1", Kind::count, 1, 1, "1"},
    {"some", "8", Kind::count, 8, 8, "8"},
    {"a leading zero", "02", Kind::count, 2, 2, "2"},
    {"the most", "65535", Kind::count, 65535, 65535, "65535"},
    {"a range", "2-4", Kind::range, 2, 4, "2-4"},
    {"a range of one", "3-3", Kind::range, 3, 3, "3-3"},
    {"the widest range", "1-65535", Kind::range, 1, 65535, "1-65535"},
    {"at least", "2+", Kind::at_least, 2, Request::kLargest, "2+"},
    {"at least the most", "65535+", Kind::at_least, 65535, Request::kLargest, "65535+"},
    {"all", "all", Kind::all, 0, 0, "all"},
};

START_TEST(requests_are_read)
{
    const Good& row = kGood[_i];
    const auto got = parse_request(row.text);
    ck_assert_msg(static_cast<bool>(got), "%s", row.name);
    const Request& request = got.value();
    ck_assert_msg(request == (Request{row.kind, row.min, row.max}), "%s: %zu to %zu", row.name,
                  request.min, request.max);
    ck_assert_msg(request.active() == (row.kind != Kind::off), "%s", row.name);
    same_text(row.name, request.text(), row.shown);
    const auto again = parse_request(row.shown);
    ck_assert_msg(again && again.value() == request, "%s: not read back", row.name);
}
END_TEST

struct Bad {
    const char* name;
    std::string_view text;
    const char* why;
};
constexpr Bad kBad[] = {
    {"empty", "", "the number is missing"},
    {"negative", "-1", "not a whole number"},
    {"a plus sign", "+1", "not a whole number"},
    {"a plus sign alone", "+", "the number is missing"},
    {"a minus sign alone", "-", "not a whole number"},
    {"a sum", "1+2", "not a whole number"},
    {"two plus signs", "1++", "not a whole number"},
    {"a blank before", " 1", "not a whole number"},
    {"a blank after", "1 ", "not a whole number"},
    {"a newline after", "1\n", "not a whole number"},
    {"a point", "1.5", "not a whole number"},
    {"an exponent", "1e3", "not a whole number"},
    {"hexadecimal", "0x2", "not a whole number"},
    {"words", "two", "not a whole number"},
    {"capital letters", "ALL", "not a whole number"},
    {"capital letters, off", "Off", "not a whole number"},
    {"another word for off", "no", "not a whole number"},
    {"all and more", "all ", "not a whole number"},
    {"zero, written longer", "00", "smaller than 1"},
    {"at least zero", "0+", "smaller than 1"},
    {"one above the most", "65536", "larger than 65535"},
    {"2^32 + 1", "4294967297", "larger than 65535"},
    {"2^64", "18446744073709551616", "larger than 65535"},
    {"2^64 + 1", "18446744073709551617", "larger than 65535"},
    {"not ASCII", "\xef\xbc\x92", "not a whole number"},
    {"the byte 0", std::string_view("1\0", 2), "not a whole number"},
    {"range: reversed", "3-2", "MAX is below MIN"},
    {"range: of zeros", "0-0", "MIN: smaller than 1"},
    {"range: from zero", "0-2", "MIN: smaller than 1"},
    {"range: no MAX", "1-", "MAX: the number is missing"},
    {"range: a blank for MAX", "1- ", "MAX: not a whole number"},
    {"range: blanks", "1 - 2", "MIN: not a whole number"},
    {"range: negative MAX", "1--2", "MAX: not a whole number"},
    {"range: three", "1-2-3", "MAX: not a whole number"},
    {"range: at least", "1-2+", "MAX: not a whole number"},
    {"range: at least first", "1+-2", "MIN: not a whole number"},
    {"range: MAX above the most", "1-65536", "MAX: larger than 65535"},
    {"range: MIN above the most", "65536-1", "MIN: larger than 65535"},
    {"range: 2^64", "1-18446744073709551616", "MAX: larger than 65535"},
    {"range: words", "a-b", "MIN: not a whole number"},
    {"range: all", "1-all", "MAX: not a whole number"},
};

START_TEST(malformed_requests_say_why)
{
    const Bad& row = kBad[_i];
    const auto got = parse_request(row.text);
    ck_assert_msg(!got, "%s: not refused", row.name);
    same_text(row.name, got.error().why, row.why);
}
END_TEST

struct Size {
    const char* name;
    const char* text;
    std::uint64_t bytes;
};
constexpr Size kSizes[] = {
    {"nothing", "0", 0},
    {"MiB without a unit, as with --mem", "512", std::uint64_t{512} << 20U},
    {"K", "3K", 3072},
    {"M", "512M", std::uint64_t{512} << 20U},
    {"G", "20G", std::uint64_t{20} << 30U},
    {"T", "1T", std::uint64_t{1} << 40U},
    {"nothing with a unit", "0G", 0},
    {"as large as can be", "18014398509481983K", ~std::uint64_t{0} << 10U},
};

START_TEST(sizes_are_read)
{
    const auto got = parse_size(kSizes[_i].text);
    ck_assert_msg(got && got.value() == kSizes[_i].bytes, "%s", kSizes[_i].name);
}
END_TEST

struct BadSize {
    const char* name;
    const char* text;
    const char* why;
};
constexpr BadSize kBadSizes[] = {
    {"empty", "", "not a size"},
    {"a unit alone", "G", "not a size"},
    {"two units", "1GG", "not a size"},
    {"bytes", "1GB", "not a size"},
    {"a unit that is none", "1X", "not a size"},
    {"negative", "-1G", "not a size"},
    {"a sign", "+1G", "not a size"},
    {"a blank", "1 G", "not a size"},
    {"a blank before", " 1G", "not a size"},
    {"a point", "1.5G", "not a size"},
    {"words", "all", "not a size"},
    {"2^64 bytes", "18014398509481984K", "larger than any memory"},
    {"2^64 bytes in T", "16777216T", "larger than any memory"},
    {"MiB that overflow", "17592186044416", "larger than any memory"},
    {"a number above 2^64", "18446744073709551616", "larger than any memory"},
    {"a number far above 2^64", "99999999999999999999999999G", "larger than any memory"},
};

START_TEST(malformed_sizes_say_why)
{
    const BadSize& row = kBadSizes[_i];
    const auto got = parse_size(row.text);
    ck_assert_msg(!got, "%s: not refused", row.name);
    same_text(row.name, got.error().why, row.why);
}
END_TEST

START_TEST(counts_have_bounds)
{
    ck_assert_uint_eq(parse_count("0", 0, 600).value(), 0);
    ck_assert_uint_eq(parse_count("600", 0, 600).value(), 600);
    same_text("above", parse_count("601", 0, 600).error().why, "larger than 600");
    same_text("below", parse_count("4", 5, 600).error().why, "smaller than 5");
    same_text("missing", parse_count("", 0, 600).error().why, "the number is missing");
    same_text("a sign", parse_count("-0", 0, 600).error().why, "not a whole number");
}
END_TEST

}  // namespace

Suite* request_suite()
{
    return suite_of("request", {{requests_are_read, std::size(kGood)},
                                {malformed_requests_say_why, std::size(kBad)},
                                {sizes_are_read, std::size(kSizes)},
                                {malformed_sizes_say_why, std::size(kBadSizes)},
                                {counts_have_bounds}});
}

}  // namespace auto_gpus::unit

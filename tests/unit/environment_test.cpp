#include "src/base/environment.hpp"

#include "src/base/text.hpp"
#include "tests/unit/base_suites.hpp"

namespace auto_gpus::unit {
namespace {

constexpr const char* kVariables[] = {"HOME=/home/u", "EMPTY=", "LIST=0,1=x", "NOVALUE",
                                      "LISTING=2",    "LIST=9", nullptr};

struct Lookup {
    const char* name;
    const char* variable;
    const char* want;  // null: not there
};
constexpr Lookup kLookups[] = {
    {"a value", "HOME", "/home/u"},
    {"an empty value is not an absent one", "EMPTY", ""},
    {"the value begins after the first equals sign; the first of two counts", "LIST", "0,1=x"},
    {"a longer name", "LISTING", "2"},
    {"a string without an equals sign", "NOVALUE", nullptr},
    {"a prefix of a name", "HOM", nullptr},
    {"a name and more", "HOME=", nullptr},
    {"absent", "PATH", nullptr},
    {"no name", "", nullptr},
};

START_TEST(a_variable_is_found_by_its_whole_name)
{
    const Lookup& row = kLookups[_i];
    const auto got = Environment(kVariables).get(row.variable);
    ck_assert_msg(got.has_value() == (row.want != nullptr), "%s", row.name);
    if (got) {
        same_text(row.name, *got, row.want);
    }
}
END_TEST

std::string shown(Environment& environment)
{
    std::string text;
    for (const char* variable : environment.pointers()) {
        text += variable == nullptr ? std::string("END") : std::string(variable) + " ";
    }
    return text;
}

START_TEST(setting_replaces_every_one_of_that_name)
{
    Environment environment(kVariables);
    environment.set("LIST", "3");
    environment.set("NEW", "a b");
    environment.unset("EMPTY");
    environment.unset("NOT_THERE");
    same_text("changed", shown(environment), "HOME=/home/u NOVALUE LISTING=2 LIST=3 NEW=a b END");
}
END_TEST

START_TEST(null_is_an_empty_environment)
{
    Environment none(nullptr);
    same_text("of null", shown(none), "END");
    ck_assert(!none.get("HOME"));
    Environment made;
    same_text("of nothing", shown(made), "END");
}
END_TEST

START_TEST(a_copy_is_its_own)
{
    Environment first(kVariables);
    Environment second = first;
    second.set("HOME", "/elsewhere");
    same_text("the first", first.get("HOME").value_or("none"), "/home/u");
    same_text("the copy", second.get("HOME").value_or("none"), "/elsewhere");
}
END_TEST

START_TEST(names_are_found_by_prefix)
{
    const Environment environment(kVariables);
    same_text("two of three", join(environment.names_with_prefix("LIST"), " "),
              "LIST LISTING LIST");
    same_text("a value is not searched", join(environment.names_with_prefix("LIST=0"), " "), "");
    same_text("none", join(environment.names_with_prefix("SLURM_"), " "), "");
}
END_TEST

}  // namespace

Suite* environment_suite()
{
    return suite_of("environment", {{a_variable_is_found_by_its_whole_name, std::size(kLookups)},
                                    {setting_replaces_every_one_of_that_name},
                                    {null_is_an_empty_environment},
                                    {a_copy_is_its_own},
                                    {names_are_found_by_prefix}});
}

}  // namespace auto_gpus::unit

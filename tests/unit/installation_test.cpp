#include "spank/installation.hpp"

#include "spank/build_config.hpp"
#include "tests/unit/spank_suites.hpp"

namespace auto_gpus::unit {
namespace {

const std::string kBelow = std::string("/") + kPluginDir + "/" + kPluginFile;

struct Place {
    const char* name;
    std::string plugin;
    std::string want;
};
const Place kPlaces[] = {
    {"a moved installation", "/opt/moved" + kBelow, std::string("/opt/moved/") + kProgramBelow},
    {"a folder deep down", "/a b/c/d" + kBelow, std::string("/a b/c/d/") + kProgramBelow},
    {"the root itself", kBelow, std::string("/") + kProgramBelow},
    {"the plugin's name alone", kPluginFile, kBuiltForProgram},
    {"another folder of plugins", std::string("/opt/x/plugins/") + kPluginFile, kBuiltForProgram},
    {"another file of the folder", std::string("/usr/") + kPluginDir + "/other.so",
     kBuiltForProgram},
    {"a folder whose name ends alike",
     std::string("/usr/x") + std::string(kPluginDir) + "/" + kPluginFile, kBuiltForProgram},
    {"a backup of the file", "/opt/moved" + kBelow + ".old", kBuiltForProgram},
    {"no path", "", kBuiltForProgram},
};

START_TEST(the_program_lies_beside_the_plugin)
{
    const Place& row = kPlaces[_i];
    same_text(row.name, program_beside(row.plugin), row.want);
}
END_TEST

/// Here the code is in the test's own program, which lies in no folder of plugins.
START_TEST(elsewhere_it_is_the_one_it_was_built_for)
{
    same_text("installed", installed_program(), kBuiltForProgram);
    ck_assert_int_eq(kBuiltForProgram[0], '/');
}
END_TEST

}  // namespace

Suite* installation_suite()
{
    return suite_of("installation", {{the_program_lies_beside_the_plugin, std::size(kPlaces)},
                                     {elsewhere_it_is_the_one_it_was_built_for}});
}

}  // namespace auto_gpus::unit

// SPDX-License-Identifier: Apache-2.0
#include "driver_test.hpp"

#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "driver_test_node.hpp"

namespace {

/// What the caller's environment says about GPUs is not for these tests.
void forget_environment()
{
    for (const char* const name :
         {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_MPS_PIPE_DIRECTORY", "SLURMD_NODENAME",
          "CUDA_CACHE_DISABLE", "CUDA_INJECTION64_PATH"}) {
        (void)unsetenv(name);
    }
}

}  // namespace

int main()
{
    forget_environment();
    std::error_code ignored;
    std::string base = (std::filesystem::temp_directory_path() / "driver-test-XXXXXX").string();
    if (mkdtemp(base.data()) == nullptr) {
        perror(base.c_str());
        return EXIT_FAILURE;
    }
    (void)chmod(base.c_str(), 0755);
    driver_test::base_folder = base;

    Suite* const suite = suite_create("driver");
    suite_add_tcase(suite, driver_test::selection_cases());
    suite_add_tcase(suite, driver_test::behaviour_cases());
    suite_add_tcase(suite, driver_test::process_cases());
    suite_add_tcase(suite, driver_test::rule_cases());
    suite_add_tcase(suite, driver_test::memory_cases());
    suite_add_tcase(suite, driver_test::steering_cases());
    suite_add_tcase(suite, driver_test::task_cases());
    SRunner* const runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);

    std::filesystem::remove_all(base, ignored);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* A SPANK plugin for tests: the task's CUDA_VISIBLE_DEVICES becomes TEST_LIST, or is unset where that
 * is "(unset)". It stands before auto-gpus in plugstack.conf. */
#include <slurm/spank.h>
#include <string.h>

SPANK_PLUGIN(set_list, 1)

int slurm_spank_task_init(spank_t spank, int argc, char** argv)
{
    static char list[64 * 1024];
    (void)argc;
    (void)argv;
    if (spank_getenv(spank, "TEST_LIST", list, sizeof list) != ESPANK_SUCCESS) {
        return 0;
    }
    if (strcmp(list, "(unset)") == 0) {
        (void)spank_unsetenv(spank, "CUDA_VISIBLE_DEVICES");
        return 0;
    }
    return spank_setenv(spank, "CUDA_VISIBLE_DEVICES", list, 1) == ESPANK_SUCCESS ? 0 : -1;
}

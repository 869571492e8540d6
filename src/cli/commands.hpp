#pragma once

namespace auto_gpus {

/// The commands for people: `auto-gpus probe`, `--version`, `--help`.
/// \return the exit status
int run_command(int argc, char** argv);

/// Says on stderr that the program itself failed.
void report_broken(const char* what) noexcept;

}  // namespace auto_gpus

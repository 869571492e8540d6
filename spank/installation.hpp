#pragma once

#include <string>

namespace auto_gpus {

/// Absolute path of the program that was installed with this plugin: found from where the plugin
/// itself was loaded (symbolic links resolved), so that an installation can be moved as a whole;
/// where the plugin lies elsewhere alone, the path that it was built for. Looks at no variable and
/// searches nowhere.
std::string installed_program();

/// The same for a plugin loaded from `plugin_path`.
std::string program_beside(const std::string& plugin_path);

}  // namespace auto_gpus

/// flashlab crash torture --explore: every state that a power cut could have left of one recorded run, in the order in which they hurt.
#pragma once

#include <string>

#include "tools/cli/commands/torture.h"

namespace flashlab {

[[nodiscard]] int run_torture_explore(const CrashTortureOptions& options);
/// Is this a state that --explore kept?
[[nodiscard]] bool is_kept_state(const std::string& directory);
[[nodiscard]] int replay_kept_state(const CrashTortureOptions& options);

} // namespace flashlab

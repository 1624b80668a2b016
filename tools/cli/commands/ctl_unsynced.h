/// `flashlab ctl MNT unsynced`: what was answered and is not durable, as a tree, with the calls that would make it durable.
///
/// Cost       A walk over the mount where the daemon knows an inode without its name.
#pragma once

#include <string>

#include "tools/text/json.h"
#include "tools/text/table.h"

namespace flashlab {

/// Prints the daemon's answer.
void print_unsynced(const Json& answer, const std::string& mount_point, OutputFormat format);

} // namespace flashlab

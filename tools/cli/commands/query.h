/// flashlab query: SQL on an event log.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <string>

#include "tools/text/table.h"

namespace flashlab {

struct QueryOptions {
    std::string target, sql;
    OutputFormat format = OutputFormat::table;
    bool schema = false, views = false;
};

[[nodiscard]] int run_query(const QueryOptions& options);

} // namespace flashlab

/// flashlab grade: a translation layer's checks, figures and mark.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <string>

#include "tools/grade/grade.h"
#include "tools/text/table.h"

namespace flashlab {

struct GradeOptions {
    GradeRequest request;
    std::string weights;
    std::string replay; ///< an id: this case of the scheme again, instead of a grade
    OutputFormat format = OutputFormat::table;
};

[[nodiscard]] int run_grade(const GradeOptions& options);

} // namespace flashlab

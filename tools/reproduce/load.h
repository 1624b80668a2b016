/// The trace that is an experiment's load: the generator's, or the user's file in its place.
///
/// Idea       An experiment names its load. --trace NAME=FILE replaces it. The result says which one was used.
/// Cost       One reader for each point, because points are independent.
#pragma once

#include <memory>

#include "tools/reproduce/experiment.h"
#include "tools/traces/trace_reader.h"

namespace flashlab {

class Load {
public:
    /// `generated`: the name workload:..., as flashlab trace takes it.
    Load(const RunContext& context, std::string name, std::string generated);
    [[nodiscard]] bool is_file() const { return !path_.starts_with("workload:"); }
    /// Opens the trace at its first request.
    [[nodiscard]] std::expected<std::unique_ptr<TraceReader>, std::string> open() const;
    /// The source for the report. A file is opened to find its format.
    [[nodiscard]] std::expected<ReproducedLoad, std::string> source() const;

private:
    std::string name_, path_;
};

} // namespace flashlab

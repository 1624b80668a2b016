/// Which trace an experiment's load is: the generator's, or the user's file in its place.
///
/// Idea       An experiment names its load; --trace NAME=FILE replaces it. The result says which it was.
/// Cost       A reader a point: points are independent.
#pragma once

#include <memory>

#include "tools/reproduce/experiment.h"
#include "tools/traces/trace_reader.h"

namespace flashlab {

class Load {
public:
    /// `generated`: workload:... as flashlab trace takes it.
    Load(const RunContext& context, std::string name, std::string generated);
    [[nodiscard]] bool is_file() const { return !path_.starts_with("workload:"); }
    /// From the first request.
    [[nodiscard]] std::expected<std::unique_ptr<TraceReader>, std::string> open() const;
    /// For the report; a file is opened to say its format.
    [[nodiscard]] std::expected<ReproducedLoad, std::string> source() const;

private:
    std::string name_, path_;
};

} // namespace flashlab

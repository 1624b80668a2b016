/// The trace that is an experiment's load: the generator's, or the user's file in its place.
///
/// Idea       An experiment names its load. --trace NAME=FILE replaces it. The result says which one was used.
/// Cost       One reader for each point, because points are independent.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "tools/reproduce/experiment.h"
#include "tools/traces/trace_reader.h"

namespace flashlab {

/// The reference traces that the documents name, and what they are called there.
struct RealTrace {
    const char* name;
    const char* file;
};
inline constexpr std::array real_traces{RealTrace{"financial1", "financial1-first10k.ssdsim.gz"},
                                        RealTrace{"tpcc-small", "tpcc-small.mqsim.gz"},
                                        RealTrace{"hplajw", "hplajw-1week.srt.gz"},
                                        RealTrace{"cloudphysics", "cloudphysics-113872.vscsi.gz"},
                                        RealTrace{"win11-boot", "win11-boot.wpa.csv.gz"},
                                        RealTrace{"telegram", "mobile-telegram-exec-first150k.csv.gz"}};
/// Those that are in --traces DIR.
[[nodiscard]] std::vector<const RealTrace*> real_traces_of(const RunContext& context);

class Load {
public:
    /// `generated`: the name workload:..., as flashlab trace takes it. A real trace of that name is played from --traces DIR.
    Load(const RunContext& context, std::string name, std::string generated);
    [[nodiscard]] bool is_file() const { return !path_.starts_with("workload:"); }
    /// Opens the trace at its first request.
    [[nodiscard]] std::expected<std::unique_ptr<TraceReader>, std::string> open() const;
    /// The source for the report. A file is opened to find its format.
    [[nodiscard]] std::expected<ReproducedLoad, std::string> source() const;

private:
    std::string name_, path_;
};

/// Names point into themselves: the list does not grow any more.
using NamedLoads = std::vector<std::pair<std::string, Load>>;
/// Every file of --traces DIR that a format reads to its first request, by name; an error where there is none.
[[nodiscard]] std::expected<NamedLoads, std::string> loads_of_folder(const RunContext& context);

} // namespace flashlab

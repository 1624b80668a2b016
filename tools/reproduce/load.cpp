#include "tools/reproduce/load.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "tools/run/open_trace.h"

namespace flashlab {

std::vector<const RealTrace*> real_traces_of(const RunContext& context) {
    std::vector<const RealTrace*> there;
    for (const RealTrace& trace : real_traces) {
        std::error_code ignored;
        if (!context.trace_folder.empty() && std::filesystem::is_regular_file(std::filesystem::path{context.trace_folder} / trace.file, ignored))
            there.push_back(&trace);
    }
    return there;
}

Load::Load(const RunContext& context, std::string name, std::string generated) : name_{std::move(name)}, path_{std::move(generated)} {
    const auto file = std::ranges::find(context.traces, name_, &TraceInPlace::name);
    if (file != context.traces.end()) path_ = file->path;
    for (const RealTrace* trace : real_traces_of(context))
        if (name_ == trace->name) path_ = (std::filesystem::path{context.trace_folder} / trace->file).string();
}

std::expected<std::unique_ptr<TraceReader>, std::string> Load::open() const { return open_trace(path_, {}); }

std::expected<ReproducedLoad, std::string> Load::source() const {
    if (!is_file()) return ReproducedLoad{name_, "generated: " + path_};
    const auto reader = open();
    if (!reader) return std::unexpected(reader.error());
    return ReproducedLoad{name_, fmt::format("the file {}, read as {}", path_, (*reader)->format())};
}

} // namespace flashlab

#include "tools/reproduce/load.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "tools/run/open_trace.h"

namespace flashlab {

namespace {

/// financial1-first10k for financial1-first10k.ssdsim.gz; those that the documents name have short names.
std::string name_of_trace(const std::filesystem::path& path) {
    const std::string file = path.filename().string();
    const auto known = std::ranges::find(real_traces, file, &RealTrace::file);
    return known != real_traces.end() ? std::string{known->name} : file.substr(0, file.find('.'));
}

/// Every file that a format reads to its first request, by name; `passed_over` counts the rest.
std::vector<std::filesystem::path> traces_in(const std::string& folder, std::size_t& passed_over) {
    std::vector<std::filesystem::path> traces;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator{folder, error}) {
        std::error_code ignored;
        if (!entry.is_regular_file(ignored)) continue;
        const auto reader = TraceReader::open(entry.path().string(), {});
        TraceRequest request;
        const auto first = reader ? (*reader)->next(request) : std::unexpected(reader.error());
        if (first && *first)
            traces.push_back(entry.path());
        else
            ++passed_over;
    }
    std::ranges::sort(traces);
    return traces;
}

} // namespace

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

std::expected<NamedLoads, std::string> loads_of_folder(const RunContext& context) {
    NamedLoads loads;
    std::size_t passed_over = 0;
    for (const auto& path : traces_in(context.trace_folder, passed_over)) {
        std::string name = name_of_trace(path);
        if (std::ranges::find(loads, name, &NamedLoads::value_type::first) != loads.end()) // two files of one stem: the whole name tells them apart
            name = path.filename().string();
        loads.emplace_back(name, Load{context, name, path.string()});
    }
    if (loads.empty())
        return std::unexpected(fmt::format("{}: no trace is there ({} files that no format reads); 'flashlab trace FILE' says why of each",
                                           context.trace_folder, passed_over));
    return loads;
}

} // namespace flashlab

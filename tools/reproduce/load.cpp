#include "tools/reproduce/load.h"

#include <algorithm>

#include <fmt/format.h>

#include "tools/run/open_trace.h"

namespace flashlab {

Load::Load(const RunContext& context, std::string name, std::string generated) : name_{std::move(name)}, path_{std::move(generated)} {
    const auto file = std::ranges::find(context.traces, name_, &TraceInPlace::name);
    if (file != context.traces.end()) path_ = file->path;
}

std::expected<std::unique_ptr<TraceReader>, std::string> Load::open() const { return open_trace(path_, {}); }

std::expected<ReproducedLoad, std::string> Load::source() const {
    if (!is_file()) return ReproducedLoad{name_, "generated: " + path_};
    const auto reader = open();
    if (!reader) return std::unexpected(reader.error());
    return ReproducedLoad{name_, fmt::format("the file {}, read as {}", path_, (*reader)->format())};
}

} // namespace flashlab

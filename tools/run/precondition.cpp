#include "tools/run/precondition.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "ftl/make_ftl.h"
#include "tools/run/aged_history.h"
#include "tools/text/span_of_time.h"
#include "tools/traces/trace_fields.h"

namespace flashlab {
namespace {

constexpr ReplaySpeed closed{.depth = 32};

/// Writes into the span of a space, one logical page each unless said otherwise.
class Writer {
public:
    Writer(const RunSpace& space, std::uint64_t pages, SimTime now, const PreconditionProgress& progress)
        : space_{space}, fit_{FitPolicy::as_is, space.bytes()}, unit_{space.disk->identify().atomic_unit_bytes}, pages_{pages}, now_{now},
          progress_{progress} {}
    [[nodiscard]] SimTime now() const { return now_; }

    std::expected<void, std::string> in_order() {
        return run([this, at = std::uint64_t{0}](TraceRequest& request) mutable -> std::expected<bool, std::string> {
            const std::uint64_t bytes = pages_ * unit_;
            request = {0, at, std::min<std::uint64_t>(1u << 20, bytes - at), 0, TraceOp::write};
            at += request.bytes;
            return request.bytes != 0;
        });
    }
    std::expected<void, std::string> at_random(std::uint64_t count, Random random) {
        return run([this, random, count](TraceRequest& request) mutable -> std::expected<bool, std::string> {
            request = {0, random.below(pages_) * unit_, unit_, 0, TraceOp::write};
            return count-- != 0;
        });
    }
    std::expected<void, std::string> history(AgedHistory history) {
        return run([this, &history](TraceRequest& request) -> std::expected<bool, std::string> {
            const auto page = history.next();
            if (page) request = {0, *page * unit_, unit_, 0, TraceOp::write};
            return page.has_value();
        });
    }

private:
    std::expected<void, std::string> run(const NextRequest& next) {
        const RunTarget target = sectors_target(space_, fit_, Written::zeros);
        const NextRequest counted = [&](TraceRequest& request) {
            constexpr std::uint64_t between = 256;
            if (progress_ && written_++ % between == 0) progress_(written_);
            return next(request);
        };
        const auto done = run_requests(target, counted, closed, now_);
        if (!done) return std::unexpected("precondition: " + done.error());
        target.pass(done->end); // what fell due since the last request was issued is no work of the run that follows
        now_ = std::max(done->end, space_.device->last_reserved_end());
        return {};
    }

    const RunSpace& space_;
    AddressFit fit_;
    std::uint64_t unit_, pages_;
    SimTime now_;
    const PreconditionProgress& progress_;
    std::uint64_t written_ = 0;
};

std::uint64_t erases(const Device& device) {
    const NandCounters& counters = device.array().counters();
    return std::accumulate(std::begin(counters.erases), std::end(counters.erases), std::uint64_t{0});
}

/// Ordinary writes until every die has collected a few blocks: the model's last part in a thousand gives way to what the scheme does.
std::expected<void, std::string> close_with_real_writes(Writer& writer, const Device& device, std::uint64_t places, Random random) {
    const std::uint64_t wanted = erases(device) + std::uint64_t{4} * device.array().geometry().planes();
    const std::uint64_t slice = std::max<std::uint64_t>(places / 256, 64);
    for (std::uint64_t written = 0; written < places / 4 && erases(device) < wanted; written += slice)
        if (auto done = writer.at_random(slice, random.fork()); !done) return done;
    return {};
}

std::expected<void, std::string> age(Writer& writer, const Device& device, std::uint64_t pages, std::uint64_t overwrites, std::uint64_t seed,
                                     Ageing ageing) {
    const WriteMemory memory = write_memory_of(device.config().ssd, device.array(), device.ftl());
    Random random{seed};
    if (ageing == Ageing::quick && memory.kind == WriteMemory::Kind::history) {
        auto ages = page_map_ages(pages, memory.pages, overwrites);
        if (!ages.empty()) {
            if (auto done = writer.history(AgedHistory{pages, std::move(ages), seed}); !done) return done;
            return close_with_real_writes(writer, device, memory.pages, random);
        }
    }
    if (auto done = writer.in_order(); !done) return done;
    if (ageing == Ageing::quick && memory.kind == WriteMemory::Kind::shared_log && overwrites > memory.pages) {
        if (auto done = writer.history(AgedHistory{pages, shared_log_ages(pages, memory.pages, device.array().geometry().pages_per_block()), seed});
            !done)
            return done;
        return writer.at_random(memory.pages / 4, random);
    }
    if (ageing == Ageing::quick && memory.kind == WriteMemory::Kind::turnover) overwrites = std::min(overwrites, memory.pages);
    return writer.at_random(overwrites, random);
}

} // namespace

std::expected<void, std::string> check_precondition(const Precondition& what, const SsdConfig& drive) {
    if (what.shelf != Duration{0} && !drive.nand.errors.are_on())
        return std::unexpected("precondition: age changes nothing, since the cells have no bit errors: set nand.cell_errors, or leave it out");
    return {};
}

std::expected<SimTime, std::string> precondition(const RunSpace& space, const Precondition& what, std::uint64_t seed, SimTime now,
                                                 const PreconditionProgress& progress) {
    const std::uint64_t unit = space.disk->identify().atomic_unit_bytes;
    const std::uint64_t pages = space.bytes() / unit * what.fill_percent / 100;
    if (pages == 0) return now;
    Writer writer{space, pages, now, progress};
    const auto overwrites = static_cast<std::uint64_t>(what.random_fills * static_cast<double>(pages));
    if (auto done = age(writer, *space.device, pages, overwrites, seed, what.ageing); !done) return std::unexpected(done.error());
    if (what.shelf == Duration{0}) return writer.now();
    if (auto older = space.device->ssd().grow_older(what.shelf); !older) return std::unexpected("precondition: " + to_text(older.error()));
    return writer.now();
}

namespace {

enum class NamedPart : std::uint8_t { fill, random, written, age };

/// One part of the text between commas into `what`; nothing when it is none.
std::optional<NamedPart> parse_part(std::string_view part, Precondition& what) {
    if (part == "written") {
        what.ageing = Ageing::written;
        return NamedPart::written;
    }
    if (part == "random") {
        what.random_fills = 1;
        return NamedPart::random;
    }
    if (part.starts_with("age:")) {
        const auto span = parse_span_of_time(part.substr(4));
        if (!span) return std::nullopt;
        what.shelf = *span;
        return NamedPart::age;
    }
    if (part.starts_with("random:")) {
        part.remove_prefix(7);
        const auto milli = part.ends_with('x') ? parse_scaled(part.substr(0, part.size() - 1), 1000) : std::nullopt;
        if (!milli || *milli > 100'000) return std::nullopt;
        what.random_fills = static_cast<double>(*milli) / 1000;
        return NamedPart::random;
    }
    if (part.starts_with("fill:")) part.remove_prefix(5);
    const bool is_fraction = part.find('.') != std::string_view::npos;
    const auto percent = is_fraction ? parse_scaled(part, 100) : parse_unsigned(part);
    if (!percent || *percent > 100) return std::nullopt;
    what.fill_percent = static_cast<std::uint32_t>(*percent);
    return NamedPart::fill;
}

} // namespace

std::expected<Precondition, std::string> parse_precondition(const std::string& text) {
    Precondition what;
    if (text.empty()) return what;
    const auto wrong = [&](std::string_view why) { return std::unexpected(fmt::format("--precondition {}: {}", text, why)); };
    std::vector<NamedPart> seen;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        const std::string part = text.substr(at, comma - at);
        const auto kind = parse_part(part, what);
        at = comma + 1;
        if (!kind) return wrong("write fill:PERCENT (0 to 100), random:Nx (times that), age:Nd, such as fill:90,random:2x,age:30d");
        if (std::ranges::find(seen, *kind) != seen.end()) return wrong(fmt::format("'{}' is given twice: give each part once", part));
        seen.push_back(*kind);
    }
    if (what.fill_percent == 0 && seen != std::vector{NamedPart::fill}) // fill:0 alone: a new drive
        return wrong("overwrites and age are of what was filled: say how much that is, for example fill:100,random:2x");
    return what;
}

} // namespace flashlab

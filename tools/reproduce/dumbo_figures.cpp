#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/contract.h"
#include "tools/reproduce/dumbo_parameters.h"
#include "tools/reproduce/dumbo_raw.h"
#include "tools/reproduce/experiments.h"

namespace flashlab {
namespace {

// Device: 4 channels x 8 chips, one used per channel. Load: a stream of requests of one size, as many in flight as the layout can take.
constexpr std::array<std::uint32_t, 5> request_sizes{512, 1024, 2048, 4096, 8192};
constexpr std::array<DumboOp, 2> both{DumboOp::read, DumboOp::write};
constexpr std::uint32_t page = 2048;
constexpr std::uint32_t largest = 8192;

constexpr std::string_view name_of(DumboOp op) { return op == DumboOp::read ? "read" : "write"; }

/// One figure being made: measures a point once, remembers it, and hands it out again for the claims.
class Figure {
public:
    enum class Shows : std::uint8_t { throughput, service };
    Figure(std::string_view id, RunLength length, Shows shows) : id_{id}, requests_{length == RunLength::quick ? 256u : 4096u}, shows_{shows} {}

    /// A point of a curve.
    void measure(DumboOp op, const DumboLayout& layout, std::uint32_t bytes) {
        const double y = value(op, layout, bytes);
        const char* unit = shows_ == Shows::throughput ? "MB/s" : "us";
        const std::string series =
            fmt::format("{} S{}:I{}{}, {}", name_of(op), layout.striping, layout.interleaving, layout.is_pipelined ? " pipelined" : "", unit);
        out_.points.push_back({series, static_cast<double>(bytes), params(op, layout, bytes), y});
    }
    /// A figure that the text quotes: how much faster than the plain single channel.
    double speedup(DumboOp op, const DumboLayout& layout, std::uint32_t bytes) {
        const double factor = value(op, layout, bytes) / value(op, {}, bytes);
        const std::string series =
            fmt::format("{} S{}:I{}{} over S1:I1, times", name_of(op), layout.striping, layout.interleaving, layout.is_pipelined ? " pipelined" : "");
        out_.points.push_back({series, static_cast<double>(bytes), params(op, layout, bytes), factor});
        return factor;
    }
    double value(DumboOp op, const DumboLayout& layout, std::uint32_t bytes) {
        const auto key =
            std::array<std::uint32_t, 5>{static_cast<std::uint32_t>(op), layout.striping, layout.interleaving, layout.is_pipelined ? 1u : 0u, bytes};
        if (const auto known = measured_.find(key); known != measured_.end()) return known->second;
        const auto result = run_dumbo({.op = op, .request_bytes = bytes, .requests = requests_, .layout = layout, .overheads = {}});
        if (!result && error_.empty()) error_ = result.error();
        const double y = !result ? 0 : shows_ == Shows::throughput ? result->megabytes_per_second : result->mean_service_us;
        measured_[key] = y;
        return y;
    }
    void claim(std::string name, std::string ours, Evidence evidence) { out_.claim(id_, std::move(name), std::move(ours), {std::move(evidence)}); }
    std::expected<Reproduction, std::string> done() {
        if (!error_.empty()) return std::unexpected(error_);
        out_.free_parameters = dumbo_free_parameters();
        return std::move(out_);
    }

private:
    static Json::Object params(DumboOp op, const DumboLayout& layout, std::uint32_t bytes) {
        return {{"op", name_of(op)},
                {"request_bytes", bytes},
                {"striping", layout.striping},
                {"interleaving", layout.interleaving},
                {"pipelining", layout.is_pipelined}};
    }
    std::string_view id_;
    std::uint32_t requests_;
    Shows shows_;
    std::map<std::array<std::uint32_t, 5>, double> measured_;
    Reproduction out_;
    std::string error_;
};

/// The same throughput from one page up.
void claim_flat_from_a_page(Figure& f, DumboOp op, const DumboLayout& layout) {
    const double at_page = f.value(op, layout, page);
    const double at_most = f.value(op, layout, largest);
    f.claim(fmt::format("{}: the throughput is flat from one page up", name_of(op)),
            fmt::format("{:.2f} MB/s at 2 KB, {:.2f} at 8 KB", at_page, at_most), {{at_page, f.value(op, layout, 2 * page), at_most}});
}

} // namespace

std::expected<Reproduction, std::string> run_mc_fig11(RunLength length) {
    Figure f{"mc-fig11", length, Figure::Shows::throughput};
    const DumboLayout one{};
    const DumboLayout four{.striping = 4};
    for (const DumboOp op : both) {
        for (const std::uint32_t striping : {1u, 2u, 4u})
            for (const std::uint32_t bytes : request_sizes) f.measure(op, {.striping = striping}, bytes);
        f.speedup(op, four, largest);
    }
    for (const DumboOp op : both) {
        Evidence below;
        std::string seen;
        for (const std::uint32_t striping : {2u, 4u})
            for (const std::uint32_t bytes : request_sizes) {
                if (bytes >= striping * page) continue;
                below.over.push_back(f.value(op, {.striping = striping}, bytes));
                below.under.push_back(f.value(op, one, bytes));
                seen += fmt::format("{}S{} {} x{:.2f}", seen.empty() ? "" : ", ", striping, bytes, below.over.back() / below.under.back());
            }
        const double full = f.value(op, four, largest) / f.value(op, one, largest);
        Evidence pays;
        for (const double gain : below.values()) pays.over.push_back(full), pays.under.push_back(gain);
        f.claim(fmt::format("{}: no gain while the sub-request is below a page", name_of(op)), seen, below);
        f.claim(fmt::format("{}: striping pays most when the sub-request is a page", name_of(op)),
                fmt::format("x{:.2f} with a page, x{:.2f} at most below", full, std::ranges::max(below.values())), pays);
        f.claim(fmt::format("{}: the gain is less than linear", name_of(op)),
                fmt::format("x{:.2f} of four channels; by construction: all cross one host interface", full), {{full}});
    }
    const auto gain = [&](DumboOp op) { return f.value(op, four, largest) / f.value(op, one, largest); };
    f.claim("reads gain less than writes", fmt::format("x{:.2f}, x{:.2f}", gain(DumboOp::read), gain(DumboOp::write)),
            {{gain(DumboOp::write)}, {gain(DumboOp::read)}});
    const double ratio = f.value(DumboOp::read, one, page) / f.value(DumboOp::write, one, page);
    f.claim("reads are about twice as fast as writes", fmt::format("x{:.2f} on one channel", ratio), {{ratio}});
    return f.done();
}

std::expected<Reproduction, std::string> run_mc_fig12(RunLength length) {
    Figure f{"mc-fig12", length, Figure::Shows::throughput};
    const DumboLayout four{.interleaving = 4};
    for (const DumboOp op : both) {
        for (const std::uint32_t interleaving : {1u, 2u, 4u})
            for (const std::uint32_t bytes : request_sizes)
                if (bytes >= 1024) f.measure(op, {.interleaving = interleaving}, bytes);
        f.speedup(op, four, page);
    }
    for (const DumboOp op : both) {
        claim_flat_from_a_page(f, op, four);
        Evidence better;
        for (const std::uint32_t interleaving : {1u, 2u, 4u})
            for (const std::uint32_t bytes : {2048u, 4096u, 8192u}) {
                better.over.push_back(f.value(op, {.interleaving = interleaving}, bytes));
                better.under.push_back(f.value(op, {.interleaving = interleaving}, 1024));
            }
        f.claim(fmt::format("{}: 1 KB is always the worst", name_of(op)), fmt::format("{:.2f} MB/s at level 4", f.value(op, four, 1024)), better);
        const double two = f.value(op, {.interleaving = 2}, page) / f.value(op, {}, page);
        const double second = f.value(op, four, page) / f.value(op, {.interleaving = 2}, page);
        f.claim(fmt::format("{}: each doubling of the level gains less", name_of(op)), fmt::format("x{:.2f}, then x{:.2f}", two, second),
                {{two}, {second}});
    }
    return f.done();
}

std::expected<Reproduction, std::string> run_mc_fig13(RunLength length) {
    Figure f{"mc-fig13", length, Figure::Shows::throughput};
    const DumboLayout pipelined{.is_pipelined = true};
    for (const DumboOp op : both) {
        for (const DumboLayout& layout : {DumboLayout{}, pipelined})
            for (const std::uint32_t bytes : request_sizes) f.measure(op, layout, bytes);
        f.speedup(op, pipelined, page);
    }
    for (const DumboOp op : both) {
        claim_flat_from_a_page(f, op, pipelined);
        f.claim(fmt::format("{}: smaller requests are slower", name_of(op)),
                fmt::format("{:.2f} MB/s at 1 KB, {:.2f} at 2 KB", f.value(op, pipelined, 1024), f.value(op, pipelined, page)),
                {{f.value(op, pipelined, 512), f.value(op, pipelined, 1024), f.value(op, pipelined, page)}});
    }
    const auto gain = [&](DumboOp op) { return f.value(op, pipelined, page) / f.value(op, {}, page); };
    f.claim("reads gain more than writes", fmt::format("x{:.2f}, x{:.2f}", gain(DumboOp::read), gain(DumboOp::write)),
            {{gain(DumboOp::read)}, {gain(DumboOp::write)}});
    return f.done();
}

namespace {

constexpr DumboLayout striped{.striping = 4, .interleaving = 1, .is_pipelined = true};
constexpr DumboLayout mixed{.striping = 2, .interleaving = 2, .is_pipelined = true};
constexpr DumboLayout interleaved{.striping = 1, .interleaving = 4, .is_pipelined = true};
constexpr std::array table_1{striped, mixed, interleaved}; ///< of the paper

void measure_table_1(Figure& f) {
    for (const DumboOp op : both)
        for (const DumboLayout& layout : table_1)
            for (const std::uint32_t bytes : request_sizes) f.measure(op, layout, bytes);
}

} // namespace

std::expected<Reproduction, std::string> run_mc_fig14(RunLength length) {
    Figure f{"mc-fig14", length, Figure::Shows::throughput};
    measure_table_1(f);
    for (const DumboOp op : both) f.speedup(op, mixed, 4096);
    for (const DumboOp op : both) {
        Evidence good;
        for (const std::uint32_t bytes : request_sizes) {
            good.over.push_back(f.value(op, interleaved, bytes));
            good.under.push_back(std::max({f.value(op, striped, bytes), f.value(op, mixed, bytes), f.value(op, interleaved, bytes)}));
        }
        f.claim(fmt::format("{}: S1:I4 is good at every request size", name_of(op)),
                fmt::format("{:.2f} MB/s at 2 KB, {:.2f} of the best at worst", f.value(op, interleaved, page), std::ranges::min(good.values())),
                good);
        const double s1 = f.value(op, interleaved, page);
        const double s2 = f.value(op, mixed, 4096);
        const double s4 = f.value(op, striped, largest);
        f.claim(fmt::format("{}: S4:I1 at 8 KB and S2:I2 at 4 KB reach the same maximum", name_of(op)),
                fmt::format("{:.2f} and {:.2f} MB/s; S1:I4 at 2 KB {:.2f}", s4, s2, s1), {{s4, s2}});
        f.claim(fmt::format("{}: small requests suffer from striping", name_of(op)),
                fmt::format("S4:I1 {:.2f}, S1:I4 {:.2f} MB/s at 2 KB", f.value(op, striped, page), s1), {{s1}, {f.value(op, striped, page)}});
    }
    return f.done();
}

std::expected<Reproduction, std::string> run_mc_fig15(RunLength length) {
    Figure f{"mc-fig15", length, Figure::Shows::service};
    measure_table_1(f);
    for (const DumboOp op : both) {
        const double s1 = f.value(op, interleaved, largest);
        const double s2 = f.value(op, mixed, largest);
        const double s4 = f.value(op, striped, largest);
        f.claim(fmt::format("{}: striping lowers the service time", name_of(op)),
                fmt::format("{:.0f} us S4:I1, {:.0f} S2:I2, {:.0f} S1:I4 at 8 KB", s4, s2, s1), {{s4, s2, s1}});
        const double alone = f.value(op, {.is_pipelined = true}, page);
        const double together = f.value(op, interleaved, page);
        f.claim(fmt::format("{}: interleaving does not lower it", name_of(op)),
                fmt::format("{:.0f} us S1:I4, {:.0f} S1:I1 at 2 KB; by construction: more in flight can only wait longer", together, alone),
                {{together}, {alone}});
    }
    return f.done();
}

} // namespace flashlab

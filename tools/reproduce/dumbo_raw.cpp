#include "tools/reproduce/dumbo_raw.h"

#include <algorithm>
#include <deque>
#include <vector>

#include <fmt/format.h>

#include "base/contract.h"
#include "nand/memory_page_store.h"
#include "nand/nand_array.h"
#include "nand/presets.h"

namespace flashlab {
namespace {

/// The layout is the device's: its keys nand.striping, nand.stripe_bytes (the preset's) and nand.page_buffers_per_channel. It makes sub-requests.
NandConfig channel_managers(const NandConfig& device, const DumboRun& run) {
    NandConfig config = device;
    config.striping = run.layout.striping;
    // A piece has S sub-requests: each pays its share of what the piece costs once.
    config.timing.host_interface_confirm += run.overheads.write_software / run.layout.striping;
    config.timing.page_program += run.overheads.program_status;
    config.page_buffers_per_channel = run.layout.is_pipelined ? 2 : 1;
    return config;
}

/// The pages of the first chips of a group, block after block.
class GroupPages {
public:
    GroupPages(const NandArray& array, std::uint32_t group)
        : array_{array}, plane_{group * (array.geometry().planes() / array.geometry().channels())} {}
    std::optional<Ppn> next() {
        const Geometry& geometry = array_.geometry();
        if (page_ == geometry.pages_per_block()) {
            ++block_;
            page_ = 0;
        }
        while (block_ < geometry.blocks_per_plane() && array_.is_bad(geometry.block_at(plane_, block_))) ++block_;
        if (block_ == geometry.blocks_per_plane()) return std::nullopt;
        return geometry.page_of(geometry.block_at(plane_, block_), page_++);
    }

private:
    const NandArray& array_;
    PlaneId plane_;
    std::uint32_t block_ = 0;
    std::uint32_t page_ = 0;
};

/// The low-level driver: which group gets which piece of a request, and when.
class Driver {
public:
    Driver(NandArray& array, const DumboRun& run) : array_{array}, run_{run} {
        for (std::uint32_t group = 0; group < run.layout.interleaving; ++group) groups_.push_back({{}, GroupPages{array, group}});
    }
    std::expected<DumboResult, std::string> run();

private:
    using Outcome = NandArray::Result;
    struct Group {
        std::deque<SimTime> in_flight; ///< ends of its pieces, oldest first
        GroupPages pages;
    };
    std::expected<SimTime, std::string> issue(Group& group, std::uint32_t bytes, SimTime now);
    Outcome transfer(Ppn page, std::uint32_t bytes, SimTime now);

    NandArray& array_;
    const DumboRun& run_;
    std::vector<Group> groups_;
    std::uint64_t written_ = 0;
};

Driver::Outcome Driver::transfer(Ppn page, std::uint32_t bytes, SimTime now) {
    if (run_.op == DumboOp::read) return array_.read(PageRead{page, 0, bytes, {}}, {now, {}});
    PageProgram program{page, {}, {}, bytes};
    program.oob.sequence = WriteSequence{++written_};
    return array_.program({&program, 1}, {now, {}});
}

std::expected<SimTime, std::string> Driver::issue(Group& group, std::uint32_t bytes, SimTime now) {
    const auto page = group.pages.next();
    if (!page) return std::unexpected("the chips are full: fewer requests are wanted");
    const auto done = transfer(*page, bytes, run_.op == DumboOp::read ? now + run_.overheads.of_read(run_.layout.striping) : now);
    if (!done) return std::unexpected("a NAND operation failed");
    return *done;
}

std::expected<DumboResult, std::string> Driver::run() {
    const SimTime begin = array_.last_reserved_end();
    array_.settle(begin);
    const std::uint32_t widest = array_.geometry().page_bytes();
    const std::size_t depth = run_.layout.is_pipelined ? 2 : 1;
    SimTime now = begin;
    SimTime end = begin;
    Duration service{0};
    std::uint64_t pieces = 0;
    for (std::uint32_t r = 0; r < run_.requests; ++r) {
        SimTime issued = sim_never;
        SimTime answered = begin;
        for (std::uint32_t at = 0; at < run_.request_bytes; at += widest) {
            const auto turn = static_cast<std::uint32_t>(pieces++ % groups_.size());
            auto& in_flight = groups_[turn].in_flight;
            if (in_flight.size() == depth) {
                now = std::max(now, in_flight.front());
                in_flight.pop_front();
            }
            array_.settle(now);
            const auto done = issue(groups_[turn], std::min(widest, run_.request_bytes - at), now);
            if (!done) return std::unexpected(done.error());
            in_flight.push_back(*done);
            issued = std::min(issued, now);
            answered = std::max(answered, *done);
        }
        service += answered - issued;
        end = std::max(end, answered);
    }
    const double seconds = static_cast<double>((end - begin).count()) / 1e9;
    return DumboResult{static_cast<double>(run_.requests) * run_.request_bytes / 1e6 / seconds,
                       static_cast<double>(service.count()) / 1e3 / static_cast<double>(run_.requests)};
}

/// What a read run will read.
std::expected<void, std::string> fill(NandArray& array, std::uint32_t groups, std::uint64_t pages_a_group) {
    std::uint64_t written = 0;
    for (std::uint32_t group = 0; group < groups; ++group) {
        GroupPages pages{array, group};
        for (std::uint64_t n = 0; n < pages_a_group; ++n) {
            const auto page = pages.next();
            if (!page) return std::unexpected("the chips are full: fewer requests are wanted");
            PageProgram program{*page, {}, {}, 0};
            program.oob.sequence = WriteSequence{++written};
            const auto done = array.program({&program, 1}, {array.last_reserved_end(), {}});
            if (!done) return std::unexpected("a NAND operation failed");
            array.settle(*done);
        }
    }
    return {};
}

} // namespace

std::expected<DumboResult, std::string> run_dumbo(const DumboRun& run) {
    const auto preset = find_nand_preset("dumbo");
    ensure(preset.has_value(), "the preset dumbo exists");
    const NandConfig device = run.device.value_or(preset->nand);
    const DumboLayout& layout = run.layout;
    const std::uint32_t channels = device.geometry.channels;
    if (layout.striping == 0 || layout.interleaving == 0 || layout.striping * layout.interleaving > channels)
        return std::unexpected(fmt::format("S{}:I{} does not fit {} channels", layout.striping, layout.interleaving, channels));
    const auto geometry = Geometry::make(device.geometry);
    ensure(geometry.has_value(), "the device has a valid geometry");
    if (const auto wide = geometry->striped(layout.striping); !wide) return std::unexpected(wide.error());
    MemoryPageStore store{*geometry, Payload::none};
    NullEventSink events;
    const NandConfig config = channel_managers(device, run);
    NandArray array{*geometry, config, store, events, UndoPolicy::none};
    if (!array.open()) return std::unexpected("the array does not open");
    if (run.op == DumboOp::read) {
        const std::uint32_t widest = array.geometry().page_bytes();
        const std::uint64_t pieces = std::uint64_t{run.requests} * ((run.request_bytes + widest - 1) / widest);
        if (auto filled = fill(array, layout.interleaving, pieces / layout.interleaving + 1); !filled) return std::unexpected(filled.error());
    }
    return Driver{array, run}.run();
}

} // namespace flashlab

/// Small flash with round numbers: 100 ns command, 1 ns a byte, 10 us read, 100 us program, 1 ms erase.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/random.h"
#include "nand/memory_page_store.h"
#include "nand/nand_array.h"

namespace flashlab::testing {

inline NandConfig round_config() {
    NandConfig config;
    config.geometry = {.channels = 2,
                       .chips_per_channel = 2,
                       .dies_per_chip = 1,
                       .planes_per_die = 2,
                       .blocks_per_plane = 4,
                       .pages_per_block = 8,
                       .page_bytes = 1024,
                       .spare_bytes = 64,
                       .cell = CellType::slc};
    config.timing = {.page_read = Duration{10'000},
                     .page_program = Duration{100'000},
                     .block_erase = Duration{1'000'000},
                     .command = Duration{100},
                     .bus_ps_per_byte = 1000};
    config.factory_bad_per_million = 0;
    return config;
}

/// Collects every NAND operation.
class RecordingSink final : public EventSink {
public:
    RecordingSink() : EventSink{EventLevel::all} {}
    using EventSink::on;
    void on(const NandOpEvent& event) override { operations.push_back(event); }
    std::vector<NandOpEvent> operations;
};

inline std::vector<std::byte> page_bytes_of(const Geometry& geometry, std::uint64_t value) {
    std::vector<std::byte> data(geometry.page_bytes());
    Random random{value};
    for (std::byte& byte : data) byte = static_cast<std::byte>(random.next());
    return data;
}

struct Flash {
    explicit Flash(const NandConfig& config_ = round_config(), Payload payload = Payload::keep, UndoPolicy undo = UndoPolicy::keep)
        : config{config_}, geometry{*Geometry::make(config_.geometry)}, store{geometry, payload}, array{geometry, config, store, sink, undo} {
        if (!array.open()) throw std::runtime_error{"open"};
    }
    [[nodiscard]] Ppn page(std::uint32_t block, std::uint32_t index) const { return geometry.page_of(BlockId{block}, index); }
    /// The first block of a plane.
    [[nodiscard]] std::uint32_t block_on(std::uint32_t plane, std::uint32_t index = 0) const {
        return geometry.block_at(PlaneId{plane}, index).value();
    }
    auto program(Ppn where, std::uint64_t value, SimTime now) {
        const auto data = page_bytes_of(geometry, value);
        const PageProgram one{where, store.keeps_payload() ? std::span<const std::byte>{data} : std::span<const std::byte>{},
                              PageOob{Lpn{static_cast<std::uint32_t>(value)}, WriteSequence{value}, PageKind::data, 0}};
        return array.program({&one, 1}, {now, {}});
    }
    auto read(Ppn where, SimTime now) { return array.read(PageRead{where, 0, geometry.page_bytes(), {}}, {now, {}}); }

    NandConfig config;
    Geometry geometry;
    MemoryPageStore store;
    RecordingSink sink;
    NandArray array;
};

inline SimTime at(std::int64_t ns) { return sim_time_from_ns(ns); }

} // namespace flashlab::testing

/// A flash with parity over dies whose pages are known: it can be switched on again, and dies can be taken from it.
#pragma once

#include "crash/dead_dies.h"
#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"

namespace flashlab::testing {

/// Four dies on two channels, two planes each.
inline NandConfig rain_config(std::uint32_t dies = 4) {
    NandConfig config = round_config();
    config.geometry.blocks_per_plane = 2;
    config.geometry.pages_per_block = 4;
    config.rain = dies;
    return config;
}

/// A flash whose pages are known, that can be switched on again.
struct RainRig {
    explicit RainRig(const NandConfig& config_ = rain_config(), Payload payload = Payload::keep)
        : config{config_}, chips{*Geometry::make(config_.geometry)}, store{chips, payload}, faults{chips} {
        power_on();
    }
    void power_on() {
        array = std::make_unique<NandArray>(chips, config, store, sink, UndoPolicy::keep);
        REQUIRE(array->open());
        array->set_faults(&faults);
    }
    [[nodiscard]] const Geometry& seen() const { return array->geometry(); }
    [[nodiscard]] Ppn page(std::uint32_t block, std::uint32_t at) const { return seen().page_of(BlockId{block}, at); }
    [[nodiscard]] std::span<const std::byte> payload_of(std::uint64_t value) {
        data = page_bytes_of(seen(), value);
        return store.keeps_payload() ? std::span<const std::byte>{data} : std::span<const std::byte>{};
    }
    [[nodiscard]] static PageOob oob_of(std::uint64_t value) {
        const auto n = static_cast<std::uint32_t>(value);
        return {Lpn{n * 7}, WriteSequence{value * 1000}, value % 3 == 0 ? PageKind::translation : PageKind::data, n / 5,
                StreamId{static_cast<std::uint16_t>(value % 4)}};
    }
    NandArray::Result program(Ppn where, std::uint64_t value) {
        const PageProgram one{where, payload_of(value), oob_of(value)};
        return array->program({&one, 1}, {now, {}});
    }
    void fill(std::uint32_t block, std::uint32_t pages, std::uint64_t first_value) {
        for (std::uint32_t at = array->write_pointer(BlockId{block}), end = at + pages; at < end; ++at) {
            const auto done = program(page(block, at), first_value + at);
            REQUIRE(done);
            now = *done;
        }
    }
    /// The page reads as it was programmed: whole, in part, and its OOB.
    void check(Ppn where, std::uint64_t value) {
        CAPTURE(where.value(), value);
        const auto want = page_bytes_of(seen(), value);
        std::vector<std::byte> to(store.keeps_payload() ? 1024 : 0), part(store.keeps_payload() ? 300 : 0);
        REQUIRE(array->read(PageRead{where, 0, 1024, to}, {now, {}}));
        REQUIRE(array->read(PageRead{where, 500, 300, part}, {now, {}}));
        if (store.keeps_payload()) {
            REQUIRE(to == want);
            REQUIRE(std::ranges::equal(part, std::span{want}.subspan(500, 300)));
        }
        const auto oob = array->read_oob(where, {now, {}});
        REQUIRE((oob && oob->oob && oob->state == CellState::programmed));
        REQUIRE(*oob->oob == oob_of(value));
    }

    NandConfig config;
    Geometry chips;
    MemoryPageStore store;
    RecordingSink sink;
    DeadDies faults;
    std::unique_ptr<NandArray> array;
    std::vector<std::byte> data;
    SimTime now = sim_start;
};

} // namespace flashlab::testing

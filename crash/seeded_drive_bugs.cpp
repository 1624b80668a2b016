/// Defects of what drives of today have: buffers that are destaged ahead, pages of the chip that hold several pages, blocks in another mode.
#include "crash/forwarding_page_store.h"
#include "crash/lying_ftl.h"
#include "crash/sabotage.h"
#include "crash/seeded_bugs.h"

namespace flashlab {

namespace {

/// The buffer takes a line for programmed, and a flush for done, while the line is on its way.
struct FlushOutrunsLines : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<WrittenLine> do_write_line(std::span<const Lpn> pages, std::span<const std::byte> from, const Io& io) override {
        auto line = below().write_line(pages, from, io);
        if (line) line->done = io.when;
        return line;
    }
    FtlResult<SimTime> do_flush(const Io& io) override { return io.when; }
};

/// What fills the rest of a page of the chip counts as the newest data.
struct BelievesPadding : ForwardingPageStore {
    using ForwardingPageStore::ForwardingPageStore;
    std::expected<StoredOob, HostIoError> read_oob(Ppn page) override {
        auto known = real_.read_oob(page);
        if (known && known->oob && known->oob->kind == PageKind::padding) known->oob->kind = PageKind::data;
        return known;
    }
};

/// After a power-on every block counts as one in the cells' own mode.
struct ForgetsModes : ForwardingPageStore {
    using ForwardingPageStore::ForwardingPageStore;
    std::expected<void, HostIoError> read_blocks(BlockId first, std::span<BlockRecord> to) override {
        auto read = real_.read_blocks(first, to);
        for (BlockRecord& block : to) block.mode.reset();
        return read;
    }
};

/// The parity of a row is not that of its pages.
struct WrongParity : ForwardingPageStore {
    using ForwardingPageStore::ForwardingPageStore;
    std::expected<void, HostIoError> write_programmed(Ppn page, const PageOob& oob, std::uint32_t data_crc) override {
        PageOob parity = oob;
        if (oob.kind >= PageKind::parity) parity.lpn = Lpn{oob.lpn.value() ^ 1};
        return real_.write_programmed(page, parity, data_crc);
    }
};

/// After a power-on blocks that go on without a dead die count as if they lay on all of them.
struct ForgetsLostMembers : ForwardingPageStore {
    using ForwardingPageStore::ForwardingPageStore;
    std::expected<void, HostIoError> read_blocks(BlockId first, std::span<BlockRecord> to) override {
        auto read = real_.read_blocks(first, to);
        for (BlockRecord& block : to) block.grown_bad = false;
        return read;
    }
};

} // namespace

std::vector<SeededBug> seeded_drive_bugs() {
    const auto bug = [](std::string_view name, std::string_view what, auto make, std::string_view devices, Judge judge = Judge::contents) {
        return SeededBug{name, what, make, SeededBug::Needs::nothing, "drive", judge, "page_map", devices};
    };
    return {bug(
                "flush_outruns_lines", "a flush is answered while lines that are destaged ahead are on their way",
                [] { return std::make_unique<FtlSabotage<FlushOutrunsLines>>(); }, "ahead-slc ahead-tlc"),
            bug(
                "believes_padding", "recovery takes what fills a page of the chip for data",
                [] { return std::make_unique<StoreSabotage<BelievesPadding>>(); }, "sub-slc sublines-tlc"),
            bug(
                "forgets_modes", "after a power-on blocks of the SLC cache count as ordinary ones",
                [] { return std::make_unique<StoreSabotage<ForgetsModes>>(); }, "cached-tlc dynamic-tlc", Judge::check),
            bug(
                "wrong_parity", "the parity of a row is not that of all its pages", [] { return std::make_unique<StoreSabotage<WrongParity>>(); },
                "rain-slc rainlines-tlc"),
            bug(
                "forgets_lost_members", "after a power-on blocks that go on without a dead die count as if they lay on all of them",
                [] { return std::make_unique<StoreSabotage<ForgetsLostMembers>>(); }, "rain-slc rainlines-tlc")};
}

} // namespace flashlab

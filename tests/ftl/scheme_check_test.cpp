/// The judge itself: check() of every scheme says no to each single damage of a page that holds somebody's data. A judge that finds nothing passes
/// every other test.
#include <functional>

#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::on_every_scheme;
using flashlab::test::tiny_config;

namespace {

/// What happens to one page's record.
using Damage = std::function<void(MemoryPageStore&, Ppn, PageRecord, PageOob)>;

/// Logical pages that hold something, once all lies on flash.
std::uint32_t held_pages(CutRig& rig) {
    std::uint32_t held = 0;
    for (std::uint32_t u = 0; u < rig.units(); ++u) held += rig.is_zero(u) ? 0 : 1;
    return held;
}

struct Damaged {
    std::uint32_t pages = 0, noticed = 0;
};
/// Each programmed page of this kind is damaged in turn, and nothing else; how many there are, and at how many check() speaks.
Damaged damage_each(CutRig& rig, PageKind kind, const Damage& damage) {
    MemoryPageStore& store = rig.page_store();
    Damaged count;
    for (const Ppn page : ids<Ppn>(rig.geometry().pages())) {
        const PageRecord before = store.read_record(page).value();
        const StoredOob known = store.read_oob(page).value();
        if (before.state != CellState::programmed || !known.oob || known.oob->kind != kind) continue;
        damage(store, page, before, *known.oob);
        ++count.pages;
        count.noticed += rig.ssd().check().empty() ? 0 : 1;
        REQUIRE(store.write_record(page, before).has_value());
    }
    return count;
}

Damage in_state(CellState state) {
    return [state](MemoryPageStore& store, Ppn page, PageRecord record, PageOob) {
        record.state = state;
        REQUIRE(store.write_record(page, record).has_value());
    };
}
std::vector<std::pair<std::string, Damage>> damages() {
    const Damage renamed = [](MemoryPageStore& store, Ppn page, PageRecord record, PageOob oob) {
        oob.lpn = Lpn{oob.lpn.value() ^ 1};
        REQUIRE(store.write_programmed(page, oob, record.data_crc).has_value());
    };
    const Damage of_the_future = [](MemoryPageStore& store, Ppn page, PageRecord record, PageOob oob) {
        oob.sequence = WriteSequence{1ull << 40};
        REQUIRE(store.write_programmed(page, oob, record.data_crc).has_value());
    };
    return {{"it names another page", renamed},
            {"it lies in the future", of_the_future},
            {"it is torn", in_state(CellState::torn)},
            {"it is garbage", in_state(CellState::garbage)},
            {"it is erased", in_state(CellState::erased)}};
}

} // namespace

TEST_CASE("check() of every scheme notices each page that names another, lies in the future, is torn or gone", "[ftl][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        Random random{17};
        for (int i = 0; i < 400; ++i) rig.step(random);
        rig.now = rig.flush();
        rig.check_all();
        const std::uint32_t held = held_pages(rig);
        REQUIRE(held > 10);
        // coftl's notes on chains have the kind, too; a mount reads them, and check() does not.
        const bool judges_maps = config.ftl.scheme != "coftl";
        for (const auto& [what, damage] : damages()) {
            CAPTURE(what);
            CHECK(damage_each(rig, PageKind::data, damage).noticed >= held);
            const Damaged maps = damage_each(rig, PageKind::translation, damage);
            if (judges_maps && maps.pages > 0) CHECK(maps.noticed > 0);
        }
        rig.check_all();
    });
}

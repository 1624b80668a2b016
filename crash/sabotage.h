/// A deliberate defect between a device's parts. A harness that does not notice such a defect proves nothing.
///
/// Idea       At every power-on the device asks the sabotage for wrappers around its parts. The parts themselves know nothing of it.
/// Invariant  The default functions change nothing.
/// Cost       None without one.
/// Power cut  A sabotage lives outside the device, across cuts.
#pragma once

#include <memory>

#include "ftl/ftl.h"
#include "ftl/ssd_config.h"
#include "nand/nand_faults.h"
#include "nand/page_store.h"
#include "pram/pram.h"

namespace flashlab {

class Sabotage {
public:
    virtual ~Sabotage() = default;
    /// Returns a wrapper (a liar) around the scheme, or the scheme itself.
    [[nodiscard]] virtual std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) { return ftl; }
    /// Returns a wrapper (a liar) around the page store; null: the store is used itself.
    [[nodiscard]] virtual std::unique_ptr<PageStore> around(PageStore&) { return nullptr; }
    [[nodiscard]] virtual NandFaults* faults() { return nullptr; }
    /// True: PRAM writes no longer wait for the operations that they depend on.
    [[nodiscard]] virtual bool pram_is_hasty() const { return false; }
    /// Changes the configuration that the parts are built with.
    virtual void change(SsdConfig&) {}
    /// The PRAM of the device that is being powered on; null where it has none.
    virtual void meet(Pram*) {}
    /// Changes the PRAM cells before the scheme sees them.
    virtual void spoil(PramStore&) {}
};

/// A liar around the scheme, and nothing else.
template <class Liar>
class FtlSabotage final : public Sabotage {
    std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) override { return std::make_unique<Liar>(std::move(ftl)); }
    std::unique_ptr<PageStore> around(PageStore&) override { return nullptr; }
};
/// A liar around the page store, and nothing else.
template <class Liar>
class StoreSabotage final : public Sabotage {
    std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) override { return ftl; }
    std::unique_ptr<PageStore> around(PageStore& store) override { return std::make_unique<Liar>(store); }
};

} // namespace flashlab

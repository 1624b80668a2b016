/// A deliberate defect between a device's parts: what the harness must notice, or it proves nothing.
///
/// Idea       The device asks at every power-on whether somebody wants to stand between it and its parts. Nothing in the parts themselves knows of
///            this.
/// Invariant  The default stands nowhere.
/// Cost       None without one.
/// Power cut  A sabotage lives outside the device, across cuts.
#pragma once

#include <memory>

#include "ftl/ftl.h"
#include "nand/nand_faults.h"
#include "nand/page_store.h"
#include "pram/pram.h"

namespace flashlab {

class Sabotage {
public:
    virtual ~Sabotage() = default;
    /// A liar around the scheme; or the scheme itself.
    [[nodiscard]] virtual std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) { return ftl; }
    /// A liar around the cells; null: the cells themselves.
    [[nodiscard]] virtual std::unique_ptr<PageStore> around(PageStore&) { return nullptr; }
    [[nodiscard]] virtual NandFaults* faults() { return nullptr; }
    /// True: PRAM words no longer wait for what they depend on.
    [[nodiscard]] virtual bool pram_is_hasty() const { return false; }
    /// Before the scheme sees them.
    virtual void spoil(PramStore&) {}
};

} // namespace flashlab

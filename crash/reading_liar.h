/// A sabotage of what recovery reads: it tells its parts when the scheme recovers.
///
/// Idea       A liar around the scheme notes when recover() begins and ends; a liar around the cells changes what is read meanwhile.
/// Invariant  Outside of recover() the cells read as they are, unless the derived class says otherwise.
/// Cost       A third virtual call a page.
/// Power cut  A sabotage lives outside the device, across cuts.
#pragma once

#include <utility>

#include "crash/forwarding_page_store.h"
#include "crash/lying_ftl.h"
#include "crash/sabotage.h"

namespace flashlab {

class RecoveryMisreads : public Sabotage {
    struct Scheme : LyingFtl {
        Scheme(std::unique_ptr<Ftl> real, bool& recovering) : LyingFtl{std::move(real)}, recovering_{recovering} {}
        FtlResult<FtlRecovery> do_recover(SimTime now) override {
            recovering_ = true;
            auto done = below().recover(now);
            recovering_ = false;
            return done;
        }
        bool& recovering_;
    };
    struct Cells : ForwardingPageStore {
        Cells(PageStore& real, const RecoveryMisreads& by) : ForwardingPageStore{real}, by_{by} {}
        std::expected<PageRecord, HostIoError> read_record(Ppn page) override {
            auto record = real_.read_record(page);
            if (record && by_.recovering_) by_.misread(page, *record);
            return record;
        }
        const RecoveryMisreads& by_;
    };

public:
    std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) override {
        recovering_ = false;
        return std::make_unique<Scheme>(std::move(ftl), recovering_);
    }
    std::unique_ptr<PageStore> around(PageStore& store) override { return std::make_unique<Cells>(store, *this); }
    virtual void misread(Ppn page, PageRecord& record) const = 0;

private:
    bool recovering_ = false;
};

} // namespace flashlab

/// A translation layer that passes everything on: what a seeded bug overrides one function of.
///
/// Idea       Forwarding, nothing else.
/// Invariant  Without an override it is the scheme that it wraps.
/// Cost       A second virtual call a request.
/// Power cut  The scheme's.
#pragma once

#include <memory>

#include "ftl/ftl.h"

namespace flashlab {

class ForwardingFtl : public Ftl {
public:
    explicit ForwardingFtl(std::unique_ptr<Ftl> real) : real_{std::move(real)} {}

    std::string_view name() const override { return real_->name(); }
    std::uint32_t logical_page_bytes() const override { return real_->logical_page_bytes(); }
    std::uint32_t logical_pages() const override { return real_->logical_pages(); }
    bool durable_when_answered() const override { return real_->durable_when_answered(); }
    FtlResult<FtlRecovery> recover(SimTime now) override { return real_->recover(now); }
    FtlResult<SimTime> read(Lpn first, std::uint32_t pages, std::span<std::byte> to, SimTime now, Origin origin) override {
        return real_->read(first, pages, to, now, origin);
    }
    FtlResult<SimTime> read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, SimTime now, Origin origin) override {
        return real_->read_part(lpn, offset, bytes, to, now, origin);
    }
    FtlResult<SimTime> write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, SimTime now, Origin origin) override {
        return real_->write(first, pages, from, now, origin);
    }
    FtlResult<SimTime> trim(Lpn first, std::uint32_t pages, SimTime now, Origin origin) override { return real_->trim(first, pages, now, origin); }
    FtlResult<SimTime> flush(SimTime now, Origin origin) override { return real_->flush(now, origin); }
    SimTime idle(SimTime now) override { return real_->idle(now); }
    FtlResult<SimTime> relocate(BlockId block, SimTime now) override { return real_->relocate(block, now); }
    FtlResult<SimTime> shut_down(SimTime now) override { return real_->shut_down(now); }
    bool is_mapped(Lpn lpn) const override { return real_->is_mapped(lpn); }
    FtlCounters counters() const override { return real_->counters(); }
    FtlSpace space() const override { return real_->space(); }
    BlockStatus status_of(BlockId block) const override { return real_->status_of(block); }
    WriteMemory write_memory() const override { return real_->write_memory(); }
    std::vector<CheckProblem> check() override { return real_->check(); }

protected:
    std::unique_ptr<Ftl> real_;
};

} // namespace flashlab

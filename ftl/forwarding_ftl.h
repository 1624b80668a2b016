/// A translation layer that passes every call on to another: the base of decorators, which override what they change.
///
/// Idea       Forwarding, nothing else. A question that a decorator does not know of is answered by what it decorates.
/// Invariant  Without an override it is the translation layer below: each virtual function of Ftl is forwarded, those with a default too.
/// Cost       A second virtual call a request.
/// Power cut  That of the one below.
#pragma once

#include "ftl/ftl.h"

namespace flashlab {

class ForwardingFtl : public Ftl {
public:
    /// `below` outlives it. It may be recovered already.
    explicit ForwardingFtl(Ftl& below) : Ftl{below, below.shape()}, below_{below} {}

    [[nodiscard]] std::string_view name() const override { return below_.name(); }
    [[nodiscard]] bool durable_when_answered() const override { return below_.durable_when_answered(); }
    [[nodiscard]] std::uint32_t pages_a_line() const override { return below_.pages_a_line(); }
    [[nodiscard]] std::uint32_t pages_a_batch() const override { return below_.pages_a_batch(); }
    [[nodiscard]] FtlCounters counters() const override { return below_.counters(); }
    [[nodiscard]] const Ftl& undecorated() const override { return below_.undecorated(); }
    [[nodiscard]] FtlSpace space() const override { return below_.space(); }
    [[nodiscard]] MappingSpace* mapping_space() override { return below_.mapping_space(); }
    [[nodiscard]] std::uint64_t map_cache_bytes() const override { return below_.map_cache_bytes(); }

protected:
    [[nodiscard]] Ftl& below() { return below_; }
    [[nodiscard]] const Ftl& below() const { return below_; }

    FtlResult<FtlRecovery> do_recover(SimTime now) override { return below_.recover(now); }
    FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override {
        return below_.read(first, pages, to, io);
    }
    FtlResult<SimTime> do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) override {
        return below_.read_part(lpn, offset, bytes, to, io);
    }
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
        return below_.write(first, pages, from, io);
    }
    FtlResult<SimTime> do_write_each(std::span<const Lpn> pages, std::span<const std::byte> from, const Io& io) override {
        return below_.write_each(pages, from, io);
    }
    FtlResult<WrittenLine> do_write_line(std::span<const Lpn> pages, std::span<const std::byte> from, const Io& io) override {
        return below_.write_line(pages, from, io);
    }
    FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override { return below_.trim(first, pages, io); }
    FtlResult<SimTime> do_flush(const Io& io) override { return below_.flush(io); }
    SimTime do_idle(SimTime now) override { return below_.idle(now); }
    FtlResult<SimTime> do_relocate(BlockId block, SimTime now, Cause cause) override { return below_.relocate(block, now, cause); }
    FtlResult<SimTime> do_shut_down(SimTime now) override { return below_.shut_down(now); }
    bool do_is_mapped(Lpn lpn) const override { return below_.is_mapped(lpn); }
    BlockStatus do_status_of(BlockId block) const override { return below_.status_of(block); }
    std::vector<CheckProblem> do_check() override { return below_.check(); }

private:
    Ftl& below_;
};

} // namespace flashlab

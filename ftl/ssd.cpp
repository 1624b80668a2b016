#include "ftl/ssd.h"

#include <algorithm>
#include <cstring>

#include "base/contract.h"
#include "ftl/cache/make_buffer.h"

namespace flashlab {

namespace {

DeviceErrorKind kind_of(FtlErrorKind kind) {
    switch (kind) {
    case FtlErrorKind::lost_page:
        return DeviceErrorKind::uncorrectable;
    case FtlErrorKind::no_free_block:
        return DeviceErrorKind::no_space;
    case FtlErrorKind::read_only:
        return DeviceErrorKind::read_only;
    case FtlErrorKind::foreign:
        return DeviceErrorKind::foreign;
    case FtlErrorKind::host_io:
        return DeviceErrorKind::host_io;
    }
    return DeviceErrorKind::host_io;
}

/// A request's parts are issued in ascending order.
enum class Step : std::uint8_t { head, whole, tail };

std::unique_ptr<Scrubber> make_scrubber(const SsdConfig& config, Ftl& ftl, NandArray& array) {
    const ScrubConfig scrub{config.ftl.scrub_retries, config.ftl.scrub_days};
    return (scrub.is_on() && config.nand.errors.are_on()) || config.nand.rain != 0 ? std::make_unique<Scrubber>(scrub, ftl, array) : nullptr;
}

Origin origin_of(EventId request, const HostIo& host) { return {Cause::user, request, host.stream, host.queue}; }

} // namespace

/// A sector range in logical pages: a partial first one, whole ones, a partial last one; any may be missing.
struct Ssd::Split {
    struct Part {
        Lpn lpn{0};
        std::uint32_t offset = 0; ///< bytes into the logical page
        std::uint32_t bytes = 0;
        std::uint64_t at = 0; ///< bytes into the request
    };
    std::optional<Part> head;
    std::optional<Part> tail;
    Lpn first_whole{0};
    std::uint32_t whole = 0;
    std::uint64_t whole_at = 0;
};

Ssd::Split Ssd::split(Sector first, std::uint64_t sectors) const {
    const std::uint64_t page = ftl_.logical_page_bytes();
    const std::uint64_t begin = first.value() * sector_bytes;
    const std::uint64_t end = begin + sectors * sector_bytes;
    const auto lpn_of = [page](std::uint64_t byte) { return Lpn{static_cast<std::uint32_t>(byte / page)}; };
    Split s;
    std::uint64_t at = begin;
    if (at % page != 0) {
        const std::uint64_t stop = std::min(end, (at / page + 1) * page);
        s.head = Split::Part{lpn_of(at), static_cast<std::uint32_t>(at % page), static_cast<std::uint32_t>(stop - at), 0};
        at = stop;
    }
    s.first_whole = lpn_of(at);
    s.whole = static_cast<std::uint32_t>((end - at) / page);
    s.whole_at = at - begin;
    at += s.whole * page;
    if (at < end) s.tail = Split::Part{lpn_of(at), 0, static_cast<std::uint32_t>(end - at), at - begin};
    return s;
}

Ssd::Ssd(const SsdConfig& config, Ftl& ftl, NandArray& array, Pram* pram, PramRange buffer_range, EventSink& events)
    : config_{config}, ftl_{ftl}, array_{array}, pram_{pram}, events_{events},
      buffer_{make_buffer(config.dram, ftl, pram, buffer_range, array.geometry().dies() * std::max(1u, config.nand.rain))},
      partition_{config.dram.is_partitioned() ? std::make_unique<DramPartition>(config.dram, ftl, *buffer_, events) : nullptr},
      front_{buffer_ ? static_cast<Ftl&>(*buffer_) : ftl},
      ahead_{config.dram.read_ahead_bytes == 0 ? nullptr : std::make_unique<ReadAhead>(front_, config.dram.read_ahead_bytes, array.keeps_payload())},
      wear_{config.ftl.wear_threshold == 0 ? nullptr : std::make_unique<WearLeveler>(ftl, array, config.ftl.wear_threshold)},
      scrub_{make_scrubber(config, ftl, array)}, host_{config.host_link}, scratch_(ftl.logical_page_bytes()) {}

DeviceError Ssd::translate(const FtlError& error) const {
    const std::uint64_t sectors_per_page = ftl_.logical_page_bytes() / sector_bytes;
    return {kind_of(error.kind), Sector{error.lpn.value() * sectors_per_page}, error.done, error.host_errno};
}

bool Ssd::in_range(Sector first, std::uint64_t sectors) const {
    const std::uint64_t all = identify().sectors;
    return sectors != 0 && sectors <= all && first.value() <= all - sectors;
}

/// Every request begins here: it gets its number.
HostRequestEvent Ssd::arrived(HostOp op, Sector first, std::uint64_t sectors, const HostIo& host, bool fua) {
    return {events_.next_id(), host.when, host.when, op, first, sectors, fua, false, host.piece, host.queue, host.waited, host.stream};
}

/// Every request ends here, well or badly: it is reported once.
DeviceResult<SimTime> Ssd::answer(HostRequestEvent event, DeviceResult<SimTime> result) {
    if (events_.wants(EventLevel::requests)) {
        event.failed = !result.has_value();
        event.completion = result ? *result : result.error().done;
        events_.on(event);
    }
    if (!result && result.error().kind == DeviceErrorKind::uncorrectable) {
        ++counters_.uncorrectable_reads;
        const DeviceError& error = result.error();
        if (events_.wants(EventLevel::summary))
            events_.on(UncorrectableReadEvent{event.id, error.done, event.op, event.first, event.sectors, std::max(event.first, error.where)});
    }
    if (partition_ && result && (event.op == HostOp::read || event.op == HostOp::write)) partition_->answered(*result);
    return result;
}

DeviceResult<FtlRecovery> Ssd::recover(SimTime now) {
    const auto scanned = array_.scan_backups(now);
    if (!scanned) return std::unexpected(DeviceError{DeviceErrorKind::host_io, Sector{0}, now, scanned.error().host_errno});
    auto done = front_.recover(*scanned);
    if (!done) return std::unexpected(translate(done.error()));
    const auto begun = take_over(done->done);
    if (!begun) return std::unexpected(begun.error());
    done->done = std::max(done->done, *begun);
    return *done;
}

DeviceResult<SimTime> Ssd::take_over(SimTime now) {
    if (!partition_) return now;
    const auto begun = partition_->begin(now);
    if (!begun) return std::unexpected(translate(begun.error()));
    return *begun;
}

DeviceResult<SimTime> Ssd::shut_down(SimTime now) {
    const auto done = front_.shut_down(now);
    if (!done) return std::unexpected(translate(done.error()));
    return *done;
}

DeviceResult<SimTime> Ssd::read(Sector first, std::uint32_t sectors, std::span<std::byte> to, HostIo host) {
    const HostRequestEvent event = arrived(HostOp::read, first, sectors, host);
    if (!in_range(first, sectors)) return answer(event, std::unexpected(DeviceError{DeviceErrorKind::out_of_range, first, host.when}));
    ensure(to.empty() || to.size() == std::size_t{sectors} * sector_bytes, "a buffer as long as the request");
    count_read(first, sectors);
    const Io io{accept(host.when), origin_of(event.id, host), host_.begin_read()};
    const Split s = split(first, sectors);
    SimTime ready = io.when;
    std::optional<FtlError> error;
    const auto note = [&](const FtlResult<SimTime>& done) {
        if (done)
            ready = std::max(ready, *done);
        else if (!error)
            error = done.error();
    };
    const auto part = [&](std::uint64_t at, std::uint64_t bytes) { return to.empty() ? to : to.subspan(at, bytes); };
    if (shares_senses(s)) {
        note(read_around(s, to, io));
    } else {
        if (s.head) note(read_part(s.head->lpn, s.head->offset, s.head->bytes, part(s.head->at, s.head->bytes), io));
        if (s.whole != 0) note(read_pages(s.first_whole, s.whole, part(s.whole_at, std::uint64_t{s.whole} * ftl_.logical_page_bytes()), io));
        if (s.tail) note(read_part(s.tail->lpn, s.tail->offset, s.tail->bytes, part(s.tail->at, s.tail->bytes), io));
    }
    if (scrub_) (void)scrub_->step(ready);
    if (error) return answer(event, std::unexpected(translate(*error)));
    return answer(event, host_.send(ready, std::uint64_t{sectors} * sector_bytes));
}

/// A page of the chip holds several logical pages, so that parts of neighbours may lie in one: asked for apart, it would be sensed for each.
bool Ssd::shares_senses(const Split& s) const {
    return config_.nand.options.subpages > 1 && ((s.head && s.tail) || ((s.head || s.tail) && s.whole != 0));
}

FtlResult<SimTime> Ssd::read_around(const Split& s, std::span<std::byte> to, const Io& io) {
    const Lpn first = s.head ? s.head->lpn : s.first_whole;
    const std::uint32_t pages = (s.head ? 1 : 0) + s.whole + (s.tail ? 1 : 0);
    if (to.empty()) return read_pages(first, pages, to, io);
    around_.resize(std::size_t{pages} * ftl_.logical_page_bytes());
    const auto done = read_pages(first, pages, around_, io);
    std::memcpy(to.data(), around_.data() + (s.head ? s.head->offset : 0), to.size());
    return done;
}

/// When a write may be issued. A buffer takes it whole, or in pieces (write_whole()).
Io Ssd::link_in(const Split& s, SimTime all_there, std::uint64_t bytes, const Origin& origin) {
    if (buffer_) return {all_there, origin};
    const std::uint64_t page = ftl_.logical_page_bytes();
    const Lpn first = s.head ? s.head->lpn : s.whole != 0 ? s.first_whole : s.tail->lpn;
    return host_.begin_write({first, s.head ? s.head->bytes : std::min(page, bytes), page, bytes}, all_there, origin);
}

/// Part of a logical page is read, changed and written whole; empty `from` with `zeros` false writes no payload at all.
FtlResult<SimTime> Ssd::write_part(const PartWrite& w, const Io& io) {
    std::span<std::byte> page;
    if (w.zeros || !w.from.empty()) page = scratch_;
    SimTime ready = io.when;
    if (front_.is_mapped(w.lpn)) {
        const auto read = front_.read(w.lpn, 1, page, io);
        if (!read) return read;
        ready = *read;
    } else if (!page.empty()) {
        std::ranges::fill(page, std::byte{0});
    }
    if (w.zeros)
        std::ranges::fill(page.subspan(w.offset, w.bytes), std::byte{0});
    else if (!page.empty())
        std::memcpy(page.data() + w.offset, w.from.data(), w.from.size());
    return write_pages(w.lpn, 1, page, w.durability, io.at(ready));
}

FtlResult<SimTime> Ssd::write_pages(Lpn first, std::uint32_t pages, std::span<const std::byte> from, WriteDurability durability, const Io& io) {
    if (ahead_) ahead_->forget(first, pages);
    if (buffer_ && !buffer_->survives_cuts() && durability == WriteDurability::fua) return buffer_->write_through(first, pages, from, io);
    return front_.write(first, pages, from, io);
}

/// A long request enters the buffer as it crosses the link, so that the flash works for its beginning while its end is under way.
Io Ssd::piece_in(std::uint64_t bytes_behind, WriteDurability durability, const Io& whole) const {
    return !buffer_ || durability == WriteDurability::fua ? whole : whole.at(host_.there_but_for(bytes_behind, whole.when));
}

FtlResult<SimTime> Ssd::write_whole(const Split& s, std::span<const std::byte> from, WriteDurability durability, const Io& io) {
    if (!buffer_ || durability == WriteDurability::fua) return write_pages(s.first_whole, s.whole, from, durability, io);
    constexpr std::uint32_t piece_bytes = 128 * 1024;
    const std::uint64_t page = ftl_.logical_page_bytes(), tail = s.tail ? s.tail->bytes : 0;
    const std::uint32_t piece = std::max(1u, piece_bytes / ftl_.logical_page_bytes());
    FtlResult<SimTime> done = io.when;
    for (std::uint32_t at = 0; done && at < s.whole; at += piece) {
        const std::uint32_t pages = std::min(piece, s.whole - at);
        const std::uint64_t behind = (s.whole - at - pages) * page + tail;
        const auto bytes = from.empty() ? from : from.subspan(at * page, pages * page);
        const auto written = write_pages(Lpn{s.first_whole.value() + at}, pages, bytes, durability, piece_in(behind, durability, io));
        done = written ? FtlResult<SimTime>{std::max(*done, *written)} : written;
    }
    return done;
}

DeviceResult<SimTime> Ssd::write(Sector first, std::uint32_t sectors, std::span<const std::byte> from, WriteDurability durability, HostIo host) {
    const HostRequestEvent event = arrived(HostOp::write, first, sectors, host, durability == WriteDurability::fua);
    if (!in_range(first, sectors)) return answer(event, std::unexpected(DeviceError{DeviceErrorKind::out_of_range, first, host.when}));
    ensure(from.empty() || from.size() == std::size_t{sectors} * sector_bytes, "a buffer as long as the request");
    if (durability == WriteDurability::fua && lies_ != nullptr && lies_->flush_lies()) durability = WriteDurability::volatile_ok;
    ++counters_.host_writes;
    counters_.host_write_bytes += std::uint64_t{sectors} * sector_bytes;
    const SimTime start = accept(host.when, std::uint64_t{sectors} * sector_bytes);
    const Split s = split(first, sectors);
    SimTime done = start;
    const Io io = link_in(s, start, std::uint64_t{sectors} * sector_bytes, origin_of(event.id, host));
    const auto part = [&](std::uint64_t at, std::uint64_t bytes) { return from.empty() ? from : from.subspan(at, bytes); };
    const auto note = [&](const FtlResult<SimTime>& written) -> std::optional<FtlError> {
        if (!written) return written.error();
        done = std::max(done, *written);
        return std::nullopt;
    };
    const auto in_part = [&](const Split::Part& p) {
        const std::uint64_t behind = std::uint64_t{sectors} * sector_bytes - p.at - p.bytes;
        return write_part({p.lpn, p.offset, p.bytes, part(p.at, p.bytes), false, durability}, piece_in(behind, durability, io));
    };
    std::optional<FtlError> error;
    if (s.head) error = note(in_part(*s.head)); // in ascending order, as the host's bytes come
    if (!error && s.whole != 0) error = note(write_whole(s, part(s.whole_at, std::uint64_t{s.whole} * ftl_.logical_page_bytes()), durability, io));
    if (!error && s.tail) error = note(in_part(*s.tail));
    if (error) return answer(event, std::unexpected(translate(*error)));
    Ftl& last = buffer_ && buffer_->survives_cuts() ? front_ : ftl_; // what FUA has to wait for
    if (durability == WriteDurability::fua && !last.durable_when_answered()) {
        const auto flushed = last.flush({done, io.origin});
        if (!flushed) return answer(event, std::unexpected(translate(flushed.error())));
        done = std::max(done, *flushed);
    }
    if (durability == WriteDurability::fua) done = array_.note_durable(done);
    if (wear_ && wear_->is_due(done)) (void)wear_->step(done); // a host that never pauses is levelled all the same
    if (scrub_) (void)scrub_->step(done);
    return answer(event, done);
}

DeviceResult<SimTime> Ssd::trim(Sector first, std::uint64_t sectors, HostIo host) {
    const HostRequestEvent event = arrived(HostOp::trim, first, sectors, host);
    if (!in_range(first, sectors)) return answer(event, std::unexpected(DeviceError{DeviceErrorKind::out_of_range, first, host.when}));
    ++counters_.host_trims;
    counters_.host_trim_bytes += sectors * sector_bytes;
    const Io io{accept(host.when), origin_of(event.id, host)};
    const Split s = split(first, sectors);
    if (ahead_ && s.whole != 0) ahead_->forget(s.first_whole, s.whole);
    SimTime done = io.when;
    const auto zero = [&](const std::optional<Split::Part>& p) -> FtlResult<SimTime> {
        if (!p || !front_.is_mapped(p->lpn)) return io.when;
        return write_part({p->lpn, p->offset, p->bytes, {}, true}, io);
    };
    for (const Step step : {Step::head, Step::whole, Step::tail}) {
        if (step == Step::whole && s.whole == 0) continue;
        const auto trimmed = step == Step::head ? zero(s.head) : step == Step::tail ? zero(s.tail) : front_.trim(s.first_whole, s.whole, io);
        if (!trimmed) return answer(event, std::unexpected(translate(trimmed.error())));
        done = std::max(done, *trimmed);
    }
    // A trim that finds nothing mapped is answered no earlier than the one that unmapped it: else its answer promises what a power cut may take back.
    trims_done_ = std::max(trims_done_, done);
    return answer(event, trims_done_);
}

DeviceResult<SimTime> Ssd::flush(HostIo host) {
    const HostRequestEvent event = arrived(HostOp::flush, Sector{0}, 0, host);
    ++counters_.host_flushes;
    const SimTime start = accept(host.when);
    if (lies_ != nullptr && lies_->flush_lies()) return answer(event, start);
    const Io io{start, origin_of(event.id, host)};
    const auto done = lies_ != nullptr && lies_->order_lies() ? buffer_->flush_but_the_first(io) : front_.flush(io);
    if (!done) return answer(event, std::unexpected(translate(done.error())));
    return answer(event, array_.note_durable(*done));
}

DeviceIdentity Ssd::identify() const {
    const std::uint64_t sectors = std::uint64_t{ftl_.logical_pages()} * (ftl_.logical_page_bytes() / sector_bytes);
    return {sectors, ftl_.logical_page_bytes(), std::string{ftl_.name()}, !front_.durable_when_answered() || array_.guards_pairs()};
}

std::vector<LbaRange> Ssd::lba_status(Sector first, std::uint64_t sectors) const {
    ensure(sectors == 0 || in_range(first, sectors), "a range of the device");
    const std::uint64_t per_page = ftl_.logical_page_bytes() / sector_bytes;
    std::vector<LbaRange> out;
    const std::uint64_t end = first.value() + sectors;
    for (std::uint64_t at = first.value(); at < end;) {
        const std::uint64_t stop = std::min(end, (at / per_page + 1) * per_page);
        const bool mapped = front_.is_mapped(Lpn{static_cast<std::uint32_t>(at / per_page)});
        if (!out.empty() && out.back().mapped == mapped)
            out.back().sectors += stop - at;
        else
            out.push_back({Sector{at}, stop - at, mapped});
        at = stop;
    }
    return out;
}

std::vector<CheckProblem> Ssd::check() {
    auto problems = front_.check();
    if (partition_) partition_->check(problems);
    if (ahead_) ahead_->check(problems);
    return problems;
}

SimTime Ssd::tick(SimTime now) {
    const SimTime next = front_.idle(now);
    const SimTime levelled = wear_ ? std::min(next, wear_->step(now)) : next;
    return scrub_ ? std::min(levelled, scrub_->step(now)) : levelled;
}

DeviceResult<void> Ssd::grow_older(Duration time) {
    if (auto aged = array_.grow_older(time); !aged)
        return std::unexpected(DeviceError{DeviceErrorKind::host_io, Sector{0}, sim_start, aged.error().host_errno});
    if (scrub_) scrub_->look_soon();
    return {};
}

void Ssd::settle(SimTime now) {
    array_.settle(now);
    if (pram_ != nullptr) pram_->settle(now);
    host_.settle(now);
}

SimTime Ssd::last_reserved_end() const {
    const SimTime flash = std::max(array_.last_reserved_end(), host_.free_at());
    return pram_ == nullptr ? flash : std::max(flash, pram_->last_reserved_end());
}

DeviceResult<SsdCutReport> Ssd::cut(SimTime at, CutOutcomes& nand_outcomes, PramCutOutcomes& pram_outcomes) {
    SsdCutReport report;
    // A cut before the latest request arrived would have to take its pages out of the buffer again: then the buffer is lost like any other.
    if (buffer_ && !buffer_->survives_cuts() && config_.dram.is_protected && at >= last_arrival_) {
        if (const auto saved = buffer_->flush({at, {Cause::user, no_event}})) at = std::max(*saved, last_reserved_end());
    }
    if (lies_ != nullptr && at >= last_arrival_ && lies_->tears()) {
        if (const auto torn = buffer_->tear_all({at, {Cause::user, no_event}})) at = std::max(*torn, last_reserved_end());
    }
    const auto nand = array_.cut(at, nand_outcomes);
    if (!nand) return std::unexpected(DeviceError{DeviceErrorKind::host_io, Sector{0}, at, nand.error().host_errno});
    report.nand = *nand;
    if (pram_ != nullptr) report.pram = pram_->cut(at, pram_outcomes);
    return report;
}

SampleEvent Ssd::sample(SimTime now) const {
    SampleEvent s;
    s.at = now;
    s.host_reads = counters_.host_reads;
    s.host_writes = counters_.host_writes;
    s.host_trims = counters_.host_trims;
    s.host_flushes = counters_.host_flushes;
    s.host_read_bytes = counters_.host_read_bytes;
    s.host_write_bytes = counters_.host_write_bytes;
    const NandCounters& n = array_.counters();
    std::ranges::copy(n.reads, s.nand_reads);
    std::ranges::copy(n.programs, s.nand_programs);
    std::ranges::copy(n.erases, s.nand_erases);
    if (pram_ != nullptr) s.pram_words_written = pram_->counters().words_written[0] + pram_->counters().words_written[1];
    s.free_blocks = ftl_.space().free_blocks;
    return s;
}

} // namespace flashlab

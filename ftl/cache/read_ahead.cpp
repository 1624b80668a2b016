#include "ftl/cache/read_ahead.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "ftl/check_report.h"

namespace flashlab {

ReadAhead::ReadAhead(Ftl& below, std::uint64_t bytes, bool keeps_data)
    : below_{below}, piece_pages_{static_cast<std::uint32_t>(std::max<std::uint64_t>(1, bytes / pieces_a_run / below.logical_page_bytes()))},
      keeps_data_{keeps_data} {
    ends_.fill(no_page);
}

FtlResult<SimTime> ReadAhead::read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) {
    const std::uint32_t end = first.value() + pages;
    Run* run = run_at(first.value());
    if (run == nullptr) {
        note_end(end);
        return below_.read(first, pages, to, io);
    }
    const auto done = take(*run, first.value(), pages, to, io);
    follow(*run, end, done && *done > io.when, io);
    return done;
}

FtlResult<SimTime> ReadAhead::read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) {
    const bool ends_page = offset + bytes == below_.logical_page_bytes();
    Run* run = run_at(lpn.value());
    if (run == nullptr) {
        if (ends_page) note_end(lpn.value() + 1);
        return below_.read_part(lpn, offset, bytes, to, io);
    }
    const Piece* piece = run->piece_with(lpn.value());
    const auto done = piece != nullptr ? hit({*piece, lpn.value(), offset, bytes}, to, io) : below_.read_part(lpn, offset, bytes, to, io);
    follow(*run, ends_page ? lpn.value() + 1 : lpn.value(), done && *done > io.when, io);
    return done;
}

ReadAhead::Run* ReadAhead::run_at(std::uint32_t lpn) {
    const auto known = std::ranges::find_if(runs_, [&](const Run& run) { return run.continues_at(lpn); });
    Run* run = known != runs_.end() ? &*known : begin_run(lpn);
    if (run != nullptr) run->used = ++clock_;
    return run;
}

ReadAhead::Run* ReadAhead::begin_run(std::uint32_t lpn) {
    const auto end_before = std::ranges::find(ends_, lpn);
    if (end_before == ends_.end()) return nullptr;
    *end_before = no_page;
    Run& run = *std::ranges::min_element(runs_, {}, &Run::used);
    stop(run);
    run.next = run.begin = run.end = lpn;
    return &run;
}

const ReadAhead::Piece* ReadAhead::Run::piece_with(std::uint32_t lpn) const {
    for (std::uint32_t i = 0; i < count; ++i)
        if (lpn >= piece(i).first && lpn < piece(i).end()) return &piece(i);
    return nullptr;
}

SimTime ReadAhead::hit(const Hit& what, std::span<std::byte> to, const Io& io) {
    const std::size_t page_bytes = below_.logical_page_bytes();
    if (!to.empty() && keeps_data_)
        std::memcpy(to.data(), what.piece.data.data() + (what.lpn - what.piece.first) * page_bytes + what.offset, what.bytes);
    counted_.hits += (what.bytes + page_bytes - 1) / page_bytes - (what.lpn == last_hit_ ? 1 : 0);
    last_hit_ = what.lpn + (what.bytes - 1) / page_bytes;
    const SimTime ready = std::max(io.when, what.piece.ready);
    if (io.transfer != nullptr) io.transfer->out.push_back({ready, what.bytes});
    return ready;
}

FtlResult<SimTime> ReadAhead::take(const Run& run, std::uint32_t first, std::uint32_t pages, std::span<std::byte> to, const Io& io) {
    const std::uint32_t page_bytes = below_.logical_page_bytes(), end = first + pages;
    SimTime done = io.when;
    for (std::uint32_t at = first; at < end;) {
        const Piece* piece = run.piece_with(at);
        const std::uint32_t stop = std::min(end, piece != nullptr ? piece->end() : at < run.begin ? run.begin : no_page);
        const std::uint32_t bytes = (stop - at) * page_bytes;
        const auto part = to.empty() ? to : to.subspan(std::size_t{at - first} * page_bytes, bytes);
        const auto got = piece != nullptr ? hit({*piece, at, 0, bytes}, part, io) : below_.read(Lpn{at}, stop - at, part, io);
        if (!got) return got;
        done = std::max(done, *got);
        at = stop;
    }
    return done;
}

void ReadAhead::follow(Run& run, std::uint32_t next, bool waited, const Io& io) {
    run.next = std::max(run.next, next);
    if (waited) run.reach = std::clamp(2 * run.reach, 1u, pieces_a_run);
    for (; run.count != 0 && run.piece(0).end() <= run.next; --run.count) run.oldest = (run.oldest + 1) % pieces_a_run;
    run.begin = run.count == 0 ? run.next : run.piece(0).first;
    if (run.count == 0) run.end = run.next;
    while (run.count < run.reach && run.end < below_.logical_pages())
        if (!read_piece(run, io)) return stop(run);
}

/// What cannot be read is for the request that asks for it.
bool ReadAhead::read_piece(Run& run, const Io& io) {
    Piece& piece = run.pieces[(run.oldest + run.count) % pieces_a_run];
    piece.first = run.end;
    piece.pages = std::min(piece_pages_ - run.end % piece_pages_, below_.logical_pages() - run.end); // ends where pages of the chip end
    if (keeps_data_) piece.data.resize(std::size_t{piece.pages} * below_.logical_page_bytes());
    const auto ready = below_.read(Lpn{piece.first}, piece.pages, piece.data, {io.when, io.origin});
    if (!ready) return false;
    piece.ready = *ready;
    run.end = piece.end();
    ++run.count;
    counted_.pages += piece.pages;
    return true;
}

void ReadAhead::stop(Run& run) {
    run.next = no_page;
    run.begin = run.end = 0;
    run.oldest = run.count = run.reach = 0;
    run.used = 0;
}

void ReadAhead::forget(Lpn first, std::uint32_t pages) {
    for (Run& run : runs_)
        if (run.begin < first.value() + pages && first.value() < run.end) stop(run);
}

void ReadAhead::check(std::vector<CheckProblem>& problems) const {
    for (const Run& run : runs_) {
        std::uint32_t at = run.begin;
        for (std::uint32_t i = 0; i < run.count; at = run.piece(i++).end())
            if (run.piece(i).first != at)
                report(problems, "A2", fmt::format("page {}", at), "a piece that was read ahead does not follow the one before");
        if (at != run.end) report(problems, "A2", fmt::format("page {}", at), "a run that is read ahead ends elsewhere");
    }
}

} // namespace flashlab

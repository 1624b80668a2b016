#include "tools/traces/trace_statistics.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "tools/traces/device_pages.h"

namespace flashlab {

namespace {
constexpr std::uint64_t page_bytes = 4096;
} // namespace

/// Looked up, never walked: the order of a hash table is in no result.
struct TraceStatistics::Pages {
    /// Number of the last touch; 0 = never.
    struct Touches {
        std::uint64_t read = 0, written = 0;
    };
    DevicePages numbers;
    std::unordered_map<std::uint64_t, Touches> seen;
    std::uint64_t distinct = 0, read = 0, written = 0, touches = 0;

    /// Touches since the last one that counts as reuse; none the first time.
    std::optional<std::uint64_t> touch(std::uint64_t key, TraceOp op) {
        Touches& last = seen[key];
        distinct += last.read == 0 && last.written == 0 ? 1 : 0;
        read += op == TraceOp::read && last.read == 0 ? 1 : 0;
        written += op == TraceOp::write && last.written == 0 ? 1 : 0;
        const std::uint64_t before = op == TraceOp::read ? std::max(last.read, last.written) : last.written;
        (op == TraceOp::read ? last.read : last.written) = ++touches;
        return before == 0 ? std::nullopt : std::optional{touches - before};
    }
};

TraceStatistics::TraceStatistics() : pages_{std::make_unique<Pages>()} {}
TraceStatistics::~TraceStatistics() = default;

void TraceStatistics::add(const TraceRequest& r) {
    OfOp& op = of_op_[static_cast<std::size_t>(r.op)];
    ++op.requests;
    op.bytes += r.bytes;
    last_time_ns_ = std::max(last_time_ns_, r.time_ns);
    if (r.op != TraceOp::read && r.op != TraceOp::write) return;
    const std::uint64_t end = r.offset + r.bytes;
    first_byte_ = std::min(first_byte_, r.offset);
    end_byte_ = std::max(end_byte_, end);
    aligned_ += r.offset % page_bytes == 0 && r.bytes % page_bytes == 0 ? 1 : 0;
    ++sizes_[std::bit_ceil(r.bytes)];

    Recent& recent = devices_[r.device];
    const std::uint32_t slots = static_cast<std::uint32_t>(recent.ends.size());
    if (recent.count != 0) {
        strict_ += recent.ends[(recent.next + slots - 1) % slots] == r.offset ? 1 : 0;
        near_ += std::ranges::find(recent.ends.begin(), recent.ends.begin() + recent.count, r.offset) != recent.ends.begin() + recent.count ? 1 : 0;
    }
    recent.ends[recent.next] = end;
    recent.next = (recent.next + 1) % slots;
    recent.count = std::min(recent.count + 1, slots);

    for (std::uint64_t page = r.offset / page_bytes; page < (end + page_bytes - 1) / page_bytes; ++page) {
        ++op.pages_touched;
        if (const auto gap = pages_->touch(pages_->numbers.number_of(r.device, page), r.op)) count_reuse(op, *gap);
    }
}

void TraceStatistics::count_reuse(OfOp& op, std::uint64_t gap) {
    for (std::size_t w = 0; w < reuse_windows.size(); ++w) op.reused[w] += gap <= reuse_windows[w] ? 1 : 0;
}

Json TraceStatistics::reuse_of(const OfOp& op) {
    Json reuse;
    for (std::size_t w = 0; w < reuse_windows.size(); ++w) {
        const std::string window = w + 1 == reuse_windows.size() ? "any" : fmt::format("{}", reuse_windows[w]);
        reuse.add(window, 100.0 * static_cast<double>(op.reused[w]) / static_cast<double>(std::max<std::uint64_t>(1, op.pages_touched)));
    }
    return reuse;
}

Json TraceStatistics::to_json() const {
    const OfOp& read = of_op_[0];
    const OfOp& write = of_op_[1];
    const double all = static_cast<double>(std::max<std::uint64_t>(1, requests()));
    const auto share = [](std::uint64_t part, double of) { return 100.0 * static_cast<double>(part) / of; };
    const auto mean = [](std::uint64_t sum, std::uint64_t n) { return n == 0 ? 0.0 : static_cast<double>(sum) / static_cast<double>(n); };
    Json sizes;
    for (const auto& [size, count] : sizes_) sizes.add(fmt::format("{}", size), count);
    std::uint64_t of_all = 0; // as replay counts them: trims and flushes are requests, too
    for (const OfOp& op : of_op_) of_all += op.requests;
    return Json::object({{"requests", of_all},
                         {"reads", read.requests},
                         {"writes", write.requests},
                         {"trims", of_op_[2].requests},
                         {"flushes", of_op_[3].requests},
                         {"read_percent", share(read.requests, all)},
                         {"read_bytes", read.bytes},
                         {"write_bytes", write.bytes},
                         {"trim_bytes", of_op_[2].bytes},
                         {"mean_bytes", mean(read.bytes + write.bytes, requests())},
                         {"mean_read_bytes", mean(read.bytes, read.requests)},
                         {"mean_write_bytes", mean(write.bytes, write.requests)},
                         {"first_byte", requests() == 0 ? 0 : first_byte_},
                         {"end_byte", end_byte_},
                         {"distinct_pages_4k", pages_->distinct},
                         {"read_pages_4k", pages_->read},
                         {"written_pages_4k", pages_->written},
                         {"page_writes_per_written_page", mean(write.pages_touched, pages_->written)},
                         {"read_reuse_percent", reuse_of(read)},
                         {"write_reuse_percent", reuse_of(write)},
                         {"sequential_percent", share(strict_, all)},
                         {"near_sequential_percent", share(near_, all)},
                         {"aligned_4k_percent", share(aligned_, all)},
                         {"devices", static_cast<std::uint64_t>(devices_.size())},
                         {"seconds", static_cast<double>(last_time_ns_) / 1e9},
                         {"requests_by_size", std::move(sizes)}});
}

} // namespace flashlab

#include "tools/traces/address_fit.h"

#include <algorithm>
#include <array>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

#include "tools/text/sizes.h"
#include "tools/traces/device_pages.h"

namespace flashlab {

namespace {
constexpr std::uint64_t page_bytes = 4096;
} // namespace

/// Pages that lie side by side are looked up together: most requests stay within a neighbourhood, and the next one often goes on in it.
class AddressFit::Pages {
public:
    /// The page's place among those touched so far; the next one for a page that is new.
    std::uint32_t place_of(std::uint32_t device, std::uint64_t page) {
        const std::uint64_t number = numbers_.number_of(device, page), which = number / size;
        if (which != last_) {
            const auto [found, is_new] = found_.try_emplace(which, static_cast<std::uint32_t>(neighbourhoods_.size()));
            if (is_new) neighbourhoods_.emplace_back().fill(none);
            last_ = which;
            at_ = found->second;
        }
        std::uint32_t& place = neighbourhoods_[at_][number % size];
        if (place == none) place = touched_++;
        return place;
    }
    [[nodiscard]] std::uint32_t touched() const { return touched_; }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    static constexpr std::uint64_t size = 8;
    DevicePages numbers_;
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> found_; ///< looked up, never walked
    std::vector<std::array<std::uint32_t, size>> neighbourhoods_;
    std::uint64_t last_ = ~std::uint64_t{0};
    std::uint32_t at_ = 0;
    std::uint32_t touched_ = 0;
};

AddressFit::AddressFit(FitPolicy policy, std::uint64_t device_bytes)
    : policy_{policy}, device_bytes_{policy == FitPolicy::as_is ? device_bytes : device_bytes / page_bytes * page_bytes},
      pages_{std::make_unique<Pages>()} {}
AddressFit::~AddressFit() = default;

void AddressFit::add(std::uint64_t offset, std::uint64_t bytes) {
    if (!pieces_.empty() && pieces_.back().offset + pieces_.back().bytes == offset)
        pieces_.back().bytes += bytes;
    else
        pieces_.push_back({offset, bytes});
}

std::expected<const std::vector<AddressPiece>*, std::string> AddressFit::place(const TraceRequest& request) {
    pieces_.clear();
    if (auto placed = place_pieces(request); !placed) return std::unexpected(placed.error());
    if (pieces_.size() > 1) {
        ++split_.requests;
        split_.pieces += pieces_.size();
    }
    return &pieces_;
}

std::expected<void, std::string> AddressFit::place_pieces(const TraceRequest& request) {
    if (request.op == TraceOp::flush) return {};
    if (policy_ == FitPolicy::compact) return compact(request);
    if (policy_ == FitPolicy::wrap) {
        wrap(request);
        return {};
    }
    if (!any_) only_device_ = request.device;
    any_ = true;
    if (request.device != only_device_)
        return std::unexpected(fmt::format("the trace has requests to several devices ({} and {}): --compact or --wrap gives each its own place",
                                           only_device_, request.device));
    if (request.offset > device_bytes_ || request.bytes > device_bytes_ - request.offset)
        return std::unexpected(fmt::format(
            "a request at {} of {} bytes lies beyond the device's {}: give --compact (its footprint alone must fit), --wrap, or a larger --size",
            request.offset, request.bytes, human_size(device_bytes_)));
    add(request.offset, request.bytes);
    return {};
}

/// Each device begins at a place of its own, so that their hot spots do not meet.
void AddressFit::wrap(const TraceRequest& request) {
    const std::uint64_t pages = device_bytes_ / page_bytes;
    const std::uint64_t base =
        static_cast<std::uint64_t>((static_cast<unsigned __int128>(request.device * 0x9e3779b97f4a7c15u) * pages) >> 64) * page_bytes;
    std::uint64_t at = (request.offset % device_bytes_ + base) % device_bytes_;
    for (std::uint64_t left = std::min(request.bytes, device_bytes_); left > 0;) {
        const std::uint64_t n = std::min(left, device_bytes_ - at);
        add(at, n);
        left -= n;
        at = 0;
    }
}

std::expected<void, std::string> AddressFit::compact(const TraceRequest& request) {
    const std::uint64_t end = request.offset + request.bytes;
    for (std::uint64_t at = request.offset; at < end;) {
        const std::uint64_t page = at / page_bytes, n = std::min(end, (page + 1) * page_bytes) - at;
        const std::uint64_t place = pages_->place_of(request.device, page);
        if (pages_->touched() * page_bytes > device_bytes_)
            return std::unexpected(
                fmt::format("the trace touches more than the device's {}: choose a larger --size, or --wrap", human_size(device_bytes_)));
        add(place * page_bytes + at % page_bytes, n);
        at += n;
    }
    return {};
}

} // namespace flashlab

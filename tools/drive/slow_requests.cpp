#include "tools/drive/slow_requests.h"

#include <algorithm>
#include <tuple>

namespace flashlab {

namespace {

bool is_slower(const SlowRequest& a, const SlowRequest& b) { return std::tuple{b.took, a.arrival, a.id} < std::tuple{a.took, b.arrival, b.id}; }

} // namespace

void SlowRequests::add(const SlowRequest& request) {
    if (heap_.size() == most) {
        if (!is_slower(request, heap_.front())) return;
        std::ranges::pop_heap(heap_, is_slower);
        heap_.pop_back();
    }
    heap_.push_back(request);
    std::ranges::push_heap(heap_, is_slower);
}

std::vector<SlowRequest> SlowRequests::slowest_first() const {
    std::vector<SlowRequest> out = heap_;
    std::ranges::sort(out, is_slower);
    return out;
}

} // namespace flashlab

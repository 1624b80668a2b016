/// Spare cores for experiments and their points.
///
/// Idea       Points are independent runs in virtual time, each on a device of its own. An experiment that has points left borrows a spare core, if
///            there is one. So a single experiment uses all cores on its points, and several experiments share them.
/// Invariant  Results are in the order of the points, whatever core measured them. So any number of cores gives the same bytes.
/// Cost       One thread for each borrowed core, for as long as points last.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <expected>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace flashlab {

class Workers {
public:
    /// `cores` counts the caller's core, too; at least 1.
    explicit Workers(unsigned cores) : cores_{cores < 1 ? 1 : cores}, spare_{static_cast<int>(cores_) - 1} {}
    [[nodiscard]] unsigned cores() const { return cores_; }

    /// Calls work(0) ... work(count - 1), each once, and returns when all are done. Then the first exception is thrown on.
    template <class Work>
    void for_each(std::size_t count, const Work& work) {
        std::atomic<std::size_t> next{0};
        std::exception_ptr failure;
        std::mutex failing;
        const auto take_one = [&] {
            const std::size_t i = next++;
            if (i >= count) return false;
            try {
                work(i);
            } catch (...) {
                const std::lock_guard lock{failing};
                failure = failure ? failure : std::current_exception();
                next = count;
            }
            return true;
        };
        {
            std::vector<std::jthread> helpers;
            do {
                while (next + 1 < count && borrow())
                    helpers.emplace_back([&] {
                        while (take_one()) {}
                        give_back();
                    });
            } while (take_one());
        }
        if (failure) std::rethrow_exception(failure);
    }

private:
    bool borrow() {
        int spare = spare_;
        while (spare > 0)
            if (spare_.compare_exchange_weak(spare, spare - 1)) return true;
        return false;
    }
    void give_back() { ++spare_; }

    unsigned cores_;
    std::atomic<int> spare_;
};

/// measure(i) gives an expected<T, std::string>. Returns all results in order, or the first error in order. Without workers all is done on the
/// caller's core.
template <class T, class Measure>
[[nodiscard]] std::expected<std::vector<T>, std::string> measure_points(Workers* workers, std::size_t count, const Measure& measure) {
    std::vector<std::optional<std::expected<T, std::string>>> results(count);
    const auto work = [&](std::size_t i) { results[i] = measure(i); };
    Workers alone{1};
    (workers == nullptr ? alone : *workers).for_each(count, work);
    std::vector<T> values;
    values.reserve(count);
    for (auto& result : results) {
        if (!result->has_value()) return std::unexpected(result->error());
        values.push_back(std::move(**result));
    }
    return values;
}

} // namespace flashlab

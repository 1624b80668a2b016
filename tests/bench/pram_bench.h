/// What the sums of lines in pram.img cost the host: commits on one image with them and without, in turn, and the look at all of an image.
///
/// Idea       The same mapping serves twice, once as it is and once behind a store that says it keeps no sums. What differs is the sums.
/// Invariant  Nothing is left behind in the folder for temporary files.
/// Cost       An image of 80 MiB, a second.
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "pram/image_pram_store.h"
#include "pram/redo_log.h"
#include "tests/bench/cpu_clock.h"

namespace flashlab::bench {

/// A commit of 40 words as a create makes them: a run of 20, and 20 in lines of their own; in 256 KiB, or all over the image.
inline double commit_ns(const PramConfig& config, PramStore& store, bool is_scattered, std::uint64_t rounds) {
    NullEventSink sink;
    Pram pram{config, store, sink, PramUndo::none};
    RedoLog log{pram, PramUser::ftl, {PramAddress{0}, 64u << 10}};
    SimTime time = log.recover(sim_start).done;
    PramTransaction transaction;
    std::uint64_t value = 1;
    const double at = cpu_ns();
    for (std::uint64_t round = 0; round < rounds; ++round) {
        transaction.clear();
        const std::uint64_t base = (128u << 10) + (is_scattered ? round * 7919 % 15'000 : round % 64) * 4096;
        for (std::uint64_t w = 0; w < 40; ++w) transaction.write_u64(PramAddress{base + (w < 20 ? w * 8 : 1024 + w * 64)}, ++value);
        time = log.commit(transaction, time).value();
        pram.settle(time);
    }
    return (cpu_ns() - at) / static_cast<double>(rounds);
}

class WithoutSums final : public PramStore {
public:
    explicit WithoutSums(PramStore& store) : store_{store} {}
    std::span<std::byte> cells() override { return store_.cells(); }
    std::span<std::uint64_t> wear() override { return store_.wear(); }

private:
    PramStore& store_;
};

class PramBench {
public:
    PramBench() { std::filesystem::remove(file_); }
    ~PramBench() { std::filesystem::remove(file_); }
    PramBench(const PramBench&) = delete;
    PramBench& operator=(const PramBench&) = delete;

    int run(std::uint64_t scale) {
        PramConfig config;
        config.bytes = 64u << 20;
        if (const auto made = ImagePramStore::create(file_, config, {}); !made) return failed(made.error());
        {
            const auto store = ImagePramStore::open(file_);
            if (!store) return failed(store.error());
            WithoutSums plain{**store};
            for (const bool is_scattered : {false, true}) print(config, **store, plain, is_scattered, 40'000 * scale);
            (*store)->checks()->begin(0, config.bytes);
            std::ranges::fill((*store)->cells(), std::byte{0x5a});
            (*store)->checks()->end(0, config.bytes);
        }
        const auto store = ImagePramStore::open(file_);
        if (!store) return failed(store.error());
        const double at = cpu_ns();
        const std::size_t damaged = (*store)->damaged_lines(1).size();
        fmt::print("an open of 64 MiB of full cells: {:.1f} ms of CPU ({} lines damaged)\n", (cpu_ns() - at) / 1e6, damaged);
        return 0;
    }

private:
    static int failed(const std::string& why) {
        fmt::print(stderr, "ftl_bench: {}\n", why);
        return 1;
    }

    static void print(const PramConfig& config, PramStore& with, PramStore& without, bool is_scattered, std::uint64_t rounds) {
        double plain = 1e18, summed = 1e18;
        for (int turn = 0; turn < 5; ++turn) {
            plain = std::min(plain, commit_ns(config, without, is_scattered, rounds));
            std::ranges::fill(with.cells().first(64u << 10), std::byte{0}); // a new ring
            summed = std::min(summed, commit_ns(config, with, is_scattered, rounds));
            std::ranges::fill(with.cells().first(64u << 10), std::byte{0});
        }
        fmt::print("a commit of 40 words, {}: {:.0f} ns without sums, {:.0f} with them ({:.2f} times; {:.1f} ns a word)\n",
                   is_scattered ? "all over 60 MiB" : "in 256 KiB", plain, summed, summed / plain, (summed - plain) / 40);
    }

    std::filesystem::path file_ = std::filesystem::temp_directory_path() / fmt::format("flashlab-pram-bench.{}", ::getpid());
};

} // namespace flashlab::bench

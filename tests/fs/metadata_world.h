/// A metadata store over PRAM in memory, and the map it has to agree with.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "fs/pram_metadata_store.h"
#include "pram/memory_pram_store.h"

namespace flashlab::test {

using Value = std::vector<std::byte>;

struct MetadataModel {
    std::map<RecordKey, Value> records;
    std::vector<bool> pages;
    friend bool operator==(const MetadataModel&, const MetadataModel&) = default;
};

/// Each word at the cut's edge by seed.
class SeededOutcomes final : public PramCutOutcomes {
public:
    explicit SeededOutcomes(std::uint64_t seed) : random_{seed} {}
    WordOutcome of_word(PramAddress) override { return static_cast<WordOutcome>(random_.next() % 3); }
    std::uint64_t random() override { return random_.next(); }

private:
    Random random_;
};

struct MetadataWorld {
    explicit MetadataWorld(std::uint64_t bytes, std::uint64_t data_pages, PramUndo undo = PramUndo::none) : cells{bytes}, undo_kept{undo} {
        config.bytes = bytes;
        power_on();
        const auto made = PramMetadataStore::format(*pram, whole(), {.data_pages = data_pages, .label = "test", .created = {}, .uuid_seed = 1});
        if (!made) throw std::runtime_error(made.error());
        pram->settle(pram->last_reserved_end());
        open();
    }
    [[nodiscard]] PramRange whole() const { return {PramAddress{0}, config.bytes}; }
    void power_on() {
        store.reset();
        pram.emplace(config, cells, sink, undo_kept);
    }
    void open(SimTime now = sim_start) {
        auto opened = PramMetadataStore::open(*pram, whole(), now);
        if (!opened) throw std::runtime_error(opened.error());
        store = std::move(*opened);
    }
    void reopen() {
        power_on();
        open();
    }
    [[nodiscard]] std::uint64_t words_written() const { return pram->counters().words_written[1]; }
    /// Everything that the store shows.
    [[nodiscard]] MetadataModel content() const {
        MetadataModel found;
        store->scan({Ino{0}, static_cast<RecordKind>(0), 0}, {Ino{~0ull}, static_cast<RecordKind>(255), ~0ull},
                    [&](const RecordKey& key, std::span<const std::byte> value) {
                        found.records.emplace(key, Value{value.begin(), value.end()});
                        return true;
                    });
        for (std::uint64_t page = 0; page < store->data_pages(); ++page) found.pages.push_back(store->data_page_in_use(LogicalPage{page}));
        return found;
    }
    [[nodiscard]] std::string problems() const {
        std::string text;
        for (const CheckProblem& p : store->check()) text += p.invariant + " " + p.where + ": " + p.detail + "\n";
        return text;
    }

    PramConfig config;
    MemoryPramStore cells;
    NullEventSink sink;
    PramUndo undo_kept;
    std::optional<Pram> pram;
    std::unique_ptr<PramMetadataStore> store;
};

[[nodiscard]] inline Value random_value(Random& random, std::size_t bytes) {
    Value value(bytes);
    for (std::size_t at = 0; at < bytes; at += 8) {
        const std::uint64_t word = random.next();
        std::memcpy(value.data() + at, &word, std::min<std::size_t>(8, bytes - at));
    }
    return value;
}

/// memcmp: what the tests compare most, also without optimisation.
[[nodiscard]] inline bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

[[nodiscard]] inline std::vector<std::uint64_t> metadata_seeds(std::uint64_t count) {
    std::vector<std::uint64_t> seeds;
    for (std::uint64_t i = 0; i < count; ++i) seeds.push_back(20261121 + i);
    return seeds;
}

} // namespace flashlab::test

/// A small PRAM with its store, and outcomes of a cut that a test chooses.
#pragma once

#include <filesystem>
#include <fstream>
#include <vector>

#include "base/random.h"
#include "pram/memory_pram_store.h"
#include "pram/pram.h"

namespace flashlab::test {

inline SimTime at_ns(std::int64_t ns) { return sim_time_from_ns(ns); }

/// Damages the image's byte there: these bits of it.
inline void flip(const std::filesystem::path& path, std::uint64_t at, unsigned bits) {
    std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
    file.seekg(static_cast<std::streamoff>(at));
    const int old = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(static_cast<unsigned>(old) ^ bits));
}

class RecordingSink final : public EventSink {
public:
    explicit RecordingSink(EventLevel level = EventLevel::all) : EventSink{level} {}
    using EventSink::on;
    void on(const PramWriteEvent& event) override { writes.push_back(event); }
    std::vector<PramWriteEvent> writes;
};

inline PramConfig small_config(std::uint32_t word_bytes = 8) { return {.bytes = 128u << 10, .word_bytes = word_bytes}; }

/// A PRAM on a store of its own, or on one that has seen a cut.
struct TestPram {
    explicit TestPram(const PramConfig& config, PramUndo undo = PramUndo::keep) : own{config.bytes}, pram{config, own, sink, undo} {}
    TestPram(const PramConfig& config, const MemoryPramStore& from) : own{config.bytes}, pram{config, copied(from), sink, PramUndo::keep} {}

    RecordingSink sink;
    MemoryPramStore own;
    Pram pram;

private:
    MemoryPramStore& copied(const MemoryPramStore& from) {
        own.copy_from(from);
        return own;
    }
};

class FixedOutcome final : public PramCutOutcomes {
public:
    explicit FixedOutcome(WordOutcome outcome, std::uint64_t bits = 0) : outcome_{outcome}, random_{bits} {}
    WordOutcome of_word(PramAddress at) override {
        asked.push_back(at);
        return outcome_;
    }
    std::uint64_t random() override { return random_.next(); }
    std::vector<PramAddress> asked;

private:
    WordOutcome outcome_;
    Random random_;
};

inline std::vector<std::byte> bytes_of(std::initializer_list<unsigned> values) {
    std::vector<std::byte> bytes;
    for (const unsigned v : values) bytes.push_back(static_cast<std::byte>(v));
    return bytes;
}

inline std::vector<std::byte> random_bytes(Random& random, std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random.next());
    return bytes;
}

} // namespace flashlab::test

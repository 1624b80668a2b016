/// The memory of a metadata store in a journal, lent to one store after the other.
///
/// Idea       The mirror is memory of the kernel, and the kernel takes longer to give and take back its pages than a tiny file system needs to
///            open. Who opens thousands of them keeps the memory.
/// Invariant  Whoever takes it gets cells that are all zero, as new ones are. One store at a time.
/// Cost       take() clears the regions that the last store changed. Memory: the largest mirror and ring so far, in so far as they were used.
/// Power cut  Keeps nothing: all that a store knows it reads from the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/sim_time.h"
#include "pram/memory_pram_store.h"

namespace flashlab {

class BlockDevice;
class EventSink;
class FileSystem;
struct FsOptions;

class JournalMemory {
public:
    /// All-zero cells, until give_back().
    [[nodiscard]] MemoryPramStore& take(std::uint64_t bytes);
    void give_back() { is_taken_ = false; }
    /// These bytes of the cells were written past a Pram, which would have counted them.
    void note_written(std::uint64_t at, std::uint64_t bytes);
    /// Memory to read the ring into, with anything in it.
    [[nodiscard]] std::span<std::byte> ring(std::size_t bytes);
    void drop_ring();

private:
    std::unique_ptr<MemoryPramStore> cells_;
    std::vector<bool> written_; ///< by region of the wear
    std::unique_ptr<std::byte[]> ring_;
    std::size_t ring_bytes_ = 0;
    bool is_taken_ = false;
};

/// FileSystem::open_journal in this memory, which outlives the file system.
[[nodiscard]] std::expected<std::unique_ptr<FileSystem>, std::string> open_journal_in(JournalMemory& memory, BlockDevice& device, EventSink& events,
                                                                                      const FsOptions& options, SimTime now);

} // namespace flashlab

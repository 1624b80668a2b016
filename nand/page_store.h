/// Where the cells' contents are kept: in memory, in an image file, or nowhere (metadata only).
///
/// Idea       The array decides what a program or an erase means; a store only keeps bytes.
/// Invariant  Everything reads as zero until written; an all-zero page record means "erased".
/// Cost       One virtual call a page; stores keep no time and no rules.
/// Power cut  What write_* and erase returned from survives kill -9 of the process (the image lies in the host's page cache).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>

#include "base/host_io_error.h"
#include "base/id.h"
#include "base/sim_time.h"
#include "nand/geometry.h"
#include "nand/page_oob.h"

namespace flashlab {

enum class CellState : std::uint8_t {
    erased = 0,
    programmed = 1,
    torn = 2,     ///< T2: ECC fails; the OOB may still parse
    garbage = 3,  ///< T3, E2: neither data nor OOB are readable
    unstable = 4, ///< T4: can be read once more; an OOB read shows this by the number of bits that the ECC corrected
    weak = 5,     ///< T5, E3: reads erased, but what is programmed over it is garbage
};

/// The state that the chip reports: weak cells cannot be told from erased ones.
[[nodiscard]] constexpr CellState as_read(CellState state) { return state == CellState::weak ? CellState::erased : state; }

/// State, OOB and data checksum (the stand-in for ECC parity) of one page: 32 bytes in the dense area, FORMAT.md.
struct PageRecord {
    CellState state = CellState::erased;
    std::array<std::byte, PageOob::encoded_size> oob{};
    std::uint32_t data_crc = 0; ///< of the whole page; 0 where no payload is kept
    friend bool operator==(const PageRecord&, const PageRecord&) = default;
};

/// How long a block has held its data, and how often it was read since its erase. Kept where the cells have bit errors (nand/bit_errors.h).
struct BlockAge {
    static constexpr std::uint32_t most = (1u << 24) - 1; ///< of either field
    static constexpr std::uint32_t first_minute = 1u
                                                  << 23; ///< the drive's clock at its start: there may be earlier ones, of drives that lay on a shelf
    std::uint32_t programmed = 0;                        ///< minute of the last program, to an hour; 0: unknown, which counts as first_minute
    std::uint32_t reads = 0;
    [[nodiscard]] std::uint32_t programmed_minute() const { return programmed == 0 ? first_minute : programmed; }
    [[nodiscard]] static std::uint32_t minute_of(SimTime at) {
        return first_minute + static_cast<std::uint32_t>(std::min<std::int64_t>(most - first_minute, minutes_in(at - sim_start)));
    }
    [[nodiscard]] static std::int64_t minutes_in(Duration time) { return time.count() / 60'000'000'000; }
    friend bool operator==(const BlockAge&, const BlockAge&) = default;
};

/// One block's own record: 16 bytes in the dense area.
struct BlockRecord {
    std::uint32_t erase_count = 0;
    bool grown_bad = false;
    std::optional<CellType> mode{}; ///< none: the cells' own
    BlockAge age{};
    friend bool operator==(const BlockRecord&, const BlockRecord&) = default;
};

/// A page record with its OOB parsed.
struct StoredOob {
    CellState state = CellState::erased;
    std::expected<PageOob, OobError> oob = std::unexpected(OobError::bad_checksum);
};

/// One of several whole pages that are read together.
struct PageFetch {
    Ppn page;
    std::span<std::byte> to;
    std::uint32_t data_crc = 0; ///< out: as the page's record has it
    bool is_damaged = false;    ///< out: the record is not what was written
};

/// A record or header with a wrong checksum is a host error with errno EBADMSG: the image was changed from outside.
class PageStore {
public:
    virtual ~PageStore() = default;
    /// False: payload is not kept; read_data leaves the target untouched.
    [[nodiscard]] virtual bool keeps_payload() const = 0;
    /// `offset` and the size of the span stay within the page.
    [[nodiscard]] virtual std::expected<void, HostIoError> read_data(Ppn page, std::uint32_t offset, std::span<std::byte> to) = 0;
    /// Reads data and checksums of whole pages, each page once. Afterwards `pages` may be in another order.
    [[nodiscard]] virtual std::expected<void, HostIoError> read_pages(std::span<PageFetch> pages) {
        for (PageFetch& page : pages) {
            const auto record = read_record(page.page);
            if (!record) return std::unexpected(record.error());
            page.data_crc = record->data_crc;
            if (auto read = read_data(page.page, 0, page.to); !read) return read;
        }
        return {};
    }
    [[nodiscard]] virtual std::expected<void, HostIoError> write_data(Ppn page, std::span<const std::byte> data) = 0;
    /// write_data() of consecutive pages of a block, one after the other.
    [[nodiscard]] virtual std::expected<void, HostIoError> write_run(Ppn first, std::span<const std::span<const std::byte>> pages) {
        for (std::uint32_t i = 0; i < pages.size(); ++i)
            if (auto wrote = write_data(Ppn{first.value() + i}, pages[i]); !wrote) return wrote;
        return {};
    }
    /// The payload of these pages will not be read again before it is rewritten; the store may punch a hole when it likes.
    virtual void discard_data(Ppn first, std::uint32_t pages) = 0;
    [[nodiscard]] virtual std::expected<PageRecord, HostIoError> read_record(Ppn page) = 0;
    [[nodiscard]] virtual std::expected<void, HostIoError> write_record(Ppn page, const PageRecord& record) = 0;
    /// read_record() with the OOB parsed. A store that keeps records unpacked answers without encoding and decoding.
    [[nodiscard]] virtual std::expected<StoredOob, HostIoError> read_oob(Ppn page);
    /// Writes the record of a page that was programmed without failure.
    [[nodiscard]] virtual std::expected<void, HostIoError> write_programmed(Ppn page, const PageOob& oob, std::uint32_t data_crc);
    /// How many consecutive pages from `from` on are programmed with an OOB that parses; `pages` at most. All of them lie in one block.
    [[nodiscard]] virtual std::uint32_t programmed_run(Ppn from, std::uint32_t pages);
    /// Copies the records of consecutive programmed pages to consecutive pages of another block. Only for stores without payload.
    [[nodiscard]] virtual std::expected<void, HostIoError> copy_programmed(Ppn from, Ppn to, std::uint32_t pages);
    /// Reads the records of a whole block, for write pointers and undo records. `to` has pages_per_block elements.
    [[nodiscard]] virtual std::expected<void, HostIoError> read_block_records(BlockId block, std::span<PageRecord> to) = 0;
    /// True: none of its pages was written since its erase, known without a look at its records. False: read them.
    [[nodiscard]] virtual bool is_blank(BlockId) const { return false; }
    /// read_block_records() for a block with damaged records: each of these counts as garbage.
    /// Reading such a page by itself still reports the damage.
    [[nodiscard]] std::expected<void, HostIoError> read_block_records_leniently(Ppn first, BlockId block, std::span<PageRecord> to);
    /// All page records of the block become zero, in one go.
    [[nodiscard]] virtual std::expected<void, HostIoError> erase_records(BlockId block) = 0;
    /// Reads the block records from `first` on, in one sequential pass.
    [[nodiscard]] virtual std::expected<void, HostIoError> read_blocks(BlockId first, std::span<BlockRecord> to) = 0;
    [[nodiscard]] virtual std::expected<void, HostIoError> write_block(BlockId block, const BlockRecord& record) = 0;
    /// write_programmed() for consecutive pages of a block, whose LPNs go up one by one. Only for stores without payload.
    [[nodiscard]] virtual std::expected<void, HostIoError> write_programmed_run(Ppn first, const PageOob& oob, std::uint32_t pages);
};

} // namespace flashlab

#include "nand/block_table.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/contract.h"
#include "nand/factory_bad_blocks.h"

namespace flashlab {

BlockTable::BlockTable(const Geometry& geometry, const NandConfig& config, const Media& media, PageStore& store)
    : geometry_{geometry}, media_{media}, store_{store}, seed_{config.seed}, bad_per_million_{config.factory_bad_per_million},
      blocks_(geometry.blocks()), ages_(config.errors.are_on() ? geometry.blocks() : 0), recent_(geometry.planes()),
      scratch_(geometry.pages_per_block()) {}

std::expected<void, HostIoError> BlockTable::open() {
    constexpr std::uint32_t at_once = 1u << 16;
    std::vector<BlockRecord> records(std::min(at_once, geometry_.blocks()));
    for (std::uint32_t first = 0; first < geometry_.blocks(); first += at_once) {
        const auto part = std::span{records}.first(std::min(at_once, geometry_.blocks() - first));
        if (auto read = store_.read_blocks(BlockId{first}, part); !read) return read;
        for (std::uint32_t i = 0; i < part.size(); ++i) {
            Block& block = blocks_[first + i];
            block.erase_count = part[i].erase_count;
            block.grown_bad = part[i].grown_bad;
            block.mode = part[i].mode.value_or(media_.own());
            if (!ages_.empty()) ages_[first + i] = part[i].age;
            block.limit = part[i].grown_bad || is_factory_bad(BlockId{first + i}) ? 0 : media_.of(block.mode).pages;
        }
    }
    return {};
}

bool BlockTable::is_factory_bad(BlockId block) const { return is_bad_from_factory(block, seed_, bad_per_million_); }

BlockRecord BlockTable::record_of(BlockId block) const {
    const Block& known = blocks_[block.value()];
    return {known.erase_count, known.grown_bad, known.mode == media_.own() ? std::nullopt : std::optional{known.mode}, age(block)};
}

std::expected<std::uint32_t, HostIoError> BlockTable::find_write_pointer(BlockId block) {
    Block& known = blocks_[block.value()];
    if (store_.is_blank(block)) {
        known.all_programmed = true;
        known.has_weak = false;
        return known.write_pointer = 0;
    }
    if (auto read = store_.read_block_records_leniently(geometry_.page_of(block, 0), block, scratch_); !read) return std::unexpected(read.error());
    const auto is_erased = [](const PageRecord& record) { return as_read(record.state) == CellState::erased; };
    const auto last = std::find_if_not(scratch_.rbegin(), scratch_.rend(), is_erased);
    known.write_pointer = static_cast<std::uint32_t>(scratch_.rend() - last);
    known.all_programmed = std::all_of(scratch_.begin(), last.base(), [](const PageRecord& record) { return record.state == CellState::programmed; });
    known.has_weak = std::ranges::any_of(scratch_, [](const PageRecord& record) { return record.state == CellState::weak; });
    return known.write_pointer;
}

void BlockTable::refuse_program(BlockId block, std::uint32_t page) const {
    const Block& known = blocks_[block.value()];
    if (known.limit == 0) violated(fmt::format("N1: block {} is bad, page {} cannot be programmed", block.value(), page));
    if (page >= known.limit) violated(fmt::format("N1: block {} has {} pages in its mode, there is no page {}", block.value(), known.limit, page));
    violated(fmt::format("N1: page {} of block {} lies before its write pointer {}", page, block.value(), known.write_pointer));
}

void BlockTable::check_erase(BlockId block) const {
    if (is_bad(block)) [[unlikely]]
        violated(fmt::format("N1: block {} is bad and cannot be erased", block.value()));
}

SimTime BlockTable::end_of_program(BlockId block, std::uint32_t page, SimTime from) const {
    const Recent& recent = recent_[geometry_.plane_of(block).value()];
    for (std::uint32_t back = 1; back <= Recent::size; ++back) {
        const std::uint32_t at = (recent.next - back) % Recent::size;
        if (recent.end[at] != sim_start && recent.block[at] == block.value() && recent.page[at] == page) return std::max(from, recent.end[at]);
    }
    // The program is longer ago, or the page was not programmed since the erase. Waiting for the block's last program is right and rarely too long.
    return blocks_[block.value()].programmed_at;
}

std::uint32_t BlockTable::pages_ready_alike(BlockId block, std::uint32_t page, SimTime from, std::uint32_t most) const {
    if (blocks_[block.value()].programmed_at <= from) return most;
    const Recent& recent = recent_[geometry_.plane_of(block).value()];
    for (std::size_t i = 0; i < Recent::size; ++i)
        if (recent.end[i] != sim_start && recent.block[i] == block.value() && recent.page[i] >= page) most = std::min(most, recent.page[i] - page);
    return std::max(1u, most);
}

void BlockTable::note_program(BlockId block, std::uint32_t page, SimTime end, bool failed) {
    Block& known = blocks_[block.value()];
    if (page != known.write_pointer || failed) known.all_programmed = false;
    known.write_pointer = page + 1;
    known.programmed_at = end;
    known.idle_at = std::max(known.idle_at, end);
    Recent& recent = recent_[geometry_.plane_of(block).value()];
    const std::uint32_t slot = recent.next++ % Recent::size;
    recent.block[slot] = block.value();
    recent.page[slot] = page;
    recent.end[slot] = end;
}

void BlockTable::note_programs(BlockId block, std::uint32_t page, std::uint32_t count, std::span<const SimTime, recent_programs> ends) {
    Block& known = blocks_[block.value()];
    if (page != known.write_pointer) known.all_programmed = false;
    // The ends of the earlier programs would be forgotten at once.
    const std::uint32_t skipped = count - std::min(count, recent_programs);
    known.write_pointer = page + skipped;
    for (std::uint32_t i = skipped; i < count; ++i) note_program(block, page + i, ends[i % recent_programs], false);
}

void BlockTable::note_erase(BlockId block, CellType mode, SimTime end, bool failed) {
    Block& known = blocks_[block.value()];
    ++known.erase_count;
    known.mode = mode;
    if (!ages_.empty()) ages_[block.value()] = {};
    known.limit = media_.of(mode).pages;
    known.write_pointer = failed ? geometry_.pages_per_block() : 0;
    known.all_programmed = !failed;
    known.has_weak = false;
    known.programmed_at = end;
    known.idle_at = std::max(known.idle_at, end);
    // The pages read as erased only after this erase: an older program's end says nothing of them any more.
    Recent& recent = recent_[geometry_.plane_of(block).value()];
    for (std::size_t i = 0; i < Recent::size; ++i) {
        if (recent.block[i] == block.value()) recent.end[i] = sim_start;
    }
}

bool BlockTable::note_sensed(BlockId block) {
    std::uint32_t& reads = ages_[block.value()].reads;
    reads = std::min(reads + 1, BlockAge::most);
    return reads % reads_stored_at_once == 0;
}

/// To the hour: a block that is being filled has its record written once.
bool BlockTable::note_programmed(BlockId block, SimTime end) {
    constexpr std::uint32_t an_hour = 60;
    BlockAge& age = ages_[block.value()];
    const std::uint32_t minute = BlockAge::minute_of(end);
    if (age.programmed != 0 && minute < age.programmed + an_hour) return false;
    age.programmed = minute;
    return true;
}

void BlockTable::grow_older(BlockId block, std::int64_t minutes) {
    BlockAge& age = ages_[block.value()];
    age.programmed = static_cast<std::uint32_t>(std::max<std::int64_t>(1, std::int64_t{age.programmed_minute()} - minutes));
}

void BlockTable::mark_grown_bad(BlockId block, SimTime at) {
    Block& known = blocks_[block.value()];
    known.grown_bad = true;
    known.limit = 0;
    known.idle_at = std::max(known.idle_at, at);
}

void BlockTable::take_back_mark(BlockId block) {
    Block& known = blocks_[block.value()];
    known.grown_bad = false;
    known.limit = is_factory_bad(block) ? 0 : media_.of(known.mode).pages;
}

} // namespace flashlab

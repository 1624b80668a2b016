/// Devices so small that collections and full tables come after a few writes. They have names, which replay ids contain.
///
/// Idea       A name is a shape (how many channels, dies, planes) and a cell type: "chip-slc", "wide-mlc", … Every scheme gets at least the blocks
///            that it needs.
/// Invariant  A name means the same device for ever: replay ids depend on it.
/// Cost       10 to 100 blocks of 4 to 12 pages of 512 or 1024 bytes.
/// Power cut  See explorer.h.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "ftl/ssd_config.h"

namespace flashlab {

/// "chip": one chip of two planes; "plane": a single plane; "wide": two channels of two dies of two planes;
/// "uneven": bad blocks from the factory and pages of two sectors; "unit2", "unit4": mapping units of several pages;
/// "buffer": a volatile write buffer of three pages; "kept": the same in PRAM, where pairs of pages are left undamaged;
/// "level": wear levelling with a moving ring; "hot", "cause": data in streams by frequency or by cause;
/// "pairs": two-plane commands (coftl); "mirror": a log written twice (coftl); "turns": neighbouring pages on two channels (log_block, block_map);
/// "lines": word lines that are programmed at once (page_map, dftl, hftl); "cached": an SLC cache, "dynamic": one of borrowed
/// blocks (page_map); "tired": bit errors; its data grow a month older with each power-on, and are scrubbed;
/// "near": approximate segments (leaftl); "trained": models of two pages, "grouped": pages put in order by group (learnedftl);
/// "whole": translation pages fit into the cache as a whole (sftl);
/// "rain", "rainlines": parity over dies, and of whole word lines (schemes that map pages); with the first cut one of the dies is dead.
[[nodiscard]] std::vector<std::string> tiny_shapes();
/// Every shape with every cell type: "chip-slc".
[[nodiscard]] std::vector<std::string> tiny_devices();

/// "slc", "mlc", "tlc".
[[nodiscard]] std::expected<CellType, std::string> cell_of(std::string_view name);

/// The configuration of a tiny device for a scheme. The error is the reason: there is no such device, or the scheme refuses it.
[[nodiscard]] std::expected<SsdConfig, std::string> tiny_device(const std::string& name, const std::string& scheme);
/// `config` with as many more blocks as its scheme needs. The error is the scheme's reason when it refuses for another cause.
[[nodiscard]] std::expected<SsdConfig, std::string> with_enough_blocks(SsdConfig config);

} // namespace flashlab

/// DUMBO without a translation layer: its low-level driver and four channel managers, for the raw level of the paper's figures.
///
/// Idea       The layout is keys of the device: nand.striping, nand.stripe_bytes, nand.page_buffers_per_channel. The array splits a piece, of at most
///            one striped page, evenly over the S channels of a group. What is left is the host's side: a request is cut into pieces, and groups take
///            turns. One piece is in flight in each group, with pipelining two are, because both page buffers of the channel managers are then in
///            use. There is one chip a channel: a write waits for the program before it.
/// Free       The paper gives no control overheads. The overheads of the host interface are in the preset. Those of the driver are DriverOverheads:
///            one set for all figures. README.md says how they were found.
/// Cost       Two NAND operations of CPU a sub-request.
/// Source     Kang et al. 2007, sections 3.3, 3.4, 4.2 and Table 2; MC2 to MC6.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "base/sim_time.h"
#include "nand/nand_config.h"

namespace flashlab {

/// The costs of the driver. The paper's bars contain them, besides the times of the device.
struct DriverOverheads {
    Duration read_software{26'000};   ///< driver and interrupt, for each piece; occupies no resource
    Duration read_sub_request{9'000}; ///< added for each sub-request: "the control overhead grows commensurate to the striping level" (5.1.1)
    Duration write_software{15'000};  ///< for each piece; occupies the host interface, because the CPU moves the data (programmed I/O)
    Duration program_status{71'000};  ///< added to NP: the driver notices the end of the program late
    [[nodiscard]] Duration of_read(std::uint32_t striping) const { return read_software + read_sub_request * striping; }
};

struct DumboLayout {
    std::uint32_t striping = 1;     ///< S: channels of a group
    std::uint32_t interleaving = 1; ///< I: groups
    bool is_pipelined = false;
};

enum class DumboOp : std::uint8_t { read, write };

struct DumboRun {
    DumboOp op = DumboOp::read;
    std::uint32_t request_bytes = 0;
    std::uint32_t requests = 0;
    DumboLayout layout;
    DriverOverheads overheads;
    std::optional<NandConfig> device{}; ///< none: the preset dumbo
};

struct DumboResult {
    double megabytes_per_second = 0; ///< 10^6 bytes
    double mean_service_us = 0;      ///< from the issue of a request's first piece to the end of its last
};

[[nodiscard]] std::expected<DumboResult, std::string> run_dumbo(const DumboRun& run);

} // namespace flashlab

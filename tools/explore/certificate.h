/// The report of an exploration: what was tried, what was found, and what was not tried.
///
/// Idea       One JSON object (the keys are those of `crash torture --explore`); the other forms are made of it.
/// Invariant  No date and no path but those of the findings: the same run gives the same text, apart from what is measured in seconds.
/// Cost       Some kilobytes.
#pragma once

#include <string>

#include "crash/apps/past.h"
#include "crash/apps/persistence.h"
#include "tools/explore/state_explorer.h"
#include "tools/text/json.h"

namespace flashlab {

struct CertificateFacts {
    std::vector<std::string> command;
    std::string command_hash, check, device;
    double states_possible = 0;
    std::uint64_t seed = 1;
    unsigned workers = 1;
    std::uint64_t after_flush = 0; ///< no cut before this sync
    bool partial = false;
};

/// FNV-1a of the command's words and of the bytes of its program, 16 hex digits.
[[nodiscard]] std::string hash_of_command(const std::vector<std::string>& command);
[[nodiscard]] Json certificate(const CertificateFacts& facts, const Past& past, const Persistence& model, StateOrder& order,
                               const ExploreResult& result);
/// The line that checks the kept state of this finding again.
[[nodiscard]] std::string replay_line(const LossFinding& finding);

enum class ReportForm : std::uint8_t { json, html, junit, sarif };
/// By the end of the name: .json, .html, .junit.xml, .sarif; nothing: another one.
[[nodiscard]] std::optional<ReportForm> report_form(const std::string& file);
[[nodiscard]] std::string certificate_as(ReportForm form, const Json& certificate);

} // namespace flashlab

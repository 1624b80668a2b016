/// The report of an exploration: what was tried, what was found, and what was not tried.
///
/// Idea       One JSON object (the keys are those of `crash torture --explore`); the other forms are made of it.
/// Invariant  No date, and no path but those of the findings and of the application: the same run gives the same text, apart from what is measured in
///            seconds.
/// Cost       Some kilobytes.
#pragma once

#include <string>

#include "crash/apps/past.h"
#include "crash/apps/persistence.h"
#include "tools/explore/application.h"
#include "tools/explore/state_explorer.h"
#include "tools/text/json.h"

namespace flashlab {

struct CertificateFacts {
    std::vector<std::string> command;
    std::vector<ApplicationFile> application;
    std::string application_version; ///< as the user says; empty: he does not
    std::string check;
    bool check_serves = false;
    std::string device;
    Json budget{};      ///< `[{option, allowed, came_to, held, said}]` of the recorded run
    Json own_history{}; ///< of --check auto; null: a check judges
    PossibleStates possible;
    std::uint64_t seed = 1;
    unsigned workers = 1;
    std::uint64_t after_flush = 0; ///< no cut before this sync
    bool partial = false;
};

[[nodiscard]] Json certificate(const CertificateFacts& facts, const Past& past, const Persistence& model, StateOrder& order,
                               const ExploreResult& result);
/// The line that checks the kept state of this finding again.
[[nodiscard]] std::string replay_line(const LossFinding& finding);

enum class ReportForm : std::uint8_t { json, html, junit, sarif };
/// By the end of the name: .json, .html, .junit.xml, .sarif; nothing: another one.
[[nodiscard]] std::optional<ReportForm> report_form(const std::string& file);
/// `uri`: where a reader of SARIF should look; empty: nowhere.
[[nodiscard]] std::string certificate_as(ReportForm form, const Json& certificate, const std::string& uri);

} // namespace flashlab

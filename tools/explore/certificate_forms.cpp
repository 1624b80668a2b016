// The certificate as a page, as JUnit's XML and as SARIF 2.1.0.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tools/explore/certificate.h"
#include "tools/text/markup.h"

namespace flashlab {

namespace {

std::string escaped(std::string_view text) { return markup_escaped(text); }

std::string scope_of(const Json& c) {
    const std::uint64_t lines = c["lines"].number(), before = c["setup_lines"].number();
    return fmt::format("{} states of one run of {} lines{} and {} flush points, model {}, seed {}", c["states_tried"].number(), lines,
                       before == 0 ? "" : fmt::format(", {} to {} (before them is the set-up)", before + 1, before + lines),
                       c["flush_points"].number(), c["model"].text(), c["seed"].number());
}

/// Why "nothing was found" would say more than is known; empty: it would not.
std::vector<std::string> doubts_of(const Json& c) {
    std::vector<std::string> doubts;
    if (c["partial"].truth()) doubts.push_back(fmt::format("The exploration was interrupted after {} states.", c["states_tried"].number()));
    if (const std::uint64_t states = c["states_unsteady"].number(); states != 0)
        doubts.push_back(fmt::format("{} state{} failed once and passed when tried again: the check, or the program, does not do the same each time.",
                                     states, states == 1 ? "" : "s"));
    return doubts;
}

/// Limits of --max-* that the recorded run did not keep.
std::vector<std::string> excesses_of(const Json& c) {
    std::vector<std::string> excesses;
    for (const Json& limit : c["budget"].items())
        if (!limit["held"].truth()) excesses.push_back(limit["said"].text());
    return excesses;
}

std::string as_junit(const Json& c) {
    const auto& findings = c["findings"].items();
    const std::vector<std::string> doubts = doubts_of(c);
    const std::string command = escaped(c["command"].text());
    std::string out =
        fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"flashlab crash torture\" tests=\"{}\" failures=\"{}\" "
                    "errors=\"{}\" time=\"{:.3f}\">\n",
                    findings.size() + doubts.size() + c["budget"].items().size() + 1, findings.size() + excesses_of(c).size(), doubts.size(),
                    c["wall_seconds"].real());
    // Its name stays the same from run to run, so that a CI knows the test again.
    out += fmt::format("  <testcase classname=\"{}\" name=\"states were explored\"/>\n", command);
    for (const std::string& doubt : doubts)
        out += fmt::format("  <testcase classname=\"{}\" name=\"explored to the end\">\n    <error message=\"{}\"/>\n  </testcase>\n", command,
                           escaped(doubt));
    for (const Json& limit : c["budget"].items())
        out += fmt::format("  <testcase classname=\"{}\" name=\"{}\">{}</testcase>\n", command, limit["option"].text(),
                           limit["held"].truth() ? ""
                                                 : fmt::format("<failure message=\"beyond the budget\">{}</failure>", escaped(limit["said"].text())));
    for (const Json& f : findings)
        out += fmt::format("  <testcase classname=\"{}\" name=\"{}\">\n    <failure message=\"{}\">{}\n{}\n{}</failure>\n  </testcase>\n", command,
                           escaped(f["missing_call"].text()), escaped(f["what"].text()), escaped(f["what"].text()), escaped(f["said"].text()),
                           escaped(f["replay"].text()));
    out += fmt::format("  <system-out>{}\nNot tried:\n", escaped(scope_of(c)));
    for (const Json& item : c["not_tried"].items()) out += escaped(item.text()) + "\n";
    return out + "  </system-out>\n</testsuite>\n";
}

Json text_message(std::string text) { return Json::object({{"text", std::move(text)}}); }

Json sarif_result(const char* rule, const char* level, std::string text, const std::string& uri) {
    Json location = Json::object({{"physicalLocation", Json::object({{"artifactLocation", Json::object({{"uri", uri}})}})}});
    return Json::object({{"ruleId", rule},
                         {"level", level},
                         {"message", text_message(std::move(text))},
                         {"locations", uri.empty() ? Json{Json::Array{}} : Json{Json::Array{std::move(location)}}}});
}

std::string as_sarif(const Json& c, const std::string& uri) {
    Json results{Json::Array{}};
    for (const Json& f : c["findings"].items())
        results.push(sarif_result("lost-after-power-cut", "error",
                                  f["what"].text() + ". Missing: " + f["missing_call"].text() + ". Again: " + f["replay"].text(), uri));
    for (const std::string& excess : excesses_of(c)) results.push(sarif_result("beyond-its-write-budget", "error", excess, uri));
    for (const std::string& doubt : doubts_of(c)) results.push(sarif_result("says-less-than-it-seems", "warning", doubt, uri));
    Json rules{Json::Array{
        Json::object({{"id", "lost-after-power-cut"}, {"shortDescription", text_message("The check fails on a state that a power cut may leave")}}),
        Json::object(
            {{"id", "beyond-its-write-budget"}, {"shortDescription", text_message("The recorded run wrote or synced more than --max-* allows")}}),
        Json::object({{"id", "says-less-than-it-seems"}, {"shortDescription", text_message("The exploration was not what was asked for")}})}};
    Json driver = Json::object({{"name", "flashlab"}, {"version", c["version"].text()}, {"rules", std::move(rules)}});
    Json invocation = Json::object({{"executionSuccessful", !c["partial"].truth()}});
    Json run = Json::object({{"tool", Json::object({{"driver", std::move(driver)}})},
                             {"invocations", Json{Json::Array{std::move(invocation)}}},
                             {"results", std::move(results)},
                             {"properties", c}});
    return Json::object(
               {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json{Json::Array{std::move(run)}}}})
               .dump() +
           "\n";
}

std::string as_html_rows(const Json& c) {
    std::string rows;
    for (const auto& [key, value] : c.members()) {
        if (key == "findings" || key == "not_tried" || key == "application" || key == "budget" || value.is_null()) continue;
        rows += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(key), escaped(value.text().empty() ? value.dump() : value.text()));
    }
    for (const Json& file : c["application"].items())
        rows += fmt::format("<tr><td>sha256</td><td><code>{}</code><br>{}</td></tr>\n", file["sha256"].text(), escaped(file["file"].text()));
    return rows;
}

std::string as_html(const Json& c) {
    const auto& findings = c["findings"].items();
    std::string out = fmt::format(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
        "<title>Power cuts under {0}</title>\n"
        "<style>:root{{color-scheme:light dark;--soft:#f4f4f4}}@media(prefers-color-scheme:dark){{:root{{--soft:#25292e}}}}"
        "body{{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;overflow-wrap:anywhere}}"
        "code,pre{{background:var(--soft);white-space:pre-wrap}}table{{border-collapse:collapse}}td{{padding:.1em 1em .1em "
        "0;vertical-align:top}}</style>\n<h1>Power cuts under <code>{0}</code></h1>\n",
        escaped(c["command"].text()));
    const std::vector<std::string> doubts = doubts_of(c);
    out += !findings.empty() ? fmt::format("<p><b>{} found</b> in {}.</p>\n", findings.size(), escaped(scope_of(c)))
           : doubts.empty()  ? fmt::format("<p><b>Nothing was found</b> in {}. This is no proof: see what was not tried.</p>\n", escaped(scope_of(c)))
                             : fmt::format("<p>No loss was found in {}, which says little:</p>\n", escaped(scope_of(c)));
    for (const std::string& doubt : doubts) out += fmt::format("<p><b>{}</b></p>\n", escaped(doubt));
    for (const Json& limit : c["budget"].items())
        out += fmt::format("<pre>{}{}</pre>\n", limit["held"].truth() ? "" : "Too much: ", escaped(limit["said"].text()));
    for (const Json& f : findings) {
        out += fmt::format("<h2>{}</h2>\n<p>{} failing state{}. Missing: {}.</p>\n<pre>{}</pre>\n<ul>\n", escaped(f["what"].text()),
                           f["states"].number(), f["states"].number() == 1 ? "" : "s", escaped(f["missing_call"].text()), escaped(f["said"].text()));
        for (const Json& line : f["lost"].items()) out += fmt::format("<li>lost: {}</li>\n", escaped(line.text()));
        out += fmt::format("</ul>\n<p>Again: <code>{}</code></p>\n", escaped(f["replay"].text()));
    }
    out += "<h2>Not tried</h2>\n<ul>\n";
    for (const Json& item : c["not_tried"].items()) out += fmt::format("<li>{}</li>\n", escaped(item.text()));
    out += "</ul>\n<h2>What was tried</h2>\n<table>\n";
    return out + as_html_rows(c) + "</table>\n</html>\n";
}

} // namespace

std::string certificate_as(ReportForm form, const Json& certificate, const std::string& uri) {
    switch (form) {
    case ReportForm::json:
        return certificate.dump() + "\n";
    case ReportForm::html:
        return as_html(certificate);
    case ReportForm::junit:
        return as_junit(certificate);
    case ReportForm::sarif:
        return as_sarif(certificate, uri);
    }
    return {};
}

} // namespace flashlab

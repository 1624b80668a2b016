// The certificate as a page, as JUnit's XML and as SARIF 2.1.0.
#include <fmt/format.h>

#include "tools/explore/certificate.h"
#include "tools/text/markup.h"

namespace flashlab {

namespace {

std::string escaped(std::string_view text) { return markup_escaped(text); }

std::string scope_of(const Json& c) {
    return fmt::format("{} states of one run of {} lines and {} flush points, model {}, seed {}", c["states_tried"].number(), c["lines"].number(),
                       c["flush_points"].number(), c["model"].text(), c["seed"].number());
}

std::string as_junit(const Json& c) {
    const auto& findings = c["findings"].items();
    std::string out =
        fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"flashlab crash torture\" tests=\"{}\" failures=\"{}\" "
                    "time=\"{:.3f}\">\n",
                    findings.size() + 1, findings.size(), c["wall_seconds"].real());
    out += fmt::format("  <testcase classname=\"{}\" name=\"{}\"/>\n", escaped(c["command"].text()), escaped(scope_of(c)));
    for (const Json& f : findings)
        out += fmt::format("  <testcase classname=\"{}\" name=\"{}\">\n    <failure message=\"{}\">{}\n{}\n{}</failure>\n  </testcase>\n",
                           escaped(c["command"].text()), escaped(f["missing_call"].text()), escaped(f["what"].text()), escaped(f["what"].text()),
                           escaped(f["said"].text()), escaped(f["replay"].text()));
    out += "  <system-out>Not tried:\n";
    for (const Json& item : c["not_tried"].items()) out += escaped(item.text()) + "\n";
    return out + "  </system-out>\n</testsuite>\n";
}

std::string as_sarif(const Json& c) {
    Json results{Json::Array{}}, rules{Json::Array{}};
    rules.push(Json::object(
        {{"id", "lost-after-power-cut"}, {"shortDescription", Json::object({{"text", "The check fails on a state that a power cut may leave"}})}}));
    for (const Json& f : c["findings"].items()) {
        Json location = Json::object(
            {{"physicalLocation",
              Json::object({{"artifactLocation", Json::object({{"uri", c["command"].text().substr(0, c["command"].text().find(' '))}})}})}});
        results.push(Json::object(
            {{"ruleId", "lost-after-power-cut"},
             {"level", "error"},
             {"message", Json::object({{"text", f["what"].text() + ". Missing: " + f["missing_call"].text() + ". Again: " + f["replay"].text()}})},
             {"locations", Json{Json::Array{std::move(location)}}}}));
    }
    Json driver = Json::object({{"name", "flashlab"}, {"version", c["version"].text()}, {"rules", std::move(rules)}});
    Json run = Json::object({{"tool", Json::object({{"driver", std::move(driver)}})}, {"results", std::move(results)}, {"properties", c}});
    return Json::object(
               {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json{Json::Array{std::move(run)}}}})
               .dump() +
           "\n";
}

std::string as_html(const Json& c) {
    const auto& findings = c["findings"].items();
    std::string out = fmt::format(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Power cuts under {0}</title>\n"
        "<style>body{{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}}code,pre{{background:#f4f4f4}}"
        "table{{border-collapse:collapse}}td{{padding:.1em 1em .1em 0;vertical-align:top}}</style>\n<h1>Power cuts under <code>{0}</code></h1>\n",
        escaped(c["command"].text()));
    out += findings.empty() ? fmt::format("<p><b>Nothing was found</b> in {}. This is no proof: see what was not tried.</p>\n", escaped(scope_of(c)))
                            : fmt::format("<p><b>{} found</b> in {}.</p>\n", findings.size(), escaped(scope_of(c)));
    for (const Json& f : findings) {
        out += fmt::format("<h2>{}</h2>\n<p>{} failing states. Missing: {}.</p>\n<pre>{}</pre>\n<ul>\n", escaped(f["what"].text()),
                           f["states"].number(), escaped(f["missing_call"].text()), escaped(f["said"].text()));
        for (const Json& line : f["lost"].items()) out += fmt::format("<li>lost: {}</li>\n", escaped(line.text()));
        out += fmt::format("</ul>\n<p>Again: <code>{}</code></p>\n", escaped(f["replay"].text()));
    }
    out += "<h2>Not tried</h2>\n<ul>\n";
    for (const Json& item : c["not_tried"].items()) out += fmt::format("<li>{}</li>\n", escaped(item.text()));
    out += "</ul>\n<h2>What was tried</h2>\n<table>\n";
    for (const auto& [key, value] : c.members())
        if (key != "findings" && key != "not_tried")
            out += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(key), escaped(value.text().empty() ? value.dump() : value.text()));
    return out + "</table>\n</html>\n";
}

} // namespace

std::string certificate_as(ReportForm form, const Json& certificate) {
    switch (form) {
    case ReportForm::json:
        return certificate.dump() + "\n";
    case ReportForm::html:
        return as_html(certificate);
    case ReportForm::junit:
        return as_junit(certificate);
    case ReportForm::sarif:
        return as_sarif(certificate);
    }
    return {};
}

} // namespace flashlab

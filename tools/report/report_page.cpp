#include "tools/report/report_page.h"

#include <string_view>
#include <utility>

#include "tools/report/page_parts.h"

namespace flashlab {
namespace {

/// JSON that may stand in a script: no `<`, so neither an end tag nor a comment, and no line separators of Unicode.
std::string for_script(const std::string& json) {
    std::string out;
    out.reserve(json.size());
    for (const char c : json) {
        if (c == '<')
            out += "\\u003c";
        else if (c == '>')
            out += "\\u003e";
        else if (c == '&')
            out += "\\u0026";
        else
            out += c;
    }
    return out;
}

} // namespace

std::expected<void, std::string> write_report_page(AsideFile& file, std::vector<Json> runs) {
    const std::string data = for_script(Json::object({{"flashlab", FLASHLAB_VERSION}, {"runs", Json{std::move(runs)}}}).dump());
    using namespace page_parts;
    const std::string_view parts[] = {
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        "img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n<title>FlashLab report</title>\n<!-- uPlot:\n",
        plot_library_licence(),
        "-->\n<style>\n",
        plot_library_style(),
        page_style(),
        "</style>\n</head>\n",
        page_body(),
        "<script id=\"data\" type=\"application/json\">",
        data,
        "</script>\n<script>\n",
        plot_library(),
        "</script>\n<script>\n",
        page_plots(),
        page_maps(),
        page_script(),
        "</script>\n</body>\n</html>\n"};
    for (const std::string_view part : parts)
        if (auto done = file.write(part); !done) return done;
    return file.commit();
}

} // namespace flashlab

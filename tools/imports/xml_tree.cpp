#include "tools/imports/xml_tree.h"

#include <memory>

#include <expat.h>
#include <fmt/format.h>

#include "tools/imports/imported.h"

namespace flashlab {

namespace {

constexpr std::size_t deepest = 32; ///< elements inside each other; a hostile file is not followed further

struct XmlBuilder {
    XML_Parser parser;
    XmlElement above; ///< the root is its child
    std::vector<XmlElement*> open;
    bool is_too_deep = false;
};

void XMLCALL element_begins(void* user, const XML_Char* name, const XML_Char**) {
    auto& b = *static_cast<XmlBuilder*>(user);
    if (b.open.size() > deepest) {
        b.is_too_deep = true;
        XML_StopParser(b.parser, XML_FALSE);
        return;
    }
    auto& children = b.open.back()->children;
    children.push_back({.name = name, .text = {}, .line = XML_GetCurrentLineNumber(b.parser), .column = XML_GetCurrentColumnNumber(b.parser) + 1});
    b.open.push_back(&children.back());
}

void XMLCALL element_ends(void* user, const XML_Char*) {
    auto& b = *static_cast<XmlBuilder*>(user);
    std::string& text = b.open.back()->text;
    text = std::string{without_blanks(text)};
    b.open.pop_back();
}

void XMLCALL text_comes(void* user, const XML_Char* text, int length) {
    static_cast<XmlBuilder*>(user)->open.back()->text.append(text, static_cast<std::size_t>(length));
}

} // namespace

std::expected<XmlElement, std::string> parse_xml(std::string_view text, const std::string& file) {
    const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser{XML_ParserCreate(nullptr), &XML_ParserFree};
    XmlBuilder builder{.parser = parser.get(), .above = {}, .open = {}};
    builder.open.push_back(&builder.above);
    XML_SetUserData(parser.get(), &builder);
    XML_SetElementHandler(parser.get(), element_begins, element_ends);
    XML_SetCharacterDataHandler(parser.get(), text_comes);
    if (XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), XML_TRUE) != XML_STATUS_OK) {
        const char* why = builder.is_too_deep ? "elements lie too deep in each other" : XML_ErrorString(XML_GetErrorCode(parser.get()));
        return std::unexpected(
            fmt::format("{}:{}:{}: {}", file, XML_GetCurrentLineNumber(parser.get()), XML_GetCurrentColumnNumber(parser.get()) + 1, why));
    }
    return std::move(builder.above.children.front());
}

} // namespace flashlab

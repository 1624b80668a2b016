/// A small XML file as a tree, with the place of each element: by expat.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab {

struct XmlElement {
    std::string name, text{}; ///< without blanks around it
    std::uint64_t line = 0, column = 0;
    std::vector<XmlElement> children{};
};

/// The root. The error names file, line and column.
[[nodiscard]] std::expected<XmlElement, std::string> parse_xml(std::string_view text, const std::string& file);

} // namespace flashlab

#include "tools/text/shell_word.h"

namespace flashlab {

std::string shell_word(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'')
            out += R"('\'')";
        else
            out += c;
    }
    return out + "'";
}

} // namespace flashlab

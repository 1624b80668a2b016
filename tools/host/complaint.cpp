#include "tools/host/complaint.h"

#include <fmt/format.h>

#include "tools/host/standard_streams.h"
#include "tools/text/printable.h"

namespace flashlab {

int complain(const std::string& text, int code) {
    tell(printable(fmt::format("flashlab: {}\n", text)));
    return code;
}

} // namespace flashlab

// What the control socket hears, and the words of faults: any bytes are an answer or an error, and what parses says itself again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/faults/fault_rule.h"
#include "tools/text/json.h"

using namespace flashlab;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    if (const auto json = Json::parse(text)) {
        const auto again = Json::parse(json->dump());
        if (!again || again->dump() != json->dump()) __builtin_trap();
        for (const Json& rule : (*json)["rules"].items()) (void)rule.items().size();
    }
    if (const auto rule = FaultRule::parse(fault_words(text))) {
        const auto again = FaultRule::parse(fault_words(rule->text()));
        if (!again || *again != *rule) __builtin_trap();
    }
    (void)parse_fault_plan(text);
    return 0;
}

// device.toml and --config: any text is a configuration or an error that names the text.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/drive/config_file.h"

using namespace flashlab;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    DeviceConfig config;
    const auto done = apply_toml(config, {reinterpret_cast<const char*>(data), size}, "fuzzed.toml");
    if (!done && done.error().find("fuzzed.toml") == std::string::npos) __builtin_trap();
    return 0;
}

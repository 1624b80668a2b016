#include "tools/grade/scheme_file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <sys/auxv.h>

#include "ftl/admit_scheme.h"
#include "ftl/make_ftl.h"
#include "ftl/scheme_plugin.h"
#include "tools/drive/config_schema.h"

namespace flashlab {

namespace {

/// The kernel names the address of the dynamic linker. Without one nothing can be loaded that uses our functions.
bool is_static() { return ::getauxval(AT_BASE) == 0; }

std::string last_loader_error() {
    const char* why = ::dlerror();
    return why == nullptr ? "unknown" : why;
}

std::expected<const Scheme*, std::string> entry_of(const SchemePlugin& plugin) {
    try {
        return &plugin.scheme();
    } catch (const std::exception& error) {
        return std::unexpected(error.what());
    } catch (...) {
        return std::unexpected("no exception");
    }
}

/// What a declaration would shadow, or name in vain. Empty: nothing.
std::string fault_of_keys(const Scheme& scheme) {
    const std::vector<const Option*> declared = declared_options();
    const auto is_declared = [&](std::string_view key) { return std::ranges::find(declared, key, &Option::key) != declared.end(); };
    for (const Option* option : scheme.options)
        if (option != nullptr && find_config_key(option->key) != nullptr && !is_declared(option->key))
            return fmt::format("option '{}' is a key of all drives; take another name", option->key);
    for (const std::string_view key : scheme.keys)
        if (find_config_key(key) == nullptr && std::ranges::none_of(scheme.options, [&](const Option* o) { return o != nullptr && o->key == key; }))
            return fmt::format("it reads the key '{}': {}", key, unknown_key_text(key));
    return {};
}

} // namespace

bool is_scheme_file(const std::string& what) { return what.find('/') != std::string::npos || what.ends_with(".so"); }

std::expected<const Scheme*, std::string> load_scheme(const std::string& what) {
    if (!is_scheme_file(what)) return find_scheme(what);
    if (is_static()) return std::unexpected(fmt::format("{}: this flashlab is linked statically and loads nothing: take the installed one", what));
    std::error_code error;
    const std::filesystem::path path = std::filesystem::absolute(what, error); // a name without '/' would be looked for elsewhere
    if (error || !std::filesystem::is_regular_file(path, error)) return std::unexpected(fmt::format("{}: no such file", what));
    void* object = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (object == nullptr)
        return std::unexpected(
            fmt::format("{}: cannot be loaded: {}: build it with: sh tools/build_scheme.sh FILE.cpp -o {}", what, last_loader_error(), what));
    const auto* plugin = static_cast<const SchemePlugin*>(::dlsym(object, scheme_plugin_symbol));
    if (plugin == nullptr || plugin->magic != scheme_plugin_magic || plugin->abi == nullptr || plugin->scheme == nullptr)
        return std::unexpected(
            fmt::format("{}: is no translation layer: its source ends with FLASHLAB_SCHEME_PLUGIN(NAME), see docs/adding-a-scheme.md", what));
    if (std::strcmp(plugin->abi, scheme_abi) != 0)
        return std::unexpected(fmt::format("{}: was built against another FlashLab ({}; this is {}): build it again with tools/build_scheme.sh", what,
                                           plugin->abi, scheme_abi));
    if (::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) // the same object: what it lacks is told now, not when it is called
        return std::unexpected(fmt::format("{}: cannot be loaded: {}", what, last_loader_error()));
    const auto entry = entry_of(*plugin);
    if (!entry) return std::unexpected(fmt::format("{}: its function that returns the Scheme has thrown: {}", what, entry.error()));
    const Scheme& scheme = **entry;
    if (const std::string fault = fault_of_keys(scheme); !fault.empty())
        return std::unexpected(fmt::format("{}: scheme '{}': {}", what, scheme.name, fault));
    if (auto admitted = admit_scheme(scheme); !admitted) return std::unexpected(fmt::format("{}: {}", what, admitted.error()));
    return &scheme;
}

} // namespace flashlab

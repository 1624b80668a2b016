#include <algorithm>
#include <cctype>

#include "tools/command_line.h"
#include "tools/commands/commands.h"

namespace flashlab {
namespace {

bool is_number(const std::string& text) {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// True when the argument is taken care of; `at` may move over its value.
bool translate_one(const std::string& helper, const std::vector<std::string>& in, std::size_t& at, std::vector<std::string>& out) {
    const std::string& argument = in[at];
    const auto is_any_of = [&](std::initializer_list<const char*> names) {
        return std::ranges::any_of(names, [&](const char* name) { return argument == name; });
    };
    if (helper == "fsck") {
        if (argument.starts_with("-C")) { // a progress descriptor, joined or as the next argument
            if (argument == "-C" && at + 1 < in.size() && is_number(in[at + 1]))
                ++at;
            return true;
        }
        if (is_any_of({"-y", "-p", "-a"})) {
            if (std::ranges::find(out, "--repair") == out.end())
                out.emplace_back("--repair");
            return true;
        }
        return is_any_of({"-n", "-f", "-v", "-V", "-T", "-M", "-l", "-r"});
    }
    if (helper == "mkfs") {
        if (argument == "-F")
            out.emplace_back("--force");
        if (argument == "-L")
            out.emplace_back("--label");
        return is_any_of({"-F", "-L", "-v", "-V"});
    }
    if (is_any_of({"-t", "-N"})) {
        ++at;
        return true;
    }
    if (argument == "-r")
        out.emplace_back("--read-only");
    return is_any_of({"-r", "-w", "-n", "-v", "-s", "-f", "-i"});
}

} // namespace

std::vector<std::string> translate_helper_arguments(const std::string& helper, const std::vector<std::string>& arguments) {
    std::vector<std::string> out{helper};
    for (std::size_t at = 0; at < arguments.size(); ++at)
        if (!translate_one(helper, arguments, at, out))
            out.push_back(arguments[at]);
    return out;
}

int translate_exit_code(const std::string& helper, int code) {
    if (code == exit_done || helper == "fsck")
        return code;
    if (helper == "mkfs")
        return code == exit_usage ? 16 : 8;
    if (helper == "mount")
        return code == exit_usage ? 1 : 32;
    return code;
}

} // namespace flashlab

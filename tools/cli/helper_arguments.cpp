#include <algorithm>
#include <cctype>

#include "tools/cli/command_line.h"
#include "tools/host/complaint.h"

namespace flashlab {
namespace {

bool is_number(const std::string& text) {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Letters that stand alone for each helper; "-fy" is "-f -y".
std::string_view flags_of(const std::string& helper) { return helper == "fsck" ? "nypafvVTMlr" : helper == "mkfs" ? "nFvVq" : "sfnvrwi"; }

std::vector<std::string> separated(const std::string& helper, const std::vector<std::string>& arguments) {
    std::vector<std::string> out;
    for (const auto& argument : arguments) {
        const bool joined = argument.size() > 2 && argument[0] == '-' && argument.find_first_not_of(flags_of(helper), 1) == std::string::npos;
        if (!joined)
            out.push_back(argument);
        else
            for (const char letter : argument.substr(1)) out.push_back(std::string{"-"} + letter);
    }
    return out;
}

bool is_any_of(const std::string& argument, std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* name) { return argument == name; });
}

/// fsck(8): -n looks only, -y -p -a ask for what fsck does anyway. True: taken care of; `at` may move over a value.
bool translate_fsck(const std::vector<std::string>& in, std::size_t& at, std::vector<std::string>&) {
    if (in[at].starts_with("-C")) { // a progress descriptor, joined or as the next argument
        if (in[at] == "-C" && at + 1 < in.size() && is_number(in[at + 1])) ++at;
        return true;
    }
    return is_any_of(in[at], {"-y", "-p", "-a", "-f", "-v", "-V", "-T", "-M", "-l", "-r"});
}

bool translate_mkfs(const std::vector<std::string>& in, std::size_t& at, std::vector<std::string>& out) {
    if (in[at] == "-F") out.emplace_back("--force");
    if (in[at] == "-L") out.emplace_back("--label");
    return is_any_of(in[at], {"-F", "-L", "-v", "-V"});
}

/// mount(8) calls: mount.TYPE SPEC DIR [-sfnv] [-N NAMESPACE] [-o OPTIONS] [-t TYPE.SUBTYPE]
bool translate_mount(const std::vector<std::string>& in, std::size_t& at, std::vector<std::string>& out) {
    if (is_any_of(in[at], {"-t", "-N"})) {
        ++at;
        return true;
    }
    if (in[at] == "-r") out.emplace_back("--read-only");
    if (in[at] == "-s") out.emplace_back("--sloppy");
    if (in[at] == "-f") out.emplace_back("--fake");
    return is_any_of(in[at], {"-r", "-w", "-n", "-v", "-s", "-f", "-i"});
}

} // namespace

std::vector<std::string> translate_helper_arguments(const std::string& helper, const std::vector<std::string>& arguments) {
    const auto in = separated(helper, arguments);
    const auto translate = helper == "fsck" ? translate_fsck : helper == "mkfs" ? translate_mkfs : translate_mount;
    std::vector<std::string> out{helper};
    for (std::size_t at = 0; at < in.size(); ++at)
        if (!translate(in, at, out)) out.push_back(in[at]);
    return out;
}

int translate_exit_code(const std::string& helper, int code) {
    if (code == exit_done || helper == "fsck") return code;
    if (helper == "mkfs") return code == exit_usage ? 16 : 8;
    if (helper == "mount") return code == exit_usage ? 1 : 32;
    return code;
}

} // namespace flashlab

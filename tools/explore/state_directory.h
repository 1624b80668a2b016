/// A plain directory that is made to look like a state that a power cut left.
///
/// Idea       From one state to the next little changes. What is there already, byte for byte, is left alone; everything else is made new. What the
///            check changed is found by comparing, so no trust in time stamps is needed.
/// Invariant  After make() the directory holds the names, the bytes, the sizes, the modes and the links of the state, and nothing else. Owners and
///            times are not restored; device nodes and sockets are left out; extended attributes only where the host takes them.
/// Cost       A walk of the directory, and reading what is in it.
#pragma once

#include <expected>
#include <map>
#include <string>
#include <vector>

#include "crash/apps/left_state.h"

namespace flashlab {

class StateDirectory {
public:
    /// `path` is made with the first state, and again where a check has removed it.
    StateDirectory(const Past& past, std::string path);

    [[nodiscard]] const std::string& path() const { return path_; }
    /// The error names the file and the reason.
    [[nodiscard]] std::expected<void, std::string> make(const LeftTree& tree);

private:
    struct Present {
        std::uint32_t mode = 0;
        std::uint64_t size = 0, links = 0;
    };
    void look(const std::string& directory, const std::string& above);
    void remove_strangers(const LeftTree& tree);
    [[nodiscard]] std::string make_name(const LeftName& name, const LeftTree& tree, std::map<std::uint64_t, std::string>& linked);
    [[nodiscard]] static std::string give_attributes(const std::string& full, std::uint32_t mode, std::uint64_t ino, const LeftTree& tree);
    [[nodiscard]] std::string make_file(const std::string& full, const LeftFile& file, const Present* present);
    [[nodiscard]] std::string fill(int fd, const LeftFile& file, std::uint64_t present_bytes);
    void compose(const LeftFile& file, std::uint64_t offset, std::size_t bytes);

    const Past& past_;
    std::string path_;
    std::map<std::string, Present> present_;
    std::vector<std::byte> wanted_, found_;
};

} // namespace flashlab

/// One run of a sweep: a command of ours, and the identity by which its result is known anywhere.
///
/// Idea       The id is a hash of configuration, load, content of the trace, seed and version. So two machines that make the same run give it the
///            same id, and a result is never taken for that of another run.
/// Invariant  The names of files and loads are no part of the id. The words of `command` are what a user would type after `flashlab`.
/// Cost       A hash of some hundred bytes, and of each trace once.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "tools/text/json.h"

namespace flashlab {

struct SweepRun {
    std::string id; ///< 16 hex digits
    std::vector<std::string> command;
    std::string load;                       ///< its name in the sweep
    std::string trace, trace_hash;          ///< empty: the load is no file
    Json parameters = Json{Json::Object{}}; ///< the grid's keys with their values
    std::uint64_t seed = 0;
    std::string config_hash; ///< empty: the command chooses its devices itself
    std::string version;

    [[nodiscard]] Json to_json() const;
    [[nodiscard]] static std::expected<SweepRun, std::string> from_json(const Json& json);
    /// The id that follows from the other members.
    [[nodiscard]] std::string made_id() const;
};

/// 16 hex digits of the bytes.
[[nodiscard]] std::string hash_text(std::string_view bytes);
/// The same of a file's content. Only regular files have one.
[[nodiscard]] std::expected<std::string, std::string> hash_file(const std::string& path);

} // namespace flashlab

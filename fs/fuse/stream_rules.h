/// Into which of the drive's streams a user or a process writes, where the file does not say it itself (fs/file_stream.h).
///
/// Idea       A rule names a uid or a pid and a stream. What such a caller writes makes the file's data carry that stream until another caller writes
///            there. A process comes before its user, the attribute of a file before both.
/// Invariant  One rule for each uid and pid. The rule of a process ends with it: another one that gets its number is not meant.
/// Cost       Nothing without rules. A comparison for each rule of a user; for one of a process up to two system calls a request.
/// Power cut  Forgotten with the mount; the stream of each page lies in its OOB.
/// Threading  Inside the monitor.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"

namespace flashlab {

struct StreamRule {
    enum class Writer : std::uint8_t { user, process };
    Writer writer = Writer::user;
    std::uint32_t id = 0;
    StreamId stream = no_stream; ///< no_stream: no rule

    /// "uid:1000=3" or "pid:4711=3". The error names what is wrong.
    [[nodiscard]] static std::expected<StreamRule, std::string> parse(std::string_view text);
    [[nodiscard]] std::string text() const;
};

class StreamRules {
public:
    StreamRules();
    StreamRules(const StreamRules&) = delete;
    StreamRules& operator=(const StreamRules&) = delete;
    ~StreamRules();
    static constexpr std::size_t most = 256;
    /// Why set() would refuse it; empty: it would not.
    [[nodiscard]] std::string refusal(const StreamRule& rule) const;
    /// In place of the rule for the same writer; a stream of no_stream ends that. The error: there is no such process, or there are
    /// `most` rules.
    [[nodiscard]] std::expected<void, std::string> set(const StreamRule& rule);
    void clear();
    /// Those in force, in the order of their making.
    [[nodiscard]] std::vector<StreamRule> all();
    /// Of a request by this user, on this thread.
    [[nodiscard]] StreamId stream_of(std::uint32_t uid, std::uint32_t thread) const { return kept_.empty() ? no_stream : look_up(uid, thread); }

private:
    class LivingProcess;
    struct Kept;
    [[nodiscard]] StreamId look_up(std::uint32_t uid, std::uint32_t thread) const;

    std::vector<Kept> kept_;
};

} // namespace flashlab

#include "fs/fuse/stream_rules.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "fs/file_stream.h"

namespace flashlab {

namespace {

/// FUSE names the thread that asks.
bool is_thread_of(std::uint32_t pid, std::uint32_t thread) {
    return thread == pid || ::access(fmt::format("/proc/{}/task/{}", pid, thread).c_str(), F_OK) == 0;
}

} // namespace

std::expected<StreamRule, std::string> StreamRule::parse(std::string_view text) {
    const auto wrong = [&](std::string_view why) {
        return std::unexpected(fmt::format("stream {}: {}; write uid:1000=3 or pid:4711=3, and =0 to end the rule", text, why));
    };
    const auto colon = text.find(':'), equals = text.find('=');
    if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon) return wrong("no rule");
    StreamRule rule;
    const std::string_view who = text.substr(0, colon), id = text.substr(colon + 1, equals - colon - 1);
    if (who != "uid" && who != "pid") return wrong("a rule is for a uid or a pid");
    rule.writer = who == "uid" ? Writer::user : Writer::process;
    const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), rule.id);
    if (id.empty() || error != std::errc{} || end != id.data() + id.size()) return wrong(fmt::format("'{}' is no {}", id, who));
    const std::string_view stream = text.substr(equals + 1);
    const auto parsed = parse_file_stream(std::as_bytes(std::span{stream}));
    if (!parsed) return wrong(fmt::format("'{}' is no stream of 0 to {}", stream, file_streams - 1));
    rule.stream = *parsed;
    return rule;
}

std::string StreamRule::text() const { return fmt::format("{}:{}={}", writer == Writer::user ? "uid" : "pid", id, stream.value()); }

/// A process, for as long as it lives: its number may be another's afterwards.
class StreamRules::LivingProcess {
public:
    explicit LivingProcess(std::uint32_t pid) : fd_{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0u))}, error_{fd_ < 0 ? errno : 0} {}
    LivingProcess(LivingProcess&& from) noexcept : fd_{std::exchange(from.fd_, -1)}, error_{from.error_} {}
    LivingProcess& operator=(LivingProcess&& from) noexcept {
        std::swap(fd_, from.fd_);
        std::swap(error_, from.error_);
        return *this;
    }
    LivingProcess(const LivingProcess&) = delete;
    LivingProcess& operator=(const LivingProcess&) = delete;
    ~LivingProcess() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int error() const { return error_; }
    [[nodiscard]] bool lives() const {
        pollfd asked{fd_, POLLIN, 0};
        return fd_ >= 0 && ::poll(&asked, 1, 0) == 0;
    }

private:
    int fd_, error_;
};

struct StreamRules::Kept {
    StreamRule rule;
    std::optional<LivingProcess> process; ///< of a rule for a process

    [[nodiscard]] bool is_in_force() const { return !process || process->lives(); }
};

StreamRules::StreamRules() = default;
StreamRules::~StreamRules() = default;

std::string StreamRules::refusal(const StreamRule& rule) const {
    if (rule.stream == no_stream) return {};
    if (kept_.size() >= most) return fmt::format("stream {}: there are {} rules already: end some", rule.text(), most);
    if (rule.writer == StreamRule::Writer::user) return {};
    const LivingProcess process{rule.id};
    if (process.lives()) return {};
    return fmt::format("stream {}: there is no process {}{}", rule.text(), rule.id,
                       process.error() == 0 ? "" : fmt::format(" ({})", std::strerror(process.error())));
}

std::expected<void, std::string> StreamRules::set(const StreamRule& rule) {
    std::erase_if(kept_, [&](const Kept& k) { return !k.is_in_force() || (k.rule.writer == rule.writer && k.rule.id == rule.id); });
    if (rule.stream == no_stream) return {};
    if (const std::string why = refusal(rule); !why.empty()) return std::unexpected(why);
    kept_.push_back({rule, rule.writer == StreamRule::Writer::process ? std::optional<LivingProcess>{rule.id} : std::nullopt});
    return {};
}

void StreamRules::clear() { kept_.clear(); }

std::vector<StreamRule> StreamRules::all() {
    std::erase_if(kept_, [](const Kept& k) { return !k.is_in_force(); });
    std::vector<StreamRule> rules;
    for (const Kept& k : kept_) rules.push_back(k.rule);
    return rules;
}

StreamId StreamRules::look_up(std::uint32_t uid, std::uint32_t thread) const {
    StreamId of_user = no_stream;
    for (const Kept& k : kept_) {
        if (k.rule.writer == StreamRule::Writer::user) {
            if (k.rule.id == uid) of_user = k.rule.stream;
        } else if (is_thread_of(k.rule.id, thread) && k.is_in_force()) {
            return k.rule.stream;
        }
    }
    return of_user;
}

} // namespace flashlab

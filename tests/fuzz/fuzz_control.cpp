// The control socket of a mount, and the words of faults. Any bytes that a client sends get one answer of JSON a line; what parses says itself again.
//
// The socket, the device and the faults are the daemon's; the mount behind them is one without a kernel, so that no /dev/fuse is needed.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fs/fuse/control_socket.h"
#include "tests/support/quiet_mount.h"
#include "tests/support/temporary_directory.h"
#include "tools/drive/config_file.h"
#include "tools/drive/device_directory.h"
#include "tools/faults/fault_rule.h"
#include "tools/live/mount_control.h"
#include "tools/text/json.h"

using namespace flashlab;

namespace {

[[noreturn]] void found(const std::string& what) {
    std::fprintf(stderr, "found: %s\n", what.c_str());
    __builtin_trap();
}

/// A daemon's line to the outside, without the daemon.
class Line {
public:
    Line() {
        ConfigSources sources;
        sources.settings = {"nand.pages_per_block=64", "nand.planes_per_die=1", "pram.bytes=4M"};
        const auto config = gather_config(sources);
        const auto plan = plan_device(*config, 32u << 20);
        if (const auto made = make_device_directory(directory_, *plan, "", ExistingDevice::refuse); !made) found(made.error());
        OpenOptions options;
        options.counts_use = true;
        auto opened = DeviceDirectory::open(directory_, options);
        if (!opened) found(opened.error());
        opened_ = std::move(*opened);
        mount_.emplace(opened_->device());
        faults_.attach(*opened_, [](const std::string&) {});
        faults_.set_mount(*mount_);
        control_.emplace(directory_, *opened_, *mount_, faults_, streams_, persistence_, opened_->device().ready_at(), [] {});
        auto socket = ControlSocket::make(path_, [this](std::string_view request) { return control_->answer(request); });
        if (!socket) found(socket.error());
        socket_ = std::move(*socket);
        socket_->start();
    }

    /// What a client that sends these bytes hears until the socket hangs up.
    [[nodiscard]] std::string hear(std::string_view sent) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, path_.data(), path_.size());
        const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) found("nobody listens");
        if (::send(fd, sent.data(), sent.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(sent.size())) found("the socket hung up while it was told");
        (void)::shutdown(fd, SHUT_WR);
        std::string heard;
        char part[4096];
        for (ssize_t got = 1; got > 0 || (got < 0 && errno == EINTR);) { // libFuzzer's clock interrupts
            got = ::recv(fd, part, sizeof part, 0);
            if (got > 0) heard.append(part, static_cast<std::size_t>(got));
        }
        ::close(fd);
        (void)control_->answer(R"({"cmd":"fault","do":"clear"})"); // the socket's thread is done with us: rules would pile up
        return heard;
    }

private:
    test::TemporaryDirectory work_;
    std::string directory_ = work_ / "device";
    std::string path_ = work_ / "control";
    std::unique_ptr<DeviceDirectory> opened_;
    std::optional<test::QuietMount> mount_;
    FaultControl faults_;
    StreamRules streams_;
    std::unique_ptr<LivePersistence> persistence_; ///< strict
    std::optional<MountControl> control_;
    std::unique_ptr<ControlSocket> socket_;
};

/// As many answers as lines, each of them JSON.
void check_answers(std::string_view sent, std::string_view heard) {
    if (std::ranges::count(heard, '\n') != std::ranges::count(sent, '\n')) found("a line without an answer, or an answer without a line");
    for (std::size_t from = 0; from < heard.size();) {
        const std::size_t end = heard.find('\n', from);
        if (!Json::parse(heard.substr(from, end - from))) found("an answer that is no JSON: " + std::string{heard.substr(from, end - from)});
        from = end + 1;
    }
}

void check_words(std::string_view text) {
    if (const auto json = Json::parse(text)) {
        const auto again = Json::parse(json->dump());
        if (!again || again->dump() != json->dump()) found("JSON that does not read itself");
    }
    if (const auto rule = FaultRule::parse(fault_words(text))) {
        const auto again = FaultRule::parse(fault_words(rule->text()));
        if (!again || *again != *rule) found("a rule that does not read itself: " + rule->text());
    }
    (void)parse_fault_plan(text);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    check_words(text);
    static Line line;
    check_answers(text, line.hear(text));
    return 0;
}

#include "fs/fuse/control_socket.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <sys/stat.h>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace flashlab;
using flashlab::test::TemporaryDirectory;

namespace {

std::string shout(std::string_view request) {
    std::string answer{request};
    for (char& c : answer) c = static_cast<char>(std::toupper(c));
    return answer;
}

} // namespace

TEST_CASE("a request line gets its answer line, again and again, however long", "[fuse]") {
    const TemporaryDirectory directory;
    const auto socket = ControlSocket::make(directory / "control", shout);
    REQUIRE(socket.has_value());
    (*socket)->start();
    CHECK(ask_control_socket(directory / "control", "stats").value() == "STATS");
    CHECK(ask_control_socket(directory / "control", "").value().empty());
    CHECK(ask_control_socket(directory / "control", std::string(100'000, 'x')).value() == std::string(100'000, 'X'));
}

TEST_CASE("who asks with patience does not wait for a daemon that is stopped", "[fuse]") {
    const TemporaryDirectory directory;
    const auto socket = ControlSocket::make(directory / "control", shout); // it takes callers, and nobody serves them
    REQUIRE(socket.has_value());
    const auto answer = ask_control_socket(directory / "control", "stats", std::chrono::milliseconds{20});
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().find("no answer within 0.02 s") != std::string::npos);
}

TEST_CASE("the socket belongs to its owner alone and goes with the mount", "[fuse]") {
    const TemporaryDirectory directory;
    {
        const auto socket = ControlSocket::make(directory / "control", shout);
        REQUIRE(socket.has_value());
        struct stat status {};
        REQUIRE(stat((directory / "control").c_str(), &status) == 0);
        CHECK((status.st_mode & 07777) == 0600);
        (*socket)->start();
    }
    CHECK_FALSE(std::filesystem::exists(directory / "control"));
    CHECK_FALSE(ask_control_socket(directory / "control", "stats").has_value());
}

TEST_CASE("the socket goes with the mount when its folder was moved; another mount's at its old place stays", "[fuse]") {
    const TemporaryDirectory directory;
    std::filesystem::create_directory(directory / "d");
    auto moved = ControlSocket::make(directory / "d/control", shout);
    REQUIRE(moved.has_value());
    std::filesystem::rename(directory / "d", directory / "elsewhere");
    std::filesystem::create_directory(directory / "d");
    const auto other = ControlSocket::make(directory / "d/control", shout);
    REQUIRE(other.has_value());
    moved->reset();
    CHECK_FALSE(std::filesystem::exists(directory / "elsewhere/control"));
    CHECK(std::filesystem::exists(directory / "d/control"));
}

TEST_CASE("a socket left by a killed daemon is replaced, a live one and a foreign file are not", "[fuse]") {
    const TemporaryDirectory directory;
    SECTION("left over") {
        std::filesystem::create_directory(directory / "d");
        const auto old = ControlSocket::make(directory / "d/control", shout); // never started, closed at the end of the section
        REQUIRE(old.has_value());
        std::filesystem::rename(directory / "d/control", directory / "control");
    }
    SECTION("foreign file") {
        std::ofstream{directory / "control"} << "mine";
        const auto refused = ControlSocket::make(directory / "control", shout);
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().find("remove it") != std::string::npos);
        return;
    }
    SECTION("live") {
        const auto first = ControlSocket::make(directory / "control", shout);
        REQUIRE(first.has_value());
        (*first)->start();
        const auto second = ControlSocket::make(directory / "control", shout);
        REQUIRE_FALSE(second.has_value());
        CHECK(ask_control_socket(directory / "control", "still").value() == "STILL");
        return;
    }
    const auto socket = ControlSocket::make(directory / "control", shout);
    REQUIRE(socket.has_value());
    (*socket)->start();
    CHECK(ask_control_socket(directory / "control", "new").value() == "NEW");
}

TEST_CASE("a path too long for a socket is refused with the remedy", "[fuse]") {
    const auto refused = ControlSocket::make("/tmp/" + std::string(200, 'd') + "/control", shout);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().find("shorter path") != std::string::npos);
}

TEST_CASE("a handler that fails costs its client the connection, not the mount its socket", "[fuse]") {
    const TemporaryDirectory directory;
    const auto socket = ControlSocket::make(directory / "control", [](std::string_view request) -> std::string {
        if (request == "bad") throw std::runtime_error{"no answer to this"};
        return "ok";
    });
    REQUIRE(socket.has_value());
    (*socket)->start();
    CHECK_FALSE(ask_control_socket(directory / "control", "bad").has_value());
    CHECK(ask_control_socket(directory / "control", "good").value() == "ok");
}

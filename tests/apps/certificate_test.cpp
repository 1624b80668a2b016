// Goal: a certificate names the program that it is about, and does not say more than is known.
#include "tools/explore/certificate.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "tests/apps/recorded_program.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tools/explore/sha256.h"
#include "tools/host/last_lines.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

std::string sha256_of_text(std::string_view text) {
    Sha256 hash;
    hash.take(text);
    return hash.digest();
}

/// A program, for a shell.
std::string program_at(const std::filesystem::path& path, const std::string& text) {
    std::ofstream{path} << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
}

Json certificate_of(CertificateFacts facts, const ExploreResult& result, bool promises) {
    RecordedProgram program;
    program.prepared();
    program.append(program.create("f"), "a");
    if (promises) program.promise("a");
    const Past past{program.history()};
    const Persistence model = *find_persistence("posix");
    StateOrder order{past, model, 1};
    facts.possible = order.possible();
    return certificate(facts, past, model, order, result);
}

} // namespace

TEST_CASE("SHA-256 is that of the standard, however the bytes come", "[sha256]") {
    CHECK(sha256_of_text("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256_of_text("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256_of_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(sha256_of_text(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    for (const std::size_t length : {55u, 56u, 63u, 64u, 65u, 119u, 120u, 128u}) {
        const std::string text(length, 'x');
        Sha256 in_pieces;
        for (std::size_t at = 0; at < length; at += 7) in_pieces.take(std::string_view{text}.substr(at, 7));
        CHECK(in_pieces.digest() == sha256_of_text(text));
    }
}

TEST_CASE("the hash of a command behind a shell is that of the program, not of the shell", "[certificate]") {
    const TemporaryDirectory at;
    const std::string program = program_at(at / "my writer", "echo one\n"), data = program_at(at / "input", "x");
    ::setenv("CERTIFICATE_TEST", at.path().c_str(), 1);
    const std::vector<std::string> command{
        "sh", "-c", "A=1 \"$CERTIFICATE_TEST/my writer\" --safe > out; cat ${CERTIFICATE_TEST}/input | cat '$CERTIFICATE_TEST/input'"};
    const auto files = application_of(command);
    std::vector<std::string> names;
    for (const ApplicationFile& file : files) names.push_back(std::filesystem::path{file.path}.filename());
    REQUIRE(names == std::vector<std::string>{"sh", "my writer", "cat", "input"});
    CHECK(files[1].sha256 == sha256_of_text("echo one\n"));
    const std::string before = hash_of_command(command, files);
    CHECK(hash_of_command(command, application_of(command)) == before);
    program_at(at / "my writer", "echo two\n");
    CHECK(hash_of_command(command, application_of(command)) != before);
    CHECK(uri_of(files, at.path()) == "my%20writer");
    CHECK(uri_of({}, "/").empty());
    ::unsetenv("CERTIFICATE_TEST");
}

TEST_CASE("words of a command that are no files are not the application", "[certificate]") {
    const TemporaryDirectory at;
    CHECK(application_of({"no-such-program", "relative/path", at.path().string(), "/dev/null", "-c"}).empty());
    CHECK(application_of({"/bin/sh", "-c", "$("}).size() == 1);
    CHECK(application_of({"/bin/sh", "-c", "${X", "'", "\""}).size() == 1);
}

TEST_CASE("an exploration that was not what was asked for does not say that nothing was found", "[certificate]") {
    ExploreResult result;
    result.states = 10;
    const auto forms = [&](bool partial) {
        const Json c = certificate_of(
            {.command = {"x"}, .application = {}, .application_version = {}, .check = "y", .device = "z", .possible = {}, .partial = partial}, result,
            true);
        return std::pair{certificate_as(ReportForm::html, c, ""), certificate_as(ReportForm::junit, c, "")};
    };
    CHECK(forms(false).first.contains("Nothing was found"));
    CHECK(forms(false).second.contains("errors=\"0\""));
    CHECK_FALSE(forms(true).first.contains("Nothing was found"));
    CHECK(forms(true).second.contains("interrupted after 10 states"));
    result.unsteady = 1;
    CHECK_FALSE(forms(false).first.contains("Nothing was found"));
    CHECK(forms(false).second.contains("errors=\"1\""));
}

TEST_CASE("the certificate says what a check without promises cannot see, and what was left out", "[certificate]") {
    ExploreResult result;
    result.untold = 3;
    const auto not_tried = [&](bool promises) {
        return certificate_of({.command = {"x"}, .application = {}, .application_version = {}, .check = "y", .device = "z", .possible = {}}, result,
                              promises)["not_tried"]
            .dump();
    };
    CHECK(not_tried(false).contains("promised nothing"));
    CHECK_FALSE(not_tried(true).contains("promised nothing"));
    CHECK(not_tried(true).contains("3 failing states of further causes"));
}

TEST_CASE("the possible states of a long history are estimated without looking at each point", "[certificate]") {
    RecordedProgram program;
    program.prepared();
    for (int i = 0; i < 30'000; ++i) program.fsync(program.create(fmt::format("f{}", i)));
    const Past past{program.history()};
    const Persistence model = *find_persistence("posix");
    const Persistence strict = *find_persistence("strict");
    StateOrder order{past, strict, 1};
    const PossibleStates possible = order.possible();
    CHECK(possible.points < order.cuts() / 2);
    CHECK(possible.states >= static_cast<double>(order.cuts()) / 2);
    StateOrder many{past, model, 1};
    CHECK(many.possible().states == 1e300);
}

TEST_CASE("no more states are tried than are possible, where pages can be torn, too", "[certificate]") {
    const std::string name = GENERATE("ext4", "xfs", "btrfs", "posix");
    RecordedProgram program;
    const auto file = program.create("a");
    program.append(file, std::string(4096, 'a'));
    program.prepared();
    program.write(file, 0, std::string(4096, 'b'));
    program.promise("written");
    const Past past{program.history()};
    const Persistence model = *find_persistence(name);
    StateOrder order{past, model, 1};
    const double possible = order.possible().states;
    CAPTURE(name, possible);
    if (model.tears_pages) CHECK(possible >= 256);
    std::set<std::string> seen;
    for (int i = 0; i < 4000; ++i) {
        const CutState state = order.next();
        const LeftState left{past, model, std::make_shared<const Durability>(past, model, state.cut), state};
        const AfterCut after{past, left};
        seen.insert(fmt::format("{} {}", state.cut, after.read("a").value_or("")));
    }
    CHECK(static_cast<double>(seen.size()) <= possible);
}

TEST_CASE("of what a program printed the end is told, however long it is", "[last_lines]") {
    const TemporaryDirectory at;
    const std::string file = at / "out";
    const auto said = [&](const std::string& text) {
        std::ofstream{file} << text;
        return last_lines(file, 2);
    };
    const auto behind = [](int bytes) { return fmt::format("(behind {} bytes) ", bytes); };
    CHECK(last_lines(file, 2).empty());
    CHECK(said("").empty());
    CHECK(said("one") == "one");
    CHECK(said("one\ntwo\nthree\n\n") == "two\nthree");
    CHECK(said("one\ntwo\n") == "one\ntwo");
    CHECK(said(std::string(3'000'000, 'y')) == behind(2'998'000) + std::string(2'000, 'y'));
    std::string euro(2'002, 'y');
    euro.replace(0, 3, "\xe2\x82\xac");
    const std::string cut_character = said(euro);
    CHECK(cut_character == behind(3) + std::string(1'999, 'y'));
}

TEST_CASE("of what a check printed the first lines and the last are told, and what is left out between them", "[last_lines]") {
    const TemporaryDirectory at;
    const std::string file = at / "out";
    const auto said = [&](const std::string& text) {
        std::ofstream{file} << text;
        return first_and_last_lines(file, 2);
    };
    CHECK(first_and_last_lines(file, 2).empty());
    CHECK(said("").empty());
    CHECK(said("one\n") == "one");
    CHECK(said("1\n2\n3\n4\n") == "1\n2\n3\n4");
    CHECK(said("the cause\n2\n3\n4\n5\n") == "the cause\n2\n...\n4\n5");
    std::string long_output = "the cause\nits place\n";
    for (int i = 0; i < 10'000; ++i) long_output += "at some line\n";
    CHECK(said(long_output + "the end\n") == "the cause\nits place\n...\nat some line\nthe end");
    CHECK(said(std::string(3'000'000, 'y')).starts_with("(behind"));
}

TEST_CASE("a certificate counts what was tried, and says that no state is left only of an exploration that found no other", "[certificate]") {
    ExploreResult result;
    result.states = 60;
    result.failing = 7;
    result.findings.push_back({.words = {}, .state = {}, .found_at = 5, .states = 3, .said = {}, .kept = {}, .kinds = {}});
    RecordedProgram program;
    const auto old = program.create("old");
    program.fsync(old);
    program.promise("old");
    program.prepared();
    for (int page = 0; page < 30; ++page) program.write(old, static_cast<std::uint64_t>(page) * page_bytes, std::string(page_bytes, 'x'));
    program.fsync(old);
    program.promise("new");
    const Past past{program.history()};
    const Persistence model = *find_persistence("posix");
    StateOrder order{past, model, 1};
    const auto of = [&] {
        return certificate(
            {.command = {"x"}, .application = {}, .application_version = {}, .check = "y", .device = "z", .possible = order.possible()}, past, model,
            order, result);
    };
    const Json some = of();
    CHECK_FALSE(some["not_tried"].dump().contains("no further state"));
    CHECK(some["not_tried"].dump().contains("60 were tried"));
    CHECK(some["flush_points"].number() == 1);
    CHECK(some["promises"].number() == 1);
    CHECK(some["states_failing"].number() == 7);
    CHECK(some["findings"].items().size() == 1);
    CHECK(some["findings"].items()[0]["states"].number() == 3);
    CHECK(some["findings"].items()[0]["found_at_state"].number() == 5);
    CHECK(some["lines"].number() == 32);
    result.exhausted = true;
    CHECK(of()["not_tried"].dump().contains("no further state"));
}

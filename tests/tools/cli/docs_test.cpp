// The pages in docs/ name every key, table, column and view there is, with what the program itself says of it.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <sqlite3.h>

#include "tests/support/catch.h"

#include "fs/format.h"
#include "fs/journal_format.h"
#include "ftl/blocks/separation_policies.h"
#include "ftl/blocks/victim_policies.h"
#include "ftl/make_ftl.h"
#include "ftl/maps/hftl_layout.h"
#include "ftl/recovery/page_checkpoint.h"
#include "ftl/schemes/coftl_format.h"
#include "nand/image_layout.h"
#include "pram/pram_image_header.h"
#include "tests/tools/device_fixture.h"
#include "tests/tools/log/event_log_page.h"
#include "tools/drive/config_schema.h"
#include "tools/drive/device_config.h"
#include "tools/drive/device_report.h"
#include "tools/log/event_log_schema.h"
#include "tools/log/event_log_views.h"
#include "tools/log/event_table.h"
#include "tools/log/sqlite.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

std::string page(const std::string& name) {
    std::ifstream in{FLASHLAB_TREE "/docs/" + name};
    REQUIRE(in.good());
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Names of the rows of a query.
std::vector<std::string> names(SqliteConnection& db, const std::string& sql) {
    const auto statement = db.prepare(sql);
    REQUIRE(statement.has_value());
    std::vector<std::string> out;
    while (sqlite3_step(statement->get()) == SQLITE_ROW) out.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement->get(), 0)));
    return out;
}

} // namespace

TEST_CASE("docs/versions.md says of each format which version is written, and which are read", "[tools]") {
    const std::string text = page("versions.md");
    const auto row = [&](const std::string& file, std::uint64_t first, std::uint64_t current) {
        CAPTURE(file, first, current);
        const auto begin = text.find(fmt::format("\n| {}", file));
        REQUIRE(begin != std::string::npos);
        const std::string said = text.substr(begin, text.find('\n', begin + 1) - begin);
        CHECK_THAT(said, ContainsSubstring(fmt::format(" | {} | {} | ", current,
                                                       first == current ? fmt::format("{}", current) : fmt::format("{} to {}", first, current))));
    };
    const auto of_source = [](const std::string& file, const std::string& constant) { // one that its file keeps to itself
        const std::string source = page("../" + file);
        const auto at = source.find(constant + " = ");
        REQUIRE(at != std::string::npos);
        return std::stoull(source.substr(at + constant.size() + 3));
    };
    row("`DIR/device.toml`", device_format, device_format);
    row("`DIR/nand.img`", ImageHeader::first_version, ImageHeader::current_version);
    row("`DIR/pram.img`", PramImageHeader::first_version, PramImageHeader::current_version);
    row("file system on PRAM", fs_format_version, fs_format_version);
    row("file system in a journal", journal_format_version, journal_format_version);
    row("checkpoints of page maps", PageCheckpoint::version, PageCheckpoint::version);
    row("map of hftl", HftlHeader::version, HftlHeader::version);
    row("records of coftl", 1, CoftlVersion::format);
    const auto of_log_blocks = of_source("ftl/recovery/merge_journal.cpp", "checkpoint_version");
    row("checkpoints of log blocks", of_log_blocks, of_log_blocks);
    row("event log", oldest_log_version, static_cast<std::uint64_t>(event_log_version()));
    const auto of_sweeps = of_source("tools/sweep/sweep_database.cpp", "format_version");
    row("database of a sweep", of_sweeps, of_sweeps);
}

TEST_CASE("the event that docs/event-log.md adds as an example is of the version after this one", "[tools]") {
    CHECK_THAT(page("event-log.md"), ContainsSubstring(fmt::format(".since = {}}}", event_log_version() + 1)));
}

TEST_CASE("a key that a page names is a key of the schema, and docs/configuration.md names every section", "[tools]") {
    std::set<std::string> sections;
    for (const auto& key : config_keys()) sections.emplace(key.name.substr(0, key.name.find('.') + 1));
    sections.erase(""); // format, preset
    const std::string keys_page = page("configuration.md");
    for (const std::string& section : sections) CHECK_THAT(keys_page, ContainsSubstring("`" + section + "`"));
    std::size_t named = 0;
    for (const auto& entry : std::filesystem::directory_iterator{FLASHLAB_TREE "/docs"}) {
        if (entry.path().extension() != ".md") continue;
        const std::string text = page(entry.path().filename());
        for (const std::string& section : sections)
            for (std::size_t at = text.find("`" + section); at != std::string::npos; at = text.find("`" + section, at + 1)) {
                const std::string name = text.substr(at + 1, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.", at + 1) - at - 1);
                if (name == section || name.ends_with(".img")) continue;
                CAPTURE(entry.path(), name);
                CHECK(find_config_key(name) != nullptr);
                ++named;
            }
    }
    CHECK(named > 40);
}

TEST_CASE("docs/mounting.md names every key of smart", "[tools]") {
    const TemporaryDirectory work;
    make(work / "device");
    const auto opened = open(work / "device", DeviceAccess::look);
    const Json smart = smart_report(opened->device(), opened->history_now());
    const std::string text = page("mounting.md");
    const std::string table = text.substr(text.find("## Keys of `flashlab smart`"));
    for (const auto& [key, value] : smart.members()) CHECK_THAT(table, ContainsSubstring("`" + key + "`"));
}

TEST_CASE("docs/event-log.md names every table with its columns", "[tools]") {
    const std::string text = page("event-log.md");
    auto db = SqliteConnection::open(":memory:", SqliteAccess::create);
    REQUIRE(db.has_value());
    REQUIRE(db->execute(fmt::format("{}{}{}", event_log_tables(), event_log_enums(), event_log_views())).has_value());
    for (const auto& table : names(*db, "SELECT name FROM sqlite_schema WHERE type='table'")) {
        CAPTURE(table);
        if (table.ends_with("_name")) continue; // of numbers: a column that has them names it
        const std::string begin = fmt::format("\n| `{}` | ", table);
        const auto at = text.find(begin, text.find("<!-- generated: tables -->"));
        REQUIRE(at != std::string::npos);
        const std::string row = text.substr(at + begin.size(), text.find('\n', at + 1) - at - begin.size());
        for (const auto& column : names(*db, "SELECT name FROM pragma_table_info('" + table + "')"))
            CHECK_THAT(row, ContainsSubstring("`" + column + "`"));
    }
}

TEST_CASE("the tables of docs/event-log.md are what the descriptors say", "[tools]") {
    const std::string text = page("event-log.md");
    const auto written = event_log_page(text);
    INFO("tools_tests \"[rewrite-docs]\" writes the page anew");
    INFO((written ? "" : written.error()));
    REQUIRE(written.has_value());
    CHECK(*written == text);
}

TEST_CASE("a page that lacks a block, or has it twice, is not taken for one that is up to date", "[tools]") {
    const std::string text = page("event-log.md");
    const std::string begin = "<!-- generated: tables -->\n", end = "<!-- end of tables -->\n";
    std::string without = text, twice = text + begin + end, turned = text;
    without.erase(without.find(begin), begin.size());
    turned.erase(turned.find(end), end.size()).insert(0, end);
    for (const std::string& broken : {without, twice, turned, std::string{}}) CHECK_FALSE(event_log_page(broken).has_value());
    std::string outdated = text;
    outdated.insert(text.find(begin) + begin.size(), "| `gone` | nothing any more | |\n");
    CHECK(event_log_page(outdated) == text);
}

TEST_CASE("the pages that argue name every scheme and every victim policy", "[tools]") {
    const std::string schemes_page = page("../ftl/DESIGN.md"), policies_page = page("../ftl/DESIGN-pages.md");
    for (const std::string& scheme : all_schemes()) CHECK_THAT(schemes_page, ContainsSubstring(fmt::format("`{}`", scheme)));
    for (const auto& policy : victim_policies()) CHECK_THAT(policies_page, ContainsSubstring(fmt::format("`{}`", policy.name)));
}

TEST_CASE("the manual page names the keys that make a drive, and every way to separate", "[tools]") {
    const std::string manual = page("man/flashlab.1.scd");
    for (const char* key : {"ftl.scheme", "ftl.victim", "ftl.separation", "nand.striping", "ftl.wear_threshold", "dram.write_buffer_bytes"}) {
        CHECK(find_config_key(key) != nullptr);
        CHECK_THAT(manual, ContainsSubstring(fmt::format("*{}*", key)));
    }
    for (const auto& policy : separation_policies()) CHECK_THAT(manual, ContainsSubstring(fmt::format("*{}*", policy.name)));
}

// Not tests: the command that writes the generated rows anew (CONTRIBUTING.md, "Where things go").
TEST_CASE("docs/event-log.md is written anew", "[.rewrite-docs]") {
    const auto written = event_log_page(page("event-log.md"));
    REQUIRE(written.has_value());
    std::ofstream out{FLASHLAB_TREE "/docs/event-log.md"};
    out << *written;
    REQUIRE(out.flush().good());
}

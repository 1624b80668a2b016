// Says the event that docs/event-log.md, "A new event" adds, into a new log and into one of the version before, and asks both. Built by new_event.sh.
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/tools/log/event_log_page.h"
#include "tools/log/event_log_schema.h"
#include "tools/log/sqlite.h"
#include "tools/log/sqlite_event_log.h"

using namespace flashlab;

namespace {

int failures = 0;

void check(bool holds, const std::string& what) {
    if (holds) return;
    std::cerr << "new_event: not so: " << what << '\n';
    ++failures;
}

void say_and_ask(const std::string& path) {
    auto log = SqliteEventLog::open(EventLogConfig{.path = path});
    check(log.has_value(), "the log opens: " + (log ? "" : log.error()));
    if (!log) return;
    EventSink& events = **log;
    events.on(BlockRetiredEvent{.at = sim_time_from_ns(35), .block = BlockId{77}, .erases = 3000, .cause = Cause::gc});
    (*log)->close();
    auto db = SqliteConnection::open(path, SqliteAccess::read_only);
    const auto rows = db->number(
        "SELECT count(*) FROM block_retired JOIN cause_name USING(cause) JOIN run USING(run) WHERE block_retired.n=1 AND ts_ns=35 AND block=77 AND "
        "erases=3000 AND name='gc'");
    check(rows == 1, path + " has the row" + (rows ? "" : ": " + rows.error()));
    check(db->number("PRAGMA user_version") == event_log_version(), path + " is of the new version");
}

} // namespace

/// new_event FOLDER PAGE: FOLDER/old.db is a log of the version before, PAGE is docs/event-log.md.
int main(int, char** argv) {
    const std::string folder = argv[1];
    say_and_ask(folder + "/new.db");
    say_and_ask(folder + "/old.db");
    std::ostringstream text;
    text << std::ifstream{argv[2]}.rdbuf();
    const auto page = event_log_page(text.str());
    check(page.has_value() && page->find("| `block_retired` | Level summary: a block that left service. Beyond `--log-keep`") != std::string::npos &&
              page->find("<br>`cause`: what was tried when it failed; names in `cause_name` |") != std::string::npos,
          "the page has the table");
    return failures == 0 ? 0 : 1;
}

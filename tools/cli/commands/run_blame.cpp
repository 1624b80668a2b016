#include "tools/cli/commands/run_blame.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/events.h"
#include "tools/report/blame_table.h"

namespace flashlab {

namespace {

struct Wait {
    std::string what;
    std::int64_t ns = 0;
};

struct Blamed {
    std::string op;
    std::int64_t took_ns = 0;
    std::vector<Wait> waits;
};

/// One row of `by_user`: the requests of a process for a file, and what they waited for together.
struct UserWaits {
    std::uint64_t requests = 0;
    std::int64_t all_ns = 0, longest_ns = 0;
    std::map<std::string, std::int64_t> ns_by_wait;

    void add(const Blamed& request) {
        ++requests;
        all_ns += request.took_ns;
        longest_ns = std::max(longest_ns, request.took_ns);
        for (const Wait& wait : request.waits) ns_by_wait[wait.what] += wait.ns;
    }
};

using User = std::tuple<std::string, std::string, std::string>; ///< process, path, op

double micros(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }
double share(std::int64_t part, std::int64_t whole) { return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole); }

Json row_of(const User& user, const UserWaits& waits) {
    const auto most = std::ranges::max_element(waits.ns_by_wait, {}, [](const auto& wait) { return wait.second; });
    const auto& [process, path, op] = user;
    return Json::object({{"process", process},
                         {"path", path},
                         {"op", op},
                         {"requests", waits.requests},
                         {"mean_us", micros(waits.all_ns / static_cast<std::int64_t>(waits.requests))},
                         {"max_us", micros(waits.longest_ns)},
                         {"mostly", most == waits.ns_by_wait.end() ? Json{} : Json{most->first}},
                         {"mostly_share", most == waits.ns_by_wait.end() ? 0 : share(most->second, waits.all_ns)}});
}

/// Who waited longest first.
Json users_of(const std::map<std::int64_t, Blamed>& blamed, const Json& slow_requests) {
    std::map<std::uint64_t, std::pair<std::string, std::string>> known;
    for (const Json& row : slow_requests.items()) known[row["id"].number()] = {row["process"].text(), row["path"].text()};
    std::map<User, UserWaits> by_user;
    for (const auto& [id, request] : blamed) {
        const auto owner = known.find(static_cast<std::uint64_t>(id));
        const auto& [process, path] = owner == known.end() ? std::pair<std::string, std::string>{"(others)", "(others)"} : owner->second;
        by_user[{process, path, request.op}].add(request);
    }
    std::vector<const std::pair<const User, UserWaits>*> order;
    for (const auto& row : by_user) order.push_back(&row);
    std::ranges::stable_sort(order, [](const auto* a, const auto* b) { return a->second.all_ns > b->second.all_ns; });
    Json rows{Json::Array{}};
    for (const auto* row : order) rows.push(row_of(row->first, row->second));
    return rows;
}

} // namespace

void blame_at(std::optional<Progress>& line, std::uint64_t done, std::uint64_t total) {
    if (!line) line.emplace("operations searched for what requests waited for", total);
    line->at(done);
}

std::expected<Json, std::string> blame_of_run(const std::string& log_path, const Json& slow_requests) {
    auto log = LogRowsReader::open(log_path);
    if (!log) return std::unexpected(log.error());
    const std::int64_t run = log->number("SELECT coalesce(max(run), 0) FROM run").value_or(0);
    const std::int64_t requests =
        log->number("SELECT count(*) FROM host_request WHERE id > (SELECT first_id FROM run ORDER BY run DESC LIMIT 1)").value_or(0);
    if (requests == 0) return Json{};
    std::optional<Progress> line;
    const auto made = make_blame_table(*log, run, [&](std::uint64_t done, std::uint64_t total) { blame_at(line, done, total); });
    line.reset();
    if (!made) return std::unexpected(made.error());
    std::map<std::int64_t, Blamed> blamed;
    const auto read = log->read("SELECT id, op, dur_ns, what, ns FROM blamed ORDER BY id, class", [&](const LogRow& row) {
        Blamed& request = blamed[row.number(0)];
        request.op = host_op_names[static_cast<std::size_t>(row.number(1)) % host_op_names.size()];
        request.took_ns = row.number(2);
        request.waits.push_back({row.text(3), row.number(4)});
    });
    if (!read) return std::unexpected(read.error());
    Json waits{Json::Array{}};
    const auto summed =
        log->read("SELECT what, sum(ns), sum(sum(ns)) OVER (), meaning FROM blamed GROUP BY class ORDER BY 2 DESC", [&](const LogRow& row) {
            waits.push(Json::object(
                {{"what", row.text(0)}, {"share", share(row.number(1), row.number(2))}, {"ns", row.number(1)}, {"meaning", row.text(3)}}));
        });
    if (!summed) return std::unexpected(summed.error());
    std::int64_t least = blamed.empty() ? 0 : blamed.begin()->second.took_ns;
    for (const auto& [id, request] : blamed) least = std::min(least, request.took_ns);
    return Json::object({{"requests", requests},
                         {"slowest", std::uint64_t{blamed.size()}},
                         {"least_us", micros(least)},
                         {"level", log->number("SELECT EXISTS(SELECT 1 FROM nand_op)").value_or(0) != 0 ? "all" : "requests"},
                         {"waits", std::move(waits)},
                         {"by_user", users_of(blamed, slow_requests)}});
}

} // namespace flashlab

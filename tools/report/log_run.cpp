#include "tools/report/log_run.h"

#include <fmt/format.h>

#include "tools/log/log_version.h"

namespace flashlab {

std::string LogRunRange::setting(const std::string& key) const {
    const std::string line = "\n" + key + " = ";
    const auto at = config_toml.find(line);
    if (at == std::string::npos) return {};
    const auto from = at + line.size();
    std::string value = config_toml.substr(from, config_toml.find('\n', from) - from);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return value;
}

std::string LogRunRange::ids() const { return fmt::format("id > {} AND id <= {}", first_id, last_id); }
std::string LogRunRange::rows(std::string_view table) const {
    const auto& [first, last] = table == "pram_write" ? pram_writes : operations;
    return fmt::format("n > {} AND n <= {} AND ts_ns >= {} AND ts_ns < {}", first, last, from_ns, to_ns);
}

std::expected<LogRunRange, std::string> find_run(LogRowsReader& log, std::optional<std::int64_t> run) {
    if (const std::string why = why_no_event_log(log.db()); !why.empty()) return std::unexpected(why);
    if (!run)
        run = log.number("SELECT coalesce((SELECT max(run) FROM v_run_totals WHERE host_reads + host_writes > 0), (SELECT max(run) FROM run), 0)");
    LogRunRange range;
    const auto done = log.read(fmt::format("SELECT run, kind, version, config_toml, config_hash, seed, page_bytes, rows_dropped, v.first_id, "
                                           "v.last_id, v.first_op, v.last_op, v.first_pram_write, v.last_pram_write, from_ns, to_ns, v.start_ns, "
                                           "coalesce((SELECT max(ts_ns) FROM sample WHERE run = r.run), v.start_ns) "
                                           "FROM run r JOIN v_run_span v USING(run) WHERE run = {}",
                                           run.value_or(0)),
                               [&](const LogRow& row) {
                                   range = {.run = row.number(0),
                                            .kind = row.text(1),
                                            .version = row.text(2),
                                            .config_toml = row.text(3),
                                            .config_hash = row.text(4),
                                            .seed = row.number(5),
                                            .page_bytes = row.number(6),
                                            .rows_dropped = row.number(7),
                                            .first_id = row.number(8),
                                            .last_id = row.number(9),
                                            .operations = {row.number(10), row.number(11)},
                                            .pram_writes = {row.number(12), row.number(13)},
                                            .from_ns = row.number(14),
                                            .to_ns = row.number(15),
                                            .start_ns = row.number(16),
                                            .end_ns = row.number(17)};
                               });
    if (!done) return std::unexpected(done.error());
    if (range.run == 0)
        return std::unexpected(run.value_or(0) == 0
                                   ? std::string{"the log has no run"}
                                   : fmt::format("the log has no run {}; flashlab query DIR \"SELECT run, kind FROM run\" lists them", *run));
    return range;
}

} // namespace flashlab

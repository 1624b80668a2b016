#include "tools/report/blame_table.h"

#include <algorithm>

#include <fmt/format.h>

namespace flashlab {

namespace {

constexpr std::uint64_t steps_an_operation = 110; ///< of SQLite's machine, measured on logs of a million operations and more

} // namespace

std::expected<void, std::string> make_blame_table(LogRowsReader& log, std::int64_t run, const BlameProgress& progress) {
    const auto total = static_cast<std::uint64_t>(progress ? log.number("SELECT coalesce(max(n) - min(n) + 1, 0) FROM nand_op").value_or(0) : 0);
    if (progress) log.tell_steps([&](std::uint64_t steps) { progress(std::min(steps / steps_an_operation, total), total); });
    auto made = log.db().execute(fmt::format("CREATE TEMP TABLE blamed AS SELECT * FROM v_blame_part WHERE run = {}", run));
    log.tell_steps({});
    return made;
}

} // namespace flashlab

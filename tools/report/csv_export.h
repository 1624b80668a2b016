/// A table or view of a log as CSV, row by row.
///
/// Idea       What `query --csv` prints is kept whole before it is printed. An export may be longer than the memory.
/// Invariant  Lines as in RFC 4180, quotes only where they are needed; NULL is empty. The name is that of a table or view, nothing else is run.
/// Cost       A microsecond a row.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>

#include "tools/report/log_rows_reader.h"

namespace flashlab {

using TextTaker = std::function<std::expected<void, std::string>(std::string_view)>;

/// The rows written.
[[nodiscard]] std::expected<std::uint64_t, std::string> write_csv(const std::string& log_path, const std::string& name, const TextTaker& to,
                                                                  const ReadProgress& progress);

} // namespace flashlab

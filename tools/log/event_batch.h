/// Events by table: what one transaction writes.
///
/// Idea       There is a list of rows for each table whose rows come one by one. The samples and erase counts are kept as they are; the writer makes
///            rows of them.
/// Invariant  Each list keeps the order of its events. `events` counts the events of all lists.
/// Cost       Lists keep their memory when they are cleared.
/// Power cut  What has not been written is lost.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tools/log/event_tables.h"

namespace flashlab {

struct EventBatch {
    template <class Table>
    using ListOf = std::conditional_t<Table::from_events, std::tuple<std::vector<typename Table::Row>>, std::tuple<>>;
    template <class... Tables>
    static auto lists_of(const std::tuple<Tables...>&) -> decltype(std::tuple_cat(std::declval<ListOf<Tables>>()...));

    decltype(lists_of(all_tables)) rows;
    std::vector<std::pair<SampleEvent, SampleDetails>> samples;
    std::vector<WearHistogram> wears;
    std::vector<SimTime> run_starts; ///< the last one holds
    std::size_t events = 0;

    template <class Row>
    [[nodiscard]] std::vector<Row>& rows_of() {
        return std::get<std::vector<Row>>(rows);
    }
    template <class Row>
    [[nodiscard]] const std::vector<Row>& rows_of() const {
        return std::get<std::vector<Row>>(rows);
    }
    void clear() {
        std::apply([](auto&... list) { (list.clear(), ...); }, rows);
        samples.clear();
        wears.clear();
        run_starts.clear();
        events = 0;
    }
};

} // namespace flashlab
